// Sparse arrays: other shapes, extremes without NaN and with numbers or dense arrays, dtypes of sums, comparisons that are dense.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "sinter/sinter.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using sparse::sparse_array;

/// (3, 4), with a place that is there twice, a stored zero, an empty row.
sparse_array some(sparse::format f) {
  const ndarray data = array({1.0, 2.0, 3.0, 0.0, -4.0}), row = array({0, 0, 0, 2, 2}), col = array({3, 1, 3, 0, 2});
  return sparse::coo_array(data, row, col, shape_t{3, 4}).asformat(f);
}
constexpr sparse::format formats[] = {sparse::format::csr, sparse::format::csc, sparse::format::coo};

}  // namespace

TEST_CASE("sparse: reshape keeps the elements in C order, and the format") {
  for (const sparse::format f : formats) {
    const sparse_array a = some(f);
    for (const shape_t& shape : {shape_t{4, 3}, shape_t{1, 12}, shape_t{12, 1}, shape_t{2, -1}, shape_t{-1, 6}}) {
      const sparse_array r = a.reshape(shape);
      CHECK(array_equal(r.toarray(), a.toarray().reshape(shape)));
      CHECK(r.format() == f);
      CHECK(array_equal(matmul(r, ones(r.shape(1))), sum(a.toarray().reshape(shape), 1)));
    }
    CHECK_THROWS_AS((void)a.reshape({5, 2}), shape_error);
    CHECK_THROWS_AS((void)a.reshape({-1, -1}), shape_error);
    CHECK_THROWS_AS((void)a.reshape({-1, 5}), shape_error);
    CHECK_THROWS_AS((void)a.reshape({12}), shape_error);
  }
  // Extents whose numbers need 64 bits.
  const std::int64_t wide = std::int64_t{1} << 33;
  sparse_array one = some(sparse::format::coo).reshape({1, 12});
  one.resize({1, wide});
  const sparse_array column = one.reshape({wide, 1}).tocsc();
  CHECK(column.index_dtype() == int64);
  CHECK(column.at(10, 0).item<double>() == -4);
  CHECK(column.at(wide - 1, 0).item<double>() == 0);
}

TEST_CASE("sparse: resize drops and adds places, of this array alone") {
  for (const sparse::format f : formats) {
    const sparse_array a = some(f);
    const ndarray before = a.toarray();
    for (const shape_t& shape : {shape_t{2, 4}, shape_t{3, 2}, shape_t{5, 7}, shape_t{1, 9}, shape_t{0, 3}}) {
      sparse_array r = a;
      r.resize(shape);
      ndarray expected = zeros(shape);
      const std::int64_t m = std::min<std::int64_t>(3, shape[0]), n = std::min<std::int64_t>(4, shape[1]);
      if (m > 0) expected(slice(m), slice(n)) = before(slice(m), slice(n));
      CHECK(array_equal(r.toarray(), expected));
      CHECK(r.format() == f);
      CHECK(array_equal(r.sum(0), sum(expected, 0)));
    }
    CHECK(array_equal(a.toarray(), before));
    sparse_array r = a;
    CHECK_THROWS_AS(r.resize({-1, 3}), shape_error);
    CHECK_THROWS_AS(r.resize({3}), shape_error);
  }
}

TEST_CASE("sparse: extremes of what is not NaN") {
  const double nan = std::nan("");
  const ndarray d = array({{nan, 2.0, 0.0}, {nan, nan, nan}, {-1.0, nan, -3.0}, {nan, 0.0, nan}});
  for (const sparse::format f : formats) {
    // Row 2 and row 1 are stored in full, with NaN.
    const sparse_array a = sparse::coo_array(d).asformat(f);
    CHECK(array_equal(a.nanmax(1), array({2.0, nan, -1.0, 0.0}), true));
    CHECK(array_equal(a.nanmin(1), array({0.0, nan, -3.0, 0.0}), true));
    CHECK(array_equal(a.nanmax(0), array({-1.0, 2.0, 0.0}), true));
    CHECK(a.nanmin().item<double>() == -3);
    CHECK(std::isnan(a.max().item<double>()));
  }
  const sparse_array whole = sparse::csr_array(array({{0, 5}, {-2, 0}}));
  CHECK(array_equal(whole.nanmax(1), array({5, 0})));
  CHECK_THROWS_AS((void)sparse::csr_array(shape_t{0, 3}).nanmin(), value_error);
  CHECK_THROWS_AS((void)sparse::csr_array(ones({2, 2}).astype(complex64)).nanmin(), dtype_error);
}

