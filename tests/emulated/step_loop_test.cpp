// Generated CUDA kernels of loops over steps, run thread by thread on the CPU: the bits of the CPU's loop, where inputs and
// outputs move with the steps, backwards too, and where a condition ends them.
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"

#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "emulated/observing.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/program/loop_runs.hpp"
#include "sinter/loops.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using namespace emulated;

int loops_seen = 0;

/// What an output's launch writes: for an output of each run, that of all runs. The cases here store without gaps.
std::vector<bytes> written(const jit::launch& l) {
  std::vector<bytes> all;
  for (std::size_t k = 0; k < l.outputs.size(); ++k) {
    const std::int64_t runs = jit::is_in_each_run(l.code->outputs[k]) ? l.params[l.code->loop.count].i : 1;
    const auto size = static_cast<std::int64_t>(itemsize(l.code->outputs[k].type));
    const std::int64_t step = l.outputs[k].gather_stride[0];
    const char* const from = begin_of(l, k) + (step < 0 ? (runs - 1) * step * size : 0);
    all.emplace_back(from, from + core::element_count(l.extents) * runs * size);
  }
  return all;
}
void put_back(const jit::launch& l, const std::vector<bytes>& all) {
  for (std::size_t k = 0; k < l.outputs.size(); ++k) {
    const std::int64_t runs = jit::is_in_each_run(l.code->outputs[k]) ? l.params[l.code->loop.count].i : 1;
    const auto size = static_cast<std::int64_t>(itemsize(l.code->outputs[k].type));
    const std::int64_t step = l.outputs[k].gather_stride[0];
    std::memcpy(begin_of(l, k) + (step < 0 ? (runs - 1) * step * size : 0), all[k].data(), all[k].size());
  }
}

/// Runs the emulated kernel before the CPU computes the same, and remembers what it has left.
std::vector<std::vector<bytes>>* emulated_outputs = nullptr;
void observe_steps(const jit::launch& l) {
  if (!jit::moves_in_runs(*l.code)) return;
  ++loops_seen;
  for (const jit::cuda_variant& v : cuda::legal_schedules(l)) {
    CHECK(v.shape == jit::cuda_shape::step_loop);
    const std::vector<bytes> before = written(l);
    std::vector<bytes> filler = before;
    for (bytes& b : filler) std::memset(b.data(), 0x55, b.size());
    put_back(l, filler);
    run_emulated(l, v);
    emulated_outputs->push_back(written(l));
    put_back(l, before);
  }
}

template <class T>
bytes raw_of(const std::vector<T>& all) {
  bytes raw;
  for (const T x : all) raw.push_back(static_cast<char>(x));
  return raw;
}

/// The results of `f`, and whether the emulated kernels have left all their bytes.
template <class F>
void check_steps(const F& f) {
  std::vector<std::vector<bytes>> all;
  emulated_outputs = &all;
  loops_seen = 0;
  std::vector<ndarray> results;
  {
    const emulated::observing each(observe_steps);
    results = f();
    for (const ndarray& r : results) eval(r);
  }
  CHECK(loops_seen > 0);
  std::vector<bytes> given;
  for (const std::vector<bytes>& of : all) given.insert(given.end(), of.begin(), of.end());
  for (const ndarray& r : results) {
    const ndarray flat = ravel(r).copy();
    const bytes raw =
        r.dtype() == bool_ ? raw_of(flat.to_vector<bool>()) : raw_of(flat.view(uint8).to_vector<std::uint8_t>());
    CAPTURE(to_string(r.shape()));
    CHECK(std::find(given.begin(), given.end(), raw) != given.end());
  }
}

ndarray pattern(const shape_t& shape, dtype type = float64, double part = 16) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray x = (arange(n, {.device = "cpu"}) * 7919 % 41 - 20) / part;
  ndarray y = reshape(x.astype(type), shape).to_device("cpu");
  eval(y);
  return y;
}

}  // namespace

TEST_CASE("emulated: loops of steps have the bits of the CPU, whatever moves with the steps") {
  if (no_emulation()) return;
  for (const bool reverse : {false, true})
    for (const std::int64_t n : {1, 5, 300}) {
      CAPTURE(n);
      check_steps([&] {
        const auto step = [](const ndarray& h, const ndarray& e) {
          const ndarray next = h * 0.75 + e * e;
          return std::pair(next, ndarray(next * next - h));
        };
        const auto [last, all] =
            scan(step, pattern({n}), pattern({33, n}, float64, 7), {.reverse = reverse, .call_each = false});
        return std::vector<ndarray>{last, all};
      });
    }
  // Numbers, and what depends on the value before the last step.
  check_steps([] {
    using state = std::tuple<ndarray, ndarray>;
    const auto step = [](const state& s, const ndarray& e) {
      const auto& [a, b] = s;
      return std::pair(state(b + e, a * 0.5f - e), ndarray(a > b));
    };
    const auto [last, all] = scan(step, state(full({}, 1.0f, {.device = "cpu"}), full({}, -2.0f, {.device = "cpu"})),
                                  pattern({50}, float32));
    return std::vector<ndarray>{std::get<0>(last), std::get<1>(last), all};
  });
  // Integers and casts, two axes, rows of another order.
  check_steps([] {
    const auto step = [](const std::tuple<ndarray, ndarray>& s, const ndarray& e) {
      const auto& [a, b] = s;
      const ndarray next = a * a + e.astype(float32);
      return std::pair(std::tuple(next, ndarray(b * 3 + 1)), next);
    };
    const auto [last, all] = scan(step, std::tuple(pattern({6, 7}, float32, 64), pattern({6, 7}, int32, 1)),
                                  transpose(pattern({7, 6, 20}, float64, 64)));
    return std::vector<ndarray>{std::get<0>(last), std::get<1>(last), all};
  });
}

TEST_CASE("emulated: loops end where their condition says") {
  if (no_emulation()) return;
  for (const double least : {1e-3, 1e-9, 0.4}) {
    CAPTURE(least);
    check_steps([&] {
      using state = std::pair<ndarray, ndarray>;
      const auto [x, n] =
          while_loop([&](const state& s) { return s.first > least; },
                     [](const state& s) { return state(s.first * 0.97, s.second + 1); },
                     state(full({}, 1.0, {.device = "cpu"}), zeros({}, {.dtype = int64, .device = "cpu"})));
      return std::vector<ndarray>{x, n};
    });
  }
}

#endif
