#include "golden/calls.hpp"

#include <doctest/doctest.h>

#include "support/shard.hpp"

namespace sinter::test {

axes call::axes_from(std::size_t i) const { return i < n.size() ? axes(integers_from(i)) : axes(); }

std::vector<std::int64_t> call::integers_from(std::size_t i) const {
  std::vector<std::int64_t> out;
  for (; i < n.size(); ++i) out.push_back(integer(i));
  return out;
}

namespace {

/// The same elements, the last axis from its end and every second one in memory.
ndarray spread(const ndarray& x) {
  if (x.ndim() == 0) return stack({x, x})(1);
  const ndarray wide = repeat(flip(x, -1), 2, -1).copy();
  eval(wide);
  return wide(ellipsis_t{}, slice(none_t{0}, none_t{0}, -2));
}

std::string describe(const call& c) {
  std::string text = c.name + "(";
  for (const ndarray& x : c.x) text += show(download(x)) + ", ";
  for (const double n : c.n) text += std::to_string(n) + ", ";
  return text + c.option + ")";
}

}  // namespace

void check_calls(std::string_view file, const call_table& functions) {
  golden_file f(file);
  for (int i = 0; i < f.cases(); ++i) {
    call c;
    c.name = f.text();
    std::vector<host_array> inputs;
    for (std::int64_t k = f.varint(); k > 0; --k) inputs.push_back(f.array());
    for (std::int64_t k = f.varint(); k > 0; --k) c.n.push_back(f.f64());
    c.option = f.text();
    const bool fails = f.u8() != 0;
    std::vector<std::pair<policy, host_array>> expected;
    for (std::int64_t k = fails ? 0 : f.varint(); k > 0; --k) {
      const policy p = f.tolerance();
      expected.emplace_back(p, f.array());
    }
    const auto found = functions.find(c.name);
    REQUIRE_MESSAGE(found != functions.end(), "no function is called ", c.name);
    if (!this_shard().takes(i / 20)) continue;
    for (const bool spreads : {false, true}) {
      c.x.clear();
      for (const host_array& a : inputs) c.x.push_back(spreads ? spread(upload(a)) : upload(a));
      std::vector<ndarray> got;
      std::string said;
      try {
        got = found->second(c);
        for (const ndarray& r : got) eval(r);
        synchronize();
      } catch (const error& e) {
        said = e.what();
      }
      CHECK_MESSAGE(said.empty() != fails, describe(c), fails ? ": no error" : ": " + said);
      if (fails || !said.empty()) continue;
      CHECK_MESSAGE(got.size() == expected.size(), describe(c), ": ", got.size(), " results, not ", expected.size());
      for (std::size_t k = 0; k < std::min(got.size(), expected.size()); ++k) {
        const std::string wrong = difference(download(got[k]), expected[k].second, expected[k].first);
        CHECK_MESSAGE(wrong.empty(), describe(c), spreads ? " not in C order" : "", ", result ", k, ": ", wrong);
      }
    }
  }
  CHECK(f.at_end());
}

}  // namespace sinter::test
