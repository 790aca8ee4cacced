// Shared by the tests of users' kernels: messages of exceptions, numbers of kernels, lists of elements.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/sinter.hpp"

namespace sinter::test {

/// The message of the exception of type E that `call` throws; "" and a failed check if it does not.
template <class E, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    FAIL_CHECK("another exception: " << e.what());
    return {};
  }
  FAIL_CHECK("no exception");
  return {};
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The number of kernels that would now evaluate `x`.
inline int kernels_of(const ndarray& x) {
  const std::string plan = explain(x);
  int count = 0;
  for (std::size_t at = plan.find("\nkernel "); at != plan.npos; at = plan.find("\nkernel ", at + 1)) ++count;
  return count;
}
/// Whether `x` has been evaluated.
inline bool is_evaluated(const ndarray& x) { return contains(explain(x), "nothing to run"); }

template <class T>
std::vector<T> elements(const ndarray& x) {
  CHECK(x.dtype() == dtype_of<T>);
  return x.to_vector<T>();
}
using floats = std::vector<float>;
using doubles = std::vector<double>;
using longs = std::vector<std::int64_t>;
using ints = std::vector<std::int32_t>;

inline ndarray floats_of(std::initializer_list<list_node> list) { return array(list, {.dtype = float32}); }

}  // namespace sinter::test
