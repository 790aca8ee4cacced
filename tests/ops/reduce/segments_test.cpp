// Reductions by functions of two elements, and of segments.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "sinter/segments.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

template <class T, class F>
T folded(const std::vector<T>& x, F f) {
  return std::accumulate(x.begin() + 1, x.end(), x[0], f);
}

}  // namespace

TEST_CASE("reductions by functions equal loops, for every length and dtype") {
  for (std::int64_t n = 1; n < 40; ++n) {
    std::vector<std::int64_t> x;
    for (std::int64_t k = 0; k < n; ++k) x.push_back((k * 7919 + 104729 * (k + 3)) % 1021 * (k % 3 ? 6 : -6));
    const ndarray a = array(x);
    using T = std::int64_t;
    CHECK(bitwise_and_reduce(a).item<T>() == folded(x, [](T p, T q) { return p & q; }));
    CHECK(bitwise_or_reduce(a).item<T>() == folded(x, [](T p, T q) { return p | q; }));
    CHECK(bitwise_xor_reduce(a).item<T>() == folded(x, [](T p, T q) { return p ^ q; }));
    if (n > 1) CHECK(gcd_reduce(a).item<T>() == folded(x, [](T p, T q) { return std::gcd(p, q); }));
    int odd = 0;
    for (const T v : x) odd ^= v != 0;
    CHECK(logical_xor_reduce(a).item<bool>() == bool(odd));
  }
  for (const dtype t : {bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64}) {
    const ndarray x = array({{1, 0, 1}, {1, 1, 0}}).astype(t);
    CHECK(bitwise_xor_reduce(x).dtype() == t);
    CHECK(array_equal(bitwise_xor_reduce(x), array({0, 1, 1}).astype(t)));
    CHECK(array_equal(bitwise_and_reduce(x, 1), array({0, 0}).astype(t)));
    CHECK(array_equal(bitwise_or_reduce(x, _, {.keepdims = true}), array({{1}}).astype(t)));
    CHECK(array_equal(bitwise_and_reduce(zeros({0, 2}, t)), invert(zeros({2}, t))));
  }
  CHECK(lcm_reduce(arange(1, 11)).item<int>() == 2520);
  CHECK(bitwise_xor_reduce(zeros({3, 0}, int32)).shape() == shape_t{0});
  CHECK(gcd_reduce(zeros({0}, int32)).item<int>() == 0);
  CHECK_THROWS_AS(lcm_reduce(zeros({0}, int32)), value_error);
  CHECK_THROWS_AS(bitwise_or_reduce(ones({3})), dtype_error);
  CHECK_THROWS_AS(gcd_reduce(ones({3}, bool_)), dtype_error);
  CHECK_THROWS_AS(bitwise_or_reduce(arange(3), 1), index_error);
  const ndarray one = arange(3).reshape(1, 3).copy(), same = bitwise_xor_reduce(one);
  same(0) = 9;  // the result is no view, also of one row
  CHECK(one(0, 0).item<int>() == 0);
  // Pending, transposed and sliced operands.
  const ndarray grid = (arange(60).reshape(5, 12) * 37 % 64)(_, slice(_, _, 2)).T();
  CHECK(array_equal(bitwise_xor_reduce(grid, 1), bitwise_xor_reduce(grid.copy(), 1)));
  CHECK(array_equal(bitwise_xor_reduce(grid, 1), grid(_, 0) ^ grid(_, 1) ^ grid(_, 2) ^ grid(_, 3) ^ grid(_, 4)));
}

TEST_CASE("segments between indices, also those that do not ascend") {
  const ndarray x = arange(8);
  CHECK(array_equal(add_reduceat(x, array({0, 4, 1, 5, 2, 6, 3, 7})), array({6, 4, 10, 5, 14, 6, 18, 7})));
  CHECK(array_equal(add_reduceat(x, array({0, 3, 3, 5})), array({3, 3, 7, 18})));
  CHECK(array_equal(maximum_reduceat(-x, array({0, 3, 2})), array({0, -3, -2})));
  CHECK(array_equal(minimum_reduceat(-x, array({0, 3, 2})), array({-2, -3, -7})));
  const ndarray table = arange(12).reshape(3, 4).astype(float32);
  CHECK(array_equal(add_reduceat(table, array({0, 2}), 1), array({{1, 5}, {9, 13}, {17, 21}}).astype(float32)));
  CHECK(array_equal(add_reduceat(table.T(), array({0, 2}), 0), array({{1, 9, 17}, {5, 13, 21}}).astype(float32)));
  const ndarray gaps = array({1.0, NAN, 3.0, 4.0});
  CHECK(array_equal(maximum_reduceat(gaps, array({0, 2})), array({NAN, 4.0}), true));
  CHECK(add_reduceat(ones({3}, bool_), array({0})).dtype() == int64);
  CHECK(add_reduceat(ones({3}, uint8) * 200, array({0})).item<int>() == 600);
  CHECK(add_reduceat(x, zeros({0}, int64)).shape() == shape_t{0});
  CHECK_THROWS_AS(add_reduceat(x, array({8})), index_error);
  CHECK_THROWS_AS(add_reduceat(x, array({-1})), index_error);
  CHECK_THROWS_AS(add_reduceat(x, array({0.5})), dtype_error);
  CHECK_THROWS_AS(add_reduceat(x, array(1)), shape_error);
  CHECK_THROWS_AS(maximum_reduceat(table, array({0}), 2), index_error);
}

TEST_CASE("split at an array of indices") {
  const ndarray x = arange(10);
  const std::vector<ndarray> parts = split(x, array({2, 5}));
  CHECK(parts.size() == 3);
  CHECK(array_equal(parts[1], array({2, 3, 4})));
  CHECK(array_split(x.reshape(2, 5), array({1}), 1)[1].shape() == shape_t{2, 4});
  CHECK_THROWS_AS(split(x, array({2.5})), dtype_error);
  CHECK_THROWS_AS(split(x, array({{2}})), shape_error);
}
