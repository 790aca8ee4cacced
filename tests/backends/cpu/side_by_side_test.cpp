// Work on many short things at once, beside the same work on one after the other: rows sorted in lanes, small matrices, rows
// gathered within a computation, copies to another order of axes, additions and marks by position.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "backends/cpu/scattered.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using test::host;
using test::same;
using test::scattered;

namespace {

/// Each row of x, sorted alone, has the place that it has among all.
void check_sorted_rows(const ndarray& x, bool descending) {
  const ndarray sorted = sort(x, 1, {.descending = descending}), order = argsort(x, 1, {.descending = descending});
  for (std::int64_t r = 0; r < x.shape(0); ++r) {
    CHECK(same(sorted(r), sort(x(r), 0, {.descending = descending})));
    CHECK(same(order(r), argsort(x(r), 0, {.descending = descending})));
  }
}

}  // namespace

TEST_CASE("side by side: sorted rows of every length and type") {
  for (const std::int64_t n : {2, 3, 5, 8, 10, 16, 17, 24, 31, 33, 40, 64, 65, 100, 127, 128, 129, 200, 255, 256, 257})
    for (const dtype t : {bool_, int8, uint16, int32, uint32, int64, uint64, float16, float32, float64}) {
      CAPTURE(n);
      CAPTURE(name(t));
      const ndarray x = scattered({35, n}, t);
      check_sorted_rows(x, false);
      check_sorted_rows(x, true);
    }
}

TEST_CASE("side by side: moments of rows have the bits of those of a row alone") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const dtype t : {float32, float64})
    for (const std::int64_t n : {1, 2, 5, 9, 16, 17, 31, 33, 63, 64, 65, 100, 128, 129, 200, 256, 257, 512, 513, 700})
      for (const std::int64_t rows : {3, 8, 35}) {
        CAPTURE(n);
        const ndarray x = scattered({rows, n}, t);
        x(1, n / 2) = nan;
        x(2, n / 3) = infinity;
        const ndarray of_rows = var(x, 1), of_parts = var(x(_, slice(0, n)) * 3, 1);
        for (std::int64_t r = 0; r < rows; ++r) {
          CHECK(same(of_rows(r), var(x(r))));
          CHECK(same(of_parts(r), var((x(r) * 3).copy())));
        }
      }
}

TEST_CASE("side by side: exponentials of numbers far below 0 beside others") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const ndarray x =
      tile(array({-1e9, 0.5, -infinity, -103.9, nan, -104.1, -87.5, -744.9, infinity, -745.2, -750.0, -1100.0},
                 {.device = host}),
           {30});
  for (const dtype t : {float32, float64}) {
    const ndarray y = x.astype(t), e = exp(y),
                  of_rows = exp(reshape(y, {6, 60}) - zeros({6, 1}, {.dtype = t, .device = host}));
    CHECK(same(e, ravel(of_rows)));
    for (std::int64_t k = 0; k < x.size(); ++k) {
      const double at = x(k).item<double>(), got = e(k).item<double>();
      const double least = t == float32 ? 1.5e-45 : 5e-324, should = std::exp(static_cast<double>(y(k).item<double>()));
      if (std::isnan(at)) CHECK(std::isnan(got));
      else if (std::isinf(should)) CHECK(got == should);
      else CHECK(std::abs(got - should) <= should * 1e-6 + least);
    }
  }
}

TEST_CASE("side by side: partitions of short rows") {
  for (const dtype t : {int16, float32, float64, int64})
    for (const std::int64_t n : {2, 10, 16, 100, 256, 257}) {
      const ndarray x = scattered({40, n}, t), parted = partition(x, n / 2), sorted = sort(x, 1);
      CHECK(same(parted(_, n / 2), sorted(_, n / 2)));
      CHECK(same(sort(parted, 1), sorted));
      CHECK(all(parted(_, slice(0, n / 2 + 1)) <= parted(_, slice(n / 2, n / 2 + 1))).item<bool>());
    }
}

TEST_CASE("side by side: rows with NaN, zeros of both signs, infinities and extremes among rows without") {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const dtype t : {float32, float64})
    for (const std::int64_t n : {3, 10, 40, 128, 250}) {
      const ndarray x = scattered({48, n}, t);
      x(slice(16, 32), 1) = nan;
      x(20, 2) = -nan;
      x(3, 0) = infinity;
      x(4, 1) = -infinity;
      x(33, slice(0, 2)) = array({0.0, -0.0}, {.device = host}).astype(t);
      x(40, slice(0, 2)) = array({-0.0, 0.0}, {.device = host}).astype(t);
      check_sorted_rows(x, false);
      check_sorted_rows(x, true);
    }
  const ndarray i = scattered({16, 9}, int64);
  i(2, 3) = std::numeric_limits<std::int64_t>::min();
  i(2, 4) = std::numeric_limits<std::int64_t>::max();
  check_sorted_rows(i, false);
  check_sorted_rows(i.astype(uint64), true);
}

