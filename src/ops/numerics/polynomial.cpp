// Polynomials as vectors of coefficients.
#include "sinter/polynomial.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <vector>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/of_examples.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/base/type_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/numerics.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

ndarray coefficients(const ndarray& p, const char* function) {
  if (view_of(p, function).shape.size() > 1)
    fail<shape_error>(function, "coefficients are a vector, not of shape ", p.shape());
  return atleast_1d(p);
}

/// With zeros in front.
ndarray lengthened(const ndarray& p, std::int64_t n) {
  const std::int64_t more = n - p.shape(0);
  return more <= 0 ? p : concatenate({zeros({more}, {.dtype = p.dtype(), .device = p.device()}), p});
}

template <class Operation>
ndarray combined(const ndarray& p, const ndarray& q, const char* function, const Operation& operation) {
  const ndarray a = coefficients(p, function), b = coefficients(q, function);
  const std::int64_t n = std::max(a.shape(0), b.shape(0));
  return operation(lengthened(a, n), lengthened(b, n));
}

}  // namespace

ndarray polyval(const ndarray& p, const operand& x) {
  const ndarray c = p.ndim() > 1 ? p : coefficients(p, "polyval");
  const ndarray at = x.is_array() ? x.array() : full({}, x, {.device = p.device()});
  ndarray y = zeros_like(at);
  for (const ndarray& each : unstack(c)) y = y * at + each;
  return y;
}

ndarray polyadd(const ndarray& p, const ndarray& q) {
  return combined(p, q, "polyadd", [](const ndarray& a, const ndarray& b) { return a + b; });
}
ndarray polysub(const ndarray& p, const ndarray& q) {
  return combined(p, q, "polysub", [](const ndarray& a, const ndarray& b) { return a - b; });
}
ndarray polymul(const ndarray& p, const ndarray& q) {
  return convolve(coefficients(p, "polymul"), coefficients(q, "polymul"));
}

namespace {

/// Long division on the host, where the few coefficients are.
template <class T>
polydiv_result divided(const ndarray& p, const ndarray& q, dtype type) {
  std::vector<T> r = for_host(p, "polydiv").to_vector<T>();
  const std::vector<T> v = for_host(q, "polydiv").to_vector<T>();
  if (r.empty() || v.empty()) fail<shape_error>("polydiv", "no coefficients in shapes ", p.shape(), " and ", q.shape());
  if (v[0] == T(0)) fail<value_error>("polydiv", "the divisor's first coefficient is zero, in shape ", q.shape());
  const std::size_t m = r.size(), n = v.size();
  std::vector<T> quotient(m >= n ? m - n + 1 : 1);
  const T scale = T(1) / v[0];
  for (std::size_t k = 0; k + n <= m; ++k) {
    const T d = scale * r[k];
    quotient[k] = d;
    for (std::size_t i = 0; i < n; ++i) r[k + i] -= d * v[i];
  }
  std::size_t zeros = 0;
  while (zeros + 1 < m && static_cast<double>(std::abs(r[zeros])) <= 1e-8) ++zeros;
  r.erase(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(zeros));
  const create_kw like{.dtype = type, .device = p.device()};
  return {array(quotient, like), array(r, like)};
}

}  // namespace

polydiv_result polydiv(const ndarray& p, const ndarray& q) {
  const auto again = [](std::span<const ndarray> o) {
    const polydiv_result r = polydiv(o[0], o[1]);
    return results_of(r.quotient, r.remainder);
  };
  if (auto r = intercept_mapped("polydiv", {&p, &q}, again)) return {(*r)[0], (*r)[1]};
  const ndarray a = coefficients(p, "polydiv"), b = coefficients(q, "polydiv");
  common_device(a, b, "polydiv");
  const auto floating = [](dtype t) { return is_inexact(t) ? t : float64; };
  const dtype type = promote_types(floating(a.dtype()), floating(b.dtype()));
  switch (type) {
    case float64: return divided<double>(a, b, type);
    case complex64: return divided<std::complex<float>>(a, b, type);
    case complex128: return divided<std::complex<double>>(a, b, type);
    default: return divided<float>(a, b, type);
  }
}

ndarray polyder(const ndarray& p, std::int64_t m) {
  if (m < 0) fail<value_error>("polyder", "the order is ", m);
  ndarray out = coefficients(p, "polyder");
  for (; m > 0; --m) {
    const std::int64_t n = out.shape(0) - 1;
    if (n < 1) return slice_of(out, 0, 0, 0) * arange(0, {.device = p.device()});
    out = slice_of(out, 0, 0, n) * arange(n, 0, -1, {.device = p.device()});
  }
  return out;
}

