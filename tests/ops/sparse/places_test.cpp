// Places of sparse arrays as the host's loops read and write them: elements, extremes, dense arrays, diagonals, wide products, and
// what arrays of the same places know of them.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/hooks.hpp"
#include "sinter/sinter.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"
#include "support/kernel_test.hpp"

namespace sn = sinter;
namespace sp = sn::sparse;
using namespace sn::idx;

namespace {

/// Whole numbers of [-4, 4], many of them 0, rows of none to all entries.
sn::ndarray whole_numbers(std::int64_t rows, std::int64_t columns, std::int64_t seed, sn::dtype type) {
  const sn::ndarray k = sn::arange(rows * columns) * (7919 + 2 * seed) % 10007 * 31 % 101;
  const sn::ndarray row = sn::floor_divide(sn::arange(rows * columns), columns);
  return sn::where(k < row * 37 % 102, k % 9 - 4, 0).reshape({rows, columns}).astype(type);
}
std::vector<std::uint8_t> bytes_of(const sn::ndarray& x) {
  if (x.size() == 0) return {};
  return (x.dtype() == sn::bool_ ? x.astype(sn::uint8) : x.copy().ravel().view(sn::uint8)).to_vector<std::uint8_t>();
}
bool same_bits(const sn::ndarray& a, const sn::ndarray& b) {
  return a.shape() == b.shape() && bytes_of(a) == bytes_of(b);
}

/// Calls f with one, two and seven threads, and requires the same bits of what it returns.
template <class F>
sn::ndarray of_any_threads(const F& f) {
  sn::ndarray first;
  for (const int threads : {1, 2, 7}) {
    sn::runtime::set_thread_count(threads);
    const sn::ndarray x = f().copy();
    sn::eval(x);
    if (!first.defined()) first = x;
    CAPTURE(threads);
    CHECK(same_bits(first, x));
  }
  sn::runtime::set_thread_count(0);
  return first;
}

}  // namespace

TEST_CASE("sparse: the place of an extreme element of everything is that of the dense array") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const sn::dtype type : {sn::float64, sn::float32, sn::int64, sn::int8, sn::bool_})
    for (const sn::dtype index : {sn::int32, sn::int64})
      for (const std::int64_t rows : {1, 3, 90}) {
        CAPTURE(sn::name(type));
        CAPTURE(rows);
        const sn::ndarray x = whole_numbers(rows, 70, 1, type);
        const auto check = [&](const sn::ndarray& dense) {
          for (const sp::sparse_array& a :
               {sp::csr_array(dense, {.index_dtype = index}), sp::csc_array(dense), sp::coo_array(dense)}) {
            CHECK(sn::array_equal(a.argmax(), sn::argmax(dense)));
            CHECK(sn::array_equal(a.argmin(), sn::argmin(dense)));
          }
        };
        check(x);
        check(sn::zeros_like(x));
        check(sn::ones_like(x));
        if (type == sn::bool_) continue;
        check(-sn::abs(x));                                        // the largest is a zero, which is not stored
        check(-1 - sn::abs(x));                                    // no zero
        check(sn::where(sn::arange(70) < 9, -1 - sn::abs(x), x));  // the first zero comes after some entries
        if (!sn::is_inexact(type)) continue;
        check(sn::where(x == 4, nan, x));
        check(sn::where(sn::arange(70) == 69, -std::numeric_limits<double>::infinity(), x).astype(type));
      }
  // Zeros that are stored, before and after the first one that is not.
  const sn::ndarray ends = sn::array({0, 2, 3});
  const sp::sparse_array early =
      sp::csr_array(sn::array({0.0, -1.0, -2.0}), sn::array({0, 1, 0}), ends, sn::shape_t{2, 2});
  CHECK(early.argmax().item<std::int64_t>() == 0);
  const sp::sparse_array late =
      sp::csr_array(sn::array({-3.0, 0.0, -2.0}), sn::array({0, 2, 0}), ends, sn::shape_t{2, 3});
  CHECK(late.argmax().item<std::int64_t>() == 1);
  const sp::sparse_array only =
      sp::csr_array(sn::array({-3.0, -1.0, 0.0}), sn::array({0, 1, 1}), ends, sn::shape_t{2, 2});
  CHECK(only.argmax().item<std::int64_t>() == 2);
}