TEST_CASE("side by side: rows gathered within a computation") {
  // Indices of 32 bits are converted within the kernel, which then reads element by element.
  const auto check = [](const ndarray& x, const ndarray& i) {
    const ndarray narrow = i.astype(int32).copy();
    eval(i, narrow);
    CHECK(same(x[i] + x[i] * 3, x[narrow] + x[narrow] * 3));
  };
  for (const std::int64_t columns : {1, 2, 3, 4, 5, 16, 33, 100, 127, 128, 129, 300, 1000})
    for (const std::int64_t n : {1, 2, 15, 40, 300}) {
      CAPTURE(columns);
      CAPTURE(n);
      const ndarray i = arange(n, {.dtype = int64, .device = host}) * 17 % 80 - 40;
      for (const dtype t : {uint8, float16, float32, complex128}) check(scattered({40, columns}, t), i);
    }
  const ndarray x = scattered({40, 30}, float32), i = arange(24, {.dtype = int64, .device = host}) * 7 % 40;
  check(flip(x, {0}), i);
  check(x["::2"], i % 20);
  check(x["..., ::2"], i);  // no rows in memory
  check(x, reshape(i, {4, 6}));
  check(x, repeat(i, 2)["::2"]);
  check(scattered({40, 5, 6}, float64), i);
  CHECK(same(take(x.reshape({8, 5, 30}), i % 5, 1) * 2, take(x.reshape({8, 5, 30}), (i % 5).astype(int32), 1) * 2));
  CHECK(same(x[i] + x[flip(i, {0})], (x + 0)[i] + (x + 0)[flip(i, {0})]));
  CHECK(same(x[i] * scattered({24, 1}, float32) + scattered({30}, float32),
             x[i.astype(int32)] * scattered({24, 1}, float32) + scattered({30}, float32)));
  // One row of each matrix.
  const ndarray which = reshape(i(slice(8)) % 5, {8, 1, 1}), matrices = reshape(x, {8, 5, 30});
  CHECK(same(take_along_axis(matrices, broadcast_to(which, {8, 1, 30}), 1) * 2,
             take_along_axis(matrices, broadcast_to(which.astype(int32), {8, 1, 30}), 1) * 2));
  for (const std::int64_t bad : {40, -41}) {
    const ndarray rows = x[array({std::int64_t{1}, bad}, {.device = host})] + 1;
    eval(rows);
    CHECK_THROWS_AS((void)max(rows).item<float>(), index_error);
  }
  const ndarray y = scattered({8, 32}, float32), before = (y + 0).copy();
  eval(before);
  y(_) = y[array({7, 6, 5, 4, 3, 2, 1, 0}, {.device = host})] + 1;
  CHECK(same(y, flip(before, {0}) + 1));
}

TEST_CASE("side by side: copies to another order of axes") {
  for (const dtype t : {bool_, int16, float16, float32, float64, complex128})
    for (const shape_t& shape : {shape_t{3, 5, 7}, {1, 130, 66}, {70, 3, 65}, {64, 64, 2}, {2, 129, 3}, {3, 1500, 2}}) {
      const ndarray x = scattered(shape, t);
      std::vector<std::int64_t> order = {0, 1, 2};
      do {
        const ndarray turned = transpose(x, {order[0], order[1], order[2]});
        // One element after the other, by flat positions.
        const ndarray places = transpose(reshape(arange(x.size(), {.dtype = int64, .device = host}), shape),
                                         {order[0], order[1], order[2]});
        const ndarray wanted = take(ravel(x), places + 0);
        CHECK(same(turned.copy(), wanted));
        CHECK(same(flip(turned, {1}).copy(), flip(wanted, {1})));
        CHECK(same(turned["::2"].copy(), wanted["::2"]));
        CHECK(same(turned["..., ::-2"].copy(), wanted["..., ::-2"]));
        const ndarray out = zeros({shape[0] + 2, shape[1], shape[2] * 2}, {.dtype = t, .device = host});
        const ndarray room =
            transpose(out(slice(1, shape[0] + 1), _, slice(0, shape[2] * 2, 2)), {order[0], order[1], order[2]});
        room(_) = wanted;
        CHECK(same(room, wanted));
        CHECK(count_nonzero(out).item<std::int64_t>() == count_nonzero(wanted).item<std::int64_t>());
      } while (std::next_permutation(order.begin(), order.end()));
    }
  const ndarray square = scattered({67, 67}, float32), before = (square + 0).copy();
  eval(before);
  square(_) = square.T();
  CHECK(same(square, before.T()));
}

TEST_CASE("side by side: many rows times a tiny matrix in either order") {
  for (const dtype t : {float32, float64, complex128})
    for (const auto& [inner, columns] : {std::pair{3, 3}, {3, 16}, {20, 5}, {2, 128}}) {
      const ndarray x = scattered({700, inner}, t), m = scattered({columns, inner}, t);
      const ndarray wanted = sum(expand_dims(x, 1) * m, 2), off = abs(matmul(x, m.T()) - wanted);
      CHECK(max(off / (abs(wanted) + 1)).item<double>() < (t == float32 ? 1e-3 : 1e-10));
      CHECK(same(matmul(x, m.T()), matmul(x, m.T().copy())));
    }
}

