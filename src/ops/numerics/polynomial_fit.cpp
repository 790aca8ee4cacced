// Polynomials that are nearest to points in least squares.
#include "sinter/polynomial_fit.hpp"

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/type_rules.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

struct fitted {
  linalg::lstsq_result of;  // the coefficients times the scale
  ndarray powers, scale;    // columns of unit length, what they were divided by
  double rcond;

  ndarray coefficients() const { return of.x / (of.x.ndim() == 2 ? expand_dims(scale, 1) : scale); }
};

fitted fit(const ndarray& x, const ndarray& y, std::int64_t degree, const optional_array& weights,
           const std::optional<double>& rcond, const char* function) {
  if (degree < 0) fail<value_error>(function, "the degree is ", degree);
  core::checked_count(dims{degree}, function);
  const dims &points = view_of(x, function).shape, &values = view_of(y, function).shape;
  if (points.size() != 1 || points[0] == 0 || values.size() < 1 || values.size() > 2 || values[0] != points[0])
    fail<shape_error>(function, "x of shape ", points, " and y of shape ", values, " are no points");
  const auto floating = [](const ndarray& a) { return is_inexact(a.dtype()) ? a : a.astype(float64); };
  const ndarray at = floating(x);
  ndarray left = vander(at, degree + 1), right = floating(y);
  if (weights) {
    if (!(view_of(*weights, function).shape == points))
      fail<shape_error>(function, "weights of shape ", (*weights).shape(), " for ", points[0], " points");
    const ndarray w = expand_dims(floating(*weights), 1);
    left = left * w;
    right = right.ndim() == 2 ? right * w : right * squeeze(w, 1);
  }
  const ndarray scale = sqrt(sum(left * left, 0));
  const ndarray powers = left / scale;
  const double bound = rcond.value_or(static_cast<double>(points[0]) * static_cast<double>(finfo(at.dtype()).eps));
  return {linalg::lstsq(powers, right, {.rcond = bound}), powers, scale, bound};
}

}  // namespace

ndarray polyfit(const ndarray& x, const ndarray& y, std::int64_t degree, const polyfit_kw& kw) {
  return fit(x, y, degree, kw.w, kw.rcond, "polyfit").coefficients();
}

polyfit_full_result polyfit_full(const ndarray& x, const ndarray& y, std::int64_t degree, const polyfit_kw& kw) {
  const fitted found = fit(x, y, degree, kw.w, kw.rcond, "polyfit_full");
  return {found.coefficients(), found.of.residuals, found.of.rank, found.of.s, found.rcond};
}

polyfit_cov_result polyfit_cov(const ndarray& x, const ndarray& y, std::int64_t degree, const polyfit_cov_kw& kw) {
  const fitted found = fit(x, y, degree, kw.w, kw.rcond, "polyfit_cov");
  const std::int64_t points = found.powers.shape(0), spare = points - (degree + 1);
  if (kw.scaled && spare <= 0)
    fail<value_error>("polyfit_cov", points, " points do not give the covariance of ", degree + 1,
                      " coefficients: it needs more, or .scaled = false");
  if (found.of.rank <= degree)
    fail<linalg_error>("polyfit_cov", "the points determine ", found.of.rank, " of ", degree + 1, " coefficients");
  ndarray covariance = linalg::inv(linalg::matmul(matrix_transpose(found.powers), found.powers)) /
                       (expand_dims(found.scale, 1) * found.scale);
  const bool columns = found.of.x.ndim() == 2;
  if (columns) covariance = expand_dims(covariance, 2);
  if (kw.scaled) covariance = covariance * (found.of.residuals / static_cast<double>(spare));
  else if (columns) covariance = in_c_order(broadcast_to(covariance, {degree + 1, degree + 1, found.of.x.shape(1)}));
  return {found.coefficients(), covariance};
}

}  // namespace sinter::inline v0
