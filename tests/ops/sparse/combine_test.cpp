// Sums, products and comparisons of two sparse arrays, entries that are left out, columns by index and joins, against dense
// arrays: over dtypes, index dtypes and shapes with empty rows.
#include "sinter/sparse.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include "sinter/sinter.hpp"
#include "support/kernel_test.hpp"

namespace sn = sinter;
namespace sp = sn::sparse;
using namespace sn::idx;

namespace {

/// Integers of [-2, 2], many of them 0, some rows empty.
sn::ndarray numbers(std::int64_t rows, std::int64_t columns, std::int64_t seed, sn::dtype type) {
  const sn::ndarray k = sn::arange(rows * columns) * (7919 + 2 * seed) % 10007 * 31 % 101;
  const sn::ndarray row = sn::floor_divide(sn::arange(rows * columns), columns);
  const sn::ndarray x = sn::where((k < 15 + 10 * seed) & (row % 7 != seed), k % 5 - 2, 0);
  return x.reshape({rows, columns}).astype(type);
}
void check_same(const sp::sparse_array& a, const sn::ndarray& dense) {
  CHECK(a.has_canonical_format());
  CHECK(a.dtype() == dense.dtype());
  CHECK(a.nnz() == sn::count_nonzero(dense).item<std::int64_t>());
  CHECK(sn::array_equal(a.toarray(), dense));
  CHECK(a.indptr()(-1).item<std::int64_t>() == a.nnz());
}

}  // namespace

TEST_CASE("sparse: operations on two arrays are those of dense ones") {
  for (const sn::dtype type : {sn::float32, sn::float64, sn::int32, sn::int64, sn::int16, sn::complex128})
    for (const sn::dtype index : {sn::int32, sn::int64})
      for (const std::int64_t rows : {1, 40, 3000}) {
        CAPTURE(sn::name(type));
        CAPTURE(rows);
        const sn::ndarray x = numbers(rows, 90, 1, type), y = numbers(rows, 90, 2, type);
        const sp::sparse_array a = sp::csr_array(x, {.index_dtype = index}), b = sp::csr_array(y);
        check_same(a + b, x + y);
        check_same(a - b, x - y);
        check_same(b - a, y - x);
        check_same(a * b, x * y);
        check_same(b * a, y * x);
        check_same(sp::csc_array(a) + sp::csc_array(b), x + y);
        if (sn::is_complex(type)) continue;
        check_same(a.maximum(b), sn::maximum(x, y));
        check_same(a.minimum(b), sn::minimum(x, y));
        check_same(a != b, x != y);
        check_same(a < b, x < y);
        check_same(a > b, x > y);
        check_same(a > 1, x > 1);
        check_same(sp::tril(a, 3), sn::tril(x, 3));
      }
}

TEST_CASE("sparse: operations on arrays some or all of whose rows have the same places") {
  for (const std::int64_t rows : {1, 40, 3000}) {
    CAPTURE(rows);
    const sn::ndarray x = numbers(rows, 90, 1, sn::float64);
    // Parts of their own, so that nothing tells beforehand that places are the same.
    const auto operated = [&](const sn::ndarray& y) {
      const sp::sparse_array a = sp::csr_array(x), b = sp::csr_array(y);
      check_same(a + b, x + y);
      check_same(b - a, y - x);
      check_same(a != b, x != y);
      check_same(a > b, x > y);
      check_same(a.maximum(b), sn::maximum(x, y));
    };
    operated(-x);
    operated(3 * x);
    operated(sn::where(x == 1, 1.0, -x));
    operated(sn::roll(x, 1, 1));  // as many entries in a row
    operated(sn::where(sn::arange(rows)(_, newaxis) % 2 == 0, 2 * x, numbers(rows, 90, 2, sn::float64)));
  }
}

