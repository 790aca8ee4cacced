// Every elementwise function over every dtype it takes, and every cast, against NumPy's values; the data hold each
// function's policy (ulp bound, signed zeros).
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "golden/batch.hpp"
#include "golden/functions.hpp"
#include "golden/golden.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

ndarray call(const std::string& function, const std::vector<ndarray>& x) {
  if (function == "where") return where(x[0], x[1], x[2]);
  if (function == "clip") return clip(x[0], x[1], x[2]);
  if (x.size() == 1) {
    const auto f = find_unary(function);
    REQUIRE_MESSAGE(bool(f), function);
    return f(x[0]);
  }
  const auto f = find_binary(function);
  REQUIRE_MESSAGE(bool(f), function);
  return f(x[0], x[1]);
}

struct elementwise_case {
  std::string function;
  std::vector<std::int64_t> slots;
  bool fails = false;
  policy tolerance;
  host_array expected;
  bool has_unknown = false;
  host_array unknown;
};

struct elementwise_data {
  std::vector<host_array> pool;
  std::vector<elementwise_case> cases;
};

elementwise_data read_data() {
  golden_file f("elementwise.bin");
  elementwise_data d;
  for (auto n = f.varint(); n > 0; --n) d.pool.push_back(f.array());
  d.cases.resize(static_cast<std::size_t>(f.cases()));
  for (auto& c : d.cases) {
    c.function = f.text();
    c.slots = f.dims();
    c.fails = f.u8();
    if (c.fails) continue;
    c.tolerance = f.tolerance();
    c.expected = f.array();
    c.has_unknown = f.u8();
    if (c.has_unknown) c.unknown = f.array();
  }
  CHECK(f.at_end());
  return d;
}

std::string title(const elementwise_case& c, const std::vector<const host_array*>& inputs) {
  std::string out = c.function + "(";
  for (auto* in : inputs) out += (in == inputs.front() ? "" : ", ") + std::string(name(in->type));
  return out + ")";
}

void check(const elementwise_case& c, const elementwise_data& data, const std::vector<ndarray>& arrays, batch& cases) {
  std::vector<const host_array*> inputs;
  std::vector<ndarray> args;
  for (auto s : c.slots) {
    inputs.push_back(&data.pool[static_cast<std::size_t>(s)]);
    args.push_back(arrays[static_cast<std::size_t>(s)]);
  }
  const auto what = title(c, inputs);
  if (c.fails) {
    CHECK_THROWS_AS_MESSAGE(call(c.function, args), dtype_error, what);
    return;
  }
  cases.add(
      what, [&c, args] { return call(c.function, args); },
      [&c, inputs, what](const host_array& got) {
        const auto diff = difference(got, c.expected, c.tolerance, inputs, c.has_unknown ? &c.unknown : nullptr);
        CHECK_MESSAGE(diff.empty(), what, ": ", diff);
      });
}

/// The odd elements, backwards, of an array twice as long: the same elements as `plain`.
ndarray spread_out(const ndarray& plain) {
  const auto n = plain.size();
  ndarray spread = zeros({2 * n + 1}, plain.dtype());
  const slice backwards(2 * n - 1, none_t{0}, -2);
  spread(backwards) = plain;
  return spread(backwards);
}

/// Cases of casts.bin that this shard runs, as f(to, input, expected, numbers out of range).
template <class F>
void for_casts(F&& f) {
  golden_file file("casts.bin");
  for (int i = 0; i < file.cases(); ++i) {
    const dtype to = file.type();
    const auto in = file.array(), expected = file.array(), outside = file.array();
    if (this_shard().takes(i)) f(to, in, expected, outside);
  }
  CHECK(file.at_end());
}

}  // namespace

TEST_CASE("elementwise functions give NumPy's dtype and values, special values included" *
          doctest::test_suite(sharded_suite)) {
  const auto data = read_data();
  std::vector<ndarray> arrays;
  for (auto& a : data.pool) arrays.push_back(upload(a));
  batch cases;
  for (std::size_t k = 0; k < data.cases.size(); ++k) {
    // Runs of neighbours, which share their inputs.
    if (this_shard().takes(static_cast<int>(k / 40))) check(data.cases[k], data, arrays, cases);
  }
}

TEST_CASE("elementwise functions of non-contiguous operands give the same elements" *
          doctest::test_suite(sharded_suite)) {
  const auto data = read_data();
  std::map<std::string, int> taken;
  batch cases;
  int number = 0;
  for (auto& c : data.cases) {
    if (c.fails || c.has_unknown || ++taken[c.function] > 3 || !this_shard().takes(number++)) continue;
    std::vector<ndarray> plain;
    std::vector<const host_array*> inputs;
    for (auto s : c.slots) {
      inputs.push_back(&data.pool[static_cast<std::size_t>(s)]);
      plain.push_back(upload(*inputs.back()));
    }
    const auto record = [&c, plain] {
      std::vector<ndarray> args;
      for (auto& a : plain) args.push_back(spread_out(a));
      return call(c.function, args);
    };
    cases.add(title(c, inputs), record, [&c, inputs](const host_array& got) {
      const auto diff = difference(got, c.expected, c.tolerance, inputs);
      CHECK_MESSAGE(diff.empty(), title(c, inputs), ": ", diff);
    });
  }
}

TEST_CASE("casts between all dtypes give NumPy's values where the value fits" * doctest::test_suite(sharded_suite)) {
  batch cases;
  for_casts([&](dtype to, const host_array& in, const host_array& expected, const host_array&) {
    const std::string what = std::string(name(in.type)) + " to " + std::string(name(to));
    cases.add(
        what, [x = upload(in), to] { return x.astype(to); },
        [what, in, expected](const host_array& got) {
          const auto diff = difference(got, expected, {}, {&in});
          CHECK_MESSAGE(diff.empty(), what, ": ", diff);
        });
  });
}

TEST_CASE("casts of numbers out of an integer's range are defined: the same alone, in a chain and in any layout" *
          doctest::test_suite(sharded_suite)) {
  batch cases;
  for_casts([&](dtype to, const host_array&, const host_array&, const host_array& outside) {
    if (outside.size() == 0) return;
    const std::string what = std::string(name(outside.type)) + " to " + std::string(name(to));
    const auto x = upload(outside);
    const auto plain = std::make_shared<host_array>();
    const slice backwards(none_t{0}, none_t{0}, -1);
    cases.add(
        what, [=] { return x.astype(to); }, [=](const host_array& got) { *plain = got; });
    cases.add(
        what + ", backwards", [=] { return x(backwards).astype(to)(backwards).copy(); },
        [=](const host_array& got) { CHECK_MESSAGE(difference(got, *plain, {}).empty(), what, ", backwards"); });
    cases.add(
        what + ", one", [=] { return x(0).astype(to); },
        [=](const host_array& got) { CHECK_MESSAGE(show(got, 0) == show(*plain, 0), what, ", one"); });
  });
}

TEST_CASE("an integer to a negative integer power throws when the values are needed") {
  const ndarray base = array({2, 3}), exponent = array({1, -1});
  CHECK_THROWS_AS(power(base, exponent).to_vector<std::int64_t>(), value_error);
  CHECK(power(base, array({2, 3})).to_vector<std::int64_t>() == std::vector<std::int64_t>{4, 27});
}
