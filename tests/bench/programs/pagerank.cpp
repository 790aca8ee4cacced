#include "programs.hpp"

namespace bench::programs {

outputs pagerank(const inputs& in) {
  const ndarray &src = in["src"], &dst = in["dst"];
  const auto n = in.number("n");
  ndarray A = sn::zeros({n, n}, sn::float32);
  A(src, dst) = 1;
  ndarray deg = sn::sum(A, 1), dangling = deg == 0;
  ndarray Pt = (A / sn::where(dangling, 1, deg)(_, newaxis)).T();
  ndarray r = sn::full({n}, 1.0 / double(n), {.dtype = sn::float32});
  int steps = 0;
  while (true) {
    ndarray next = 0.85f * (sn::matmul(Pt, r) + sn::sum(r[dangling]) / n) + float(0.15 / double(n));
    ++steps;
    if (bool(sn::sum(sn::abs(next - r)) < 1e-6) || steps == 100) break;
    r = next;
  }
  ndarray w = 1 / sn::maximum(sn::bincount(src, {.minlength = n}), 1);
  ndarray s = sn::full({n}, 1.0 / double(n)), out = sn::bincount(src, {.minlength = n}) == 0;
  for (int k = 0; k < 40; ++k)
    s = 0.85 * (sn::bincount(dst, {.weights = s[src] * w[src], .minlength = n}) + sn::sum(s[out]) / n) +
        0.15 / double(n);
  return {{"r", r},
          {"sum", sn::sum(s)},
          {"s", s},
          {"top", sn::argsort(-s)["0:10"]},
          {"nd", sn::count_nonzero(dangling)},
          {"edges", sn::sum(A, {.dtype = sn::int64})}};
}

}  // namespace bench::programs
