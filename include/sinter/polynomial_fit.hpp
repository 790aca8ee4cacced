// What numpy.polyfit returns beside the coefficients with cov= and full=. Not part of sinter.hpp.
//
// Arguments, dtypes and errors are those of polyfit (polynomial.hpp); both factorise and wait.
#pragma once
#include <cstdint>

#include "sinter/polynomial.hpp"

namespace sinter::inline v0 {

/// coefficients (degree + 1,) or (degree + 1, K); covariance (degree + 1, degree + 1) or (degree + 1, degree + 1, K).
struct polyfit_cov_result {
  ndarray coefficients, covariance;
};
/// Keywords of polyfit_cov. `scaled` false: the covariance is not multiplied by the mean square of the residuals, as
/// cov="unscaled" of NumPy.
struct polyfit_cov_kw {
  kwonly _kw{};
  optional_array w{};
  std::optional<double> rcond{};
  bool scaled = true;
};
/// np.polyfit(x, y, degree, cov=True). value_error: no more points than coefficients, unless unscaled. linalg_error: points
/// that do not determine the polynomial.
polyfit_cov_result polyfit_cov(const ndarray& x, const ndarray& y, std::int64_t degree, const polyfit_cov_kw& kw = {});

/// residuals: sums of squares, empty unless the rank is degree + 1 and there are more points; s: the singular values of the
/// scaled matrix of powers.
struct polyfit_full_result {
  ndarray coefficients, residuals;
  std::int64_t rank = 0;
  ndarray s;
  double rcond = 0;
};
/// np.polyfit(x, y, degree, full=True).
polyfit_full_result polyfit_full(const ndarray& x, const ndarray& y, std::int64_t degree, const polyfit_kw& kw = {});

}  // namespace sinter::inline v0
