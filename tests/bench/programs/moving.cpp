#include "programs.hpp"

namespace bench::programs {

outputs moving(const inputs& in) {
  const ndarray &x = in["x"], &table = in["table"];
  const auto w = in.number("w");
  ndarray c = sn::concatenate({sn::zeros({1}), sn::cumsum(x)});
  ndarray mean = (c(slice(w, _)) - c(slice(_, -w))) / w;
  ndarray c2 = sn::concatenate({sn::zeros({1}), sn::cumsum(x * x)});
  ndarray var = sn::maximum((c2(slice(w, _)) - c2(slice(_, -w))) / w - mean * mean, 0);
  ndarray z = (x(slice(w - 1, _)) - mean) / sn::sqrt(var + 1e-9);
  ndarray cross = sn::flatnonzero(sn::diff(sn::signbit(x(slice(w - 1, _)) - mean))) + 1;
  ndarray ct = sn::cumsum(sn::concatenate({sn::zeros({400, 1}, sn::float32), table}, 1), 1, {.dtype = sn::float64});
  ndarray rows = ((ct(_, slice(w, _)) - ct(_, slice(_, -w))) / w).astype(sn::float32);
  ndarray drawdown = sn::min(x - sn::cummax(x));
  return {{"mean", mean}, {"z", z}, {"cross", cross}, {"rows", rows}, {"drawdown", drawdown}};
}

}  // namespace bench::programs
