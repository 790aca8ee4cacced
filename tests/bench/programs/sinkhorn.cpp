#include "programs.hpp"

namespace bench::programs {
namespace {

ndarray lse(const ndarray& m, int axis) {
  ndarray t = sn::max(m, axis, {.keepdims = true});
  return sn::squeeze(t + sn::log(sn::sum(sn::exp(m - t), axis, {.keepdims = true})), axis);
}

}  // namespace

outputs sinkhorn(const inputs& in) {
  const ndarray &x = in["x"], &y = in["y"];
  ndarray C = sn::sum(sn::square(x(_, newaxis) - y(newaxis)), -1);
  const double eps = 0.05;
  ndarray K = sn::exp(-C / eps), a = sn::full({400}, 1.0 / 400), b = sn::full({500}, 1.0 / 500), v = sn::ones({500}), u;
  for (int k = 0; k < 200; ++k) {
    u = a / sn::matmul(K, v);
    v = b / sn::matmul(K.T(), u);
  }
  ndarray T = u(_, newaxis) * K * v, cost = sn::sum(T * C);
  ndarray f = sn::zeros({400}), g = sn::zeros({500});
  for (int k = 0; k < 50; ++k) {
    f = eps * (sn::log(a) - lse((g(newaxis, _) - C) / eps, 1));
    g = eps * (sn::log(b) - lse((f(_, newaxis) - C) / eps, 0));
  }
  ndarray L = sn::exp((f(_, newaxis) + g - C) / eps);
  return {{"T", T},
          {"cost", cost},
          {"rows", sn::sum(T, 1)},
          {"L", L},
          {"match", sn::argmax(T, 1)},
          {"entropy", -sn::sum(sn::where(T > 0, T * sn::log(sn::where(T > 0, T, 1)), 0))}};
}

}  // namespace bench::programs
