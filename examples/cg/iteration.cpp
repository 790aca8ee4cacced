#include "cg/iteration.hpp"

#include <cmath>

namespace cg {

state begin(const ndarray& b) {
  state s{sn::zeros_like(b), b.copy(), b.copy(), sn::vdot(b, b)};
  sn::eval(s.x, s.r, s.p, s.rr);
  return s;
}

void iterate(const ndarray& a, state& s) {
  const ndarray ap = sn::matmul(a, s.p);
  const ndarray alpha = s.rr / sn::vdot(s.p, ap);
  s.x += alpha * s.p;
  s.r -= alpha * ap;
  const ndarray rr = sn::vdot(s.r, s.r);
  s.p = s.r + rr / s.rr * s.p;
  s.rr = rr;
  sn::eval(s.x, s.r, s.p, s.rr);  // five kernels: product, sum, both updates, sum, direction
}

outcome solve(const ndarray& a, const ndarray& b, const settings& how, const std::function<void(int, double)>& report) {
  state s = begin(b);
  const double size = std::sqrt(s.rr.item<double>());
  outcome o{s.x, 0, size == 0 ? 0.0 : 1.0, size == 0};
  while (!o.converged && o.iterations < how.most) {
    iterate(a, s);
    ++o.iterations;
    if (o.iterations % how.every != 0 && o.iterations != how.most) continue;
    o.residual = std::sqrt(s.rr.item<double>()) / size;
    if (report) report(o.iterations, o.residual);
    o.converged = o.residual <= how.tolerance;
    if (!std::isfinite(o.residual)) break;
  }
  o.x = s.x;
  return o;
}

}  // namespace cg
