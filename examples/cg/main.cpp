// Solves a dense system by conjugate gradients and by linalg::solve: prints residuals, checks both, times both.
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "cg/iteration.hpp"
#include "cg/options.hpp"
#include "cg/system.hpp"
#include "common/program.hpp"

namespace {

using namespace cg;
using examples::report;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

outcome by_iterations(const linear_system& s, const options& o) {
  const settings how{.tolerance = o.tolerance, .every = o.every};
  sn::eval(solve(s.a, s.b, how).x);  // compiles what there is to compile
  sn::synchronize();
  const auto begin = std::chrono::steady_clock::now();
  const outcome found = solve(s.a, s.b, how, [](int iterations, double residual) {
    std::printf("%-12s %4d iterations, %.3e\n", "residual", iterations, residual);
  });
  sn::synchronize();
  const double seconds = seconds_since(begin);
  if (!found.converged)
    throw std::runtime_error("no convergence in " + std::to_string(found.iterations) + " iterations");
  std::printf("%-12s %d iterations in %.3f ms\n", "gradients", found.iterations, seconds * 1e3);
  return found;
}

void print_iteration_time(const linear_system& s) {
  state now = begin(s.b);
  const auto time = sn::benchmark(
      [&] {
        iterate(s.a, now);
        return now.x;
      },
      {.repeat = 30, .warmup = 5, .name = "iteration", .setup = [&] { now = begin(s.b); }});
  const double bytes = static_cast<double>(s.a.nbytes());
  std::printf("%-12s %.4f ms (host %.4f), %.1f GB/s of the matrix\n", "iteration", time.device.median * 1e3,
              time.host.median * 1e3, bytes / time.device.median / 1e9);
}

ndarray by_factors(const linear_system& s) {
  const ndarray x = sn::linalg::solve(s.a, s.b);
  const auto time = sn::benchmark([&] { return sn::linalg::solve(s.a, s.b); }, {.repeat = 3, .warmup = 1});
  std::printf("%-12s %.3f ms\n", "solve", time.host.median * 1e3);  // it waits for the device
  return x;
}

void run(const options& o) {
  examples::use_device(o.device);
  const linear_system s = random_system(o.size, 2025);
  std::printf("%-12s %lld x %lld float64, %.1f MB\n", "matrix", static_cast<long long>(o.size),
              static_cast<long long>(o.size), static_cast<double>(s.a.nbytes()) / 1e6);
  const outcome found = by_iterations(s, o);
  print_iteration_time(s);
  const ndarray exact = by_factors(s);
  // What the iteration keeps as its residual drifts from b - a x by rounding.
  report({relative_residual(s, found.x), 1.01 * o.tolerance + 1e-14}, "residual of the gradients");
  report({relative_residual(s, exact), 1e-13}, "residual of solve");
  report(compare(found.x, exact, o.tolerance), "difference between the two");
}

}  // namespace

int main(int count, char** words) { return examples::run_program("cg", count, words, parse_options, help_text(), run); }
