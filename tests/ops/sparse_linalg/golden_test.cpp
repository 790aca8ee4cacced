// Iterative solvers, factorisations and functions of sparse matrices: as scipy.sparse.linalg, steps and codes among the results.
#include <doctest/doctest.h>

#include <cmath>

#include "golden/calls.hpp"
#include "ops/sparse_linalg/iteration.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"
#include "ops/sparse_linalg/superlu.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;
namespace sl = sinter::sparse::linalg;
using results = std::vector<ndarray>;

sparse::sparse_array sparse_of(const ndarray& a) { return sparse::csr_array(a); }
ndarray codes(std::int64_t first, std::int64_t second) { return array({first, second}, {.dtype = int64}); }

/// Sparse; with a callback, which counts, and again without: the same to the last bit.
template <class Keywords, class Solver>
results solve_with(const call& c, Keywords kw, Solver solver) {
  const auto a = sparse_of(c.x.at(0));
  kw.rtol = c.n.at(0);
  if (c.n.at(1) >= 0) kw.maxiter = c.integer(1);
  if (c.option == "x0" || c.option == "exact") kw.x0 = c.x.at(2);
  if (c.option == "M") kw.M = sl::linear_operator(c.x.at(2));
  std::int64_t steps = 0;
  const sl::solution quiet = solver(a, c.x.at(1), kw);
  kw.callback = [&](const ndarray&) { ++steps; };
  const sl::solution s = solver(a, c.x.at(1), kw);
  CHECK(quiet.info == s.info);
  CHECK(array_equal(quiet.x, s.x, true));
  return {s.x, codes(s.info, steps)};
}
template <class Solver>
auto krylov(Solver solver) {
  return [solver](const call& c) { return solve_with(c, sl::solver_kw{}, solver); };
}

results gmres_of(const call& c) {
  return solve_with(c, sl::gmres_kw{.restart = 7, .callback_type = "pr_norm"}, sl::gmres);
}
results minres_of(const call& c) { return solve_with(c, sl::minres_kw{}, sl::minres); }

results lsmr_of(const call& c) {
  sl::lsmr_kw kw{.damp = c.n.at(0)};
  if (c.n.at(1) >= 0) kw.maxiter = c.integer(1);
  if (c.x.size() > 2) kw.x0 = c.x[2];
  const auto r = sl::lsmr(sparse_of(c.x.at(0)), c.x.at(1), kw);
  if (c.has("rule")) return {r.x, array({r.istop}), array({r.normr, r.normar})};
  return {r.x, codes(r.istop, r.itn), array({r.normr, r.normar, r.norma, r.conda, r.normx})};
}
results lsqr_of(const call& c) {
  sl::lsqr_kw kw{
      .damp = c.n.at(0),
      .calc_var = !c.has("rule") && !isdtype(c.x.at(0).dtype(), "complex floating") && c.x.at(0).shape(1) != 6};
  if (c.n.at(1) >= 0) kw.iter_lim = c.integer(1);
  if (c.x.size() > 2) kw.x0 = c.x[2];
  const auto r = sl::lsqr(sparse_of(c.x.at(0)), c.x.at(1), kw);
  if (c.has("rule")) return {r.x, array({r.istop}), array({r.r1norm, r.r2norm, r.arnorm})};
  return {r.x, codes(r.istop, r.itn), array({r.r1norm, r.r2norm, r.anorm, r.acond, r.arnorm, r.xnorm}), r.var};
}

