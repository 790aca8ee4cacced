// Iterative solvers and factorisations: operators of functions, what the host sees of an iteration, properties, what is refused.
// Values, steps and codes are compared with SciPy's in golden_test.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ops/sparse_linalg/iteration.hpp"
#include "sinter/sinter.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"
#include "ops/sparse_linalg/superlu.hpp"
#include "support/simulated_gpu.hpp"
#include "support/simulated_libraries.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
namespace sl = sinter::sparse::linalg;

double length(const ndarray& x) { return linalg::norm(ravel(x)).item<double>(); }

/// -1, 2.5, -1 around the diagonal.
ndarray three_diagonals(std::int64_t n) { return 2.5 * eye(n) - eye(n, {.k = 1}) - eye(n, {.k = -1}); }
ndarray right_side(std::int64_t n) { return cos(arange(n, {.dtype = float64})); }

/// A matrix of about a fifth of its entries, other ones for each seed.
ndarray scattered(std::int64_t rows, std::int64_t columns, double seed) {
  const ndarray k = arange(rows * columns, {.dtype = float64}) + seed;
  return reshape(where(sin(k * k * 0.37) > 0.8, cos(k), 0), {rows, columns});
}

}  // namespace

TEST_CASE("solvers take functions as operators and preconditioners") {
  const ndarray m = three_diagonals(40), b = right_side(40);
  const sl::linear_operator a({40, 40}, [](const ndarray& x) {
    const ndarray padded = pad(x, 1);
    return 2.5 * x - padded(slice(0, 40)) - padded(slice(2, 42));
  });
  for (const auto& s : {sl::cg(a, b, {.rtol = 1e-10}), sl::bicgstab(a, b, {.rtol = 1e-10}),
                        sl::gmres(a, b, {.rtol = 1e-10}), sl::minres(a, b, {.rtol = 1e-10}),
                        sl::cg(a, reshape(b, {40, 1}), {.rtol = 1e-10, .M = sl::diagonal_operator(full({40}, 0.4))})}) {
    CHECK(s.info == 0);
    CHECK(s.x.shape() == shape_t{40});
    CHECK(length(matmul(m, s.x) - b) < 1e-8);
  }
}

TEST_CASE("solvers: looks of the host") {
  const ndarray m = three_diagonals(60), b = right_side(60);
  std::int64_t products = 0;
  const sl::linear_operator a({60, 60},
                              [&](const ndarray& x) {
                                ++products;
                                return matmul(m, x);
                              },
                              {.dtype = float64});
  ops::look_every_for_tests(1);
  const auto prompt = sl::cg(a, b);
  const std::int64_t needed = products;
  ops::look_every_for_tests(8);
  products = 0;
  const auto late = sl::cg(a, b);
  ops::look_every_for_tests(0);
  CHECK(array_equal(prompt.x, late.x));
  CHECK(products >= needed);
  CHECK(products <= needed + 11);
}

TEST_CASE("lsmr and lsqr: products that find lengths give what products and other operations do") {
  const device_guard on(device("cpu"));  // from where a simulated GPU can read
  const device gpu = sim::first();
  for (const dtype type : {float32, float64})
    for (const auto& extents : std::vector<std::pair<std::int64_t, std::int64_t>>{{40, 25}, {25, 40}, {30, 30}})
      for (const double damp : {0.0, 0.3}) {
        const std::int64_t rows = extents.first, columns = extents.second;
        INFO(rows, " x ", columns, ", damp ", damp);
        const sparse::sparse_array here = sparse::csr_array(
                                       (scattered(rows, columns, 3) + 4 * eye(rows, columns)).astype(type).to_host()),
                                   there = here.to_device(gpu);
        const ndarray b = right_side(rows).astype(type), start = sin(arange(columns, {.dtype = float64})).astype(type);
        const auto solve = [&](const sparse::sparse_array& a, bool begins) {
          const auto on = [&](const ndarray& v) { return v.to_device(a.device()); };
          optional_array x0;
          if (begins) x0 = on(start);
          const auto m = sl::lsmr(a, on(b), {.damp = damp, .atol = 1e-5, .btol = 1e-5, .x0 = x0});
          const auto q = sl::lsqr(a, on(b), {.damp = damp, .atol = 1e-5, .btol = 1e-5, .x0 = x0});
          return std::pair(m, q);
        };
        for (const bool begins : {false, true}) {
          const auto [m, q] = solve(there, begins);
          sim::multiplies_normal = false;
          const auto [m2, q2] = solve(there, begins);
          sim::multiplies_normal = true;
          const auto [m3, q3] = solve(here, begins);
          const double near = type == float32 ? 2e-3 : 1e-9;
          CHECK(m.itn == m3.itn);
          CHECK(m.istop == m3.istop);
          CHECK(m2.itn == m3.itn);
          CHECK(q.itn == q3.itn);
          CHECK(q.istop == q3.istop);
          CHECK(q2.itn == q3.itn);
          CHECK(length(m.x.to_host() - m3.x.to_host()) <= near * (1 + length(m3.x)));
          CHECK(length(q.x.to_host() - q3.x.to_host()) <= near * (1 + length(q3.x)));
          CHECK(std::abs(m.normr - m3.normr) <= near * (1 + m3.normr));
          CHECK(std::abs(q.r1norm - q3.r1norm) <= near * (1 + q3.r1norm));
        }
      }
  // A breakdown: b is an eigenvector, so the first beta that follows is 0.
  const sparse::sparse_array one = sparse::identity(6).to_device(gpu);
  const auto m = sl::lsmr(one, full({6}, 2.0, {.device = gpu}), {.maxiter = 30});
  CHECK(m.itn == 1);
  CHECK(array_equal(m.x.to_host(), full({6}, 2.0, {.device = cpu})));
  const auto q = sl::lsqr(one, full({6}, 2.0, {.device = gpu}), {.iter_lim = 30});
  CHECK(q.itn == 1);
  CHECK(allclose(q.x.to_host(), full({6}, 2.0, {.device = cpu})));
}

