#include "ridge/problem.hpp"

#include <cmath>

namespace ridge {
namespace {

double norm(const ndarray& x) { return sn::linalg::norm(x).item<double>(); }

}  // namespace

problem random_problem(std::int64_t rows, std::int64_t columns, double density) {
  auto numbers = sn::random::default_rng(2026);
  const sparse_array a = sn::sparse::random_array({rows, columns}, density, {.rng = &numbers});
  const ndarray b = sn::sparse::matmul(a, sn::ones({columns})) + numbers.standard_normal({rows});
  sn::eval(b);
  return {a, b};
}

problem stacked(const problem& p, double lambda) {
  const std::int64_t n = p.a.shape(1);
  const ndarray b = sn::concatenate({p.b, sn::zeros({n})});
  sn::eval(b);
  return {sn::sparse::vstack({p.a, std::sqrt(lambda) * sn::sparse::identity(n)}), b};
}

point solve(const problem& p, const problem& stack, double lambda) {
  const auto s = sn::sparse::linalg::lsmr(stack.a, stack.b);
  const ndarray r = p.b - sn::sparse::matmul(p.a, s.x), back = sn::sparse::matmul(r, p.a) - lambda * s.x;
  return {lambda, norm(r), norm(s.x), norm(back) / norm(sn::sparse::matmul(p.b, p.a)), s.itn, s.istop};
}

}  // namespace ridge
