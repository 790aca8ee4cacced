// Ridge regression on a sparse matrix: solves for many parameters by LSMR, prints the L-curve, times assembling and solving apart.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "common/command_line.hpp"
#include "common/verdict.hpp"
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
  const examples::verdict v{slope, 1e-4};
  std::printf("%-12s slope at the minimum: %s\n", "check", examples::to_string(v).c_str());
  examples::require(v, "slope at the minimum");
}

void run(const options& o) {
  if (!o.device.empty()) sn::set_default_device(sn::device(o.device));
  const auto device = sn::default_device();
  std::printf("%-12s %s, %s\n", "device", sn::to_string(device).c_str(), sn::description(device).c_str());
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
  if (o.output.empty()) return;
  std::error_code ignored;  // write_png says what cannot be written
  std::filesystem::create_directories(o.output, ignored);
  const std::string path = o.output + "/ridge.png";
  write_figure(path, curve);
  std::printf("%-12s %s\n", "picture", path.c_str());
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("ridge", [&] {
    const auto o = ridge::parse_options(count, words);
    if (o.help) std::fputs(ridge::help_text().c_str(), stdout);
    else run(o);
  });
}