TEST_CASE("lsmr and lsqr: products of vectors of length 1 wait for what runs beside them once in some steps") {
  const device_guard on(device("cpu"));
  const sparse::sparse_array a = sparse::csr_array(scattered(300, 300, 5).to_host()).to_device(sim::first());
  const ndarray b = right_side(300).to_device(a.device());
  const auto waits_of = [&](const auto& solver) {
    sim::take_tally();
    CHECK(solver().itn >= 32);
    return sim::take_tally().waits;
  };
  const auto by_lsmr = [&](std::int64_t steps) {
    return waits_of([&] { return sl::lsmr(a, b, {.atol = 0, .btol = 0, .conlim = 0, .maxiter = steps}); });
  };
  const auto by_lsqr = [&](std::int64_t steps) {
    return waits_of([&] { return sl::lsqr(a, b, {.atol = 0, .btol = 0, .conlim = 0, .iter_lim = steps}); });
  };
  // The other stream waits for each step's products.
  CHECK(by_lsmr(96) - by_lsmr(32) <= 64 + 64 / 8);
  CHECK(by_lsqr(96) - by_lsqr(32) <= 64 + 64 / 8);
}

TEST_CASE("a callback sees every iterate, and the last one is the solution") {
  const ndarray m = three_diagonals(30), b = right_side(30);
  std::vector<ndarray> seen;
  const auto s = sl::cg(m, b, {.callback = [&](const ndarray& x) { seen.push_back(x); }});
  REQUIRE(!seen.empty());
  CHECK(array_equal(seen.back(), s.x));
  double before = std::numeric_limits<double>::infinity();
  for (const ndarray& x : seen) {
    const double now = (0.5 * vdot(x, matmul(m, x)) - vdot(x, b)).item<double>();
    CHECK(now < before);  // what conjugate gradients minimise
    before = now;
  }
}

TEST_CASE("the last step that maxiter allows is not tested, as in SciPy") {
  const ndarray m = three_diagonals(30), b = right_side(30);
  for (const auto solver : {sl::cg, sl::cgs, sl::bicgstab}) {
    std::int64_t steps = 0;
    const auto free = solver(m, b, {.callback = [&](const ndarray&) { ++steps; }});
    CHECK(free.info == 0);
    CHECK(solver(m, b, {.maxiter = steps + 1}).info == 0);
    const auto bounded = solver(m, b, {.maxiter = steps});
    if (solver != sl::bicgstab) CHECK(bounded.info == steps);  // which may end in the middle of a step
    if (solver != sl::bicgstab) CHECK(array_equal(bounded.x, free.x));
  }
}

TEST_CASE("solvers leave their arguments alone") {
  const ndarray m = three_diagonals(20), b = right_side(20), x0 = ones({20}), b_before = b.copy(), x_before = x0.copy();
  auto s = sl::cg(m, b, {.x0 = x0});
  s.x(_) = 0;
  s = sl::cg(m, zeros({20}), {.x0 = x0});
  s.x(_) = 7;
  sl::lsmr(m, b, {.x0 = x0}).x(_) = 3;
  CHECK(array_equal(b, b_before));
  CHECK(array_equal(x0, x_before));
}

