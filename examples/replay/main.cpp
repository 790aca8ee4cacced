// Steps a loop by calling it and by launching a captured graph: times both, and checks that they agree.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "common/verdict.hpp"
#include "replay/options.hpp"
#include "replay/systems.hpp"

namespace {

using namespace replay;

double seconds_of(const std::function<void()>& work) {
  sn::synchronize();
  const auto begin = std::chrono::steady_clock::now();
  work();
  sn::synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A loop: its name, its step, how many steps of the method that is, and the arrays that it changes.
struct loop {
  std::string name;
  std::function<void()> step;
  int steps_each;
  std::vector<ndarray> arrays;
};

/// Brings the arrays to a known state, in place.
void assign(const std::vector<ndarray>& to, const std::vector<ndarray>& from) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k](sn::idx::ellipsis) = from[k];
  for (const ndarray& a : to) sn::eval(a);
}

void compare(const loop& l, int steps) {
  std::vector<ndarray> start, called;
  for (const ndarray& a : l.arrays) start.push_back(sn::array(a) * 1);
  for (const ndarray& a : start) sn::eval(a);
  const int rounds = std::max(1, steps / l.steps_each);
  const auto repeat = [&](const std::function<void()>& step) {
    for (int k = 0; k < rounds; ++k) step();
  };
  l.step();  // compiles
  assign(l.arrays, start);
  const double by_calls = seconds_of([&] { repeat(l.step); });
  for (const ndarray& a : l.arrays) called.push_back(a.to_host());

  assign(l.arrays, start);
  const sn::launch_graph graph = sn::capture(l.step);
  graph.launch();
  assign(l.arrays, start);
  const double by_launches = seconds_of([&] { repeat([&] { graph.launch(); }); });
  for (std::size_t k = 0; k < called.size(); ++k)
    if (!sn::array_equal(l.arrays[k].to_host(), called[k]))
      throw std::runtime_error("the graph of the " + l.name + " computes something else than the loop");

  const double all = static_cast<double>(rounds) * l.steps_each;
  std::printf("%-16s %8.2f us a step called, %8.2f us launched: %.1f times as fast, the same bits\n", l.name.c_str(),
              by_calls / all * 1e6, by_launches / all * 1e6, by_calls / by_launches);
  std::printf("%-16s %zu kernels and copies, %.1f kB of memory\n", "", graph.size(),
              static_cast<double>(graph.nbytes()) * 1e-3);
}

void check(const std::string& what, double error, double allowed) {
  const examples::verdict v{error, allowed};
  std::printf("%-16s %s: %s\n", "check", what.c_str(), examples::to_string(v).c_str());
  examples::require(v, what);
}

double largest_difference(const ndarray& x, const std::vector<double>& expected) {
  const auto values = x.to_vector<double>();
  double worst = 0;
  for (std::size_t k = 0; k < values.size(); ++k) worst = std::fmax(worst, std::fabs(values[k] - expected[k]));
  return worst;
}

/// A few launched steps against plain loops.
void check_points(const sn::device& on) {
  constexpr int steps = 20;
  const points p = start_points(50, on);
  auto x = p.x.to_vector<double>(), y = p.y.to_vector<double>(), z = p.z.to_vector<double>();
  const auto graph = sn::capture([&] { runge_kutta_step(p, 0.01); });
  for (int k = 0; k < steps; ++k) {
    graph.launch();
    plain_runge_kutta_step(x, y, z, 0.01);
  }
  const double error = std::max({largest_difference(p.x, x), largest_difference(p.y, y), largest_difference(p.z, z)});
  check("20 steps of 50 systems, largest difference from plain loops", error, 1e-10);
}

void check_field(const sn::device& on) {
  constexpr std::int64_t n = 37;
  constexpr int pairs = 10;
  const field f = start_field(n, on);
  auto u = f.now.to_vector<double>();
  const auto graph = sn::capture([&] { two_diffusion_steps(f, 0.2f); });
  for (int k = 0; k < pairs; ++k) {
    graph.launch();
    for (int twice = 0; twice < 2; ++twice) plain_diffusion_step(u, n, static_cast<double>(0.2f));
  }
  // Each of 20 steps rounds some ten numbers of at most 4, by half a unit in the last place of float32.
  check("20 steps of 37 x 37, largest difference from plain loops", largest_difference(f.now, u), 20 * 10 * 4 * 6e-8);
}

void run(const options& o) {
  if (!o.device.empty()) sn::set_default_device(sn::device(o.device));
  const sn::device on = sn::default_device();
  std::printf("%-16s %s, %s\n", "device", sn::to_string(on).c_str(), sn::description(on).c_str());
  check_points(on);
  check_field(on);
  const points p = start_points(o.points, on);
  compare({"Lorenz systems", [&] { runge_kutta_step(p, 1e-3); }, 1, {p.x, p.y, p.z}}, o.steps);
  const field f = start_field(o.side, on);
  compare({"stencil", [&] { two_diffusion_steps(f, 0.2f); }, 2, {f.now, f.next}}, o.steps);
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("replay", [&] {
    const auto o = replay::parse_options(count, words);
    if (o.help) std::fputs(replay::help_text().c_str(), stdout);
    else run(o);
  });
}
