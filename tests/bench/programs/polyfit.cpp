#include "programs.hpp"

namespace bench::programs {

outputs polyfit(const inputs& in) {
  const ndarray &x = in["x"], &y = in["y"], &many = in["many"];
  ndarray V = sn::power(x(_, newaxis), sn::arange(6));
  auto [coef, res, rank, sv] = sn::linalg::lstsq(V, y);
  ndarray fit = sn::zeros_like(x);
  for (int k = 5; k >= 0; --k) fit = fit * x + coef(k);
  ndarray r2 = 1 - sn::sum(sn::square(y - fit)) / sn::sum(sn::square(y - sn::mean(y)));
  auto [Q, R] = sn::linalg::qr(V);
  ndarray c2 = sn::linalg::solve(R, sn::matmul(Q.T(), y));
  ndarray t = sn::arange(50.0), tm = t - sn::mean(t);
  ndarray slope = sn::sum(many * tm, 1) / sn::sum(tm * tm), inter = sn::mean(many, 1) - slope * sn::mean(t);
  ndarray resid = many - (slope(_, newaxis) * t + inter(_, newaxis)),
          best = sn::argsort(sn::sum(sn::square(resid), 1))["0:5"];
  ndarray w = 1 / (1 + sn::abs(y - fit)), W = V * w(_, newaxis);
  ndarray cw = sn::linalg::solve(sn::matmul(W.T(), V), sn::matmul(W.T(), y));
  return {{"coef", coef},
          {"res", res},
          {"rank", sn::array(rank)},
          {"r2", r2},
          {"c2", c2},
          {"slope", slope},
          {"inter", inter},
          {"best", best},
          {"cw", cw},
          {"deriv", sn::arange(1, 6) * coef["1:"]}};
}

}  // namespace bench::programs
