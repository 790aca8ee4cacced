#include "programs.hpp"

#include <cmath>

namespace bench::programs {

outputs clip(const inputs& in) {
  const ndarray &x = in["x"], &big = in["big"];
  ndarray ok = ~sn::isnan(x), n = sn::sum(ok, 0);
  ndarray mean = sn::sum(sn::where(ok, x, 0), 0) / n,
          var = sn::sum(sn::where(ok, sn::square(x - mean), 0), 0) / (n - 1);
  ndarray s = sn::sort(x, 0);
  const auto pct = [&](double q) {
    ndarray pos = q * (n - 1), lo = sn::floor(pos).astype(sn::int64), hi = sn::minimum(lo + 1, n - 1), fr = pos - lo;
    ndarray a = sn::take_along_axis(s, lo(newaxis), 0)(0), b = sn::take_along_axis(s, hi(newaxis), 0)(0);
    return a + (b - a) * fr;
  };
  ndarray lo = pct(0.01), mid = pct(0.5), hi = pct(0.99);
  ndarray clipped = sn::clip(sn::where(ok, x, mid), lo, hi);
  ndarray z = (clipped - sn::mean(clipped, 0)) / sn::std(clipped, 0);
  ndarray bad = sn::argwhere(~ok)["0:50"], rows = sn::flatnonzero(~sn::any(ok, 1)), filled = x.copy();
  filled[~ok] = sn::broadcast_to(mid, x.shape())[~ok];
  const auto k = big.len() / 100;
  ndarray part = sn::partition(big, {k, big.len() - k}), cut = sn::clip(big, part(k), part(big.len() - k));
  return {{"mean", mean},
          {"var", var},
          {"mid", mid},
          {"z", z},
          {"bad", bad},
          {"rows", rows},
          {"filled", filled},
          {"cut", sn::sum(cut)},
          {"lowest", sn::min(sn::where(ok, x, INFINITY), 1)["0:10"]},
          {"worst", sn::max(sn::where(ok, x, -INFINITY), 0)}};
}

}  // namespace bench::programs
