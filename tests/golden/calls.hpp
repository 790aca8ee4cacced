// Golden calls: functions by name with arrays, numbers and options (make/golden_calls.py), each with plain inputs and again
// with inputs whose elements do not lie in C order.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "golden/golden.hpp"

namespace sinter::test {

struct call {
  std::string name, option;
  std::vector<ndarray> x;
  std::vector<double> n;

  bool has(std::string_view word) const { return option.find(word) != std::string::npos; }
  std::int64_t integer(std::size_t i) const { return static_cast<std::int64_t>(n.at(i)); }
  /// The numbers from one on, as axes; none are all of them.
  axes axes_from(std::size_t i) const;
  /// The numbers from one on.
  std::vector<std::int64_t> integers_from(std::size_t i) const;
};
using call_table = std::map<std::string, std::function<std::vector<ndarray>(const call&)>>;

/// Must be used within a test case.
void check_calls(std::string_view file, const call_table& functions);

}  // namespace sinter::test
