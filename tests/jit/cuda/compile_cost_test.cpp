// What the first call of array code on a GPU compiles, bounded by sizes instead of a clock: the text that NVRTC reads,
// and the code of the kernel that runs first and of the optimised one.
#include <doctest/doctest.h>

#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "graph/plan/bind.hpp"
#include "graph/plan/planner.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/units.hpp"
#include "ops/base/access.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using sinter::idx::_;
using sinter::idx::newaxis;

using results = std::vector<ndarray>;
const reduce_kw kept{.keepdims = true};

/// Of a size that a GPU is used for; nobody reads its elements.
ndarray unset(const core::dims& shape, dtype type = float32) {
  return ops::wrap(ops::unset_leaf(shape, type, runtime::default_device()));
}

/// Bytes of the largest kernel of a program. Bounds are a quarter above what CUDA 13.0 gives.
struct sizes {
  std::size_t text = 0, first = 0, optimised = 0;
};

std::size_t code_size(const jit::program& p, const jit::cuda_variant& v) {
  const jit::cuda_unit unit = jit::cuda_unit_of(p, v, 90);
  return jit::compile_cuda({&unit, 1}).front().bytes.size();
}

sizes sizes_of(const results& roots) {
  std::vector<graph::value> values;
  for (const ndarray& r : roots) values.push_back(ops::value_of(r, "test"));
  graph::planner planner;
  planner.plan(values);
  sizes most;
  for (const auto& k : planner.kernels()) {
    if (k->code.code.empty()) continue;
    jit::launch l;
    graph::bind(*k, l);
    jit::cuda_variant v;
    cuda::classify(l, v);
    most.optimised = std::max(most.optimised, code_size(k->code, v));
    if (jit::cuda_has_baseline(k->code, v)) v = jit::cuda_baseline_of(v);
    most.text = std::max(most.text, jit::cuda_source(k->code, v).size());
    most.first = std::max(most.first, code_size(k->code, v));
  }
  planner.clear();
  return most;
}

results softmax(dtype type) {
  const ndarray x = unset({2048, 16384}, type), e = exp(x - max(x, 1, kept));
  return {e / sum(e, 1, kept)};
}

results forces() {
  const ndarray x = unset({4096}), y = unset({4096}), z = unset({4096}), w = unset({4096});
  const ndarray dx = x - x(_, newaxis), dy = y - y(_, newaxis), dz = z - z(_, newaxis);
  const ndarray r = dx * dx + dy * dy + dz * dz + 1e-3, f = w / (r * sqrt(r));
  return {sum(dx * f, 1), sum(dy * f, 1), sum(dz * f, 1)};
}

results steps_of_adam() {
  const ndarray start = unset({1 << 20}), g = unset({1 << 20});
  ndarray p = start, u = 0 * start, v = 0 * start;
  for (int k = 0; k < 10; ++k) {
    u = 0.9 * u + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    p = p - 0.001 * u / (sqrt(v) + 1e-8);
  }
  return {p, u, v};
}

results neighbours() {
  const ndarray g = unset({4096, 4096}, uint8);
  ndarray c = zeros({}, uint8);
  for (int i : {-1, 0, 1})
    for (int j : {-1, 0, 1})
      if (i || j) c = c + roll(g, {i, j}, axes{0, 1});
  return {(c == 3) | (g & (c == 2))};
}

struct limit {
  const char* what;
  std::function<results()> record;
  sizes most;
};

const limit limits[] = {
    {"softmax of rows", [] { return softmax(float32); }, {20000, 24000, 56000}},
    {"softmax of rows of float16", [] { return softmax(float16); }, {25000, 25000, 68000}},
    {"distances of pairs",
     [] {
       const ndarray x = unset({4096, 64}), y = unset({4096, 64});
       return results{sum(square(x(_, newaxis) - y), 2)};
     },
     {12000, 20000, 32000}},
    {"three sums over pairs", forces, {21000, 28000, 40000}},
    {"three sums over pairs, fast_math",
     [] {
       const fast_math_guard fast;
       return forces();
     },
     {15000, 26000, 26000}},
    {"ten steps of Adam", steps_of_adam, {6000, 20000, 50000}},
    {"a step of Life", neighbours, {12000, 15000, 70000}},
    {"a roll of bytes",
     [] {
       return results{roll(unset({4096, 4096}, uint8), {1, 1}, axes{0, 1})};
     },
     {5500, 10000, 95000}},
    {"quotients of int64",
     [] {
       const ndarray i = unset({1 << 20}, int64);
       return results{floor_divide(i, 7), i % 7};
     },
     {4500, 15000, 48000}},
    {"an exponential of complex numbers",
     [] { return results{exp(unset({1 << 22}, complex64))}; },
     {9000, 21500, 21500}},
    {"places of the greatest",
     [] {
       return results{argmax(unset({4096, 4096}), 1)};
     },
     {13000, 21000, 21000}},
    {"least and greatest",
     [] {
       const ndarray x = unset({1 << 20});
       return results{min(x), max(x)};
     },
     {16000, 18000, 18000}},
    {"a transposed sum",
     [] {
       const ndarray x = unset({4096, 4096});
       return results{x + x.T()};
     },
     {5500, 17000, 17000}},
    {"a sum of two", [] { return results{unset({1 << 20}) + unset({1 << 20})}; }, {4000, 6500, 6500}},
};

}  // namespace

TEST_CASE("cuda: texts of kernels are short, and the code that runs first is small") {
  std::string why_not;
  if (!jit::nvrtc_available(&why_not)) {
    MESSAGE("left out: " << why_not);
    return;
  }
  for (const limit& b : limits) {
    const sizes s = sizes_of(b.record());
    CAPTURE(std::string(b.what));
    CHECK(s.text > 0);
    CHECK(s.text <= b.most.text);
    CHECK(s.first <= b.most.first);
    CHECK(s.optimised <= b.most.optimised);
  }
}

#endif