TEST_CASE("side by side: systems of every small order") {
  for (const dtype t : {float32, float64, complex64, complex128})
    for (std::int64_t n = 1; n <= 9; ++n) {
      CAPTURE(n);
      const ndarray a = scattered({50, n, n}, t) + 40 * eye(n, {.dtype = t, .device = host});
      const ndarray all = a + (is_complex(t) ? scattered({50, n, n}, float32) * std::complex<float>(0, 1)
                                             : zeros({}, {.device = host}));
      const ndarray m = all.astype(t)(_, _, slice(_, _, -1)).copy(), b = scattered({50, n, 3}, t);  // every pivot moves
      const ndarray x = linalg::solve(m, b);
      const double eps = t == float32 || t == complex64 ? 2e-4 : 1e-11;
      CHECK(max(abs(matmul(m, x) - b)).item<double>() < eps * 1000);
      const ndarray unit = matmul(m, linalg::inv(m)) - eye(n, {.dtype = t, .device = host});
      CHECK(max(abs(unit)).item<double>() < eps * 10);
      // By cofactors of the first row.
      if (n == 3) {
        const auto e = [&](int i, int j) { return m(_, i, j); };
        const ndarray det = e(0, 0) * (e(1, 1) * e(2, 2) - e(1, 2) * e(2, 1)) -
                            e(0, 1) * (e(1, 0) * e(2, 2) - e(1, 2) * e(2, 0)) +
                            e(0, 2) * (e(1, 0) * e(2, 1) - e(1, 1) * e(2, 0));
        CHECK(max(abs(linalg::det(m) / det - 1)).item<double>() < eps * 10);
      }
    }
  const ndarray singular = array({{1.0, 2.0}, {2.0, 4.0}}, {.device = host});
  CHECK(linalg::det(singular).item<double>() == 0);
  CHECK_THROWS_AS((void)linalg::inv(singular), linalg_error);
  CHECK_THROWS_AS((void)linalg::solve(zeros({3, 3}), ones({3})), linalg_error);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(linalg::det(array({{1.0, nan}, {2.0, 4.0}}, {.device = host})).item<double>()));
}

TEST_CASE("side by side: additions by position, in C order") {
  for (const dtype t : {float32, float64, complex64, complex128}) {
    const ndarray v = scattered({4000}, t) / 3, at = arange(4000, {.dtype = int64, .device = host}) * 31 % 77 - 38;
    const ndarray x = scattered({39}, t), all = (x + 0).copy();
    eval(all, v, at);
    add_at(x, at, v);
    for (std::int64_t k = 0; k < 4000; ++k) {
      const std::int64_t i = k * 31 % 77 - 38;
      const ndarray place = all(i < 0 ? i + 39 : i);
      place(ellipsis) = place + v(k);
      eval(all);
    }
    CHECK(same(x, all));
    const ndarray rows = zeros({5, 6}, {.dtype = t, .device = host}), other = rows.copy();
    add_at(rows["::2, 1:"], array({0, 2, 0, -1}, {.device = host}), reshape(v(slice(20)), {4, 5}));
    for (const auto& [to, from] : {std::pair{0, 0}, {4, 1}, {0, 2}, {4, 3}})
      other(to, slice(1, 6)) = other(to, slice(1, 6)) + v(slice(5 * from, 5 * from + 5));
    CHECK(same(rows, other));
    const ndarray kept = (x + 0).copy();
    eval(kept);
    CHECK_THROWS_AS(
        [&] {
          add_at(x, array({0, 39}, {.device = host}), 1);
          eval(x);
          (void)sum(abs(x)).item<double>();
        }(),
        index_error);
    CHECK(same(x, kept));
  }
}

TEST_CASE("side by side: elements of sets of integers near each other, and far apart") {
  const auto check = [](const ndarray& x, const ndarray& test) {
    const ndarray each = any(expand_dims(ravel(x), 1) == expand_dims(ravel(test), 0), 1).reshape(x.shape());
    CHECK(same(isin(x, test), each));
    CHECK(same(isin(x, test, {.invert = true}), ~each));
  };
  for (const dtype t : {bool_, int8, uint8, int16, uint32, int64, uint64, float32}) {
    const ndarray x = scattered({40, 25}, t);
    check(x, scattered({30}, t)["::3"]);
    check(x, x(3));
    check(x, x(0, slice(1)));
  }
  const ndarray far =
      array({std::numeric_limits<std::int64_t>::min(), std::int64_t{0}, std::numeric_limits<std::int64_t>::max()},
            {.device = host});
  check(far, far);
  check(far, far(slice(2)));
  check(far, array({std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}}, {.device = host}));
  check(array({5, 6, 7, 8}, {.device = host}), far(slice(0, 1)));
  const ndarray top = array({~std::uint64_t{0}, ~std::uint64_t{0} - 3}, {.device = host});
  check(top, top(slice(1)));
  check(top.astype(int64), top.astype(int64)(slice(1)));
}
