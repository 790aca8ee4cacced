#include "programs.hpp"

namespace bench::programs {
namespace {

ndarray windows(const ndarray& x, std::int64_t w) { return x[sn::arange(x.len() - w + 1)(_, newaxis) + sn::arange(w)]; }

}  // namespace

outputs sliding(const inputs& in) {
  const ndarray& x = in["x"];
  const auto w = in.number("w"), n = x.len() - w + 1;
  ndarray v = windows(x, w);
  ndarray m = sn::mean(v, 1), s = sn::std(v, 1);
  ndarray z = (v - m(_, newaxis)) / s(_, newaxis);
  ndarray skew = sn::mean(sn::power(z, 3), 1);
  ndarray peak = sn::argmax(v, 1) + sn::arange(n);
  ndarray med = sn::sort(v["::100"], 1)(_, w / 2);
  ndarray mm = m(_, newaxis);
  ndarray ac = sn::sum((v[":, :-1"] - mm) * (v[":, 1:"] - mm), 1) / sn::sum(sn::square(v - mm), 1);
  return {{"m", m},
          {"s", s},
          {"skew", skew},
          {"peak", peak},
          {"med", med},
          {"ac", ac},
          {"top", sn::unique(peak).values["0:100"]}};
}

}  // namespace bench::programs
