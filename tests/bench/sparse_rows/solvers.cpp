// Rows of sparse::linalg.
#include "rows.hpp"

namespace sparse_rows {

void solver_rows() {
  for (std::int64_t side : {32, 100, 300}) {
    S a = laplacian(side);
    std::int64_t n = side * side;
    const std::string of = "S" + std::to_string(side);
    ndarray b = numbers({n}, 4);
    S ns = (a + scattered(n, n, 3, 21) * 0.1).tocsr();
    sp::eval(ns);
    ndarray dinv = sn::full({n}, 0.25);
    sn::eval(dinv);
    const std::int64_t it = 50;
    auto M = sl::diagonal_operator(dinv);
    row(of + " cg 50", [&] { return sl::cg(a, b, {.rtol = 0, .maxiter = it}); });
    row(of + " cg 50 M", [&] { return sl::cg(a, b, {.rtol = 0, .maxiter = it, .M = M}); });
    row(of + " cg 50 fn", [&] {
      return sl::cg(sl::linear_operator({n, n}, [&](const ndarray& v) { return a.dot(v); }, {.dtype = sn::float64}), b,
                    {.rtol = 0, .maxiter = it});
    });
    row(of + " cg 50 callback", [&] {
      int c = 0;
      return sl::cg(a, b, {.rtol = 0, .maxiter = it, .callback = [&](const ndarray&) { ++c; }});
    });
    row(of + " cg 1e-8", [&] { return sl::cg(a, b, {.rtol = 1e-8}); });
    row(of + " cgs 30", [&] { return sl::cgs(ns, b, {.rtol = 0, .maxiter = 30}); });
    row(of + " bicgstab 20", [&] { return sl::bicgstab(ns, b, {.rtol = 0, .maxiter = 20}); });
    row(of + " bicgstab lap", [&] { return sl::bicgstab(a, b, {.rtol = 1e-8}); });
    row(of + " gmres 3 cycles", [&] { return sl::gmres(a, b, {.rtol = 0, .maxiter = 3}); });
    row(of + " gmres 1e-6", [&] { return sl::gmres(a, b, {.rtol = 1e-6, .maxiter = 100000}); });
    row(of + " minres 50", [&] { return sl::minres(a, b, {.rtol = 0, .maxiter = it}); });
    row(of + " lsqr 50", [&] { return sl::lsqr(a, b, {.atol = 0, .btol = 0, .conlim = 0, .iter_lim = it}).x; });
    row(of + " lsmr 50", [&] { return sl::lsmr(a, b, {.atol = 0, .btol = 0, .conlim = 0, .maxiter = it}).x; });
    row(of + " lsmr 50 damp",
        [&] { return sl::lsmr(a, b, {.damp = 0.1, .atol = 0, .btol = 0, .conlim = 0, .maxiter = it}).x; });
    S acsc = a.tocsc();
    sp::eval(acsc);
    if (side <= 200) {
      row(of + " spsolve", [&] { return sl::spsolve(acsc, b); });
      row(of + " spsolve csr", [&] { return sl::spsolve(a, b); });
      row(of + " splu", [&] { return int(sl::splu(acsc).nnz() * 0); });
      row(of + " spilu", [&] { return int(sl::spilu(acsc).nnz() * 0); });
      auto lu = sl::splu(acsc);
      row(of + " lu.solve", [&] { return lu.solve(b); });
      ndarray b8 = numbers({n, 8}, 4);
      row(of + " lu.solve 8", [&] { return lu.solve(b8); });
      row(of + " lu.solve T", [&] { return lu.solve(b, 'T'); });
      row(of + " lu.L", [&] { return lu.L(); });
      ndarray v0 = numbers({n}, 14);
      row(of + " eigsh LM4 1e-6", [&] {
        auto r = sl::eigsh(a, {.k = 4, .v0 = v0, .tol = 1e-6});
        return std::vector<ndarray>{r.eigenvalues, r.eigenvectors};
      });
      row(of + " eigsh LM4 1e-6 one search", [&] {
        auto r = sl::eigsh(a, {.k = 4, .v0 = v0, .tol = 1e-6, .all_copies = false});
        return std::vector<ndarray>{r.eigenvalues, r.eigenvectors};
      });
      row(of + " eigsh sigma0 6", [&] {
        auto r = sl::eigsh(a, {.k = 6, .sigma = 0.0, .v0 = v0});
        return std::vector<ndarray>{r.eigenvalues, r.eigenvectors};
      });
      row(of + " svds 6", [&] {
        auto r = sl::svds(ns, {.k = 6, .v0 = v0, .tol = 1e-6});
        return std::vector<ndarray>{r.u, r.s, r.vh};
      });
      ndarray X = numbers({n, 4}, 15);
      row(of + " lobpcg 20", [&] {
        auto r = sl::lobpcg(a, X, {.tol = 1e-12, .maxiter = 20});
        return std::vector<ndarray>{r.eigenvalues, r.eigenvectors};
      });
    }
    S L = sp::tril(a).tocsr();
    sp::eval(L);
    row(of + " spsolve_triangular", [&] { return sl::spsolve_triangular(L, b); });
    row(of + " expm_multiply", [&] { return sl::expm_multiply(a * -0.1, b); });
    row(of + " onenormest", [&] { return int(sl::onenormest(a).est * 0); });
    row(of + " norm fro", [&] { return sl::norm(a); });
    row(of + " op dot", [&] { return (2 * sl::linear_operator(a) + sl::linear_operator(a)).dot(b); });
  }
  for (std::int64_t m : {500, 20000}) {
    S a = scattered(m, m / 4, 20, 31);
    ndarray b = numbers({m}, 4);
    std::string of = "LS" + std::to_string(m);
    row(of + " lsqr 50", [&] { return sl::lsqr(a, b, {.atol = 0, .btol = 0, .conlim = 0, .iter_lim = 50}).x; });
    row(of + " lsmr 50", [&] { return sl::lsmr(a, b, {.atol = 0, .btol = 0, .conlim = 0, .maxiter = 50}).x; });
    row(of + " svds 4", [&] {
      ndarray v0 = numbers({m / 4}, 14);
      auto r = sl::svds(a, {.k = 4, .v0 = v0, .tol = 1e-6});
      return std::vector<ndarray>{r.u, r.s, r.vh};
    });
  }
}

}  // namespace sparse_rows
