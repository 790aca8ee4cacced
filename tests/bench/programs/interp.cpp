#include "programs.hpp"

namespace bench::programs {

outputs interp(const inputs& in) {
  const ndarray &xp = in["xp"], &fp = in["fp"], &x = in["x"], &lut = in["lut"], &q = in["q"];
  const auto n = xp.len();
  ndarray j = sn::clip(sn::searchsorted(xp, x, "right") - 1, 0, n - 2);
  ndarray slope = sn::diff(fp) / sn::diff(xp);
  ndarray lin = sn::where(x < xp(0), fp(0), sn::where(x > xp(-1), fp(-1), fp[j] + slope[j] * (x - xp[j])));
  ndarray near = fp[sn::argmin(sn::abs(xp(_, newaxis) - x(newaxis, slice(_, 500))), 0)];
  ndarray bins = sn::digitize(x, sn::linspace(0, 1, 11)), counts = sn::bincount(bins, {.minlength = 12});
  ndarray means = sn::bincount(bins, {.weights = lin, .minlength = 12}) / sn::maximum(counts, 1);
  ndarray s = q * 63, i = sn::minimum(s.astype(sn::int64), 62), f = (s - i).astype(sn::float32);
  ndarray out = sn::zeros({q.len()}, sn::float32);
  for (int dx = 0; dx < 2; ++dx)
    for (int dy = 0; dy < 2; ++dy)
      for (int dz = 0; dz < 2; ++dz) {
        ndarray weight = sn::prod(sn::where(sn::array({dx, dy, dz}) == 1, f, 1 - f), 1);
        out += weight * lut(i(_, 0) + dx, i(_, 1) + dy, i(_, 2) + dz);
      }
  return {{"lin", lin}, {"near", near}, {"bins", bins}, {"counts", counts}, {"means", means}, {"out", out}};
}

}  // namespace bench::programs
