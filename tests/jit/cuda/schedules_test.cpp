// Which schedules a GPU's kernels get: pinned for the work that is measured, since a wrong choice gives right results. No
// element is read: operands are memory that nothing has touched.
#include <doctest/doctest.h>

#ifdef SINTER_HAS_CUDA

#include <span>
#include <string>

#include "graph/plan/bind.hpp"
#include "graph/plan/planner.hpp"
#include "graph/values/limits.hpp"
#include "jit/cuda/emit.hpp"
#include "jit/cuda/launch.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/hooks.hpp"
#include "ops/base/access.hpp"
#include "sinter/sinter.hpp"
#include "support/simulated_gpu.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray memory(const shape_t& shape, dtype type = float32) {
  const ndarray x = empty(shape, {.dtype = type, .device = device("cpu")});
  eval(x);
  return x;
}

/// As planned for a GPU, where few elements are reduced.
template <class F>
void each_launch(const ndarray& x, F f) {
  const graph::value root = ops::value_of(x);
  graph::planner planner;
  graph::limits().apart = false;
  planner.plan(std::span(&root, 1));
  graph::limits().apart = true;
  for (const auto& k : planner.kernels()) {
    if (k->code.code.empty()) continue;
    jit::launch l;
    graph::bind(*k, l);
    f(l);
  }
}

/// The schedules of an expression's kernels.
std::string chosen(const ndarray& x) {
  std::string all;
  each_launch(x, [&](const jit::launch& l) { all += (all.empty() ? "" : "; ") + cuda::describe(l).name; });
  return all;
}

}  // namespace

TEST_CASE("schedules of a GPU: rows on chip, transposed operands, pairs") {
  const std::int64_t n = 16384;
  const ndarray x = memory({n, n});
  const reduce_kw rows{.axis = -1, .keepdims = true};
  const ndarray e = exp(x - max(x, rows));
  CHECK(chosen(e / sum(e, rows)) == "rows on chip, 16 groups a thread");
  const ndarray h = memory({65536, 4096}), d = h - mean(h, rows);
  CHECK(chosen(d / sqrt(mean(d * d, rows) + 1e-5)) == "rows on chip, 4 groups a thread");
  CHECK(chosen(x + x.T()) == "tiled, tiles of 64 x 64 on axis 0, each beside its mirror image");
  CHECK(chosen(x.T().copy()) == "tiled, tiles of 64 x 64 on axis 0");
  const ndarray p = memory({8192, 64});
  CHECK(chosen(sum(square(p(_, newaxis) - p), {.axis = -1})) == "tiles of results, 4 x 4 results a thread");
  const ndarray at = memory({n}), mass = memory({n}), r = at - at(_, newaxis);
  CHECK(chosen(sum(mass * r / power(square(r) + 0.01, 1.5), {.axis = 1})) == "shared rows, 4 rows a thread");
  const ndarray y = memory({1 << 24}), z = memory({1 << 24});
  CHECK(chosen(where(y > 0, z, y)) == "linear, vectors of 4");
}

TEST_CASE("schedules of a GPU: all are compared where the considered ones would take several times what memory does") {
  // A product with zeros that are no memory: neighbouring results read the same row of a matrix, across its memory.
  // On a GPU, whose kept axes stay in their order.
  const ndarray w = empty({128, 512}, {.dtype = float32, .device = sim::first()});
  eval(w);
  const ndarray none = zeros({1, 512, 128}, {.dtype = float32, .device = sim::first()});
  CHECK(chosen(sum(none * expand_dims(w.T(), 1), {.axis = -1})) == "rows, neighbouring threads across");
}

