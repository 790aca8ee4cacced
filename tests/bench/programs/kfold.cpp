#include "programs.hpp"

namespace bench::programs {

outputs kfold(const inputs& in) {
  const ndarray &X = in["X"], &y = in["y"];
  const auto k = in.number("k");
  ndarray fold = sn::empty({y.len()}, sn::int64);
  fold[in["order"]] = sn::arange(y.len()) % k;
  std::vector<ndarray> errors, coef;
  for (std::int64_t i = 0; i < k; ++i) {
    ndarray test = fold == i;
    ndarray A = X[~test], b = y[~test];
    ndarray mu = sn::mean(A, 0), sd = sn::std(A, 0, {.ddof = 1});
    A = (A - mu) / sd;
    ndarray w = sn::linalg::solve(sn::matmul(A.T(), A) + 0.1 * sn::eye(A.shape(1)), sn::matmul(A.T(), b - sn::mean(b)));
    ndarray r = y[test] - (sn::matmul((X[test] - mu) / sd, w) + sn::mean(b));
    errors.push_back(sn::sqrt(sn::mean(r * r)));
    coef.push_back(w);
  }
  return {{"errors", sn::stack(errors)},
          {"coef", sn::stack(coef)},
          {"counts", sn::bincount(fold)},
          {"spread", sn::ptp(sn::stack(coef), 0)}};
}

}  // namespace bench::programs