TEST_CASE("sparse: elements at places of index arrays") {
  for (const sn::dtype type : {sn::float64, sn::int8, sn::complex128, sn::bool_, sn::int32}) {
    CAPTURE(sn::name(type));
    const sn::ndarray x = whole_numbers(60, 200, 2, type);
    const sn::ndarray i = sn::arange(6000) * 7 % 120 - 60, j = sn::arange(6000) * 11 % 400 - 200;
    for (const sp::sparse_array& a : {sp::csr_array(x), sp::csc_array(x), sp::coo_array(x)})
      CHECK(sn::array_equal(a.at(i, j), x(i, j)));
    CHECK(sn::array_equal(sp::csr_array(x).at(i(slice(6))(_, newaxis), j(slice(5))),
                          x(i(slice(6))(_, newaxis), j(slice(5)))));
  }
  const sp::sparse_array twice =
      sp::coo_array(sn::array({1.0, 2.0}), sn::array({1, 1}), sn::array({0, 0}), sn::shape_t{2, 2});
  CHECK(sn::array_equal(twice.at(sn::array({1, 0}), sn::array({0, 0})), sn::array({3.0, 0.0})));
  CHECK(sp::csr_array(sn::shape_t{3, 3}).at(sn::array({1}), sn::array({2})).item<double>() == 0);
  CHECK_THROWS_AS(twice.at(sn::array({2}), sn::array({0})), sn::index_error);
}

TEST_CASE("sparse: dense arrays, and sums with them") {
  for (const sn::dtype type : {sn::float64, sn::float32, sn::int8, sn::complex64, sn::bool_})
    for (const std::int64_t rows : {1, 50, 700}) {
      CAPTURE(sn::name(type));
      const sn::ndarray x = whole_numbers(rows, 90, 3, type),
                        few = sn::where(sn::arange(90) % 13 == 4, x, sn::zeros_like(x));
      for (const sn::ndarray& dense : {x, few})
        for (const sp::sparse_array& a : {sp::csr_array(dense), sp::csc_array(dense), sp::coo_array(dense)}) {
          CHECK(same_bits(of_any_threads([&] { return a.toarray(); }), dense));
          const sn::ndarray y = whole_numbers(rows, 90, 1, sn::float32);
          CHECK(sn::array_equal(a + y, dense + y));
          CHECK(sn::array_equal(y + a, y + dense));
          CHECK((a + y).dtype() == (dense + y).dtype());
          CHECK(sn::array_equal(a + y(0), dense + y(0)));
          CHECK(sn::array_equal(a + y.T().copy().T(), dense + y));
        }
    }
  // What is added to stays as it was.
  const sn::ndarray y = sn::ones({3, 3});
  CHECK((sp::identity(3) + y)(1, 1).item<double>() == 2);
  CHECK(sn::array_equal(y, sn::ones({3, 3})));
  CHECK(sp::csr_array(sn::shape_t{0, 4}).toarray().shape() == sn::shape_t{0, 4});
}

TEST_CASE("sparse: diagonals in any order, of any shape and format") {
  const std::vector<std::vector<std::int64_t>> offsets{{0}, {1, -2, 0}, {3, -1}, {-4, 4, 2, -3}};
  for (const sn::shape_t& shape : {sn::shape_t{5, 5}, sn::shape_t{5, 9}, sn::shape_t{8, 5}})
    for (const auto& k : offsets)
      for (const sp::format f : {sp::format::csr, sp::format::csc, sp::format::coo}) {
        std::vector<sn::ndarray> each;
        sn::ndarray wanted = sn::zeros(shape);
        double next = 1;
        for (const std::int64_t o : k) {
          const std::int64_t length =
              std::min(shape[0] + std::min<std::int64_t>(o, 0), shape[1] - std::max<std::int64_t>(o, 0));
          each.push_back(sn::arange(length) + next);
          for (std::int64_t i = 0; i < length; ++i)
            wanted(i - std::min<std::int64_t>(o, 0), i + std::max<std::int64_t>(o, 0)) = next + static_cast<double>(i);
          next += 10;
        }
        const sp::sparse_array a = sp::diags(each, k, shape, {.format = f});
        CHECK(a.format() == f);
        if (f != sp::format::coo) CHECK(a.has_canonical_format());
        CHECK(sn::array_equal(a.toarray(), wanted));
        CHECK(a.nnz() == sn::count_nonzero(wanted).item<std::int64_t>());
        CHECK(sn::array_equal(a.dot(sn::arange(shape[1])), sn::matmul(wanted, sn::arange(shape[1]))));
      }
  CHECK(sp::diags({sn::array(2.0)}, {1}, sn::shape_t{4, 4}, {.dtype = sn::float32}).dtype() == sn::float32);
}

