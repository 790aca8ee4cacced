// Reductions along the first axis of few columns, whose neighbouring elements share vectors, beside the same along rows.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// Few different values, so that the first of several equal ones is asked for.
ndarray numbers(std::int64_t n, std::int64_t width, dtype type) {
  const ndarray k = arange(n * width);
  ndarray x =
      ((k * 7919 + k / 13) % 23 - (is_bool(type) || type == uint8 || type == uint64 ? 0 : 11)).reshape({n, width});
  return is_bool(type) ? (x == 3).copy() : x.astype(type).copy();
}

bool same(const ndarray& a, const ndarray& b) {
  return array_equal(a, b, {.equal_nan = true}) && a.dtype() == b.dtype();
}

void check(const ndarray& x) {
  INFO("shape ", to_string(x.shape()), ", ", std::string(name(x.dtype())));
  ndarray rows = x.T().copy();
  eval(rows);
  CHECK(same(min(x, 0), min(rows, 1)));
  CHECK(same(max(x, 0), max(rows, 1)));
  CHECK(same(argmin(x, 0), argmin(rows, 1)));
  CHECK(same(argmax(x, 0), argmax(rows, 1)));
  CHECK(same(any(x, 0), any(rows, 1)));
  CHECK(same(all(x, 0), all(rows, 1)));
  CHECK(same(count_nonzero(x, axes{0}), count_nonzero(rows, axes{1})));
  if (!is_inexact(x.dtype())) CHECK(same(sum(x, 0), sum(rows, 1)));
  if (is_bool(x.dtype())) return;
  // Computed elements, and several reductions of one kernel, one of which has an order.
  CHECK(same(argmax(x * 3 + 1, 0), argmax(rows * 3 + 1, 1)));
  const ndarray low = min(x + x, 0), total = sum((x + x).astype(float64), 0);
  CHECK(same(low + total, min(rows + rows, 1) + sum((rows + rows).astype(float64), 1)));
}

}  // namespace

TEST_CASE("few columns: extrema, their places, truth, counts and sums of whole numbers are those of rows") {
  for (const dtype type : {bool_, int8, uint8, int16, int32, int64, uint64, float16, float32, float64})
    for (const std::int64_t width : {1, 2, 3, 5, 8, 9, 17, 100})
      for (const std::int64_t n : {1, 2, 15, 64, 85, 129, 1000}) check(numbers(n, width, type));
  // Several chunks, and the last one short.
  for (const dtype type : {int8, float32, float64}) check(numbers((1 << 16) * 2 + 77, 3, type));
}

TEST_CASE("few columns: NaN wins wherever it stands, and the first of several") {
  for (const std::int64_t at : {0, 1, 63, 64, 199, 3999})
    for (const std::int64_t width : {2, 3, 7}) {
      ndarray x = numbers(4000, width, float32);
      x(at, width - 1) = std::nan("");
      x(3999, width - 1) = std::nan("");
      check(x);
      CHECK(argmin(x, 0)(width - 1).item<std::int64_t>() == at);
    }
}

TEST_CASE("few columns: nothing beats the identity, so the first is the place") {
  const ndarray up = full({500, 3}, std::numeric_limits<double>::infinity());
  CHECK(same(argmin(up, 0), zeros({3}, int64)));
  CHECK(same(argmax(-up, 0), zeros({3}, int64)));
  ndarray late = up.copy();
  late(437, 1) = 1.0;
  CHECK(argmin(late, 0)(1).item<std::int64_t>() == 437);
}

TEST_CASE("few columns: several images, each with columns of its own") {
  const ndarray x = numbers(40 * 300, 3, float32).reshape({40, 300, 3});
  ndarray rows = transpose(x, {0, 2, 1}).copy();
  eval(rows);
  CHECK(same(argmax(x, 1), argmax(rows, 2)));
  CHECK(same(max(x, 1), max(rows, 2)));
  CHECK(same(any(x > 10, 1), any(rows > 10, 2)));
}