TEST_CASE("sparse: extremes with numbers and dense arrays") {
  for (const sparse::format f : formats) {
    const sparse_array a = some(f);
    const ndarray d = a.toarray();
    CHECK(array_equal(maximum(a, -1).toarray(), maximum(d, -1)));
    CHECK(array_equal(minimum(a, 2.5).toarray(), minimum(d, 2.5)));
    CHECK(maximum(a, 0).nnz() == 2);
    CHECK_THROWS_AS((void)maximum(a, 1), value_error);
    CHECK_THROWS_AS((void)minimum(a, -1), value_error);
    CHECK_THROWS_AS((void)maximum(a, std::nan("")), value_error);
    const ndarray x = arange(4.0) - 2;
    CHECK(array_equal(maximum(a, x), maximum(d, x)));
    CHECK(array_equal(minimum(a, x), minimum(d, x)));
  }
}

TEST_CASE("sparse: dtypes of sums, means and powers") {
  const sparse_array a = some(sparse::format::csc).astype(int8);
  CHECK(a.sum(0).dtype() == int64);
  CHECK(a.sum(0, {.dtype = float32}).dtype() == float32);
  CHECK(array_equal(a.sum(1, {.dtype = int16}), array({6, 0, -4}).astype(int16)));
  CHECK(a.sum(std::nullopt, {.dtype = complex64}).dtype() == complex64);
  CHECK(a.mean(1, {.dtype = float32}).dtype() == float32);
  CHECK(a.mean(1).dtype() == float64);
  CHECK(array_equal(a.mean(1, {.dtype = float64}), array({1.5, 0.0, -1.0})));
  CHECK(a.power(2).dtype() == int8);
  CHECK(a.power(3, {.dtype = int64}).dtype() == int64);
  CHECK(array_equal(power(a, 3, {.dtype = int64}).toarray()(0), array({0, 8, 0, 64})));
  // Functions that give float16 of dense arrays of narrow dtypes.
  for (const dtype narrow : {bool_, int8, uint8}) {
    const sparse_array roots = sparse::sqrt(sparse::abs(a).astype(narrow));
    CHECK(roots.dtype() == float32);
    CHECK(matmul(roots, ones({4})).dtype() == float64);
  }
}

TEST_CASE("sparse: diagonals outside of a matrix are empty, and cannot be written") {
  for (const auto f : {sparse::format::csr, sparse::format::csc, sparse::format::coo})
    for (const std::int64_t k :
         {std::int64_t{4}, std::int64_t{-3}, std::int64_t{7}, std::numeric_limits<std::int64_t>::min()}) {
      sparse_array a = some(f);
      CHECK(a.diagonal(k).shape() == shape_t{0});
      CHECK(a.trace(k).item<double>() == 0);
      CHECK_THROWS_AS(a.setdiag(1, k), value_error);
    }
  CHECK(sparse::csr_array(shape_t{0, 3}).diagonal(9).size() == 0);
}

TEST_CASE("sparse: comparisons that are dense") {
  const sparse_array a = some(sparse::format::csr), b = a.tocsc() * 2;
  const ndarray d = a.toarray(), e = b.toarray(), x = arange(4.0) - 2;
  CHECK(array_equal(a == b, d == e));
  CHECK(array_equal(a <= b, d <= e));
  CHECK(array_equal(a >= b, d >= e));
  CHECK(array_equal(a == x, d == x));
  CHECK(array_equal(x == a, d == x));
  CHECK(array_equal(a != x, d != x));
  CHECK(array_equal(x != a, d != x));
  CHECK(array_equal(a < x, d < x));
  CHECK(array_equal(x < a, x < d));
  CHECK(array_equal(a <= x, d <= x));
  CHECK(array_equal(x <= a, x <= d));
  CHECK(array_equal(a > x, d > x));
  CHECK(array_equal(x > a, x > d));
  CHECK(array_equal(a >= x, d >= x));
  CHECK(array_equal(x >= a, x >= d));
  const sparse_array other = sparse::eye_array(4);
  CHECK_THROWS_AS((void)(a == other), shape_error);
  CHECK_THROWS_AS((void)(a <= other), shape_error);
  CHECK_THROWS_AS((void)(a >= other), shape_error);
  CHECK_THROWS_AS((void)(a < ones(3)), shape_error);
}

