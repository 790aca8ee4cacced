#include "ops/sparse_linalg/bidiagonal.hpp"

#include "ops/base/errors.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {

namespace {

ndarray flattened(const char* function, const char* what, const ndarray& v, std::int64_t n, const linear_operator& a) {
  if (!v.defined()) fail<value_error>(function, what, " is undefined (default-constructed or moved from)");
  if (v.ndim() > 2 || v.size() != n || (v.ndim() == 2 && v.shape(0) != n))
    fail<shape_error>(function, "A of shape ", a.shape(), " and ", what, " of shape ", v.shape());
  return reshape(v, {n});
}

/// 1 / x, and 1 where x is 0.
ndarray inverse(const ndarray& x) { return 1 / where(x > 0, x, 1); }

}  // namespace

ndarray bidiagonalisation::factor(const ndarray& number) const {
  return is_complex(u.dtype()) ? number.astype(u.dtype() == dtype::c64 ? float32 : float64, false)
                               : number.astype(u.dtype(), false);
}

bidiagonalisation bidiagonalisation::begin(const char* function, const linear_operator& a, const ndarray& b,
                                           const optional_array& x0) {
  const auto& body = body_of(a, function);
  bidiagonalisation k{function, a, {}, {}, {}, {}, {}, false, 0, body.rows(), body.columns(), {}};
  const ndarray right = flattened(function, "b", b, k.rows, a);
  dtype type = promote_types(solver_dtype(body.dtype()), solver_dtype(right.dtype()));
  if (x0) type = promote_types(type, solver_dtype((*x0).dtype()));
  k.u = right.astype(type, false);
  k.norm_of_b = length_of(k.u).item<double>();
  k.x = x0 ? flattened(function, "x0", *x0, k.columns, a).astype(type, false)
           : zeros({k.columns}, {.dtype = type, .device = k.u.device()});
  if (x0) k.u = k.u - a.matvec(k.x);
  k.beta = length_of(k.u).astype(float64);
  k.v = a.rmatvec(k.u) * k.factor(inverse(k.beta));
  k.alpha = length_of(k.v).astype(float64);
  eval(k.u, k.v, k.beta, k.alpha);
  k.by_normal_products = body.has_normal_products(type);
  if (k.by_normal_products) k.u = body.apply_normal(false, k.v, k.u, k.beta).product;
  return k;
}

void bidiagonalisation::step(const ndarray& inverse_alpha, const ndarray& alpha_over_beta) {
  if (by_normal_products) {
    kept[steps++ % kept.size()] = {v, alpha, beta};
    const auto& body = body_of(a, function);
    const normal_product_result down = body.apply_normal(true, u, v, alpha);
    v = down.product, beta = down.length;
    const normal_product_result up = body.apply_normal(false, v, u, beta);
    u = up.product, alpha = up.length;
    return;
  }
  u = a.matvec(v) * factor(inverse_alpha) - u * factor(alpha_over_beta);
  beta = length_of(u).astype(float64);
  eval(u, beta);
  const ndarray length = factor(beta);
  // Where u vanishes, v stays, as in SciPy.
  v = where(length > 0, a.rmatvec(u) / length - v * (length * factor(inverse_alpha)), v);
  alpha = length_of(v).astype(float64);
  eval(v, alpha);
}

beside_products::beside_products(const bidiagonalisation& g) {
  if (g.by_normal_products) own_.emplace(stream_kw{.device = g.device(), .priority = -1, .non_blocking = true});
}

std::unique_ptr<stream_guard> beside_products::enter() const {
  return own_ ? std::make_unique<stream_guard>(*own_) : nullptr;
}

}  // namespace sinter::ops
