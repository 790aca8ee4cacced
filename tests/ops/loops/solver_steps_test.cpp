// Steps with factorisations and what solves with them: not called again, with the bits of steps that are called.
#include <string>
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "sinter/graph.hpp"
#include "sinter/grad.hpp"
#include "sinter/loops.hpp"
#include "support/linalg_checks.hpp"

using namespace vmap_test;
using namespace sinter::test;
using namespace sinter::idx;

namespace {

using many = std::vector<ndarray>;
using step = many (*)(const ndarray& m, const ndarray& x);

bool on_host() { return zeros(1).device() == device(cpu); }

ndarray draws(const shape_t& shape, int seed) {
  random::generator g(seed);
  return g.uniform(-1, 1, shape);
}
ndarray definite(const ndarray& m) { return matmul(m, m.T()) + 3 * eye(m.shape(0)).astype(m.dtype()); }

/// What the steps give, of a matrix and an element of what is scanned.
const std::vector<std::pair<const char*, step>>& steps() {
  static const std::vector<std::pair<const char*, step>> all{
      {"solve", [](const ndarray& m, const ndarray& x) -> many { return {linalg::solve(m + 4 * eye(m.shape(0)), x)}; }},
      {"solve, matrix",
       [](const ndarray& m, const ndarray& x) -> many { return {linalg::solve(m + 4 * eye(m.shape(0)), m * x)}; }},
      {"inv", [](const ndarray& m, const ndarray& x) -> many { return {linalg::inv(m + 4 * eye(m.shape(0))) * x}; }},
      {"det", [](const ndarray& m, const ndarray& x) -> many { return {linalg::det(m + x)}; }},
      {"slogdet",
       [](const ndarray& m, const ndarray& x) -> many {
         const auto d = linalg::slogdet(m * x + 2 * eye(m.shape(0)));
         return {d.sign, d.logabsdet};
       }},
      {"cholesky", [](const ndarray& m, const ndarray& x) -> many { return {linalg::cholesky(definite(m)) * x}; }},
      {"solve_triangular",
       [](const ndarray& m, const ndarray& x) -> many {
         return {linalg::solve_triangular(linalg::cholesky(definite(m)), x, {.lower = true})};
       }},
  };
  return all;
}

}  // namespace

TEST_CASE("loops with solvers: the bits of steps that are called, which they are not") {
  if (no_solvers()) return;
  for (const auto& one_of : steps())
    for (const std::int64_t n : {1, 2, 5, 12})
      for (const dtype type : {float64, float32}) {
        CAPTURE(std::string(one_of.first));
        CAPTURE(n);
        const ndarray m = draws({n, n}, 3).astype(type), x = draws({40, n}, 4).astype(type);
        many results[2];
        int calls[2] = {0, 0};
        for (const bool each : {false, true}) {
          const auto [last, all] = scan(
              [&](const ndarray& c, const ndarray& e) {
                ++calls[each];
                const many y = one_of.second(c, e);
                ndarray next = 0.9 * c;
                for (const ndarray& one : y) next = next + 0.01 * sum(one);
                return std::pair(next.astype(c.dtype()), y);
              },
              m, x, {.call_each = each});
          results[each] = all;
          results[each].push_back(last);
        }
        CHECK(calls[1] == 40);
        if (on_host()) CHECK(calls[0] == 3);
        REQUIRE(results[0].size() == results[1].size());
        for (std::size_t k = 0; k < results[0].size(); ++k) CHECK(same_bits(results[0][k], results[1][k]));
      }
}

TEST_CASE("loops with solvers: a step whose matrix is singular says so") {
  if (no_solvers()) return;
  const auto loop = [](bool each, const auto& f) {
    return sinter_test::message_of<linalg_error>([&] {
      eval(fori_loop(0, 60, [&](const ndarray&, const ndarray& x) { return x - f(x) * 0.0 - 1.0 / 32; }, ones({}),
                     {.call_each = each}));
    });
  };
  const auto solves = [](const ndarray& x) { return sum(linalg::solve(x * eye(3), ones(3))); };  // 0 at step 32
  const auto roots = [](const ndarray& x) { return sum(linalg::cholesky(x * eye(3))); };
  CHECK(loop(true, solves).find("Singular matrix") != std::string::npos);
  CHECK(loop(false, solves) == loop(true, solves));
  CHECK(loop(true, roots).find("not positive definite") != std::string::npos);
  CHECK(loop(false, roots) == loop(true, roots));
}

TEST_CASE("loops with solvers: derivatives of a Kalman filter by the logarithms of its noise") {
  if (no_solvers()) return;
  const ndarray f = eye(4) + 0.1 * eye(4, {.k = 2}), h = eye(2, 4), z = draws({50, 2}, 9);
  int calls = 0;
  const auto likelihood = [&](bool each) {
    return [&, each](const ndarray& q) {
      const ndarray noise = exp(q(0)) * eye(4), error = exp(q(1)) * eye(2);
      using state = std::pair<ndarray, ndarray>;
      const auto [last, terms] = scan(
          [&](const state& c, const ndarray& z) {
            ++calls;
            const ndarray m = matmul(f, c.first), p = matmul(matmul(f, c.second), f.T()) + noise;
            const ndarray s = matmul(matmul(h, p), h.T()) + error, k = linalg::solve(s, matmul(h, p)).T();
            const ndarray v = z - matmul(h, m);
            const ndarray term = 0.5 * (matmul(v, linalg::solve(s, v)) + linalg::slogdet(s).logabsdet);
            return std::pair(state(m + matmul(k, v), p - matmul(matmul(k, h), p)), term);
          },
          state(zeros({4}), eye(4)), z, {.call_each = each});
      return sum(terms);
    };
  };
  const ndarray q = array({-2.0, -1.0});
  const auto [value, slope] = value_and_grad(likelihood(false))(q);
  if (on_host()) CHECK(calls == 3);
  const auto [right, right_slope] = value_and_grad(likelihood(true))(q);
  CHECK(value.item<double>() == doctest::Approx(right.item<double>()).epsilon(1e-13));
  CHECK(allclose(slope, right_slope, 1e-11, 1e-11));
  const double e = 1e-5;
  const ndarray step = array({e, 0.0});
  const double difference =
      (likelihood(true)(q + step).item<double>() - likelihood(true)(q - step).item<double>()) / (2 * e);
  CHECK(slope(0).item<double>() == doctest::Approx(difference).epsilon(1e-6));
}

TEST_CASE("captures with solvers on the host: each launch solves, and finds what is singular") {
  if (no_solvers() || !on_host()) return;
  const ndarray a = definite(draws({4, 4}, 5)), b = draws({4}, 6);
  ndarray x = zeros({4}), factor = zeros({4, 4});
  eval(a, b, x, factor);
  const launch_graph step = capture([&] {
    x() = linalg::solve(a, b);
    factor() = linalg::cholesky(a);
  });
  step.launch();
  CHECK(same_bits(x, linalg::solve(a, b)));
  CHECK(same_bits(factor, linalg::cholesky(a)));
  a() = a * 2.0;
  step.launch();
  CHECK(same_bits(x, linalg::solve(a, b)));
  a() = zeros({4, 4});
  CHECK_THROWS_AS(step.launch(), linalg_error);
}
