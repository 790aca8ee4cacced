// Ridge regression on a sparse matrix: solves for many parameters by LSMR, prints the L-curve, times assembling and solving apart.
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "common/program.hpp"
#include "ridge/figure.hpp"
#include "ridge/options.hpp"
#include "ridge/problem.hpp"

namespace {

using namespace ridge;

double now() {
  sn::synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// More regularisation makes the residual larger and the solution smaller.
void check(const std::vector<point>& curve) {
  double slope = 0;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    slope = std::max(slope, curve[k].slope);
    if (k > 0 &&
        (curve[k].residual < curve[k - 1].residual * (1 - 1e-6) || curve[k].size > curve[k - 1].size * (1 + 1e-6)))
      throw std::runtime_error("the L-curve turns back at parameter " + std::to_string(k));
  }
  examples::report({slope, 1e-4}, "slope at the minimum");
}

void run(const options& o) {
  examples::use_device(o.device);
  double assembling = 0, solving = 0, t = now();
  const problem p = random_problem(o.rows, o.columns, static_cast<double>(o.percent) / 100);
  assembling += now() - t;
  std::printf("%-12s %lld x %lld float64, %lld entries\n", "matrix", static_cast<long long>(o.rows),
              static_cast<long long>(o.columns), static_cast<long long>(p.a.nnz()));
  std::vector<point> curve;
  std::int64_t steps = 0;
  for (const double lambda : sn::geomspace(1e-2, 1e3, o.parameters).to_vector<double>()) {
    t = now();
    const problem s = stacked(p, lambda);
    assembling += now() - t;
    t = now();
    curve.push_back(solve(p, s, lambda));
    solving += now() - t;
    const point& c = curve.back();
    steps += c.steps;
    std::printf("lambda %9.3g  residual %.6e  solution %.6e  %4lld steps, code %lld\n", c.lambda, c.residual, c.size,
                static_cast<long long>(c.steps), static_cast<long long>(c.code));
  }
  std::printf("%-12s %.3f s\n%-12s %.3f s, %.3f ms a step of LSMR\n", "assembling", assembling, "solving", solving,
              solving / static_cast<double>(steps) * 1e3);
  check(curve);
  examples::draw_in(o.output, "ridge.png", [&](const std::string& path) { write_figure(path, curve); });
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("ridge", count, words, ridge::parse_options, ridge::help_text(), run);
}