TEST_CASE(
    "sparse: transposed products of many columns are those of each, with the same bits on any number of threads") {
  const sn::device_guard on(sn::device("cpu"));  // whose threads they are
  sn::random::generator g(3);
  for (const sn::dtype type : {sn::float64, sn::complex64})
    for (const std::int64_t width : {8, 9, 16, 33}) {
      CAPTURE(width);
      for (const bool ascends : {true, false})
        for (const double density : {0.05, 0.004}) {
          sp::sparse_array a = sp::random_array({3000, 700}, density, {.rng = &g}).astype(type);
          if (!ascends) a = a(_, sn::arange(699, -1, -1));  // entries keep their order
          CHECK(a.has_sorted_indices() == ascends);
          const sn::ndarray x = g.normal(0, 1, {3000, width}).astype(type),
                            y = g.normal(0, 1, {700, width}).astype(type);
          sn::eval(x, y);
          const sn::ndarray wanted = sn::matmul(a.toarray().T(), x);
          const double most = type == sn::float64 ? 1e-12 : 2e-4;
          const sn::ndarray plain = of_any_threads([&] { return a.T().dot(x); });
          CHECK(sn::max(sn::abs(plain - wanted)).item<double>() < most);
          const sn::ndarray all = of_any_threads([&] { return a.T().dot(x, {.alpha = 3, .beta = -2, .y = y}); });
          CHECK(sn::max(sn::abs(all - (3 * wanted - 2 * y))).item<double>() < 5 * most);
        }
    }
  // All entries in the last columns, and none at all.
  const sp::sparse_array uneven =
      sp::hstack({sp::csr_array(sn::zeros({4000, 500})), sp::csr_array(sn::ones({4000, 30}))});
  const sn::ndarray x = g.normal(0, 1, {4000, 8});
  sn::eval(x);
  const sn::ndarray sums = of_any_threads([&] { return uneven.T().dot(x); });
  CHECK(sn::max(sn::abs(sums - sn::matmul(uneven.toarray().T(), x))).item<double>() < 1e-10);
  const sn::ndarray none = of_any_threads([&] { return sp::csr_array(sn::zeros({4000, 500})).T().dot(x); });
  CHECK(sn::array_equal(none, sn::zeros({500, 8})));
}

TEST_CASE("sparse: products of coo are those of csr, again and with other elements") {
  sn::random::generator g(4);
  const sp::sparse_array csr = sp::random_array({300, 200}, 0.1, {.rng = &g});
  const sn::ndarray x = g.normal(0, 1, {200}), order = g.permutation(csr.nnz());
  const sp::sparse_array coo =
      sp::coo_array(sn::take(csr.data(), order), sn::take(csr.row(), order), sn::take(csr.col(), order), csr.shape());
  const sn::ndarray wanted = csr.dot(x);
  CHECK(same_bits(coo.dot(x), wanted));
  CHECK(same_bits(coo.dot(x), wanted));
  CHECK(sn::allclose((coo * 2).dot(x), 2 * wanted));
  CHECK(sn::allclose(coo.with_data(sn::ones(coo.nnz())).dot(x), csr.with_data(sn::ones(csr.nnz())).dot(x)));
  CHECK(sn::allclose(coo.T().dot(sn::ones(300)), csr.sum(0)));
  sp::sparse_array changed = coo;
  changed.setdiag(7.0);
  sp::sparse_array same = csr;
  same.setdiag(7.0);
  CHECK(sn::allclose(changed.dot(x), same.dot(x)));
  CHECK(same_bits(coo.dot(x), wanted));
}