TEST_CASE("solvers refuse what does not fit") {
  const ndarray m = three_diagonals(5), b = ones({5});
  CHECK_THROWS_WITH_AS(sl::cg(ones({3, 4}), ones({3})), "[cg] A of shape (3, 4) is not square", shape_error);
  CHECK_THROWS_WITH_AS(sl::cg(m, ones({4})), "[cg] A of shape (5, 5) and b of shape (4,)", shape_error);
  CHECK_THROWS_AS(sl::bicgstab(m, b, {.x0 = ones({4})}), shape_error);
  CHECK_THROWS_AS(sl::cgs(m, b, {.M = sl::linear_operator(eye(4))}), shape_error);
  CHECK_THROWS_AS(sl::gmres(m, b, {.atol = -1}), value_error);
  CHECK_THROWS_AS(sl::gmres(m, b, {.callback_type = "norm"}), value_error);
  CHECK_THROWS_AS(sl::gmres(m, b, {.restart = 0}), value_error);
  CHECK_THROWS_AS(sl::minres(m.astype(complex128), b), dtype_error);
  CHECK_THROWS_AS(sl::minres(m, b, {.M = sl::linear_operator(-1.0 * eye(5))}), value_error);
  CHECK_THROWS_AS(sl::lsmr(ones({3, 4}), ones({4})), shape_error);
  CHECK_THROWS_AS(sl::lsqr(ones({3, 4}), ones({3}), {.x0 = ones({3})}), shape_error);
  CHECK_THROWS_AS(sl::cg(sl::linear_operator(), b), value_error);
  CHECK_THROWS_AS(sl::cg(m, ndarray()), value_error);
  CHECK_THROWS_AS(sl::lsmr(sl::linear_operator({5, 5}, [](const ndarray& x) { return x; }), b), value_error);
}

TEST_CASE("solvers: NaN and systems without unknowns end") {
  const ndarray m = three_diagonals(6), nan = full({6}, std::nan(""));
  CHECK(sl::cg(m, nan, {.maxiter = 20}).info == 20);
  CHECK(sl::bicgstab(m, nan, {.maxiter = 20}).info == 20);
  CHECK(sl::lsmr(m, nan, {.maxiter = 9}).itn == 9);
  const auto s = sl::cg(zeros({0, 0}), zeros({0}));
  CHECK(s.info == 0);
  CHECK(s.x.shape() == shape_t{0});
}

TEST_CASE("Hilbert's matrix of 8 rows: solvers converge by their rules, SciPy's numbers of steps are rounding's") {
  // The condition is 1.5e10: SciPy's cg takes 15 steps to 1e-5, this one 18, and either is right; golden cases have 5 rows.
  const std::int64_t n = 8;
  const ndarray k = arange(n, {.dtype = float64}), a = 1 / (k(_, newaxis) + k + 1), b = ones({n});
  const double eps = 2.3e-16;
  for (const double rtol : {1e-5, 1e-9}) {
    CAPTURE(rtol);
    const auto right = [&](const sl::solution& s) {
      CHECK(s.info == 0);
      // A residual that recurrences carry drifts from b - A x by roundings of the iterates, each of size eps |A| |x|.
      const double drift = 100 * static_cast<double>(n) * eps * length(a) * length(s.x);
      CHECK(length(matmul(a, s.x) - b) <= rtol * length(b) + drift);
    };
    right(sl::cg(a, b, {.rtol = rtol}));
    right(sl::bicgstab(a, b, {.rtol = rtol}));
    right(sl::gmres(a, b, {.rtol = rtol}));
    // minres ends where norm(r) <= rtol norm(A) norm(x), or where norm(A r) <= rtol norm(A) norm(r), by estimates of them.
    const auto m = sl::minres(a, b, {.rtol = rtol});
    CHECK(m.info == 0);
    const ndarray r = b - matmul(a, m.x);
    const bool solves = length(r) <= 10 * rtol * length(a) * length(m.x);
    CHECK((solves || length(matmul(a, r)) <= 10 * rtol * length(a) * length(r)));
  }
  // Exact in as many steps as there are rows.
  CHECK(sl::gmres(a, b, {.rtol = 1e-9, .restart = n, .maxiter = 1}).info == 0);
}

