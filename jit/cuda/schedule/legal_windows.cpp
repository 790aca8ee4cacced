// Legal schedules of windows: rows of few elements, each of which begins a step after the one before and so shares most
// of what it reads. Moving sums, means, extremes and products with weights are such reductions.
#include <algorithm>

#include "jit/cuda/schedule/legal.hpp"

namespace sinter::cuda {
namespace {

using jit::access;
using jit::cuda_shape;
using jit::launch;
using jit::operand;

/// Elements of a window, and 4-byte registers that hold what a thread reads and its accumulators. Code is unrolled: its
/// weight bounds the time of a compilation.
constexpr std::int64_t most_elements = 128, most_registers = 160, most_weight = 4096;
/// Results, all of them and in a row, from which on windows pay.
constexpr std::int64_t many_results = 1 << 15, long_row = 64;
constexpr std::int64_t most_step = 15;

/// Whether vectors along the results and along the window are contiguous and aligned.
bool has_vectors(const launch& l, std::size_t k) noexcept {
  const operand& o = l.inputs[k];
  const std::size_t size = size_of_input(l, k);
  const int n = jit::cuda_window_vector(l.code->inputs[k].type), last = l.extents.size() - 1;
  if (n == 1 || o.strides[last] != 1 || !aligned(o, size, size * static_cast<std::size_t>(n))) return false;
  for (int j = 0; j < last; ++j)
    if (j != l.kept - 1 && l.extents[j] != 1 && o.strides[j] % n != 0) return false;
  return true;
}

/// The class of an input: one value a result, the same for all results of a row (step 0), or read at places that results
/// share. False if it is none of these. Adds the registers that it takes.
bool set_input(const launch& l, std::size_t k, jit::cuda_variant& v, std::int64_t& registers) {
  const operand& o = l.inputs[k];
  const int last = l.extents.size() - 1;
  const std::int64_t along = o.strides[last], next = o.strides[l.kept - 1];
  v.row_only.push_back(0);
  const bool fixed = constant_over(l, o, l.kept, l.extents.size());
  v.inputs.push_back(fixed ? access::uniform : access::strided);
  if (!in_prologue(*l.code, k)) return true;
  if (gathered(l, k)) return false;
  if (fixed) return registers += jit::cuda_window_results, true;
  std::int64_t elements = reduced_count(l);
  if (next != 0) {
    if (along == 0 || next % along != 0 || next / along < 1 || next / along > most_step) return false;
    v.row_only.back() = static_cast<std::uint8_t>(next / along);
    elements = elements / v.window.back() * jit::cuda_window_reach(v, v.row_only.back());
    if (has_vectors(l, k)) v.inputs.back() = access::linear;
  }
  registers += elements * std::max<std::int64_t>(1, static_cast<std::int64_t>(size_of_input(l, k)) / 4);
  return true;
}

bool set_window(const launch& l, jit::cuda_variant& v) {
  if (reduced_count(l) > most_elements) return false;
  for (int j = l.kept; j < l.extents.size(); ++j) v.window.push_back(static_cast<std::uint8_t>(l.extents[j]));
  return true;
}

/// Whether an input's windows overlap.
bool overlaps(const jit::cuda_variant& v) noexcept {
  return std::any_of(v.row_only.begin(), v.row_only.end(),
                     [&](std::uint8_t step) { return step > 0 && step < v.window.back(); });
}

std::int64_t unrolled_weight(const launch& l) noexcept {
  std::int64_t weight = static_cast<std::int64_t>(l.code->reductions.size());
  for (std::size_t k = 0; k < l.code->epilogue; ++k) weight += jit::weight(l.code->code[k].op);
  return weight * jit::cuda_window_results * reduced_count(l);
}

/// Stores of four or two results, if they suit all outputs: rows of results are often an even number, as an even number of
/// elements less a window's border is.
void set_outputs(const launch& l, jit::cuda_variant& v) {
  const auto suits = [&](int n) {
    for (std::size_t k = 0; k < l.outputs.size(); ++k)
      if (!vector_along(l, l.outputs[k], size_of_output(l, k), l.kept - 1, n)) return false;
    return true;
  };
  v.vector = static_cast<std::uint8_t>(suits(jit::cuda_window_results) ? jit::cuda_window_results : suits(2) ? 2 : 1);
  v.outputs.assign(l.outputs.size(), v.vector > 1 ? access::linear : access::strided);
}

bool is_windows(const launch& l, jit::cuda_variant& v) {
  if (l.kept < 1 || l.extents.size() == l.kept || l.extents[l.extents.size() - 1] < 2) return false;
  const jit::program& p = *l.code;
  if (!is_short_element(p) || p.loop.end != 0 || unrolled_weight(l) > most_weight) return false;
  const bool rows = prefers_rows(l);
  const std::int64_t lanes = tree_lanes(l, rows);
  if (lanes == 0 || !set_window(l, v)) return false;
  std::int64_t registers = lanes * accumulator_words(p) * 2;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (!set_input(l, k, v, registers)) return false;
  if (registers > most_registers || !overlaps(v)) return false;
  v.shape = cuda_shape::windows;
  v.tile.halves = !rows;
  while (std::int64_t{1} << v.tile.levels < lanes) ++v.tile.levels;
  set_outputs(l, v);
  v.wide_index = !fits_narrow(l, kept_count(l) + jit::cuda_window_results * std::int64_t{jit::cuda_block});
  return true;
}

}  // namespace

bool add_windows(const launch& l, extent_of_search which, variant_list& to) {
  const bool all = which == extent_of_search::all;
  const bool pays = l.kept >= 1 && kept_count(l) >= many_results && l.extents[l.kept - 1] >= long_row;
  return (all || pays) && to.add_if(l, [&](jit::cuda_variant& v) { return is_windows(l, v); }) && !all;
}

}  // namespace sinter::cuda
