// Functions that run at once, for all examples: by their rules, or one example after the other.
#include <set>
#include <string>

#include "ops/vmap/beside_loop.hpp"
#include "ops/vmap/example_level.hpp"
#include "sinter/sparse.hpp"
#include "ops/base/announced_names.hpp"
#include "support/linalg_checks.hpp"
#include "support/products_library.hpp"

using namespace vmap_test;
using namespace sinter::test;
using sinter::idx::_;

TEST_CASE("vmap: sorts and order statistics") {
  const ndarray x = numbers({4, 5, 6}), v = numbers({4, 7}, int32);
  for (const int axis : {0, 1, -1}) {
    check_bits([&](const ndarray& a) { return sort(a, axis); }, x);
    check_bits([&](const ndarray& a) { return argsort(a, {.axis = axis, .descending = true}); }, x);
    check_bits([&](const ndarray& a) { return partition(a, 2, axis); }, x);
    check_bits([&](const ndarray& a) { return take_along_axis(a, argpartition(a, 2, axis), axis); }, x);
    check_bits([&](const ndarray& a) { return topk(a, 2, {.axis = axis}).values; }, x);
    check_bits([&](const ndarray& a) { return topk(a, 3, {.axis = axis, .largest = false}).indices; }, x);
    check_bits([&](const ndarray& a) { return median(a, axis); }, x);
    check_bits([&](const ndarray& a) { return quantile(a, 0.3, axis); }, x);
  }
  check_bits([](const ndarray& a) { return sort(a, _); }, x);
  check_bits([](const ndarray& a) { return median(a); }, x);
  check_bits([](const ndarray& a) { return quantile(a, array({0.1, 0.5})); }, x);
  check_bits([](const ndarray& a) { return lexsort({a, a % 3}); }, v);
  const ndarray w = numbers({7}, int32);
  check_bits([&](const ndarray& a) { return lexsort({w, a % 3}); }, v);
  check_bits([&](const ndarray& a) { return argsort(a) + argsort(w); }, v);
}

TEST_CASE("vmap: scans") {
  const ndarray x = numbers({4, 5, 6});
  for (const int axis : {0, 1, -1}) {
    check_bits([&](const ndarray& a) { return cumsum(a, axis); }, x);
    check_near([&](const ndarray& a) { return cumprod(a, axis); }, x);
    check_bits([&](const ndarray& a) { return cummax(a, axis); }, x);
    check_bits([&](const ndarray& a) { return cummin(a, axis); }, x);
    check_near([&](const ndarray& a) { return logcumsumexp(a, axis); }, x);
  }
  check_bits([](const ndarray& a) { return cumsum(a); }, x);
  check_bits([](const ndarray& a) { return cumsum(a > 0, 0); }, x);
}

TEST_CASE("vmap: products") {
  if (no_products()) return;
  const ndarray a = numbers({4, 3, 5}), b = numbers({4, 5, 2}), m = numbers({5, 6}), v = numbers({4, 5}),
                w = numbers({5}), s = numbers({4, 2, 3, 5});
  const auto near = [](auto f, const auto&... x) {
    const ndarray got = vmap(f)(x...);
    std::vector<ndarray> all;
    for (int k = 0; k < 4; ++k) all.push_back(f(x(k).copy()...));
    const ndarray right = stack(all);
    CAPTURE(to_string(right.shape()));
    REQUIRE(got.shape() == right.shape());
    CHECK(allclose(got, right, 1e-12, 1e-12));
  };
  near([](const ndarray& p, const ndarray& q) { return matmul(p, q); }, a, b);
  near([&](const ndarray& p) { return matmul(p, m); }, a);
  near([&](const ndarray& p) { return matmul(m.T(), p.T()); }, a);
  near([&](const ndarray& p) { return matmul(m.T(), p); }, v);
  near([&](const ndarray& p) { return matmul(p, m); }, v);
  near([&](const ndarray& p) { return matmul(p, w); }, a);
  near([](const ndarray& p, const ndarray& q) { return matmul(p, q); }, a, v);
  near([](const ndarray& p, const ndarray& q) { return matmul(q, p.T()); }, a, v);
  near([](const ndarray& p) { return dot(p, p); }, v);
  near([&](const ndarray& p) { return dot(p, w); }, v);
  near([](const ndarray& p) { return outer(p, p); }, v);
  near([&](const ndarray& p) { return matmul(p, m); }, s);
  near([](const ndarray& p, const ndarray& q) { return matmul(p, q); }, s, b);
  near([](const ndarray& p, const ndarray& q) { return einsum("aij,jk->aik", p, q); }, s, b);
  near([](const ndarray& p) { return einsum("ij,kj->ik", p, p); }, a);
  near([](const ndarray& p) { return tensordot(p, p, 2); }, a);
  near([](const ndarray& p) { return kron(p, p); }, a);
  near([&](const ndarray& p) { return vmap([&](const ndarray& row) { return matmul(m.T(), row); })(p); }, a);
}