TEST_CASE("splu: P A P = L U, solutions, copies") {
  if (test::no_superlu()) return;
  for (const char* order : {"COLAMD", "NATURAL", "MMD_ATA", "MMD_AT_PLUS_A"}) {
    const std::int64_t n = 40;
    const ndarray m = scattered(n, n, 1) + 3 * eye(n), b = right_side(n);
    const auto lu = sl::splu(sparse::csr_array(m), {.permc_spec = order});
    const ndarray l = lu.L().toarray(), u = lu.U().toarray(), rows = zeros({n, n}), columns = zeros({n, n});
    rows(lu.perm_r(), arange(n)) = 1.0;
    columns(arange(n), lu.perm_c()) = 1.0;
    CHECK(length(matmul(matmul(rows, m), columns) - matmul(l, u)) < 1e-12);
    CHECK(array_equal(l, tril(l)));
    CHECK(array_equal(u, triu(u)));
    CHECK(lu.nnz() >= sparse::csr_array(m).nnz());
    CHECK(length(matmul(m, lu.solve(b)) - b) < 1e-12);
    CHECK(length(matmul(m.T(), lu.solve(b, 'T')) - b) < 1e-12);
    const ndarray many = stack({b, 2 * b, b * b}, 1);
    CHECK(length(matmul(m, lu.solve(many)) - many) < 1e-12);
    const ndarray z = b * std::complex<double>(1, 2);
    CHECK(length(matmul(m, lu.solve(z)) - z) < 1e-12);
  }
}

TEST_CASE("spilu is a preconditioner") {
  if (test::no_superlu()) return;
  const std::int64_t n = 80;
  const ndarray m = scattered(n, n, 2) + 3 * eye(n), b = right_side(n);
  const auto ilu = sl::spilu(sparse::csr_array(m), {.drop_tol = 1e-3});
  std::int64_t plain = 0, helped = 0;
  sl::bicgstab(m, b, {.callback = [&](const ndarray&) { ++plain; }});
  const sl::linear_operator approximate({n, n}, [&](const ndarray& x) { return ilu.solve(x); }, {.dtype = float64});
  const auto s = sl::bicgstab(m, b, {.M = approximate, .callback = [&](const ndarray&) { ++helped; }});
  CHECK(s.info == 0);
  CHECK(helped * 2 < plain);
}

TEST_CASE("factorisations refuse singular matrices and bad arguments") {
  if (test::no_superlu()) return;
  const ndarray column = array({{1.0, 0.0, 2.0}, {3.0, 0.0, 4.0}, {5.0, 0.0, 6.0}});
  const ndarray row = array({{1.0, 2.0, 3.0}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}});
  const ndarray places = array({{1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {1.0, 2.0, 3.0}});
  const ndarray numbers = array({{1.0, 2.0, 3.0}, {2.0, 4.0, 6.0}, {1.0, 1.0, 1.0}});
  for (const ndarray& m : {column, row, places, zeros({3, 3}), numbers}) {
    CHECK_THROWS_AS(sl::splu(sparse::csr_array(m)), linalg_error);
    CHECK_THROWS_AS(sl::spsolve(sparse::csr_array(m), ones({3})), linalg_error);
  }
  for (const ndarray& m : {column, row, places, zeros({3, 3})})
    CHECK_THROWS_AS(sl::spilu(sparse::csr_array(m)), linalg_error);
  const auto a = sparse::csr_array(three_diagonals(4));
  CHECK_THROWS_AS(sl::splu(sparse::csr_array(ones({3, 4}))), shape_error);
  CHECK_THROWS_AS(sl::splu(a, {.permc_spec = "colamd"}), value_error);
  CHECK_THROWS_AS(sl::spilu(a, {.drop_tol = 2}), value_error);
  CHECK_THROWS_AS(sl::spilu(a, {.fill_factor = 0.5}), value_error);
  CHECK_THROWS_AS(sl::splu(a).solve(ones({5})), shape_error);
  CHECK_THROWS_AS(sl::splu(a).solve(ones({4}), 'X'), value_error);
  CHECK_THROWS_AS(sl::spsolve(a, ones({5})), shape_error);
  CHECK_THROWS_AS(sl::splu(sparse::sparse_array()), value_error);
  CHECK_THROWS_AS(sl::superlu().shape(), value_error);
  CHECK_THROWS_AS(sl::spsolve_triangular(sparse::csr_array(places), ones({3})), linalg_error);
  try {
    (void)sl::splu(a * std::nan(""));
    CHECK(false);
  } catch (const linalg_error& e) {
    CHECK(std::string(e.what()) == "[splu] the matrix of shape (4, 4) has elements that are not finite");
  }
  CHECK(sl::splu(sparse::csr_array(zeros({0, 0}))).solve(zeros({0})).size() == 0);
}