TEST_CASE("sparse: sorted copies, triangles in a format, sums of Kronecker products, powers, bands") {
  namespace sl = sparse::linalg;
  const sparse_array a = sparse::csr_array(array({1.0, 2.0, 3.0}), array({2, 0, 1}), array({0, 2, 3}), shape_t{2, 3});
  CHECK(array_equal(a.sorted_indices().indices(), array({0, 2, 1})));
  CHECK(array_equal(a.indices(), array({2, 0, 1})));
  CHECK(a.size() == 3);
  CHECK(sparse::tril(a, 0, sparse::format::coo).format() == sparse::format::coo);
  CHECK(sparse::triu(a, 0, sparse::format::csc).format() == sparse::format::csc);
  CHECK(sparse::triu(a).format() == sparse::format::csr);
  const sparse_array two = sparse::csr_array(array({{1, 2}, {0, 3}})),
                     three = sparse::diags_array({array({1.5, 2.5, 3.5})});
  const sparse_array sum = sparse::kronsum(two, three, sparse::format::csc);
  CHECK(sum.format() == sparse::format::csc);
  CHECK(array_equal(sum.toarray()(0), array({2.5, 2.0, 0.0, 0.0, 0.0, 0.0})));
  CHECK(array_equal(sum.diagonal(), array({2.5, 4.5, 3.5, 5.5, 4.5, 6.5})));
  CHECK_THROWS_AS((void)sparse::kronsum(a, two), shape_error);
  CHECK(array_equal(sl::matrix_power(two, 0).toarray(), array({{1, 0}, {0, 1}})));
  CHECK(array_equal(sl::matrix_power(two.tocoo(), 5).toarray(), array({{1, 242}, {0, 243}})));
  CHECK_THROWS_AS((void)sl::matrix_power(two, -1), value_error);
  CHECK_THROWS_AS((void)sl::matrix_power(a, 2), shape_error);
  CHECK(sl::spbandwidth(a) == std::pair<std::int64_t, std::int64_t>(0, 2));
  CHECK(sl::spbandwidth(sparse::csr_array(shape_t{3, 3})) == std::pair<std::int64_t, std::int64_t>(0, 0));
  CHECK(sl::is_sptriangular(two) == std::pair(false, true));
  CHECK(sl::is_sptriangular(two.T()) == std::pair(true, false));
  CHECK(sl::is_sptriangular(sparse::eye_array(3)) == std::pair(true, true));
}

TEST_CASE("sparse: parts that another array has given out need no check, what differs from them does") {
  const sparse_array a = some(sparse::format::csr), t = some(sparse::format::csc);
  for (const sparse_array& from : {a, t}) {
    const bool rows = from.format() == sparse::format::csr;
    const auto made = [&](const ndarray& d, const ndarray& i, const ndarray& p, const shape_t& shape) {
      return rows ? sparse::csr_array(d, i, p, shape) : sparse::csc_array(d, i, p, shape);
    };
    const ndarray i = from.indices(), p = from.indptr();
    const sparse_array squares = made(square(from.data()), i, p, from.shape());
    CHECK(array_equal(squares.power(1).sum(0), from.with_data(square(from.data())).sum(0)));
    CHECK(squares.has_sorted_indices() == from.has_sorted_indices());
    CHECK(squares.format() == from.format());
    // The same parts as the other format, and in a wider array.
    const shape_t other{from.shape(1), from.shape(0)};
    const sparse_array turned =
        rows ? sparse::csc_array(from.data(), i, p, other) : sparse::csr_array(from.data(), i, p, other);
    CHECK(array_equal(turned.toarray(), from.toarray().T()));
    const shape_t wide = rows ? shape_t{3, 9} : shape_t{9, 4};
    CHECK(made(from.data(), i, p, wide).shape() == wide);
    CHECK(made(from.data(), i, p, wide).index_dtype() == from.index_dtype());
    // A narrower one, a shape of other rows, other ends, indices that were changed since.
    const shape_t narrow = rows ? shape_t{3, 3} : shape_t{2, 4};
    CHECK_THROWS_AS((void)made(from.data(), i, p, narrow), index_error);
    CHECK_THROWS_AS((void)made(from.data(), i, p, rows ? shape_t{4, 4} : shape_t{3, 5}), shape_error);
    CHECK_THROWS_AS((void)made(from.data()(slice(1, _)), i, p, from.shape()), shape_error);
    ndarray changed = from.indices(), ends = from.indptr();
    changed(1) = 77;
    CHECK_THROWS_AS((void)made(from.data(), changed, p, from.shape()), index_error);
    ends(1) = 5, ends(2) = 4;
    CHECK_THROWS_AS((void)made(from.data(), i, ends, from.shape()), value_error);
    CHECK(array_equal(made(from.data(), from.indices(), from.indptr(), from.shape()).toarray(), from.toarray()));
  }
  // The array that gave them out is gone.
  ndarray i, p;
  {
    const sparse_array short_lived = sparse::csr_array(ones({2, 2}));
    i = short_lived.indices(), p = short_lived.indptr();
  }
  CHECK(array_equal(sparse::csr_array(ones({4}), i, p, shape_t{2, 2}).toarray(), ones({2, 2})));
  i(0) = -1;
  CHECK_THROWS_AS((void)sparse::csr_array(ones({4}), i, p, shape_t{2, 2}), index_error);
}
