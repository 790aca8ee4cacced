// Random programs differentiated, beside JAX's results, which tests/golden/make/golden_derivative_programs.py has written to
// jax_programs.inl: values, gradients and products with second derivatives; the same bits again, and without fusion.
#include <sstream>
#include <string>

#include "graph/values/limits.hpp"
#include "ops/derivatives/check.hpp"
#include "sinter/loops.hpp"
#include "support/linalg_checks.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::idx;
using binary = ndarray (*)(const ndarray& a, const ndarray& b);

const reduce_kw kept{.axis = 1, .keepdims = true};

ndarray written(const ndarray& a, const index& at, const ndarray& b) {
  ndarray y = a * 1.0;
  y(at) = b;
  return y;
}
ndarray added_at(const ndarray& a, const ndarray& b) {
  ndarray y = a * 1.0;
  add_at(y(array({0, 2, 0})), b);
  return y;
}
ndarray decaying_products(const ndarray& a, const ndarray& b) {
  const auto step = [](const ndarray& h, const ndarray& x) { return std::pair(ndarray(0.9 * h + x), ndarray(h * x)); };
  return scan(step, a(0), tile(b, {8, 1})).second(slice(-3, _));
}

// clang-format off
#define F(expression) [](const ndarray& a, const ndarray& b) -> ndarray { (void)b; return expression; }
const binary operations[] = {
    F(a + b), F(a * b), F(a - 0.5 * b), F(a / (1.5 + b * b)), F(sin(a)), F(tanh(a) * b), F(exp(-a * a)), F(sqrt(1 + a * a)),
    F(maximum(a, b)), F(where(a > b, a * b, b)), F(a - mean(a, kept)), F(a * max(a, {.axis = 0, .keepdims = true})),
    F(sum(a * b, kept) * a), F(special::logsumexp(a, {.axis = 1, .keepdims = true}) - b), F(flip(a, {.axis = 1}) + b),
    F(concatenate({a(slice(1, _)), b(slice(0, 1))})), F(a(array({2, 0, 2}))), F(a(_, array({3, 1, 1, 0})) * b), F(cumsum(a, 1)),
    F(sort(a, 1)), F(matmul(0.1 * matmul(a, b.T()), a)), F(special::softmax(a, axes{1})), F(roll(a, 1, {.axis = 1}) * b),
    F(pad(a(slice(0, 2), slice(0, 3)), {{0, 1}, {1, 0}}, "reflect")), F(linalg::solve(matmul(a, a.T()) + 3 * eye(3), b)),
    F(added_at(a, b)), F(cumprod(1 + 0.1 * a, 0)), F(prod(1 + 0.2 * a, kept) * b), F(var(a, {.axis = 1, .keepdims = true}) * b),
    F(median(a, {.axis = 0, .keepdims = true}) + b), F(reshape(a.T(), {3, 4})), F(written(a, 1, b(0))), F(power(absolute(a) + 0.1, 1.5)),
    F(arctan2(a, 1 + b * b)), F(clip(a, -0.5, 0.8)), F(fft::irfft(fft::rfft(a) * fft::rfft(b), {.n = 4})),
    F(minimum(a, b) + cummax(a, 1)), F(matmul(linalg::cholesky(matmul(a, a.T()) + 2 * eye(3)), b)), F(special::erf(a)),
    F(logaddexp(a, b)), F(fori_loop(0, 20, [&](const ndarray& i, const ndarray& h) { return tanh(0.5 * h + a + 0.01 * i); }, b)),
    F(hypot(a, b + 2)), F(linalg::det(matmul(a, b.T()) + 2 * eye(3)) * a), F(decaying_products(a, b)),
    F(einsum("ij,kj,kl->il", a, b, b) * 0.1), F(interp(a, array({-1.0, 0.1, 1.2}), array({0.3, 1.0, -0.4})))};
#undef F
// clang-format on

struct stored {
  int seed;
  const char* program;
  std::vector<double> numbers;
};
const std::vector<stored>& programs() {
#define LIST(...) \
  { __VA_ARGS__ }
#define JAX_PROGRAM(seed, program, ...) {seed, program, __VA_ARGS__},
  static const std::vector<stored> all{
#include "ops/derivatives/jax_programs.inl"
  };
#undef JAX_PROGRAM
#undef LIST
  return all;
}

arrays inputs(std::int64_t seed) {
  std::vector<double> all;
  for (std::int64_t k = 1; k <= 24; ++k)
    all.push_back(static_cast<double>((k * 7919 + seed * 104729) * k % 1009) / 1009.0 * 2.0 - 1.0);
  const ndarray x = array(all).reshape({2, 3, 4});
  return {x(0).copy(), x(1).copy()};
}

ndarray wave(double (*f)(double), double times) {
  std::vector<double> all;
  for (int k = 0; k < 12; ++k) all.push_back(f(times * k));
  return array(all).reshape({3, 4});
}

ndarray value_of_program(const std::string& program, const arrays& from) {
  arrays registers = from;
  std::istringstream steps(program);
  for (std::string step; std::getline(steps, step, ';');) {
    std::size_t op = 0, i = 0, j = 0;
    char comma = 0;
    std::istringstream(step) >> op >> comma >> i >> comma >> j;
    registers.push_back(operations[op](registers[i], registers[j]));
  }
  ndarray total = zeros({});
  for (std::size_t k = registers.size() - std::min<std::size_t>(4, registers.size()); k < registers.size(); ++k)
    total = total + sum(registers[k] * wave(std::cos, 1));
  return total;
}

std::vector<double> derivatives_of(const stored& p) {
  const subject f = [&](const arrays& a) { return value_of_program(p.program, a); };
  const arrays x = inputs(p.seed), v{wave(std::sin, 3), wave(std::cos, 3)};
  const auto [y, g] = value_and_grad(f)(x);
  std::vector<double> out{y.item<double>()};
  for (const ndarray& one : g)
    for (const ndarray& w : {wave(std::cos, 1), wave(std::sin, 1), wave(std::cos, 2)})
      out.push_back(sum(one * w).item<double>());
  for (const ndarray& one : hvp(f, x, v)) out.push_back(sum(one * wave(std::cos, 1)).item<double>());
  return out;
}

}  // namespace

TEST_CASE("random programs have the derivatives of JAX") {
  if (sinter::test::no_solvers()) return;
  CHECK(programs().size() >= 200);
  for (const stored& p : programs()) {
    CAPTURE(p.seed);
    CAPTURE(p.program);
    const std::vector<double> mine = derivatives_of(p);
    REQUIRE(mine.size() == p.numbers.size());
    double size = 1;
    for (const double v : p.numbers) size = std::max(size, std::fabs(v));
    for (std::size_t k = 0; k < mine.size(); ++k) {
      CAPTURE(k);
      CHECK(std::fabs(mine[k] - p.numbers[k]) <= 1e-11 * size);
    }
  }
}

TEST_CASE("derivatives of random programs have the same bits again, and without fusion") {
  if (sinter::test::no_solvers()) return;
  for (std::size_t k = 0; k < programs().size(); k += 4) {
    CAPTURE(programs()[k].program);
    const std::vector<double> first = derivatives_of(programs()[k]);
    CHECK(derivatives_of(programs()[k]) == first);
    bool& fuses = graph::limits().fuse;
    fuses = false;
    const std::vector<double> unfused = derivatives_of(programs()[k]);
    fuses = true;
    CHECK(unfused == first);
  }
}