TEST_CASE("spsolve of sparse sides, inverses, factorized, triangular systems") {
  if (test::no_superlu()) return;
  const std::int64_t n = 25;
  const ndarray m = scattered(n, n, 5) + 3 * eye(n), b = right_side(n);
  const auto a = sparse::csc_array(m);
  CHECK(length(matmul(m, sl::inv(a).toarray()) - eye(n)) < 1e-12);
  CHECK(length(matmul(m, sl::spsolve(a, sparse::csr_array(scattered(n, 3, 7))).toarray()) - scattered(n, 3, 7)) <
        1e-12);
  CHECK(length(matmul(m, sl::factorized(a)(b)) - b) < 1e-12);
  CHECK(length(matmul(triu(m), sl::spsolve_triangular(a, b, {.lower = false})) - b) < 1e-12);
  CHECK(length(matmul(tril(m, -1) + eye(n), sl::spsolve_triangular(a, b, {.unit_diagonal = true})) - b) < 1e-12);
}

TEST_CASE("onenormest: a lower bound that is seldom far off") {
  int near = 0;
  for (int seed = 0; seed < 20; ++seed) {
    const auto a = sparse::csr_array(scattered(30, 30, seed) + 0.1 * eye(30));
    const double norm = sl::norm(a, {.ord = 1}).item<double>();
    const auto e = sl::onenormest(a);
    CHECK(e.est <= norm * (1 + 1e-12));
    CHECK(length(e.w - sparse::matmul(a, e.v)) < 1e-12);
    CHECK(sum(absolute(e.w)).item<double>() == doctest::Approx(e.est));
    near += e.est > 0.8 * norm;
    CHECK(sl::onenormest(a, {.t = 8}).est == doctest::Approx(norm));  // 4 t >= n
  }
  CHECK(near >= 15);
  CHECK_THROWS_AS(sl::onenormest(ones({2, 3})), shape_error);
  CHECK_THROWS_AS(sl::onenormest(ones({2, 2}), {.t = 0}), value_error);
}

TEST_CASE("eigsh and svds: invariant subspaces, complex matrices, no convergence, bad arguments") {
  const auto identity = sparse::csr_array(eye(30));
  const auto same = sl::eigsh(identity, {.k = 4});
  CHECK(allclose(same.eigenvalues, ones({4})));
  CHECK(length(matmul(same.eigenvectors.T(), same.eigenvectors) - eye(4)) < 1e-10);
  const ndarray g = scattered(40, 40, 3) + std::complex<double>(0, 1) * scattered(40, 40, 9), h = g + conj(g.T());
  const auto r = sl::eigsh(h, {.k = 5, .which = "SA"});
  CHECK(allclose(r.eigenvalues, linalg::eigvalsh(h)(slice(5))));
  CHECK(length(matmul(h, r.eigenvectors) - r.eigenvectors * r.eigenvalues) < 1e-10);
  const auto s = sl::svds(g, 3);
  CHECK(allclose(s.s, flip(linalg::svdvals(g)(slice(3)))));
  CHECK(length(matmul(g, conj(s.vh.T())) - s.u * s.s) < 1e-8);
  CHECK(sl::eigsh(three_diagonals(200), {.k = 6, .which = "SM", .ncv = 8, .maxiter = 1}).info > 0);
  CHECK_THROWS_AS(sl::eigsh(h, {.k = 40}), value_error);
  CHECK_THROWS_AS(sl::eigsh(h, {.which = "LR"}), value_error);
  CHECK_THROWS_AS(sl::eigsh(h, {.k = 4, .ncv = 4}), value_error);
  CHECK_THROWS_AS(sl::eigsh(h, {.k = 4, .maxiter = 0}), value_error);
  CHECK_THROWS_AS(sl::svds(h, {.k = 4, .maxiter = -1}), value_error);
  CHECK(sl::expm_multiply(zeros({0, 0}), zeros({0, 2})).shape() == shape_t{0, 2});
  CHECK(sl::expm_multiply(h, zeros({40, 0}), 0, 1, 3).shape() == shape_t{3, 40, 0});
  CHECK_THROWS_AS(sl::eigsh(ones({3, 4})), shape_error);
  CHECK_THROWS_AS(sl::eigsh(full({9, 9}, std::nan("")), {.k = 2}), linalg_error);
  const sl::linear_operator f({9, 9}, [](const ndarray& x) { return 2 * x; });
  CHECK(allclose(sl::eigsh(f, {.k = 2, .sigma = 1.0}).eigenvalues, full({2}, 2.0)));
}
