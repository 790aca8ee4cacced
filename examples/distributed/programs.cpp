#include "distributed/programs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "cg/iteration.hpp"
#include "nearest_neighbor/search.hpp"

namespace distributed {

using dist::replicate;
using dist::shard;

namespace {

/// What a program does where nothing is given: enough to keep cores, and GPUs, busy.
struct own_size {
  std::int64_t on_cpu, on_gpu;
};

std::int64_t or_else(std::int64_t given, own_size own) {
  if (given > 0) return given;
  return sn::default_device().kind == sn::device_kind::cuda ? own.on_gpu : own.on_cpu;
}
std::int64_t elements(const sizes& s, own_size own) {
  return std::llround(static_cast<double>(or_else(s.size, own)) * s.work);
}
/// Of a square.
std::int64_t side(const sizes& s, own_size own) {
  return std::llround(static_cast<double>(or_else(s.size, own)) * std::sqrt(s.work));
}

/// Seconds of a run of f, the least of three after one that compiles everything. f waits for its result.
template <class F>
double seconds_of(F&& f) {
  f();
  double least = 0;
  for (int k = 0; k < 3; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    least = k == 0 ? taken : std::min(least, taken);
  }
  return least;
}

double difference(const ndarray& x, const ndarray& y) {
  const ndarray here = dist::gather(x).to_device(sn::cpu), there = y.to_device(sn::cpu);
  return sn::max(sn::abs(here.astype(sn::float64) - there.astype(sn::float64))).item<double>();
}

void show(const sizes& s, const ndarray& x) {
  if (s.explain) std::printf("%s\n", sn::explain(x).c_str());
}

}  // namespace

outcome search(const sizes& s) {
  const dist::mesh m({s.devices});
  const std::int64_t points = elements(s, {100'000, 1 << 24}), references = 4096;
  sn::random::generator g(1);
  const ndarray p = g.uniform(-1.5, 1.5, {points, 2}, {.dtype = sn::float32});
  const ndarray q = g.uniform(-1.5, 1.5, {references, 2}, {.dtype = sn::float32});
  const ndarray cities = dist::shard(p, m, {shard(0)}), airports = dist::shard(q, m, {replicate()});
  show(s, nearest_neighbor::find_nearest(cities, airports).index);
  nearest_neighbor::neighbours many, one;
  outcome out;
  out.mesh_seconds = seconds_of([&] {
    many = nearest_neighbor::find_nearest(cities, airports);
    sn::eval(many.index, many.distance);
    (void)many.index(0).item<std::int64_t>();
  });
  out.one_seconds = seconds_of([&] {
    one = nearest_neighbor::find_nearest(p, q);
    sn::eval(one.index, one.distance);
    (void)one.index(0).item<std::int64_t>();
  });
  out.difference = difference(many.index, one.index) + difference(many.distance, one.distance);
  return out;
}

outcome heat(const sizes& s) {
  int rows = static_cast<int>(std::sqrt(static_cast<double>(s.devices)));
  while (s.devices % rows != 0) --rows;
  const dist::mesh m({rows, s.devices / rows}, {"rows", "columns"});
  const std::int64_t n = side(s, {1024, 16384}), steps = or_else(s.steps, {50, 50});
  const ndarray start = sn::random::generator(2).random({n, n}, {.dtype = sn::float32});
  const auto step = [](ndarray& u) {
    u["1:-1, 1:-1"] = u["1:-1, 1:-1"] +
                      0.2f * (u[":-2, 1:-1"] + u["2:, 1:-1"] + u["1:-1, :-2"] + u["1:-1, 2:"] - 4 * u["1:-1, 1:-1"]);
  };
  const auto run = [&](const ndarray& from) {
    ndarray u = from.copy();
    for (std::int64_t k = 0; k < steps; ++k) {
      step(u);
      sn::eval(u);
    }
    (void)u(0, 0).item<float>();
    return u;
  };
  const ndarray plate = dist::shard(start, m, {shard(0), shard(1)});
  if (s.explain) {
    ndarray u = plate.copy();
    step(u);
    show(s, u);
  }
  ndarray many, one;
  outcome out;
  out.mesh_seconds = seconds_of([&] { many = run(plate); });
  out.one_seconds = seconds_of([&] { one = run(start); });
  out.difference = difference(many, one);
  return out;
}

outcome gradients(const sizes& s) {
  const dist::mesh m({s.devices});
  const std::int64_t n = side(s, {1000, 24576});
  sn::random::generator g(3);
  const ndarray w = g.uniform(-1, 1, {n, n}) / std::sqrt(static_cast<double>(n));
  const ndarray a = (w + w.T()) / 2 + 3 * sn::eye(n), b = g.uniform(-1, 1, {n});
  const ndarray matrix = dist::shard(a, m, {shard(0)}), right = dist::shard(b, m, {shard(0)});
  const cg::settings how{.tolerance = 1e-10};
  if (s.explain) {
    cg::state now = cg::begin(right);
    show(s, sn::vdot(now.r, now.r));
  }
  cg::outcome many, one;
  outcome out;
  out.mesh_seconds = seconds_of([&] { many = cg::solve(matrix, right, how); });
  out.one_seconds = seconds_of([&] { one = cg::solve(a, b, how); });
  out.difference = difference(many.x, one.x);
  out.allowed = 1e-8;
  return out;
}

outcome logistic(const sizes& s) {
  const dist::mesh m({s.devices});
  const std::int64_t n = elements(s, {50'000, 20'000'000}), steps = or_else(s.steps, {20, 20});
  constexpr std::int64_t features = 32;
  sn::random::generator g(4);
  const ndarray x = g.standard_normal({n, features}), truth = g.standard_normal({features});
  const ndarray y = (sn::matmul(x, truth) + g.standard_normal({n}) > 0).astype(sn::float64);
  const auto descend = [&](const ndarray& data, const ndarray& labels, ndarray weights) {
    for (std::int64_t k = 0; k < steps; ++k) {
      const ndarray error = 1 / (1 + sn::exp(-sn::matmul(data, weights))) - labels;
      weights = weights - 0.5 / static_cast<double>(n) * sn::matmul(data.T(), error);
      sn::eval(weights);
    }
    (void)sn::sum(weights).item<double>();
    return weights;
  };
  const ndarray data = dist::shard(x, m, {shard(0)}), labels = dist::shard(y, m, {shard(0)});
  const ndarray zero = sn::zeros({features}), start = dist::zeros({features}, m, {replicate()});
  ndarray many, one;
  outcome out;
  out.mesh_seconds = seconds_of([&] { many = descend(data, labels, start); });
  out.one_seconds = seconds_of([&] { one = descend(x, y, zero); });
  out.difference = difference(many, one);
  out.allowed = 1e-10;
  return out;
}

}  // namespace distributed