TEST_CASE("schedules of a GPU: windows that overlap") {
  const auto sums = [](const ndarray& x, const shape_t& w) {
    return sum(sliding_window_view(x, w), {.axis = w.size() == 1 ? axes{-1} : axes{-2, -1}});
  };
  const ndarray line = memory({1 << 20}), plane = memory({512, 512});
  const std::string windows = "windows, 4 neighbouring results a thread";
  for (const std::int64_t n : {2, 3, 16, 64, 100}) CHECK(chosen(sums(line, {n})) == windows);
  CHECK(chosen(sums(plane, {3, 3})) == windows);
  CHECK(chosen(sums(plane, {8, 8})) == windows);
  CHECK(chosen(max(sliding_window_view(line, {16}), {.axis = -1})) == windows);
  CHECK(chosen(var(sliding_window_view(line, {16}), {.axis = -1})) == windows);
  // Too long, too few results, rows that do not overlap.
  CHECK(chosen(sums(line, {1000})) == "rows");
  CHECK(chosen(sums(memory({1 << 14}), {16})) == "rows");
  CHECK(chosen(sum(memory({1 << 20, 16}), {.axis = -1})) == "rows");
  each_launch(sums(line, {16}), [](const jit::launch& l) {
    const jit::schedule s = cuda::describe(l);
    CHECK(s.inputs.at(0) == "vectors of 4");
    CHECK(s.outputs.at(0) == "vectors");
    CHECK(std::string(s.estimate.bound) == "memory");
  });
}

TEST_CASE("schedules of a GPU: repeated steps, sums of narrow and wide rows, columns") {
  ndarray re = memory({2048, 2048}), im = memory({2048, 2048});
  const ndarray a = re, b = im;
  for (int step = 0; step < 50; ++step) {
    const ndarray next = re * re - im * im + a;
    im = 2 * re * im + b;
    re = next;
  }
  CHECK(chosen(re + im).find("linear, vectors of 4") != std::string::npos);
  CHECK(chosen(sum(memory({1 << 20, 50}), {.axis = -1})) == "rows");
  CHECK(chosen(sum(memory({64, 1 << 20}), {.axis = -1})) == "rows");
  CHECK(chosen(sum(memory({1 << 14, 1 << 12}), {.axis = 0})) == "columns, vectors of 4");
  CHECK(chosen(sum(memory({1 << 20, 6}), {.axis = 0})) == "columns");
  // The order of the additions is that of the shape; threads follow the memory.
  const ndarray across = memory({1 << 12, 1 << 14}).T();
  CHECK(chosen(sum(across, {.axis = 1})) == "rows, neighbouring threads across, 4 results a thread");
  CHECK(chosen(sum(across, {.axis = 0})) == "columns, neighbouring threads along");
  CHECK(chosen(sum(memory({50, 1 << 20}).T(), {.axis = 1})) == "rows, neighbouring threads across");
  CHECK(chosen(max(across, {.axis = 1})) == "columns, vectors of 4");
  const ndarray q = memory({100000}), t = memory({64});
  CHECK(chosen(argmin(abs(q(_, newaxis) - t), 1)) == "broadcast rows");
}

TEST_CASE(
    "schedules of a GPU: energies of pairs and their gradients are bound by neither addresses, divisions nor partial "
    "sums") {
  const std::int64_t n = 16384;
  const ndarray x = memory({3, n}), d = x(_, _, newaxis) - x(_, newaxis, _), r2 = sum(square(d), 0) + 1;
  int launches = 0;
  each_launch(sum(1 / r2), [&](const jit::launch& l) {
    ++launches;
    jit::cuda_variant v;
    cuda::classify(l, v);
    const std::string text = jit::emit_cuda(*l.code, v);
    CHECK(text.find("sn::fetch<4>") != std::string::npos);     // rows whole
    CHECK(text.find("quick_divide") != std::string::npos);     // one branch for a group
    CHECK(cuda::scratch_bytes(l, v) == 4096 * sizeof(float));  // a number for each split
  });
  CHECK(launches == 1);
  each_launch(sum(d / r2, 1), [&](const jit::launch& l) {
    ++launches;
    jit::cuda_variant v;
    cuda::classify(l, v);
    CHECK(l.outputs.size() == 3);
    CHECK(l.all_results == 3 * n);
    CHECK(jit::emit_cuda(*l.code, v).find("quick_divide") != std::string::npos);
    CHECK(cuda::scratch_bytes(l, v) <= 32 * 3 * static_cast<std::size_t>(n) * sizeof(float));
  });
  CHECK(launches == 2);
}

TEST_CASE(
    "schedules of a GPU: recurrences of float64 with a division in each step have a branch for a group of lanes") {
  const ndarray x = memory({1 << 20}, float64);
  ndarray before = ones_like(x), now = x;
  for (int k = 2; k < 13; ++k) {
    const ndarray next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
    before = now;
    now = next;
  }
  int launches = 0;
  each_launch(now, [&](const jit::launch& l) {
    ++launches;
    jit::cuda_variant v;
    cuda::classify(l, v);
    CHECK(jit::emit_cuda(*l.code, v).find("sn::quick_double_divide") != std::string::npos);
  });
  CHECK(launches == 1);
}

