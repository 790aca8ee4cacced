#include "programs.hpp"

#include <complex>

namespace bench::programs {

outputs fields(const inputs& in) {
  const auto n = in.number("n");
  ndarray t = sn::linspace(-2, 2, n);
  const auto grid = sn::meshgrid({t, t});
  const ndarray &X = grid[0], &Y = grid[1];
  ndarray r = sn::hypot(X, Y), th = sn::arctan2(Y, X), u = -Y * sn::exp(-r * r), v = X * sn::exp(-r * r),
          h = t(1) - t(0);
  ndarray curl = (v["1:-1, 2:"] - v["1:-1, :-2"]) / (2 * h) - (u["2:, 1:-1"] - u[":-2, 1:-1"]) / (2 * h);
  ndarray div = (u["1:-1, 2:"] - u["1:-1, :-2"]) / (2 * h) + (v["2:, 1:-1"] - v[":-2, 1:-1"]) / (2 * h);
  ndarray padded = sn::zeros({n, n});
  padded["1:-1, 1:-1"] = curl;
  ndarray ring = sn::bincount(sn::ravel(sn::floor(r * 20).astype(sn::int64)), {.weights = sn::ravel(padded)});
  ndarray c = X + std::complex<double>(0, 1) * Y - 0.5, z = sn::zeros_like(c);
  ndarray count = sn::zeros(c.shape(), sn::int32), alive = sn::ones(c.shape(), sn::bool_);
  for (int k = 0; k < 40; ++k) {
    z[alive] = sn::square(z[alive]) + c[alive];
    alive &= sn::abs(z) <= 2;
    count += alive;
  }
  ndarray inside = sn::argwhere(count == 40);
  return {{"curl", curl},
          {"div", sn::max(sn::abs(div)) < 1e-4},
          {"ring", ring},
          {"count", count},
          {"box", sn::stack({sn::min(inside, 0), sn::max(inside, 0)})},
          {"th", th["::50, ::50"]},
          {"at", sn::stack(sn::unravel_index(sn::argmax(curl), curl.shape()))}};
}

}  // namespace bench::programs
