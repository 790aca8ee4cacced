// Atoms that attract and repel one another: forces are the gradient of the energy, written as one expression of all pairs.
// Velocity Verlet keeps the energy; the program checks how well.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sinter/grad.hpp>
#include <sinter/sinter.hpp>

#include "common/program.hpp"

namespace {

namespace sn = sinter;
using sn::ndarray;
using namespace sn::idx;

struct options {
  std::int64_t side = 4, steps = 200;
  std::string device;
  bool help = false;
};

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") o.help = true;
    else if (word == "--side") o.side = parse_count(word, list.value_of(word), 2, 32);
    else if (word == "--steps") o.steps = parse_count(word, list.value_of(word), 1, 1'000'000);
    else if (word == "--device") o.device = list.value_of(word);
    else unknown_option(word);
  }
  return o;
}

constexpr const char* help =
    R"(Atoms with the Lennard-Jones potential: forces by the gradient of the energy of all pairs.

  lennard_jones [options]

  --side N             N x N x N atoms (4)
  --steps K            of velocity Verlet (200)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --help               print this
)";

/// The energy of all pairs. The n x n arrays in it are never stored, nor are those of its gradient.
ndarray energy(const ndarray& x) {
  const auto distance = [&](int axis) { return x(_, newaxis, axis) - x(_, axis); };
  const ndarray dx = distance(0), dy = distance(1), dz = distance(2);
  const ndarray self = sn::arange(x.shape(0))(_, newaxis) == sn::arange(x.shape(0));
  const ndarray r2 = sn::where(self, 1.0, dx * dx + dy * dy + dz * dz), r6 = 1 / (r2 * r2 * r2);
  return 2 * sn::sum(sn::where(self, 0.0, r6 * r6 - r6));  // each pair is there twice
}

/// A cubic lattice, a little out of rest.
ndarray lattice(std::int64_t side) {
  const ndarray k = sn::arange(side * side * side);
  const ndarray at = sn::stack({sn::floor_divide(k, side * side), sn::floor_divide(k, side) % side, k % side}, 1);
  return at * 1.12 + sn::random::default_rng(1).normal(0, 0.01, {side * side * side, 3});
}

struct state {
  ndarray x, v, force;
};

double total_energy(const state& s) { return (energy(s.x) + 0.5 * sn::sum(s.v * s.v)).item<double>(); }

void run(const options& o) {
  if (!o.device.empty()) sn::set_default_device(sn::device(o.device));
  constexpr double dt = 1e-3;
  const auto force = [](const ndarray& x) { return -sn::grad(energy)(x); };
  state s{lattice(o.side), sn::zeros({o.side * o.side * o.side, 3}), {}};
  s.force = force(s.x);
  sn::eval(s.x, s.force);
  const double before = total_energy(s);
  const auto begin = std::chrono::steady_clock::now();
  double worst = 0;
  for (std::int64_t k = 0; k < o.steps; ++k) {
    s.v = s.v + s.force * (0.5 * dt);
    s.x = s.x + s.v * dt;
    s.force = force(s.x);
    s.v = s.v + s.force * (0.5 * dt);
    sn::eval(s.x, s.v, s.force);
    if (k % 50 == 49 || k + 1 == o.steps) worst = std::max(worst, std::fabs(total_energy(s) - before));
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::printf("%-12s %lld, %lld steps, %.3f ms each\n", "atoms", static_cast<long long>(s.x.shape(0)),
              static_cast<long long>(o.steps), time.count() / static_cast<double>(o.steps) * 1e3);
  std::printf("%-12s %.9g\n", "energy", before);
  examples::report({worst / std::fabs(before), 1e-5}, "change of the energy");
  examples::report({sn::max(sn::absolute(sn::sum(s.force, 0))).item<double>(), 1e-8}, "sum of the forces");
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("lennard_jones", count, words, parse_options, help, run);
}