TEST_CASE("vmap: solvers and factorisations") {
  if (no_solvers()) return;
  const ndarray a = numbers({4, 3, 3}) + 10 * eye(3), v = numbers({4, 3}), b = numbers({4, 3, 2}), one = a(0).copy(),
                x = v(1).copy(), spd = matmul(a, a.mT());
  const auto two = [](auto f, const ndarray& p, const ndarray& q) {
    const ndarray got = vmap(f)(p, q), right = in_turn(f, p, q);
    REQUIRE(got.shape() == right.shape());
    CHECK(allclose(got, right, 1e-10, 1e-12));
  };
  two([](const ndarray& p, const ndarray& q) { return linalg::solve(p, q); }, a, v);
  two([](const ndarray& p, const ndarray& q) { return linalg::solve(p, q); }, a, b);
  check_near([&](const ndarray& q) { return linalg::solve(one, q); }, v, 1e-10);
  check_near([&](const ndarray& q) { return linalg::solve(one, q); }, b, 1e-10);
  check_near([&](const ndarray& p) { return linalg::solve(p, x); }, a, 1e-10);
  check_near([](const ndarray& p) { return linalg::inv(p); }, a, 1e-10);
  check_near([](const ndarray& p) { return linalg::det(p); }, a, 1e-10);
  check_near([](const ndarray& p) { return linalg::slogdet(p).logabsdet; }, a, 1e-10);
  check_near([](const ndarray& p) { return linalg::cholesky(p); }, spd, 1e-10);
  check_near([](const ndarray& p) { return linalg::eigh(p).eigenvalues; }, spd, 1e-10);
  check_near([](const ndarray& p) { return linalg::svd(p).s; }, a, 1e-10);
  check_near([](const ndarray& p) { return matmul(linalg::qr(p).q, linalg::qr(p).r); }, a, 1e-10);
  check_near([](const ndarray& p) { return linalg::norm(p) + linalg::norm(p(0)); }, a, 1e-10);
  check_near([](const ndarray& p) { return linalg::pinv(p); }, a, 1e-10);
  check_near([](const ndarray& p) { return linalg::matrix_power(p, 3); }, a, 1e-10);
  check_near([](const ndarray& p) { return linalg::cond(p, 1); }, a, 1e-10);
  two([](const ndarray& p, const ndarray& q) { return linalg::solve_triangular(p, q, {.lower = true}); }, a, v);
  check_near([&](const ndarray& q) { return linalg::solve_triangular(one, q); }, b, 1e-10);
  check_near([&](const ndarray& p) { return linalg::solve_triangular(p, x); }, a, 1e-10);
  two([](const ndarray& p, const ndarray& q) { return linalg::lu_solve(linalg::lu_factor(p), q); }, a, v);
  two([](const ndarray& p, const ndarray& q) { return linalg::lu_solve(linalg::lu_factor(p), q); }, a, b);
  const linalg::lu_factors f = linalg::lu_factor(one);
  check_near([&](const ndarray& q) { return linalg::lu_solve(f, q, {.trans = 1}); }, v, 1e-10);
  check_near([&](const ndarray& q) { return linalg::lu_solve(f, q); }, b, 1e-10);
  check_near([&](const ndarray& p) { return linalg::lu_solve(linalg::lu_factor(p), x); }, a, 1e-10);
  // A singular matrix among them.
  ndarray bad = a.copy();
  bad(2) = 0;
  CHECK_THROWS_AS(vmap([](const ndarray& p) { return linalg::inv(p); })(bad), linalg_error);
}

