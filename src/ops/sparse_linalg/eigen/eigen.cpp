// eigsh and svds: what is asked for in terms of the Lanczos iteration.
#include <algorithm>
#include <cmath>

#include "ops/base/errors.hpp"
#include "ops/sparse_linalg/eigen/inverses.hpp"
#include "ops/sparse_linalg/eigen/lanczos.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/sparse_eigen.hpp"

namespace sinter::inline v0 {

using namespace ops;
using namespace idx;
using sparse::linalg::eigsh_kw;
using sparse::linalg::eigsh_result;
using sparse::linalg::svds_kw;
using sparse::linalg::svds_result;
using std::int64_t;

namespace {

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
  return std::min(n, std::max(size, k + 2));  // one beside the k is kept to see that it is not wanted
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void check_problem(const linear_operator& a, const eigsh_kw& kw) {
  if (a.shape(0) != a.shape(1)) fail<shape_error>("eigsh", "A of shape ", a.shape(), " is not square");
  if (!is_one_of(kw.which, {"LM", "SM", "LA", "SA", "BE"}))
    fail<value_error>("eigsh", "which is '", kw.which, "'; it is LM, SM, LA, SA or BE");
  if (!is_one_of(kw.mode, {"normal", "buckling", "cayley"}))
    fail<value_error>("eigsh", "mode is '", kw.mode, "'; it is normal, buckling or cayley");
  if (!kw.sigma && kw.OPinv.defined()) fail<value_error>("eigsh", "OPinv is given without sigma");
  if (kw.sigma && kw.Minv.defined()) fail<value_error>("eigsh", "Minv is given beside sigma, which needs OPinv");
  if (kw.Minv.defined() && !kw.M.defined()) fail<value_error>("eigsh", "Minv is given without M");
  if (kw.sigma && *kw.sigma == 0 && kw.mode != "normal")
    fail<value_error>("eigsh", "sigma is 0, for which mode '", kw.mode, "' gives no eigenvalues");
  const auto check_extents = [&](const linear_operator& m, const char* name) {
    if (m.defined() && m.shape() != a.shape())
      fail<shape_error>("eigsh", "A of shape ", a.shape(), " and ", name, " of shape ", m.shape());
  };
  check_extents(kw.M, "M");
  check_extents(kw.Minv, "Minv");
  check_extents(kw.OPinv, "OPinv");
}

std::function<ndarray(const ndarray&)> map_of(const linear_operator& a) {
  return [a](const ndarray& x) { return a.matvec(x); };
}

/// The operator whose eigenvalues nu are looked for, and the inner product in which it is Hermitian: the modes of ARPACK (Lehoucq,
/// Sorensen, Yang, ARPACK Users' Guide, 1998, section 3.2).
void set_operator(lanczos_problem& p, const linear_operator& a, const eigsh_kw& kw) {
  if (kw.M.defined()) p.metric = map_of(kw.M);
  if (!kw.sigma) {
    if (!kw.M.defined()) {
      p.apply = [a](const ndarray& x, const ndarray&) { return a.matvec(x); };
      return;
    }
    const auto inverse = kw.Minv.defined() ? map_of(kw.Minv) : inverse_of("eigsh", kw.M, p.type);
    p.apply = [a, inverse](const ndarray& x, const ndarray&) { return inverse(a.matvec(x)); };
    return;
  }
  const double sigma = *kw.sigma;
  const auto inverse =
      kw.OPinv.defined() ? map_of(kw.OPinv) : inverse_of("eigsh", shifted(a, kw.M, sigma, p.type), p.type);
  if (kw.mode == "buckling") p.metric = map_of(a);
  if (p.metric) p.into_range = inverse;
  if (kw.mode == "cayley")
    p.apply = [a, inverse, sigma](const ndarray& x, const ndarray& mx) { return inverse(a.matvec(x) + sigma * mx); };
  else p.apply = [inverse](const ndarray&, const ndarray& mx) { return inverse(mx); };
}

/// The eigenvalue of A x = w M x of one of the operator.
double eigenvalue_of(double nu, const eigsh_kw& kw) {
  if (!kw.sigma) return nu;
  const double sigma = *kw.sigma;
  if (kw.mode == "buckling") return sigma * nu / (nu - 1);
  return kw.mode == "cayley" ? sigma * (nu + 1) / (nu - 1) : sigma + 1 / nu;
}

/// As many restarts as are allowed; value_error: none.
int64_t restarts(const char* function, std::optional<int64_t> most, int64_t n) {
  if (most && *most < 1) fail<value_error>(function, "maxiter is ", *most, "; it must be positive");
  return most.value_or(10 * n);
}

}  // namespace

namespace sparse::linalg {

eigsh_result eigsh(const linear_operator& A, const eigsh_kw& kw) {
  const auto& body = body_of(A, "eigsh");
  check_problem(A, kw);
  const int64_t n = body.rows();
  dtype type = solver_dtype(body.dtype());
  if (kw.M.defined()) type = promote_types(type, solver_dtype(kw.M.dtype()));
  const device on = kw.v0 ? (*kw.v0).device() : body.device_hint();
  const int64_t ncv = basis_size("eigsh", kw.ncv, kw.k, n);
  lanczos_problem run{"eigsh", {}, n, kw.k, ncv, restarts("eigsh", kw.maxiter, n), type, on, kw.tol, kw.which};
  run.all_copies = kw.all_copies;
  set_operator(run, A, kw);
  lanczos_result found = run_lanczos(run, first_vector("eigsh", kw.v0, n, type, on));
  for (double& v : found.values) v = eigenvalue_of(v, kw);
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
                    restarts("svds", kw.maxiter, n),
                    type,
                    on,
                    kw.tol,
                    kw.which == "LM" ? "LA" : "SA"};
  p.all_copies = kw.all_copies;
  p.apply = [&](const ndarray& x, const ndarray&) {
    return tall ? back.matvec(A.matvec(x)) : A.matvec(back.matvec(x));
  };
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
