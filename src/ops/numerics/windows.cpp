// Window functions, and the Bessel function of kaiser.
#include "sinter/windows.hpp"

#include <cmath>
#include <numbers>
#include <span>

#include "ops/base/type_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// Chebyshev series of exp(-x) I0(x) on [0, 8] and of exp(-x) sqrt(x) I0(x) on [8, inf), the highest order first: Cephes,
/// as NumPy has them.
constexpr double near_zero[] = {
    -4.4153416464793395e-18, 3.3307945188222384e-17, -2.431279846547955e-16, 1.715391285555133e-15,
    -1.1685332877993451e-14, 7.676185498604936e-14,  -4.856446783111929e-13, 2.95505266312964e-12,
    -1.726826291441556e-11,  9.675809035373237e-11,  -5.189795601635263e-10, 2.6598237246823866e-09,
    -1.300025009986248e-08,  6.046995022541919e-08,  -2.670793853940612e-07, 1.1173875391201037e-06,
    -4.4167383584587505e-06, 1.6448448070728896e-05, -5.754195010082104e-05, 0.00018850288509584165,
    -0.0005763755745385824,  0.0016394756169413357,  -0.004324309995050576,  0.010546460394594998,
    -0.02373741480589947,    0.04930528423967071,    -0.09490109704804764,   0.17162090152220877,
    -0.3046826723431984,     0.6767952744094761};
constexpr double far_from_zero[] = {
    -7.233180487874754e-18,  -4.830504485944182e-18,  4.46562142029676e-17,    3.461222867697461e-17,
    -2.8276239805165836e-16, -3.425485619677219e-16,  1.7725601330565263e-15,  3.8116806693526224e-15,
    -9.554846698828307e-15,  -4.150569347287222e-14,  1.54008621752141e-14,    3.8527783827421426e-13,
    7.180124451383666e-13,   -1.7941785315068062e-12, -1.3215811840447713e-11, -3.1499165279632416e-11,
    1.1889147107846439e-11,  4.94060238822497e-10,    3.3962320257083865e-09,  2.266668990498178e-08,
    2.0489185894690638e-07,  2.8913705208347567e-06,  6.889758346916825e-05,   0.0033691164782556943,
    0.8044904110141088};

ndarray chebyshev(const ndarray& x, std::span<const double> series) {
  ndarray b0 = full_like(x, series[0]), b1 = zeros_like(x), b2 = b1;
  for (const double c : series.subspan(1)) {
    b2 = b1;
    b1 = b0;
    b0 = x * b1 - b2 + c;
  }
  return 0.5 * (b0 - b2);
}

/// A window of `count` weights in float64: f of the odd or even numbers from 1 - count to count - 1.
template <class F>
ndarray window(std::int64_t count, const create_kw& kw, const F& f) {
  create_kw wide = kw;
  wide.dtype = float64;
  ndarray out;
  if (count < 1) out = zeros({0}, wide);
  else if (count == 1) out = ones({1}, wide);
  else
    out = f(arange(static_cast<double>(1 - count), static_cast<double>(count), 2.0, wide),
            static_cast<double>(count - 1));
  return out.astype(kw.dtype.value_or(float64), false);
}

}  // namespace

ndarray i0(const ndarray& x) {
  const dtype given = view_of(x, "i0").type;
  if (is_complex(given)) fail<dtype_error>("i0", "dtype ", given, " is not supported");
  const ndarray y = absolute(is_inexact(given) ? x : x.astype(float64));
  const ndarray low = exp(y) * chebyshev(y / 2.0 - 2.0, near_zero);
  const ndarray high = exp(y) * chebyshev(32.0 / y - 2.0, far_from_zero) / sqrt(y);
  return where(less_equal(y, 8.0), low, high);
}

ndarray bartlett(std::int64_t count, const create_kw& kw) {
  return window(count, kw,
                [](const ndarray& n, double last) { return where(less_equal(n, 0), 1 + n / last, 1 - n / last); });
}

ndarray blackman(std::int64_t count, const create_kw& kw) {
  return window(count, kw, [](const ndarray& n, double last) {
    return 0.42 + 0.5 * cos(std::numbers::pi * n / last) + 0.08 * cos(2.0 * std::numbers::pi * n / last);
  });
}

ndarray hamming(std::int64_t count, const create_kw& kw) {
  return window(count, kw,
                [](const ndarray& n, double last) { return 0.54 + 0.46 * cos(std::numbers::pi * n / last); });
}

ndarray hanning(std::int64_t count, const create_kw& kw) {
  return window(count, kw, [](const ndarray& n, double last) { return 0.5 + 0.5 * cos(std::numbers::pi * n / last); });
}

ndarray kaiser(std::int64_t count, double beta, const create_kw& kw) {
  return window(count, kw, [&](const ndarray& n, double last) {
    const ndarray t = n / last;
    return i0(beta * sqrt(1 - t * t)) / i0(full({}, beta, {.device = n.device()}));
  });
}

}  // namespace sinter::inline v0