TEST_CASE("vmap: transforms") {
  const ndarray x = numbers({4, 6, 5}), z = numbers({4, 6, 5}, complex128);
  check_near([](const ndarray& a) { return fft::fft(a); }, z);
  check_near([](const ndarray& a) { return fft::ifft(a, {.axis = 0, .norm = "ortho"}); }, z);
  check_near([](const ndarray& a) { return fft::rfft(a, {.axis = 0}); }, x);
  check_near([](const ndarray& a) { return fft::irfft(a, {.n = 7}); }, z);
  check_near([](const ndarray& a) { return fft::hfft(a); }, z);
  check_near([](const ndarray& a) { return fft::ihfft(a); }, x);
  check_near([](const ndarray& a) { return fft::fft2(a); }, z);
  check_near([](const ndarray& a) { return fft::rfftn(a); }, x);
  check_near([](const ndarray& a) { return fft::irfftn(a); }, z);
  check_near([](const ndarray& a) { return convolve(a(0), a(1)); }, x);
}

TEST_CASE("vmap: bins, searches and repetitions") {
  const ndarray n = numbers({4, 9}, int64) % 6, w = numbers({4, 9}), edges = array({-2.0, -1.0, 0.0, 1.5}),
                x = numbers({4, 9}), rows = sort(x, 1);
  check_bits([](const ndarray& a) { return histogram(a, 5, {.range = bin_limits{-3, 3}}).hist; }, x);
  check_bits([&](const ndarray& a) { return searchsorted(edges, a); }, x);
  check_bits([&](const ndarray& a) { return digitize(a, edges); }, x);
  check_bits([&](const ndarray& r, const ndarray& a) { return searchsorted(r, a, {.side = "right"}); }, rows, x);
  check_bits([](const ndarray& r) { return searchsorted(r, 0.25); }, rows);
  check_bits([](const ndarray& a) { return repeat(a, {1, 0, 2, 1, 1, 3, 0, 0, 1}); }, x);
  check_bits([](const ndarray& a) { return repeat(a, 2); }, x);
}

TEST_CASE("vmap: results whose size depends on data must have one size, and masks do not say it") {
  const ndarray x = array({{1.0, -1.0, 2.0}, {-3.0, 4.0, 5.0}});
  CHECK(same_bits(vmap([](const ndarray& a) { return nonzero(a > 0)[0]; })(x), array({{0, 2}, {1, 2}})));
  sinter_test::refuses<vmap_error>([&] { vmap([](const ndarray& a) { return nonzero(a > 1)[0]; })(x); },
                                   "for different examples: they make no array");
  check_bits([](const ndarray& a) { return repeat(a, (a > 0).astype(int64)); }, x);
  CHECK_THROWS_AS(vmap([](const ndarray& a) { return a[a > 0]; })(x), vmap_error);
  CHECK(same_bits(vmap([](const ndarray& a) { return sum(a[a > 0]); })(x), array({3.0, 9.0})));
}

TEST_CASE("vmap: sparse products") {
  const ndarray x = numbers({4, 6});
  const sparse::sparse_array a = sparse::diags({array({-1.0}), array({2.5})}, {-1, 0}, shape_t{6, 6}).tocsr();
  check_near([&](const ndarray& v) { return sparse::matmul(a, v); }, x);
  check_near([&](const ndarray& v) { return sparse::matmul(v, a); }, x);
  check_near([&](const ndarray& v) { return 2 * sparse::matmul(a, v) - v; }, x);
  const ndarray matrices = numbers({3, 6, 2});
  check_near([&](const ndarray& m) { return sparse::matmul(a, m); }, matrices);
  check_near([&](const ndarray& m) { return sparse::matmul(m.T(), a); }, matrices);
  check_near([&](const ndarray& d) { return sparse::matmul(a.with_data(d), ones({6, 2})); }, numbers({3, a.nnz()}));
}

TEST_CASE("vmap: every function that announces itself has a rule or a reason") {
  std::set<std::string> known;
  for (const ops::opaque_entry& e : ops::opaque_entries()) {
    CAPTURE(e.name);
    CHECK((e.rule != nullptr) != (e.reason != nullptr));
    CHECK(known.insert(e.name).second);
  }
  std::size_t found = 0;
  for (const auto& one : announced_names("vmap")) {
    CAPTURE(one.second);
    CAPTURE(one.first);
    CHECK(ops::find_opaque(one.first) != nullptr);
    ++found;
  }
  CHECK(found > 20);
}