sl::norm_kw norm_of(const call& c) {
  sl::norm_kw kw;
  if (!c.n.empty()) kw.ord = c.n[0];
  if (c.has("axis")) kw.axis = c.integer(1);
  return kw;
}
results expm_of(const call& c) {
  const auto a = sparse_of(c.x.at(0));
  if (c.has("points")) return {sl::expm_multiply(a, c.x.at(1), c.n.at(0), c.n.at(1), c.integer(2))};
  return {sl::expm_multiply(a, c.x.at(1))};
}
results eigsh_of(const call& c) {
  sl::eigsh_kw kw{.k = c.integer(0), .which = c.option};
  if (c.n.size() > 1) kw.sigma = c.n[1];
  const auto a = sparse_of(c.x.at(0));
  const auto r = sl::eigsh(a, kw);
  CHECK(r.info == 0);
  const ndarray left = sparse::matmul(a, r.eigenvectors) - r.eigenvectors * r.eigenvalues;
  CHECK(linalg::norm(left).item<double>() < 1e-10);
  return {r.eigenvalues};
}
/// w of A x = w M x; x are orthogonal in the metric, M or, of "buckling", A.
results pair_of(const call& c) {
  const ndarray &a = c.x.at(0), &m = c.x.at(1);
  const std::string which = c.option.substr(0, 2), mode = c.option.substr(3);
  sl::eigsh_kw kw{.k = c.integer(0), .M = sparse_of(m), .which = which, .ncv = a.shape(0) / 2, .mode = mode};
  if (c.n.size() > 1) kw.sigma = c.n[1];
  const auto r = sl::eigsh(sparse_of(a), kw);
  CHECK(r.info == 0);
  const ndarray& v = r.eigenvectors;
  const double left = linalg::norm(matmul(a, v) - matmul(m, v) * r.eigenvalues).item<double>(),
               largest = max(abs(r.eigenvalues)).item<double>(),
               scale = (linalg::norm(a) + largest * linalg::norm(m)).item<double>() * linalg::norm(v).item<double>();
  CHECK(left < 1e-11 * scale);
  const ndarray gram = matmul(conj(v.T()), matmul(mode == "buckling" ? a : m, v));
  CHECK(linalg::norm(gram - eye(c.integer(0))).item<double>() < 1e-8);
  kw.M = m;  // dense, and without restarts
  kw.ncv = {};
  const auto dense = sl::eigsh(a, kw);
  CHECK(allclose(dense.eigenvalues, r.eigenvalues, 1e-7));
  return {r.eigenvalues};
}
/// The eigenvalues, and those of the first steps.
results lobpcg_of(const call& c) {
  sl::lobpcg_kw kw{.tol = c.n.at(0), .maxiter = c.integer(1), .largest = c.n.at(2) != 0};
  std::size_t next = 2;
  if (c.has("B")) kw.B = sparse_of(c.x.at(next++));
  if (c.has("M")) kw.M = c.x.at(next++);
  if (c.has("Y")) kw.Y = c.x.at(next++);
  const auto r = sl::lobpcg(sparse_of(c.x.at(0)), c.x.at(1), kw);
  const ndarray &v = r.eigenvectors, bv = kw.B.defined() ? kw.B.matmat(v) : v;
  const bool one_word = r.eigenvalues.dtype() == float32;
  CHECK(linalg::norm(matmul(conj(v.T()), bv) - eye(v.shape(1))).item<double>() < (one_word ? 1e-5 : 1e-10));
  if (kw.Y) CHECK(linalg::norm(matmul((*kw.Y).T(), bv)).item<double>() < 1e-10);
  const ndarray norms = sqrt(sum(real(square(abs(matmul(c.x[0], v) - bv * r.eigenvalues))), 0));
  if (c.integer(1) > 10 && c.n[0] > 0) CHECK(max(norms).item<double>() <= c.n[0] * 1.01);
  CHECK(r.lambdaHistory.shape() == r.residualNormsHistory.shape());
  return {r.eigenvalues, r.lambdaHistory(slice(5))};
}
results svds_of(const call& c) {
  const auto r = sl::svds(c.x.at(0), c.integer(0));
  CHECK(linalg::norm(matmul(c.x[0], conj(r.vh.T())) - r.u * r.s).item<double>() < 1e-8);
  return {r.s};
}
results splu_of(const call& c) {
  const auto lu = sl::splu(sparse_of(c.x.at(0)), {.permc_spec = "NATURAL"});
  return {lu.L().toarray(), lu.U().toarray(), lu.perm_r(), lu.perm_c()};
}

const call_table functions{
    {"cg", krylov(sl::cg)},
    {"cgs", krylov(sl::cgs)},
    {"bicgstab", krylov(sl::bicgstab)},
    {"gmres", gmres_of},
    {"minres", minres_of},
    {"lsmr", lsmr_of},
    {"lsqr", lsqr_of},
    {"spsolve", [](const call& c) { return results{sl::spsolve(sparse_of(c.x.at(0)), c.x.at(1))}; }},
    {"splu", splu_of},
    {"splu solve", [](const call& c) { return results{sl::splu(sparse_of(c.x.at(0))).solve(c.x.at(1), c.option[0])}; }},
    {"spilu",
     [](const call& c) {
       return results{
           sl::spilu(sparse_of(c.x.at(0)), {.drop_tol = c.n.at(0), .fill_factor = c.n.at(1), .permc_spec = "NATURAL"})
               .solve(c.x.at(1))};
     }},
    {"triangular", [](const call& c) { return results{sl::spsolve_triangular(sparse_of(c.x.at(0)), c.x.at(1))}; }},
    {"norm", [](const call& c) { return results{sl::norm(sparse_of(c.x.at(0)), norm_of(c))}; }},
    {"expm_multiply", expm_of},
    {"eigsh", eigsh_of},
    {"eigsh sigma", eigsh_of},
    {"eigsh pair", pair_of},
    {"lobpcg", lobpcg_of},
    {"svds", svds_of},
};

/// While it lives, the host looks at iterations so many steps late.
struct late_looks {
  explicit late_looks(int steps) { ops::look_every_for_tests(steps); }
  ~late_looks() { ops::look_every_for_tests(0); }
};

}  // namespace

TEST_CASE("golden: solvers of sparse systems") {
  if (no_superlu()) return;
  check_calls("solvers.bin", functions);
}
TEST_CASE("golden: solvers of sparse systems, looked at once in eight steps") {
  if (no_superlu()) return;
  const late_looks late(8);
  check_calls("solvers.bin", functions);
}
