// Selections by one mask that are written back by it: the shape stays, so nothing is counted or compacted.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using integers = std::vector<std::int64_t>;
using floats = std::vector<double>;

integers values(const ndarray& x) { return x.to_vector<std::int64_t>(); }
floats numbers(const ndarray& x) { return x.to_vector<double>(); }
std::uint64_t launches() { return runtime::get_backend(runtime::default_device()).statistics().launches; }
/// The same elements in an array of their own, so that no selection is left unread.
ndarray read(const ndarray& x) {
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("y[m] = x[m] is one kernel, whatever the mask selects") {
  const ndarray x = arange(100), m = x % 3 == 0;
  ndarray y = zeros({100}, int64);
  eval(x, m, y);
  const auto before = launches();
  y[m] = x[m];
  eval(y);
  CHECK(launches() == before + 1);
  CHECK(values(y) == values(where(m, x, 0)));
  const ndarray none = zeros({100}, sinter::bool_);
  y[none] = x[none];
  CHECK(values(y) == values(where(m, x, 0)));
}

TEST_CASE("expressions of selections by one mask are written as a choice") {
  const ndarray x = arange(60).astype(float64) - 20.5, z = linspace(0, 7, 60), m = x * z > 3;
  const ndarray shift = array(2.5);
  ndarray y = z * 3;
  eval(x, z, m, y, shift);
  const auto check = [&](const ndarray& selected, const ndarray& whole) {
    ndarray by_choice = y.copy(), by_index = y.copy();
    eval(by_choice, by_index);
    const auto before = launches();
    by_choice[m] = selected;
    eval(by_choice);
    CHECK(launches() == before + 1);
    by_index[m] = read(selected);
    CHECK(numbers(by_choice) == numbers(by_index));
    CHECK(numbers(by_choice) == numbers(where(m, whole, y)));
  };
  check(x[m] * 2, x * 2);
  check(1 - x[m] / z[m], 1 - x / z);
  check(sqrt(absolute(x[m])) + shift, sqrt(absolute(x)) + shift);
  check(maximum(x[m], z[m]), maximum(x, z));
  check(where(x[m] > 4, x[m], -z[m]), where(x > 4, x, -z));
  check(clip(x[m], -1, 12), clip(x, -1, 12));
  check(floor(x[m]), floor(x));
  check(power(x[m], 2), power(x, 2));
  check((x[m].astype(int32) & 5) | 8, (x.astype(int32) & 5) | 8);
  const auto twice = x[m];
  check(twice * twice, x * x);
}

TEST_CASE("in place: y[m] op= selections by the same mask") {
  const ndarray x = arange(24), m = reshape(x, {4, 6}) % 5 < 2, a = reshape(x, {4, 6});
  ndarray y = a * 10;
  y[m] += a[m];
  CHECK(values(y) == values(where(m, a * 11, a * 10)));
  y[m] -= y[m];
  CHECK(values(y) == values(where(m, 0, a * 10)));
  ndarray u = a.astype(int32);
  CHECK_THROWS_AS(u[m] += a.astype(float64)[m], dtype_error);
  CHECK(values(u) == values(a));
  u[m] = a.astype(float64)[m] + 0.75;  // an assignment casts
  CHECK(values(u) == values(a));
  ndarray f = a.astype(float32);
  f[m] *= a[m] + 1;
  CHECK(numbers(f) == numbers(where(m, a * (a + 1), a)));
}

TEST_CASE("masks over some of the axes") {
  const ndarray x = reshape(arange(24), {4, 6}), rows = arange(4) % 2 == 1, columns = arange(6) > 3;
  ndarray y = zeros({4, 6}, int64);
  y(rows, _) = x(rows, _) + 1;
  CHECK(values(y) == values(where(reshape(rows, {4, 1}), x + 1, 0)));
  y = zeros({4, 6}, int64);
  y(_, columns) = x(_, columns) * 2;
  CHECK(values(y) == values(where(columns, x * 2, 0)));
  y = zeros({4, 6}, int64);
  const ndarray v = arange(6);
  y(_, columns) = v[columns];  // broadcasts along the kept axis
  CHECK(values(y) == values(where(columns, v, 0) + zeros({4, 1}, int64)));
  // The selected axis of the right side meets a kept one: rows selects two.
  y = zeros({4, 6}, int64);
  const ndarray four = arange(4);
  CHECK_THROWS_AS(y(rows, _) = four[rows], shape_error);
  ndarray pairs = zeros({4, 2}, int64);
  pairs(rows, _) = four[rows];
  CHECK(values(pairs) == integers{0, 0, 1, 3, 0, 0, 1, 3});
  ndarray one = zeros({4, 1}, int64);
  CHECK_THROWS_AS(one(rows, _) = x(rows, _), shape_error);
  ndarray wide = zeros({4, 6}, int64);
  wide(rows, _) = one(rows, _) + 7;
  CHECK(values(wide) == values(where(reshape(rows, {4, 1}), 7, zeros({4, 6}, int64))));
}

TEST_CASE("equal masks need not be one array") {
  const ndarray x = arange(40) - 20, z = x * 3;
  ndarray y = x * 100;
  eval(x, z, y);
  const auto before = launches();
  y[x > 4] = z[x > 4];
  eval(y);
  CHECK(launches() == before + 1);
  CHECK(values(y) == values(where(x > 4, z, x * 100)));
  y[x > 5] = z[x > 5.0] + 1;  // other operations, so by positions
  CHECK(values(y) == values(where(x > 5, z + 1, where(x > 4, z, x * 100))));
  const ndarray many = reshape(arange(80), {40, 2}) % 3 == 0;
  y[many(_, 0)] = x[many(_, 0)];
  CHECK(values(y(slice(0, 3))) == integers{-20, -1900, -1800});
  // Masks that differ select as many elements, or not.
  y = zeros({4}, int64);
  const ndarray first = array({true, false, true, false}), second = array({false, true, true, false});
  const ndarray v = array({1, 2, 3, 4});
  y[first] = v[second];
  CHECK(values(y) == integers{2, 0, 3, 0});
  y[first] = v[second] + v[first];
  CHECK(values(y) == integers{3, 0, 6, 0});
  CHECK_THROWS_AS(y[first] = v[array({true, true, true, false})], shape_error);
}

TEST_CASE("a selection keeps what its arrays held when it was made") {
  ndarray x = arange(6), m = x % 2 == 0, y = zeros({6}, int64);
  const ndarray selected = x[m], more = x[m] + 1;
  ndarray number = array(5);
  const ndarray with_number = x[m] + number;
  x += 10;
  number += 100;
  ndarray new_mask = m.copy();
  m[0] = false;
  CHECK(values(more) == integers{1, 3, 5});
  y[new_mask] = selected;
  CHECK(values(y) == integers{0, 0, 2, 0, 4, 0});
  y[m] = x[m];
  CHECK(values(y) == integers{0, 0, 12, 0, 14, 0});
  CHECK(values(with_number) == integers{5, 7, 9});
  // What is written to a named selection is its own.
  subarray mine = x[m];
  const ndarray before = mine * 2;
  static_cast<ndarray&>(mine) += 1;
  CHECK(values(before) == integers{24, 28});
  CHECK(values(mine) == integers{13, 15});
  CHECK(values(x) == integers{10, 11, 12, 13, 14, 15});
}

TEST_CASE("overlapping parts of one array") {
  ndarray x = arange(8);
  const ndarray m = array({true, true, false, true, true, false, true});
  x(slice(1, 8))[m] = x(slice(0, 7))[m];
  CHECK(values(x) == integers{0, 0, 1, 3, 3, 4, 6, 6});
  x[slice(_, _, -1)][arange(8) < 3] = x[arange(8) < 3] + 50;
  CHECK(values(x) == integers{0, 0, 1, 3, 3, 51, 50, 50});
}

TEST_CASE("selections behave as arrays of the selected elements") {
  const ndarray x = arange(10).astype(float32), m = x > 6;
  const ndarray e = x[m] * 2 + 1;
  CHECK(e.shape() == shape_t{3});
  CHECK(e.dtype() == float32);
  CHECK(numbers(e) == floats{15, 17, 19});
  CHECK(numbers(x[m] + array({1, 2, 3})) == floats{8, 10, 12});
  CHECK_THROWS_AS(x[m] + array({1, 2}), shape_error);
  CHECK_THROWS_AS(x[m] & x[m], dtype_error);  // at once
  CHECK_THROWS_AS(x[m] + ndarray(), value_error);
  CHECK(numbers((x[m] * 2)[slice(1, 3)]) == floats{16, 18});
  CHECK(allclose(x[m] / 2, array({3.5, 4.0, 4.5})));
  // Long chains, of which every step is read in the end.
  ndarray chain = x[m];
  for (int k = 0; k < 200; ++k) chain = chain + 1;
  CHECK(numbers(chain) == floats{207, 208, 209});
}

TEST_CASE("reductions without order of a selection") {
  const ndarray x = arange(50) - 25, m = x * x % 7 == 2, none = x > 100;
  const ndarray chosen = read(x[m]);
  const auto same = [&](const auto& f) { CHECK(values(f(x[m])) == values(f(chosen))); };
  same([](const ndarray& v) { return sum(v); });
  same([](const ndarray& v) { return prod(v % 5 + 7); });
  same([](const ndarray& v) { return max(v); });
  same([](const ndarray& v) { return min(v, 0); });
  same([](const ndarray& v) { return count_nonzero(v > 0); });
  same([](const ndarray& v) { return any(v > 20).astype(int64); });
  same([](const ndarray& v) { return all(v < 20, {.keepdims = true}).astype(int64); });
  same([](const ndarray& v) { return sum(v.astype(float32), {.dtype = int8}); });
  CHECK(sum(x[none]).item<std::int64_t>() == 0);
  CHECK(all(x[none]).item<bool>());
  CHECK_FALSE(any(x[none]).item<bool>());
  CHECK_THROWS_AS(max(x[none]), value_error);
  CHECK_THROWS_AS(sum(x[m], 1), index_error);
  const ndarray f = where(x == 3, std::numeric_limits<double>::quiet_NaN(), x.astype(float64) - 100), far = f < -80;
  CHECK(std::isnan(max(f[x > 0]).item<double>()));
  CHECK(max(f[far]).item<double>() == max(read(f[far])).item<double>());
  CHECK(min(f.astype(float16)[far]).item<double>() == min(read(f.astype(float16)[far])).item<double>());
  CHECK(max(x.astype(uint8)[x > 3]).item<std::int64_t>() == 24);
  // Sums of floating-point numbers have the order of the selected elements.
  const ndarray t = 1 / (arange(1000).astype(float32) + 1), some = t < 0.01f;
  CHECK(sum(t[some]).item<double>() == sum(read(t[some])).item<double>());
  CHECK(mean(t[some]).item<double>() == mean(read(t[some])).item<double>());
  const ndarray named = x[m];  // the first without compaction, the second with
  CHECK(max(named).item<std::int64_t>() == max(chosen).item<std::int64_t>());
  CHECK(min(named).item<std::int64_t>() == min(chosen).item<std::int64_t>());
}

TEST_CASE("weighty operations are computed for the selected elements only") {
  const ndarray x = linspace(1, 9, 64), m = x > 8.5;
  ndarray y = zeros({64});
  y[m] = power(x[m], x[m]) + power(x[m], 1.5);
  ndarray e = zeros({64});
  e[m] = read(power(x[m], x[m]) + power(x[m], 1.5));
  CHECK(numbers(y) == numbers(e));
}