TEST_CASE("schedules of a GPU: filters whose rows are no whole vectors store lanes in parts, if they read much") {
  const ndarray bytes = memory({4096, 4096}, uint8);
  const auto shifted = [&](int i, int j) { return bytes(slice(i, 4094 + i), slice(j, 4094 + j)).astype(float32); };
  ndarray all = shifted(0, 0), few = shifted(0, 0);
  for (int k = 1; k < 9; ++k) all = all + shifted(k / 3, k % 3);
  for (int k = 1; k < 3; ++k) few = few + shifted(0, k);
  CHECK(chosen(all) == "strided, vectors of 4, in runs");
  CHECK(chosen(few) == "strided, vectors of 2, in runs");
}

TEST_CASE(
    "schedules of a GPU: a warp has a row where there are many, several have one of few, and rows that stay keep "
    "lanes") {
  CHECK(chosen(sum(memory({1 << 14, 3000}), 1)) == "rows, a warp each");
  CHECK(chosen(sum(memory({1 << 13, 4097}), 1)) == "rows, a warp each");
  CHECK(chosen(sum(memory({1 << 12, 3000}), 1)) == "rows");  // too few for the warps of a GPU
  CHECK(chosen(sum(memory({1 << 14, 2000}), 1)) == "rows");  // one warp's lanes as it is
  CHECK(chosen(var(memory({1 << 13, 4097}), 1)) == "rows");  // eight accumulators of three numbers
}

TEST_CASE(
    "schedules of a GPU: an element with many values at once, which lanes have in steps together, goes in pairs") {
  const auto quotients = [](int count) {
    const ndarray x = memory({1 << 20}), y = memory({1 << 20});
    std::vector<ndarray> q;
    for (int k = 0; k < count; ++k) q.push_back(x / (y * y + static_cast<float>(k)));
    ndarray all = q[0];  // the last first, so that all are there at once
    for (int k = count - 1; k > 0; --k) all = sqrt(all * all + q[static_cast<std::size_t>(k)]);
    return all;
  };
  CHECK(chosen(quotients(6)) == "linear, vectors of 4");
  CHECK(chosen(quotients(20)) == "linear, vectors of 2");
}

TEST_CASE("schedules of a GPU: the chosen one is legal, and none that is considered is clearly cheaper") {
  const ndarray x = memory({512, 700}), v = memory({512, 1}), w = memory({700});
  for (const ndarray& y :
       {x + 1, x.T() + v.T(), x.T()(slice(0, 512)) + x(_, slice(0, 512)), sum(x, {.axis = 0}), sum(x.T(), {.axis = 0}),
        max(x, {.axis = 1}), max(v + w, {.axis = 1}), sum(v * w, {.axis = 1})})
    each_launch(y, [](const jit::launch& l) {
      const jit::schedule s = cuda::describe(l);
      CAPTURE(s.name);
      CHECK(s.estimate.microseconds > 0);
      CHECK_FALSE(s.parts.empty());
      CHECK(s.others.size() + 1 == cuda::legal_schedules(l).size());
      for (std::size_t k = 1; k < s.others.size(); ++k) CHECK(s.others[k - 1].microseconds <= s.others[k].microseconds);
      for (const char* part : {"runs   ", "time   ", " estimated"})
        CHECK(jit::to_string(s, "").find(part) != std::string::npos);
    });
}

TEST_CASE("schedules of a GPU: a test can force each legal one") {
  const ndarray x = memory({300, 300});
  each_launch(x + x.T(), [](const jit::launch& l) {
    const auto all = cuda::legal_schedules(l);
    CHECK(all.size() > 2);
    cuda::most_schedules();
    jit::cuda_variant v;
    for (int k = 0; k < 4; ++k) {
      cuda::force_schedule(k);
      cuda::classify(l, v);
      CHECK(static_cast<std::size_t>(cuda::most_schedules()) >= all.size());
    }
    cuda::force_schedule(1000);
    cuda::classify(l, v);
    CHECK(cuda::schedule_name(l, v) == cuda::schedule_name(l, all.back()));
    cuda::force_schedule(-1);
  });
}

#endif
