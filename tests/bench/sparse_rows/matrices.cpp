// Rows of sparse arrays themselves.
#include <numeric>

#include "rows.hpp"

namespace sparse_rows {

namespace {
void rows_of_matrix(const std::string& of, const S& a, const S& b, bool big) {
  std::int64_t m = a.shape(0), n = a.shape(1);
  const ndarray x = numbers({n}, 5), y = numbers({m}, 6), x8 = numbers({n, 8}, 7), y8 = numbers({m, 8}, 8),
                y8t = numbers({8, m}, 9);
  const S ac = a.tocsc(), coo = a.tocoo();
  sp::eval(ac);
  sp::eval(coo);
  ndarray td = a.data(), tr = a.row(), tc = a.col();
  sn::eval(td, tr, tc);
  // shuffled triplets
  std::int64_t nz = a.nnz();
  std::vector<std::int64_t> per(nz);
  {
    std::int64_t step = 7919;
    while (std::gcd(step, nz) != 1) ++step;
    for (std::int64_t k = 0, q = 0; k < nz; ++k) {
      per[k] = q;
      q = (q + step) % nz;
    }
  }
  ndarray pm = sn::array(per), sd = sn::take(td, pm), sr = sn::take(tr, pm), sc = sn::take(tc, pm);
  sn::eval(sd, sr, sc);
  const S scoo = sp::coo_array(sd, sr, sc, sn::shape_t{m, n});
  row(of + " csr.v", [&] { return a.dot(x); });
  row(of + " csc.v", [&] { return ac.dot(x); });
  row(of + " coo.v", [&] { return coo.dot(x); });
  row(of + " csrT.v", [&] { return a.T().dot(y); });
  row(of + " v.csr", [&] { return sp::matmul(y, a); });
  row(of + " csr.M8", [&] { return a.dot(x8); });
  row(of + " csrT.M8", [&] { return a.T().dot(y8); });
  row(of + " M8.csr", [&] { return sp::matmul(y8t, a); });
  row(of + " 2Ax-3y", [&] { return 2 * a.dot(x) - 3 * y; });
  row(of + " csr*csr", [&] { return sp::matmul(a, b); });
  row(of + " to csc", [&] { return a.tocsc(); });
  row(of + " csc to csr", [&] { return ac.tocsr(); });
  row(of + " to coo", [&] { return a.tocoo(); });
  row(of + " coo to csr", [&] { return coo.tocsr(); });
  row(of + " coo to csc", [&] { return coo.tocsc(); });
  row(of + " shuffled coo to csr", [&] { return scoo.tocsr(); });
  row(of + " shuffled coo to csc", [&] { return scoo.tocsc(); });
  row(of + " csr of triplets", [&] { return sp::csr_from_triplets(sd, sr, sc, sn::shape_t{m, n}); });
  row(of + " csr of parts", [&] { return sp::csr_array(a.data(), a.indices(), a.indptr(), sn::shape_t{m, n}); });
  row(of + " copy", [&] { return a.copy(); });
  row(of + " astype f32", [&] { return a.astype(sn::float32); });
  if (m * n <= 4'000'000) {
    const ndarray dense = a.toarray().copy();
    sn::eval(dense);
    row(of + " toarray", [&] { return a.toarray(); });
    row(of + " csr of dense", [&] { return sp::csr_array(dense); });
    row(of + " csc of dense", [&] { return sp::csc_array(dense); });
    row(of + " coo of dense", [&] { return sp::coo_array(dense); });
    row(of + " A+dense", [&] { return a + dense; });
    row(of + " A*dense", [&] { return a * dense; });
  }
  row(of + " 2*A", [&] { return 2 * a; });
  row(of + " A*rowvec", [&] { return a * x; });
  row(of + " A*colvec", [&] { return a * sn::reshape(y, {m, 1}); });
  row(of + " A/2", [&] { return a / 2; });
  row(of + " -A", [&] { return -a; });
  row(of + " abs", [&] { return sp::abs(a); });
  row(of + " sqrt", [&] { return sp::sqrt(sp::abs(a)); });
  row(of + " sin", [&] { return sp::sin(a); });
  row(of + " power3", [&] { return a.power(3); });
  row(of + " A+B", [&] { return a + b; });
  row(of + " A-B", [&] { return a - b; });
  row(of + " A*B", [&] { return a * b; });
  row(of + " A!=B", [&] { return a != b; });
  row(of + " A<B", [&] { return a < b; });
  row(of + " maximum", [&] { return a.maximum(b); });
  row(of + " A>0.5", [&] { return a > 0.5; });
  row(of + " A!=0", [&] { return a != 0; });
  row(of + " sum", [&] { return a.sum(); });
  row(of + " sum0", [&] { return a.sum(0); });
  row(of + " sum1", [&] { return a.sum(1); });
  row(of + " mean0", [&] { return a.mean(0); });
  row(of + " max", [&] { return a.max(); });
  row(of + " max0", [&] { return a.max(0); });
  row(of + " max1", [&] { return a.max(1); });
  row(of + " argmax", [&] { return a.argmax(); });
  row(of + " argmax0", [&] { return a.argmax(0); });
  row(of + " argmax1", [&] { return a.argmax(1); });
  row(of + " count_nonzero", [&] { return a.count_nonzero(); });
  row(of + " norm", [&] { return sp::norm(a); });
  row(of + " norm 1", [&] { return sp::norm(a, "1"); });
  row(of + " norm axis1", [&] { return sp::norm(a, 1); });
  row(of + " diagonal", [&] { return a.diagonal(); });
  row(of + " diagonal(1)", [&] { return a.diagonal(1); });
  row(of + " trace", [&] { return a.trace(); });
  row(of + " setdiag", [&] {
    S t = a.copy();
    t.setdiag(1.0);
    return t;
  });
  row(of + " setdiag(2)", [&] {
    S t = a.copy();
    t.setdiag(1.0, 2);
    return t;
  });
  row(of + " tril", [&] { return sp::tril(a); });
  row(of + " triu", [&] { return sp::triu(a, 1); });
  row(of + " find", [&] {
    auto f = sp::find(a);
    return std::vector<ndarray>{f.row, f.col, f.data};
  });
  row(of + " nonzero", [&] { return a.nonzero(); });
  row(of + " A[i]", [&] { return a(m / 2); });
  row(of + " A[:,j]", [&] { return a(_, n / 2); });
  row(of + " A[i,j]", [&] { return a.at(m / 2, n / 2); });
  row(of + " A[10:m/2]", [&] { return a(slice(10, m / 2)); });
  row(of + " A[::3]", [&] { return a(slice(_, _, 3)); });
  row(of + " A[:,q]", [&] { return a(_, slice(n / 4, n / 2)); });
  row(of + " A[::-1]", [&] { return a(slice(_, _, -1)); });
  {
    std::vector<std::int64_t> ri, ci;
    for (std::int64_t k = 0; k < m / 2; ++k) ri.push_back((k * 7 + 3) % m);
    for (std::int64_t k = 0; k < n / 2; ++k) ci.push_back((k * 7 + 3) % n);
    ndarray rr = sn::array(ri), cc = sn::array(ci);
    sn::eval(rr, cc);
    row(of + " A[rows]", [&] { return a(rr); });
    row(of + " A[:,cols]", [&] { return a(_, cc); });
    row(of + " A[i,j] arrays", [&] { return a.at(rr, cc); });
    ndarray mask = y > 0.5;
    sn::eval(mask);
    row(of + " A[mask]", [&] { return a(mask); });
  }
  row(of + " sum_duplicates", [&] {
    S t = scoo.copy();
    t.sum_duplicates();
    return t;
  });
  {
    S t0 = sp::matmul(a, b);
    sp::eval(t0);
    row(of + " sort_indices", [&] {
      S t = sp::csr_array(t0.data(), t0.indices(), t0.indptr(), t0.shape());
      t.sort_indices();
      return t;
    });
  }
  row(of + " eliminate_zeros", [&] {
    S t = a.with_data(a.data() * 1.0);
    t.eliminate_zeros();
    return t;
  });
  row(of + " vstack", [&] { return sp::vstack({a, b}); });
  row(of + " hstack", [&] { return sp::hstack({a, b}); });
  row(of + " block4", [&] { return sp::block_array({{a, b}, {b, a}}); });
  row(of + " block_diag", [&] { return sp::block_diag({a, b}); });
  const S two = sp::csr_array(numbers({3, 3}, 3));
  if (!big) row(of + " kron", [&] { return sp::kron(a, two); });
  row(of + " eye", [&] { return sp::eye(n); });
  row(of + " diags", [&] { return sp::diags({x(slice(1, _)), x, x(slice(1, _))}, {-1, 0, 1}); });
  row(of + " random", [&] { return sp::random_array({m, n}, 5.0 / double(n)); });
  row(of + " transpose", [&] { return a.T(); });
  row(of + " A.T A", [&] { return sp::matmul(a.T(), a); });
}
}  // namespace

void small_rows() {
  {
    S a = laplacian(10), b = a.T().tocsr() * 2.0;
    sp::eval(b);
    rows_of_matrix("lap10", a, b, false);
  }
  rows_of_matrix("rnd100", scattered(100, 100, 5, 1), scattered(100, 100, 5, 11), false);
}
void matrix_rows() {
  {
    S a = laplacian(32), b = a.T().tocsr() * 2.0;
    sp::eval(b);
    rows_of_matrix("lap32", a, b, false);
  }
  {
    S a = scattered(1000, 1000, 10, 1), b = scattered(1000, 1000, 10, 11);
    rows_of_matrix("rnd1000", a, b, false);
  }
  {
    S a = laplacian(200), b = a.T().tocsr() * 2.0;
    sp::eval(b);
    rows_of_matrix("lap200", a, b, false);
  }
  {
    S a = scattered(40000, 40000, 10, 1), b = scattered(40000, 40000, 10, 11);
    rows_of_matrix("rnd40k", a, b, false);
  }
}
void large_rows() {
  {
    S a = laplacian(1000), b = a.T().tocsr() * 2.0;
    sp::eval(b);
    rows_of_matrix("lap1000", a, b, true);
  }
  {
    S a = scattered(10000, 15000, 200, 1), b = scattered(10000, 15000, 200, 11);
    std::int64_t n = 15000;
    ndarray x = numbers({n}, 5), y = numbers({10000}, 5);
    row("wide csr.v", [&] { return a.dot(x); });
    row("wide csrT.v", [&] { return a.T().dot(y); });
    row("wide to csc", [&] { return a.tocsc(); });
    row("wide A+B", [&] { return a + b; });
    row("wide sum0", [&] { return a.sum(0); });
    row("wide sum1", [&] { return a.sum(1); });
    row("wide max1", [&] { return a.max(1); });
    row("wide A[::3]", [&] { return a(slice(_, _, 3)); });
    row("wide norm", [&] { return sp::norm(a); });
    row("wide vstack", [&] { return sp::vstack({a, b}); });
    row("wide coo to csr", [&] {
      S c = a.tocoo();
      return c.tocsr();
    });
    row("wide lsmr 20", [&] { return sl::lsmr(a, y, {.atol = 0, .btol = 0, .conlim = 0, .maxiter = 20}).x; });
    row("wide lsqr 20", [&] { return sl::lsqr(a, y, {.atol = 0, .btol = 0, .conlim = 0, .iter_lim = 20}).x; });
  }
}

}  // namespace sparse_rows