TEST_CASE("sparse: runs of short rows of one length, between others") {
  // Rows of 0 to 11 entries, several of a length after each other; sums are taken in order up to seven terms.
  sn::random::generator g(6);
  std::vector<std::int64_t> counts;
  for (const std::int64_t n : {5, 5, 5, 0, 0, 7, 7, 1, 11, 3, 3, 3, 3, 6, 2, 4, 4, 8, 8, 5}) counts.push_back(n);
  std::vector<std::int32_t> ends{0}, places;
  for (const std::int64_t n : counts) {
    for (std::int64_t k = 0; k < n; ++k) places.push_back(static_cast<std::int32_t>(k * 3 + n));
    ends.push_back(static_cast<std::int32_t>(places.size()));
  }
  const sn::ndarray data = g.normal(0, 1, {static_cast<std::int64_t>(places.size())}), x = g.normal(0, 1, {50}),
                    y = g.normal(0, 1, {static_cast<std::int64_t>(counts.size())});
  const sp::sparse_array a = sp::csr_array(data, sn::array(places), sn::array(ends),
                                           sn::shape_t{static_cast<std::int64_t>(counts.size()), 50});
  const auto d = data.to_vector<double>(), v = x.to_vector<double>(), added = y.to_vector<double>();
  const auto product = a.dot(x).to_vector<double>(),
             scaled = a.dot(x, {.alpha = 3, .beta = -2, .y = y}).to_vector<double>();
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (counts[r] >= 8) continue;
    double sum = 0;
    for (auto k = static_cast<std::size_t>(ends[r]); k < static_cast<std::size_t>(ends[r + 1]); ++k)
      sum += d[k] * v[static_cast<std::size_t>(places[k])];
    CHECK(product[r] == sum);
    CHECK(scaled[r] == 3 * sum + -2 * added[r]);
  }
}

TEST_CASE("sparse: what is found out about places is known of all arrays that have them") {
  const sp::sparse_array a =
      sp::csr_array(sn::array({1.0, 2.0, 3.0}), sn::array({0, 1, 0}), sn::array({0, 2, 3}), sn::shape_t{2, 2});
  const sp::sparse_array half = a / 2, turned = a.T();
  CHECK(turned.has_canonical_format());
  CHECK(a.has_canonical_format());
  CHECK(half.has_canonical_format());
  sp::sparse_array falls =
      sp::csr_array(sn::array({1.0, 2.0, 3.0}), sn::array({1, 0, 0}), sn::array({0, 2, 3}), sn::shape_t{2, 2});
  const sp::sparse_array before = falls;
  CHECK_FALSE(falls.T().has_sorted_indices());
  falls.sort_indices();
  CHECK(falls.has_sorted_indices());
  CHECK_FALSE(before.has_sorted_indices());
}

TEST_CASE("sparse: parts that are wrong in one place, of either index dtype, with and without a shape") {
  for (const sn::dtype index : {sn::int32, sn::int64}) {
    const sn::ndarray data = sn::ones({1000}), ends = (sn::arange(101) * 10).astype(index);
    const sn::ndarray right = (sn::arange(1000) % 50).astype(index);
    for (const std::int64_t at : {0, 17, 998, 999})
      for (const std::int64_t wrong : {-1, 50, 51, 2000000000, -2000000000}) {
        const sn::ndarray places = sn::where(sn::arange(1000) == at, wrong, right).astype(index);
        CHECK_THROWS_AS(sp::csr_array(data, places, ends, sn::shape_t{100, 50}), sn::index_error);
        CHECK_THROWS_AS(sp::csc_array(data, places, ends, sn::shape_t{50, 100}), sn::index_error);
        if (wrong < 0) CHECK_THROWS_AS(sp::csr_array(data, places, ends), sn::index_error);
      }
    CHECK(sp::csr_array(data, right, ends, sn::shape_t{100, 50}).nnz() == 1000);
    const sn::ndarray falls = sn::where(sn::arange(101) == 40, 500, ends).astype(index);
    CHECK_THROWS_AS(sp::csr_array(data, right, falls, sn::shape_t{100, 50}), sn::value_error);
    const sn::ndarray below = sn::where(sn::arange(101) == 100, -1, ends).astype(index);
    CHECK_THROWS_AS(sp::csr_array(data, right, below, sn::shape_t{100, 50}), sn::value_error);
    CHECK_THROWS_AS(
        sp::csr_array(sn::ones({1}), sn::zeros({1}, index), sn::array({0, 1}).astype(index), sn::shape_t{1, 0}),
        sn::index_error);
  }
}

