// eigsh and svds: what is asked for in terms of the Lanczos iteration.
#include <algorithm>
#include <cmath>

#include "ops/base/errors.hpp"
#include "ops/sparse_linalg/lanczos.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/sparse_eigen.hpp"
#include "sinter/sparse_factors.hpp"

namespace sinter::inline v0 {

using namespace ops;
using namespace idx;
using sparse::linalg::eigsh_kw;
using sparse::linalg::eigsh_result;
using sparse::linalg::svds_kw;
using sparse::linalg::svds_result;
using std::int64_t;

namespace {

/// (A - sigma)^-1.
std::function<ndarray(const ndarray&)> shifted_inverse(const linear_operator& a, double sigma, dtype type,
                                                       const linear_operator& given) {
  if (given.defined()) return [given](const ndarray& x) { return given.matvec(x); };
  const auto& body = body_of(a, "eigsh");
  if (const sparse::sparse_array s = body.as_sparse(); s.defined()) {
    const ndarray places = arange(s.shape(0), {.dtype = int64, .device = s.device()});
    const sparse::sparse_array coo = s.tocoo();
    const ndarray values =
        concatenate({coo.data().astype(type), full({s.shape(0)}, -sigma, {.dtype = type, .device = s.device()})});
    const sparse::sparse_array moved = sparse::coo_array(values, concatenate({coo.row().astype(int64), places}),
                                                         concatenate({coo.col().astype(int64), places}), s.shape());
    return sparse::linalg::factorized(moved.tocsc());
  }
  if (const ndarray d = body.as_dense(); d.defined()) {
    const ndarray moved = d.astype(type) - sigma * eye(d.shape(0), {.dtype = type, .device = d.device()});
    return
        [factors = sinter::linalg::lu_factor(moved)](const ndarray& x) { return sinter::linalg::lu_solve(factors, x); };
  }
  fail<value_error>("eigsh", "sigma of an operator that is no array needs OPinv");
}

ndarray first_vector(const char* function, const optional_array& v0, int64_t n, dtype type, const device& on) {
  if (!v0) return starting_vector(n, type, on);
  if ((*v0).shape() != shape_t{n}) fail<shape_error>(function, "A of ", n, " rows and v0 of shape ", (*v0).shape());
  return (*v0).astype(type);
}

int64_t basis_size(const char* function, std::optional<int64_t> ncv, int64_t k, int64_t n) {
  if (k < 1 || k >= n) fail<value_error>(function, "k is ", k, "; it must be from 1 to ", n - 1);
  const int64_t size = ncv.value_or(std::min(n, std::max<int64_t>(2 * k + 1, 20)));
  if (size <= k || size > n)
    fail<value_error>(function, "ncv is ", size, "; it must be above k = ", k, " and at most ", n);
  return size;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

namespace sparse::linalg {

eigsh_result eigsh(const linear_operator& A, const eigsh_kw& kw) {
  const auto& body = body_of(A, "eigsh");
  const int64_t n = body.rows();
  if (n != body.columns()) fail<shape_error>("eigsh", "A of shape ", A.shape(), " is not square");
  if (!is_one_of(kw.which, {"LM", "SM", "LA", "SA", "BE"}))
    fail<value_error>("eigsh", "which is '", kw.which, "'; it is LM, SM, LA, SA or BE");
  const dtype type = solver_dtype(body.dtype());
  const device on = kw.v0 ? (*kw.v0).device() : body.device_hint();
  const int64_t ncv = basis_size("eigsh", kw.ncv, kw.k, n);
  lanczos_problem run{"eigsh", {}, n, kw.k, ncv, kw.maxiter.value_or(10 * n), type, on, kw.tol, kw.which};
  if (kw.sigma) run.apply = shifted_inverse(A, *kw.sigma, type, kw.OPinv);
  else run.apply = [&A](const ndarray& x) { return A.matvec(x); };
  lanczos_result found = run_lanczos(run, first_vector("eigsh", kw.v0, n, type, on));
  if (kw.sigma)
    for (double& v : found.values) v = 1 / v + *kw.sigma;
  std::vector<int64_t> order(found.values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return found.values[static_cast<std::size_t>(i)] < found.values[static_cast<std::size_t>(j)];
  });
  const ndarray places = array(order, {.device = on});
  const dtype real_type = type == dtype::f32 || type == dtype::c64 ? float32 : float64;
  eigsh_result out{array(found.values, {.dtype = real_type, .device = on})(places), {}, found.missing};
  if (kw.return_eigenvectors) out.eigenvectors = found.vectors(places).T().copy();
  return out;
}

svds_result svds(const linear_operator& A, const svds_kw& kw) {
  const auto& body = body_of(A, "svds");
  if (!is_one_of(kw.which, {"LM", "SM"})) fail<value_error>("svds", "which is '", kw.which, "'; it is LM or SM");
  const bool tall = body.rows() >= body.columns();
  const int64_t n = std::min(body.rows(), body.columns());
  const dtype type = solver_dtype(body.dtype());
  const device on = kw.v0 ? (*kw.v0).device() : body.device_hint();
  const linear_operator back = A.adjoint();
  lanczos_problem p{"svds",
                    {},
                    n,
                    kw.k,
                    basis_size("svds", kw.ncv, kw.k, n),
                    kw.maxiter.value_or(10 * n),
                    type,
                    on,
                    kw.tol,
                    kw.which == "LM" ? "LA" : "SA"};
  p.apply = [&](const ndarray& x) { return tall ? back.matvec(A.matvec(x)) : A.matvec(back.matvec(x)); };
  const lanczos_result found = run_lanczos(p, first_vector("svds", kw.v0, n, type, on));
  const ndarray v = found.vectors.T();
  const auto parts = sinter::linalg::svd(tall ? A.matmat(v) : back.matmat(v), {.full_matrices = false});
  const ndarray ascending = arange(kw.k - 1, -1, -1, {.device = on});
  svds_result out{{}, parts.s(ascending), {}, found.missing};
  if (!kw.return_singular_vectors) return out;
  // A V = U S W^H: the right vectors are V W. Of A^H V = U S W^H the left ones are, and U the right ones.
  const ndarray w = conj(parts.vh.T())(_, ascending), other = parts.u(_, ascending), turned = matmul(v, w);
  out.u = tall ? other : turned;
  out.vh = tall ? conj(turned.T()) : conj(other.T());
  return out;
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