TEST_CASE("sparse: sums of rows of none to twelve entries are those of their terms in order") {
  const sn::device_guard on(sn::cpu);  // lanes of a GPU share rows
  for (const sn::dtype type : {sn::float32, sn::float64})
    for (const sn::dtype index : {sn::int32, sn::int64}) {
      const std::int64_t rows = 200, width = 13;
      std::vector<std::int64_t> ends{0}, columns;
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t count = r * 5 % width;
        for (std::int64_t k = 0; k < count; ++k) columns.push_back((r + 17 * k) % 61);
        ends.push_back(static_cast<std::int64_t>(columns.size()));
      }
      const sn::ndarray data = sn::sin(sn::arange(static_cast<std::int64_t>(columns.size()))).astype(type),
                        x = sn::cos(sn::arange(61) * 0.7).astype(type);
      const sp::sparse_array a =
          sp::csr_array(data, sn::array(columns).astype(index), sn::array(ends).astype(index), sn::shape_t{rows, 61});
      const std::vector<double> v = data.to_vector<double>(), of_x = x.to_vector<double>(),
                                found = a.dot(x).to_vector<double>();
      const auto rounded = [&](double z) { return type == sn::float32 ? static_cast<float>(z) : z; };
      for (std::size_t r = 0; r < found.size(); ++r) {
        const auto first = static_cast<std::size_t>(ends[r]), count = static_cast<std::size_t>(ends[r + 1]) - first;
        const auto term = [&](std::size_t k) {
          return rounded(v[first + k] * of_x[static_cast<std::size_t>(columns[first + k])]);
        };
        double sum = 0;
        std::size_t k = 0;
        if (count >= 8) {  // four sums side by side
          double side[4] = {};
          for (; k + 4 <= count; k += 4)
            for (std::size_t s = 0; s < 4; ++s) side[s] = rounded(side[s] + term(k + s));
          sum = rounded(rounded(side[0] + side[1]) + rounded(side[2] + side[3]));
        }
        for (; k < count; ++k) sum = rounded(sum + term(k));
        CHECK(found[r] == sum);
      }
    }
}

TEST_CASE("sparse: NaN, infinity and overflow in operations on two arrays") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const sn::ndarray x = sn::array({nan, 1.0, 0.0, inf, 0.0, -1.0}).reshape({2, 3}),
                    y = sn::array({2.0, nan, nan, -inf, -0.0, 0.0}).reshape({2, 3});
  const sp::sparse_array a = sp::csr_array(x), b = sp::csr_array(y);
  const auto same = [](const sp::sparse_array& s, const sn::ndarray& d) {
    CHECK(sn::array_equal(s.toarray(), d, true));
  };
  same(a + b, x + y);
  same(a.maximum(b), sn::maximum(x, y));
  same(a.minimum(b), sn::minimum(x, y));
  CHECK(sn::array_equal((a != b).toarray(), x != y));
  CHECK(sn::array_equal((a < b).toarray(), x < y));
  const sn::ndarray most = sn::full({1, 2}, std::numeric_limits<std::int32_t>::max(), sn::int32);
  CHECK(sn::array_equal((sp::csr_array(most) + sp::csr_array(sn::ones_like(most))).toarray(), most + 1));
}

TEST_CASE("sparse: columns by index and joins are those of dense arrays") {
  for (const std::int64_t rows : {1, 40, 3000}) {
    CAPTURE(rows);
    const sn::ndarray x = numbers(rows, 90, 1, sn::float64), y = numbers(rows, 50, 2, sn::float64);
    const sp::sparse_array a = sp::csr_array(x), b = sp::csr_array(y);
    const sn::ndarray turned = sn::arange(44) * 7 % 90, twice = sn::array({3, 3, 89, 0});
    CHECK(sn::array_equal(a(_, turned).toarray(), sn::take(x, turned, 1)));
    CHECK(sn::array_equal(a(_, twice).toarray(), sn::take(x, twice, 1)));
    check_same(a(_, sn::arange(5, 60)), x(_, slice(5, 60)));
    check_same(a(_, slice(5, 60)), x(_, slice(5, 60)));
    check_same(sp::hstack({a, b, a}), sn::concatenate({x, y, x}, 1));
    check_same(sp::hstack({a, sp::csc_array(b)}), sn::concatenate({x, y}, 1));
    check_same(sp::hstack({a, b.astype(sn::float32)}), sn::concatenate({x, y.astype(sn::float32)}, 1));
    const sn::ndarray z = sn::zeros({rows, 90});
    check_same(sp::block_array({{a, b}, {sp::sparse_array(), b}}),
               sn::concatenate({sn::concatenate({x, y}, 1), sn::concatenate({z, y}, 1)}, 0));
  }
}

TEST_CASE("sparse: coo in order and out of order, with entries of equal place") {
  const sn::ndarray row = sn::array({0, 0, 2, 2, 2, 5}), col = sn::array({3, 1, 0, 0, 4, 2}),
                    data = sn::array({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}), back = sn::arange(5, -1, -1);
  const sn::shape_t shape{7, 5};
  const sp::sparse_array a = sp::csr_from_triplets(data, row, col, shape),
                         b = sp::csr_from_triplets(sn::take(data, back), sn::take(row, back), sn::take(col, back),
                                                   shape);
  sn::ndarray dense = sn::zeros({7, 5});
  dense(0, 3) = 1.0, dense(0, 1) = 2.0, dense(2, 0) = 7.0, dense(2, 4) = 5.0, dense(5, 2) = 6.0;
  check_same(a, dense);
  check_same(b, dense);
  check_same(sp::coo_array(data, row, col, shape).tocsc(), dense);
}
