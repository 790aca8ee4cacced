// The margin of the monotone tail arcsin(sqrt(h)), checked for every float32: whatever lies beyond the margin can never
// win. Real vector arcsines do step backwards by an ulp or more, so this cannot be taken from mathematics.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/tail.hpp"
#include "jit/cpu/block.hpp"

using namespace sinter;

namespace {

constexpr int lanes = jit::block_lanes;

/// f(h) = arcsin(sqrt(h)) as every CPU kernel computes it, for neighbouring floats from `first` (as bits) on.
struct tail_values {
  jit::block_op root = jit::find_block_op(jit::opcode::sqrt, dtype::f32, dtype::f32);
  jit::block_op arc = jit::find_block_op(jit::opcode::arcsin, dtype::f32, dtype::f32);
  alignas(64) float h[lanes], f[lanes];
  void compute(std::uint32_t first) {
    for (int l = 0; l < lanes; ++l) h[l] = std::bit_cast<float>(first + static_cast<std::uint32_t>(l));
    int fault = 0;
    root(f, h, nullptr, nullptr, lanes, &fault);
    arc(f, f, nullptr, nullptr, lanes, &fault);
  }
};

/// The margin that the library uses for min of 1 * arcsin(sqrt(h)).
cpu::tail_bounds chain() {
  static jit::program p;
  p.clear();
  p.kind = jit::kernel_kind::reduce;
  constexpr auto t = dtype::f32;
  p.code = {{jit::opcode::load, t, t, 0, 0, 0, 0, 0},
            {jit::opcode::sqrt, t, t, 0, 0, 0, 0, 0},
            {jit::opcode::arcsin, t, t, 0, 1, 0, 0, 0},
            {jit::opcode::reduced, t, t, 0, 0, 0, 0, 0}};
  p.epilogue = 3;
  p.inputs.push_back({t, 0, {0, 0}});
  p.reductions.push_back({jit::reduce_op::min, t, t, 2, 2, 0});
  p.outputs.push_back({t, 0, 3});
  jit::launch l;
  l.code = &p;
  const auto found = cpu::bound_tail(l);
  REQUIRE(found.has_value());
  return *found;
}

}  // namespace

TEST_CASE("arcsin(sqrt(h)) is in order beyond the margin, for every float32 between the floor and 1") {
  const cpu::tail_bounds c = chain();
  CHECK(c.margin < 2e-5);
  tail_values best, worse;
  // `worse` runs over all floats h; `best` follows with the largest b for which h counts as worse: h > b (1 + margin).
  // The largest value of f up to b must not exceed f(h).
  const std::uint32_t first = std::bit_cast<std::uint32_t>(1e-27f) / lanes * lanes;
  const std::uint32_t last = std::bit_cast<std::uint32_t>(1.0f) / lanes * lanes;
  std::uint32_t b = first, block = first;
  best.compute(block);
  float largest = 0;
  std::uint64_t wrong = 0, compared = 0, backwards = 0;
  float before = 0;
  for (std::uint32_t h = first; h < last; h += lanes) {
    worse.compute(h);
    for (int l = 0; l < lanes; ++l) {
      backwards += worse.f[l] < before;
      before = worse.f[l];
      const double limit = static_cast<double>(worse.h[l]) - c.floor;
      while (static_cast<double>(std::bit_cast<float>(b)) * (1 + c.margin) < limit) {
        largest = std::max(largest, best.f[b - block]);
        if (++b == block + lanes) best.compute(block = b);
      }
      wrong += largest > worse.f[l];
      ++compared;
    }
  }
  CHECK(wrong == 0);
  CHECK(compared > 750'000'000);
  MESSAGE("arcsin(sqrt(h)) steps backwards at " << backwards << " of " << compared << " neighbours");
}
