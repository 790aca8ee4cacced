#include "programs.hpp"

namespace bench::programs {

outputs gramschmidt(const inputs& in) {
  const ndarray& A = in["A"];
  ndarray Q = A.copy();
  const auto n = A.shape(1);
  ndarray R = sn::zeros({n, n});
  for (std::int64_t k = 0; k < n; ++k) {
    R(k, k) = sn::sqrt(sn::sum(sn::square(Q(_, k))));
    Q(_, k) /= R(k, k);
    R(k, slice(k + 1, _)) = sn::matmul(Q(_, k), Q(_, slice(k + 1, _)));
    Q(_, slice(k + 1, _)) -= Q(_, k, newaxis) * R(k, slice(k + 1, _));
  }
  ndarray ortho = sn::max(sn::abs(sn::matmul(Q.T(), Q) - sn::eye(n)));
  ndarray H = A.copy();
  for (std::int64_t k = 0; k < n; ++k) {
    ndarray v = H(slice(k, _), k).copy();
    v(0) += sn::copysign(sn::linalg::norm(v), v(0));
    v /= sn::linalg::norm(v);
    H(slice(k, _), slice(k, _)) -= 2 * sn::outer(v, sn::matmul(v, H(slice(k, _), slice(k, _))));
  }
  return {{"Q", Q},
          {"R", R},
          {"ortho", ortho < 1e-12},
          {"diag", sn::abs(sn::diagonal(H))},
          {"low", sn::max(sn::abs(sn::tril(H, -1))) < 1e-12}};
}

}  // namespace bench::programs
