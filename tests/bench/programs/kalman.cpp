#include "programs.hpp"

namespace bench::programs {

outputs kalman(const inputs& in) {
  const ndarray& z = in["z"];
  const auto B = z.shape(1);
  const double dt = 0.1;
  ndarray F = sn::eye(4) + dt * sn::eye(4, {.k = 2}), H = sn::eye(2, 4), Q = 0.01 * sn::eye(4), R = 0.5 * sn::eye(2);
  ndarray x = sn::zeros({B, 4}), P = sn::broadcast_to(sn::eye(4), {B, 4, 4}).copy(), ll = sn::zeros({B});
  std::vector<ndarray> xs;
  for (std::int64_t t = 0; t < z.len(); ++t) {
    x = sn::matmul(x, F.T());
    P = sn::matmul(sn::matmul(F, P), F.T()) + Q;
    ndarray y = z(t) - sn::matmul(x, H.T()), S = sn::matmul(sn::matmul(H, P), H.T()) + R;
    ndarray K = sn::swapaxes(sn::linalg::solve(S, sn::matmul(H, P)), 1, 2);
    x = x + sn::matmul(K, y(ellipsis, newaxis))(ellipsis, 0);
    P = sn::matmul(sn::eye(4) - sn::matmul(K, H), P);
    ll -= 0.5 * (sn::einsum("bi,bij,bj->b", y, sn::linalg::inv(S), y) + sn::linalg::slogdet(S).logabsdet);
    xs.push_back(x);
  }
  ndarray X = sn::stack(xs);
  return {{"X", X},
          {"P", P},
          {"ll", ll},
          {"best", sn::argmax(ll)},
          {"speed", sn::max(sn::hypot(X(ellipsis, 2), X(ellipsis, 3)), 0)}};
}

}  // namespace bench::programs