ndarray polyint(const ndarray& p, std::int64_t m, const operand& k) {
  if (m < 0 || m > 1000) fail<value_error>("polyint", "the order is ", m);
  ndarray out = coefficients(p, "polyint");
  const ndarray constants =
      atleast_1d(k.is_array() ? k.array() : full({1}, k, {.dtype = float64, .device = p.device()}));
  if (constants.ndim() != 1 || (constants.shape(0) != 1 && constants.shape(0) < m))
    fail<shape_error>("polyint", "constants of shape ", constants.shape(), " for ", m, " integrations");
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t at = constants.shape(0) == 1 ? 0 : i;
    out = concatenate({out / arange(out.shape(0), 0, -1, {.device = p.device()}), slice_of(constants, 0, at, at + 1)});
  }
  return out;
}

ndarray poly(const ndarray& roots) {
  const dims& shape = view_of(roots, "poly").shape;
  const auto again = [](std::span<const ndarray> o) { return results_of(poly(o[0])); };
  if (is_complex(roots.dtype()) || shape.size() == 2)  // it looks whether roots are in pairs
    if (auto r = intercept_mapped("poly", {&roots}, again)) return (*r)[0];
  ndarray z = atleast_1d(roots);
  if (shape.size() == 2 && shape[0] == shape[1] && shape[0] != 0) z = linalg::eigvals(roots);
  else if (shape.size() > 1) fail<shape_error>("poly", "roots are a vector or a square matrix, not of shape ", shape);
  if (z.size() == 0) return ones({}, {.device = z.device()});  // as NumPy
  if (!is_inexact(z.dtype()) || z.dtype() == float16) z = z.astype(float64);
  ndarray out = ones({1}, {.dtype = z.dtype(), .device = z.device()});
  for (const ndarray& root : unstack(z)) out = convolve(out, stack({ones_like(root), -root}));
  if (!is_complex(out.dtype())) return out;
  // Roots in conjugate pairs have real coefficients.
  std::vector<std::complex<double>> all = z.to_vector<std::complex<double>>(), mirrored;
  for (const auto& root : all) mirrored.push_back(std::conj(root));
  const auto before = [](const auto& a, const auto& b) {
    return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
  };
  std::sort(all.begin(), all.end(), before);
  std::sort(mirrored.begin(), mirrored.end(), before);
  return all == mirrored ? real(std::move(out)) : out;
}

ndarray roots(const ndarray& p) {
  const ndarray c = coefficients(p, "roots");
  if (auto r = intercept_mapped("roots", {&p}, [](std::span<const ndarray> o) { return results_of(roots(o[0])); }))
    return (*r)[0];
  const std::vector<std::complex<double>> all = c.to_vector<std::complex<double>>();
  const auto zero = [](const std::complex<double>& x) { return x == 0.0; };
  const auto first = std::find_if_not(all.begin(), all.end(), zero) - all.begin();
  const auto behind = std::find_if_not(all.rbegin(), all.rend(), zero).base() - all.begin();
  const dtype type = is_inexact(c.dtype()) ? promote_types(c.dtype(), float32) : float64;
  const dtype of_roots = promote_types(type, complex64);
  const auto n = static_cast<std::int64_t>(behind - first);
  const auto at_zero = static_cast<std::int64_t>(all.size()) - static_cast<std::int64_t>(behind);
  if (first >= behind) return zeros({0}, {.dtype = of_roots, .device = c.device()});
  const ndarray none = zeros({at_zero}, {.dtype = of_roots, .device = c.device()});
  if (n < 2) return none;
  const ndarray kept = slice_of(c, 0, first, behind).astype(type, false);
  const ndarray top = -slice_of(kept, 0, 1, n) / slice_of(kept, 0, 0, 1);
  const ndarray below = eye(n - 2, n - 1, {.dtype = type, .device = c.device()});
  const ndarray found = linalg::eigvals(concatenate({expand_dims(top, 0), below}, 0));
  return concatenate({found.astype(of_roots, false), none});
}

ndarray vander(const ndarray& x, const vander_kw& kw) {
  if (view_of(x, "vander").shape.size() != 1) fail<shape_error>("vander", "needs a vector, not shape ", x.shape());
  const std::int64_t n = kw.n.value_or(x.shape(0));
  if (n < 0) fail<value_error>("vander", "the number of columns is ", n);
  const dtype type = promote_types(x.dtype(), int64);
  core::checked_count(dims{x.shape(0), n}, "vander");
  const ndarray wide = x.astype(type, false);
  if (n > 64) {
    const ndarray powers = cumulative_prod(broadcast_to(expand_dims(wide, 1), {x.shape(0), n - 1}), 1,
                                           {.dtype = type, .include_initial = true});
    return kw.increasing ? powers : flip(powers, 1);
  }
  // Running products, as NumPy's, but recorded.
  std::vector<ndarray> columns;
  for (std::int64_t i = 0; i < n; ++i) columns.push_back(i == 0 ? ones_like(wide) : columns.back() * wide);
  if (!kw.increasing) std::reverse(columns.begin(), columns.end());
  return n == 0 ? zeros({x.shape(0), 0}, {.dtype = type, .device = x.device()}) : stack(columns, 1);
}
ndarray vander(const ndarray& x, std::int64_t n, const vander_kw& kw) {
  vander_kw with = kw;
  with.n = n;
  return vander(x, with);
}

}  // namespace sinter::inline v0
