// Every elementwise function over every dtype it takes, and every cast, against NumPy's values; the data hold each
// function's policy (ulp bound, signed zeros).
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "golden.hpp"
#include "golden_functions.hpp"

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

void check(const elementwise_case& c, const elementwise_data& data, const std::vector<ndarray>& arrays) {
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
  try {
    const auto diff = difference(download(call(c.function, args)), c.expected, c.tolerance, inputs,
                                 c.has_unknown ? &c.unknown : nullptr);
    CHECK_MESSAGE(diff.empty(), what, ": ", diff);
  } catch (const error& e) {
    FAIL_CHECK(what << " throws " << e.what());
  }
}

}  // namespace

TEST_CASE("elementwise functions give NumPy's dtype and values, special values included") {
  const auto data = read_data();
  std::vector<ndarray> arrays;
  for (auto& a : data.pool) arrays.push_back(upload(a));
  for (auto& c : data.cases) check(c, data, arrays);
}

TEST_CASE("elementwise functions of non-contiguous operands give the same elements") {
  const auto data = read_data();
  std::map<std::string, int> taken;
  for (auto& c : data.cases) {
    if (c.fails || c.has_unknown || ++taken[c.function] > 3) continue;
    // Every operand becomes the odd elements, backwards, of an array twice as long; the results are flipped back.
    std::vector<ndarray> args;
    std::vector<const host_array*> inputs;
    for (auto s : c.slots) {
      inputs.push_back(&data.pool[static_cast<std::size_t>(s)]);
      const ndarray plain = upload(*inputs.back());
      const auto n = plain.size();
      ndarray spread = zeros({2 * n + 1}, plain.dtype());
      const slice backwards(2 * n - 1, none_t{0}, -2);
      spread(backwards) = plain;
      args.push_back(spread(backwards));
    }
    const auto diff = difference(download(call(c.function, args)), c.expected, c.tolerance, inputs);
    CHECK_MESSAGE(diff.empty(), title(c, inputs), ": ", diff);
  }
}

TEST_CASE("casts between all dtypes give NumPy's values where the value fits") {
  golden_file f("casts.bin");
  for (int i = 0; i < f.cases(); ++i) {
    const dtype to = f.type();
    const auto in = f.array(), expected = f.array(), outside = f.array();
    const auto diff = difference(download(upload(in).astype(to)), expected, {}, {&in});
    CHECK_MESSAGE(diff.empty(), name(in.type), " to ", name(to), ": ", diff);
  }
  CHECK(f.at_end());
}

TEST_CASE("casts of numbers out of an integer's range are defined: the same alone, in a chain and in any layout") {
  golden_file f("casts.bin");
  for (int i = 0; i < f.cases(); ++i) {
    const dtype to = f.type();
    f.array();
    f.array();
    const auto outside = f.array();
    if (outside.size() == 0) continue;
    const auto x = upload(outside);
    const auto plain = download(x.astype(to));
    const auto flipped = download(x(slice(none_t{0}, none_t{0}, -1)).astype(to)(slice(none_t{0}, none_t{0}, -1)));
    const auto single = download(x(0).astype(to));
    CHECK_MESSAGE(difference(flipped, plain, {}).empty(), name(outside.type), " to ", name(to));
    CHECK_MESSAGE(show(single, 0) == show(plain, 0), name(outside.type), " to ", name(to));
  }
}

TEST_CASE("an integer to a negative integer power throws when the values are needed") {
  const ndarray base = array({2, 3}), exponent = array({1, -1});
  CHECK_THROWS_AS(power(base, exponent).to_vector<std::int64_t>(), value_error);
  CHECK(power(base, array({2, 3})).to_vector<std::int64_t>() == std::vector<std::int64_t>{4, 27});
}