TEST_CASE(
    "sparse: sums with dense arrays are those of dense arrays, and zeros keep their sign where nothing is stored") {
  const std::vector<sn::dtype> types{sn::int8,      sn::int64,      sn::float32, sn::float64,
                                     sn::complex64, sn::complex128, sn::bool_};
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 5}, {40, 33}, {3, 200}, {0, 4}})
    for (const sn::dtype of : types) {
      const sn::ndarray full = whole_numbers(rows, columns, 3, of);
      const sp::sparse_array csr = sp::csr_array(full);
      for (const sn::dtype with : {sn::int32, sn::float16, sn::float32, sn::float64, sn::complex128, sn::bool_}) {
        CAPTURE(static_cast<int>(of));
        CAPTURE(static_cast<int>(with));
        const sn::ndarray wide = whole_numbers(rows, 2 * columns, 11, with), x = wide(_, slice(_, _, 2));
        for (const sp::sparse_array& a : {csr, csr.tocsc(), csr.tocoo()}) {
          const sn::ndarray sum = of_any_threads([&] { return a + x; });
          CHECK(sum.dtype() == sn::promote_types(of, with));
          CHECK(sn::array_equal(sum, full + x));
          CHECK(sn::array_equal(x + a, full + x));
        }
      }
    }
  const sp::sparse_array two =
      sp::csr_array(sn::array({1.0, 2.0}), sn::array({1, 1}), sn::array({0, 2}), sn::shape_t{1, 3});
  const sn::ndarray x = sn::array({-0.0, 4.0, 5.0}).reshape({1, 3}), sum = two + x;  // entries of one place
  CHECK(sn::array_equal(sum, sn::array({0.0, 7.0, 5.0}).reshape({1, 3})));
  const sp::sparse_array one = sp::csr_array(sn::array({1.0}), sn::array({1}), sn::array({0, 1}), sn::shape_t{1, 3}),
                         few = sp::csr_array(sn::array({1.0}), sn::array({1}), sn::array({0, 1}), sn::shape_t{1, 9});
  CHECK(sn::all(sn::signbit(few + sn::full({1, 9}, -0.0)) == (sn::arange(9) != 1)).item<bool>());
  sn::ndarray later = x.copy();
  const sn::ndarray before = one + later;
  later(0, 1) = 9.0;  // read when it was added
  CHECK(before(0, 1).item<double>() == 5.0);
  CHECK_THROWS_AS((void)(one + sn::ones({2, 2})), sn::shape_error);
}

TEST_CASE("sparse: stored elements that are not zero are counted after equal places are added up") {
  const sp::sparse_array a = sp::csr_array(sn::array({1.0, -1.0, 0.0, 3.0, std::nan("")}), sn::array({1, 1, 2, 0, 2}),
                                           sn::array({0, 3, 5}), sn::shape_t{2, 3});
  CHECK(a.count_nonzero().item<std::int64_t>() == 2);
  CHECK(a.count_nonzero().dtype() == sn::int64);
  CHECK(a.count_nonzero().ndim() == 0);
  CHECK(a.count_nonzero(0).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 0, 1});
  CHECK(a.tocoo().count_nonzero().item<std::int64_t>() == 2);
  CHECK(sp::csr_array(sn::shape_t{0, 3}).count_nonzero().item<std::int64_t>() == 0);
  const sp::sparse_array mask = a > 2.0;
  CHECK(mask.nnz() == 1);
  CHECK((a > 5.0).nnz() == 0);
  CHECK((a != 0.0).nnz() == 2);
}

TEST_CASE("sparse: comparisons keep what is true, of many entries by any number of threads") {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{600, 500}, {3, 2}, {1, 90}}) {
    const sn::ndarray full = whole_numbers(rows, columns, 5, sn::float64);
    for (const sp::sparse_array& a : {sp::csr_array(full), sp::csc_array(full)}) {
      for (const double number : {1.0, 3.5, 9.0}) {
        CHECK(same_bits(of_any_threads([&] { return (a > number).toarray(); }), full > number));
        CHECK((a > number).nnz() == sn::count_nonzero(full > number).item<std::int64_t>());
      }
      const sp::sparse_array same = a != 0.0;  // nothing is dropped
      CHECK(same.dtype() == sn::bool_);
      CHECK(sn::array_equal(same.indices(), a.indices()));
      CHECK(same_bits(of_any_threads([&] { return same.toarray(); }), full != 0));
      sp::sparse_array mask = a.with_data(a.data() > 2);
      mask.eliminate_zeros();
      CHECK(same_bits(of_any_threads([&] { return mask.toarray(); }), full > 2));
    }
  }
}
