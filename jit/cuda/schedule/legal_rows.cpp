// Reductions along rows: which threads have the lanes of a result (jit/program/addition_order.hpp). The order of additions is the
// same for each of these ways.
#include <algorithm>

#include "jit/cuda/schedule/legal.hpp"
#include "jit/program/scalar.hpp"

namespace sinter::cuda {

using jit::launch;

namespace {

constexpr std::int64_t lanes_of_warp = 32;

bool is_users(const jit::program& p) noexcept {
  return std::any_of(p.reductions.begin(), p.reductions.end(), [](auto& r) { return r.op == jit::reduce_op::user; });
}

/// Whether the threads of whole rows have several rounds over beside those of which they read some at once (emit_reduce.cpp),
/// and not so many rounds that the last ones do not matter.
bool leaves_rest(const launch& l, const reduce_geometry& g) {
  constexpr std::int64_t least = 2, many = 64, bytes_at_once = 16;
  const std::int64_t lanes = g.first.block_x, rounds = rounds_of(g.elements, lanes);
  if (g.splits > 1 || lanes < lanes_of_warp || rounds > many || l.inputs.empty()) return false;
  const auto size = static_cast<std::int64_t>(size_of_input(l, 0));
  const std::int64_t at_once = std::clamp<std::int64_t>(bytes_at_once / size, 1, 8);
  // Of few rounds of little memory, or whose steps take long, tests cost more than waiting.
  if (rounds < 5 && (size == 1 || is_users(*l.code) || accumulator_words(*l.code) > 2)) return false;
  return rounds - g.elements / jit::cuda_group / (at_once * lanes) * at_once >= least;
}

/// Where there are rows for as many warps as memory needs to be busy, a warp has all lanes of one: the threads of several would wait
/// for each other. A thread has an accumulator for each of its lanes. 1: not so.
std::int64_t runs_of_lanes(const launch& l, const reduce_geometry& g, std::int64_t least_rows) {
  constexpr std::int64_t most_weight = 16, most_bytes = 256, most_words = 16;
  const std::int64_t runs = g.first.block_x / lanes_of_warp;
  if (g.splits > 1 || runs <= 1 || g.results < least_rows) return 1;
  const jit::program& p = *l.code;
  std::int64_t weight = 0, bytes = 0;
  for (std::size_t k = 0; k < p.epilogue; ++k) weight += jit::weight(p.code[k].op);
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    if (!in_prologue(p, k) || constant_over(l, l.inputs[k], l.kept, l.extents.size())) continue;
    if (size_of_input(l, k) > 4) return 1;  // rows of wide elements keep memory busy as they are
    bytes += jit::cuda_group * static_cast<std::int64_t>(size_of_input(l, k));
  }
  if (is_users(p)) return 1;
  const std::int64_t accumulators = std::int64_t{accumulator_words(p)} * runs;
  return weight <= most_weight && bytes * runs <= most_bytes && accumulators <= most_words ? runs : 1;
}

}  // namespace

void deal_lanes(const launch& l, const reduce_geometry& g, jit::cuda_variant& v) {
  constexpr std::int64_t least_rows = 8192;
  v.lane_runs = static_cast<std::uint8_t>(runs_of_lanes(l, g, least_rows));
  v.rest = v.lane_runs == 1 && leaves_rest(l, g);
}

bool deal_lanes_otherwise(const launch& l, jit::cuda_variant& v) {
  const std::int64_t runs = runs_of_lanes(l, row_geometry(l), 1);
  if (runs == 1) return false;
  v.lane_runs = static_cast<std::uint8_t>(v.lane_runs == 1 ? runs : 1);
  v.rest = v.lane_runs == 1;
  return true;
}

}  // namespace sinter::cuda
