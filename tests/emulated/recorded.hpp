// Evaluation that runs each generated CUDA kernel on the emulator before the CPU backend computes the same.
#pragma once
#include "emulated/run_generated.hpp"

#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <complex>
#include <cstring>
#include <set>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "jit/cuda/emit_body.hpp"
#include "jit/cuda/units.hpp"
#include "sinter/sinter.hpp"
#include "emulated/observing.hpp"

namespace emulated {

using bytes = std::vector<char>;

struct seen_launch {
  std::vector<bytes> emulated;
  jit::cuda_shape shape;
  bool wraps = false;     // reads at shifted coordinates are plain ones
  bool mirrored = false;  // tiles are beside their mirror images
  bool strips = false;    // of rows on chip: neighbouring threads access neighbouring elements
};
inline std::vector<seen_launch>* seen = nullptr;
inline std::set<jit::cuda_shape> baseline_shapes;

/// The kernel that computes one result, or one column of them, at a time.
inline jit::cuda_variant plain_reduction(const jit::launch& l, const jit::cuda_variant& tiles) {
  jit::cuda_variant v;
  v.shape = tiles.tile.halves ? jit::cuda_shape::reduce_columns : jit::cuda_shape::reduce_rows;
  v.rank = tiles.rank;
  v.kept = tiles.kept;
  for (const auto& o : l.inputs)
    v.inputs.push_back(o.strides[l.kept] == 0 ? jit::access::uniform : jit::access::strided);
  v.outputs.assign(l.outputs.size(), jit::access::strided);
  return v;
}

/// What is to be written holds no result of an earlier run, but what was there before where the kernel reads it, too.
inline void restore(const jit::launch& l, const std::vector<bytes>& before) {
  for (std::size_t k = 0; k < l.outputs.size(); ++k) {
    bool is_read = false;
    for (std::size_t j = 0; j < l.inputs.size(); ++j) {
      const auto skipped = l.inputs[j].offset * static_cast<std::int64_t>(itemsize(l.code->inputs[j].type));
      is_read = is_read || static_cast<const char*>(l.inputs[j].base) + skipped == begin_of(l, k);
    }
    if (is_read) std::memcpy(begin_of(l, k), before[k].data(), before[k].size());
    else std::memset(begin_of(l, k), 0x55, before[k].size());
  }
}

/// Whether a kernel's baseline form is tried though it would be compiled at once: rows on chip, and sines that are called.
inline bool is_tried(const jit::program& p, const jit::cuda_variant& v) {
  using enum jit::cuda_shape;
  if (v.shape == staged_rows) return true;
  const bool straight = v.shape == linear || v.shape == strided || v.shape == tiled;
  return straight &&
         std::any_of(p.code.begin(), p.code.end(), [&](const jit::instr& i) { return jit::cuda::is_quick_trig(p, i); });
}

/// Runs a launch of the CPU backend before it does: the chosen kernel, then those that must leave the same bits. The
/// launches that follow read what was left.
inline void observe(const jit::launch& recorded) {
  jit::launch plain;
  const jit::launch& l = cuda::lowered(recorded, plain);
  jit::cuda_variant v;
  cuda::classify(l, v);
  const std::vector<bytes> before = outputs_of(l);
  run_emulated(l, v);
  const bool strips = v.shape == jit::cuda_shape::staged_rows && jit::cuda_strip_bytes(*l.code, v) > 0;
  seen->push_back({outputs_of(l), v.shape, !v.wraps.empty(), v.tile.mirrored, strips});
  if (v.shape == jit::cuda_shape::reduce_tiles || v.shape == jit::cuda_shape::shared_rows) {
    restore(l, before);
    run_emulated(l, plain_reduction(l, v));
    CHECK(outputs_of(l) == seen->back().emulated);
  }
  if (!jit::cuda_has_baseline(*l.code, v) && !is_tried(*l.code, v)) return;
  baseline_shapes.insert(v.shape);
  v = jit::cuda_baseline_of(v);
  restore(l, before);
  run_emulated(l, v);
  CHECK(outputs_of(l) == seen->back().emulated);
}

struct recorded {
  ndarray result;
  std::vector<seen_launch> launches;
};

/// Evaluates `x` on the CPU, and every kernel of it on the emulator before.
inline recorded emulate(const ndarray& x) {
  recorded r;
  seen = &r.launches;
  const observing each(observe);
  eval(x);
  r.result = x;
  return r;
}

/// The last kernel's last output, as elements of T.
template <class T>
std::vector<T> emulated_as(const recorded& r) {
  REQUIRE_FALSE(r.launches.empty());
  const bytes& raw = r.launches.back().emulated.back();
  std::vector<T> x(raw.size() / sizeof(T));
  std::memcpy(x.data(), raw.data(), raw.size());
  return x;
}

/// Whole numbers of any dtype.
inline ndarray numbers(const shape_t& shape, dtype type, int factor) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray x = reshape(arange(n) * factor % 101, shape).astype(is_complex(type) ? float32 : type);
  return (is_complex(type) ? x + std::complex<float>(0, 1) * x(slice(idx::_, idx::_, -1)) : x)
      .astype(type)
      .to_device("cpu");
}

}  // namespace emulated

#endif
