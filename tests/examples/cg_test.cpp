// The cg example: its iterations against exact solutions and known properties, its systems, what its checks detect.
#include "cg/iteration.hpp"
#include "cg/system.hpp"
#include "runtime/backend.hpp"
#include "support/linalg_checks.hpp"

#include <algorithm>

using namespace cg;

TEST_CASE("cg: an n x n system is solved in n iterations, but for rounding") {
  const ndarray a = sn::array({{4.0, 1.0, 0.0}, {1.0, 3.0, 1.0}, {0.0, 1.0, 5.0}}), x = sn::array({1.0, -2.0, 3.0});
  const outcome o = solve(a, sn::matmul(a, x), {.every = 1});
  CHECK(o.converged);
  CHECK(o.iterations <= 4);
  CHECK(sn::allclose(o.x, x, 1e-10, 1e-10));
  // As many iterations as there are different eigenvalues.
  const ndarray steps = sn::array({1.0, 1.0, 7.0, 7.0, 7.0, 1.0});
  CHECK(solve(sn::eye(6) * steps, sn::arange(6.0), {.every = 1}).iterations == 2);
}

TEST_CASE("cg: looks every few iterations, reports what it sees, stops at the tolerance or at the most") {
  const linear_system s = random_system(50, 3);
  std::vector<int> looks;
  double before = 1;
  const outcome o = solve(s.a, s.b, {.tolerance = 1e-8, .every = 3}, [&](int iterations, double residual) {
    looks.push_back(iterations);
    CHECK(residual < before);
    before = residual;
  });
  CHECK(o.converged);
  CHECK(o.residual <= 1e-8);
  CHECK(o.residual == before);
  CHECK(looks.back() == o.iterations);
  for (std::size_t k = 0; k < looks.size(); ++k) CHECK(looks[k] == 3 * static_cast<int>(k + 1));
  const outcome cut = solve(s.a, s.b, {.tolerance = 1e-8, .every = 3, .most = 4});
  CHECK_FALSE(cut.converged);
  CHECK(cut.iterations == 4);
  CHECK(solve(s.a, sn::zeros_like(s.b), {}).iterations == 0);
  CHECK_FALSE(solve(s.a * std::numeric_limits<double>::quiet_NaN(), s.b, {}).converged);
}

TEST_CASE("cg: residuals are those of the solution") {
  for (const std::int64_t n : {2, 17, 64, 200}) {
    CAPTURE(n);
    const linear_system s = random_system(n, 40 + static_cast<std::uint64_t>(n));
    const outcome o = solve(s.a, s.b, {});
    CHECK(o.converged);
    CHECK(relative_residual(s, o.x) <= 1.01e-10);
    CHECK(relative_residual(s, 1.001 * o.x) > 1e-10);
  }
}

TEST_CASE("cg: the systems are symmetric, positive definite and well-conditioned, and the same for the same seed") {
  if (sinter::test::no_solvers()) return;
  for (const std::int64_t n : {2, 30, 150}) {
    CAPTURE(n);
    const linear_system s = random_system(n, 9), again = random_system(n, 9), other = random_system(n, 10);
    CHECK(sn::array_equal(s.a, s.a.T()));
    CHECK(sn::array_equal(s.a, again.a));
    CHECK(sn::array_equal(s.b, again.b));
    CHECK_FALSE(sn::array_equal(s.a, other.a));
    const ndarray w = sn::linalg::eigvalsh(s.a);
    CHECK(sn::min(w).item<double>() > 0);
    CHECK(sn::max(w).item<double>() < largest_condition * sn::min(w).item<double>());
  }
}

TEST_CASE("cg: both ways agree, and the comparison notices what is wrong") {
  if (sinter::test::no_solvers()) return;
  const linear_system s = random_system(120, 5);
  const ndarray exact = sn::linalg::solve(s.a, s.b), found = solve(s.a, s.b, {}).x;
  CHECK(compare(found, exact, 1e-10).holds());
  CHECK_FALSE(compare(found * (1 + 1e-8), exact, 1e-10).holds());
  CHECK_FALSE(compare(solve(s.a, s.b, {.tolerance = 1e-3}).x, exact, 1e-10).holds());
  CHECK_FALSE(compare(found * std::numeric_limits<double>::quiet_NaN(), exact, 1e-10).holds());
}

TEST_CASE("cg: an iteration is five kernels, as its page says") {
  const linear_system s = random_system(50, 6);
  const ndarray a = s.a.to_device("cpu");
  state now = begin(s.b.to_device("cpu"));
  const auto& cpu = sinter::runtime::get_backend({sinter::runtime::device_kind::cpu, 0});
  for (int k = 0; k < 3; ++k) {
    const auto before = cpu.statistics().launches;
    iterate(a, now);
    CHECK(cpu.statistics().launches - before == 5);
  }
}
