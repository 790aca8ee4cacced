// Which operands lie in patterns, and the lanes that are left at the end of a row, which do not fill a vector.
#include "backends/cpu/kernels/patterns.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/kernels/panel.hpp"

namespace sinter::cpu {
namespace {

using jit::lane_pattern;
using kind = lane_pattern::kind;

/// Elements below which blocks are copied as ever: launches that are run again and again keep where everything lies.
constexpr std::int64_t least_elements = 8192;

bool is_short_period(std::int64_t n) noexcept { return n == 2 || n == 4 || n == 8 || n == 16; }

bool suits(dtype t) noexcept { return !is_half(t) && t != dtype::c64 && itemsize(t) <= 8; }

lane_pattern pattern_of_map(dtype type, const lane_map& map, std::int64_t longest) noexcept {
  if (!suits(type)) return {};
  const core::dims &extents = map.extents, &strides = map.strides;
  if (extents.size() == 1) {
    const std::int64_t s = strides[0];
    const bool apart = (s >= -4 && s < 0) || (s > 1 && s <= longest);
    return apart ? lane_pattern{kind::apart, static_cast<int>(s)} : lane_pattern{};
  }
  const bool runs = extents.size() == 2 && strides[0] == 1 && strides[1] == 0 && is_short_period(extents[1]);
  return runs ? lane_pattern{kind::runs, static_cast<int>(extents[1])} : lane_pattern{};
}

lane_pattern pattern_of_coordinate(const coordinate_plan& c) noexcept {
  const core::dims &extents = c.map.extents, &strides = c.map.strides;
  if (c.uniform) return {};
  if (extents.size() == 1 && strides[0] == 1) return {kind::counted, 0};
  const bool periodic = extents.size() == 2 && strides[0] == 0 && strides[1] == 1 && is_short_period(extents[1]);
  return periodic ? lane_pattern{kind::periodic, static_cast<int>(extents[1])} : lane_pattern{};
}

/// Whether anything of the launch may lie in a pattern: looks at the innermost axes only.
bool may_have_patterns(const jit::launch& l) noexcept {
  const int last = l.extents.size() - 1;
  if (last < 0 || !l.wraps.empty() || l.inputs.size() + l.outputs.size() > 64 ||
      core::element_count(l.extents) < least_elements)
    return false;
  const auto differs = [&](const jit::operand& o) { return o.strides[last] != 1; };
  return std::any_of(l.inputs.begin(), l.inputs.end(), differs) ||
         std::any_of(l.outputs.begin(), l.outputs.end(), differs) ||
         std::any_of(l.code->code.begin(), l.code->code.end(),
                     [](const jit::instr& i) { return i.op == jit::opcode::coord; });
}

/// Whether neighbours of an operand lie closer along the last outer axis than along a block.
bool lies_across(const core::dims& outer, const lane_map& map) noexcept {
  if (outer.empty() || map.strides.size() != 1) return false;
  const std::int64_t near = std::abs(outer.back());
  return near != 0 && near < std::abs(map.strides[0]);
}

}  // namespace

std::string lane_patterns(const jit::launch& l, const walk_axes& axes) {
  if (l.code->kind != jit::kernel_kind::elementwise || !l.wraps.empty() || !may_have_patterns(l)) return {};
  const param_block params(l);
  const block_plan plan(l, axes, 0, l.code->code.size(), params);
  if (plan.block_count < jit::block_lanes) return {};
  std::string all(l.code->inputs.size() + l.code->outputs.size() + static_cast<std::size_t>(l.extents.size()) + 1,
                  '\0');
  bool any = false;
  const auto add = [&](std::size_t at, const lane_pattern& p) {
    all[at] = p.code();
    any = any || p.what != kind::dense;
  };
  std::size_t at = 0;
  for (const input_plan& in : plan.inputs) {
    if (in.access == input_plan::how::copied) {
      if (lies_across(in.outer, in.map)) return {};
      add(at, pattern_of_map(in.type, in.map, 8));
    }
    ++at;
  }
  std::vector<output_plan> outputs;
  outputs.reserve(l.outputs.size());
  for (std::size_t k = 0; k < l.outputs.size(); ++k) {
    const output_plan& o = outputs.emplace_back(l, k, axes);
    if (o.in_runs || lies_across(o.outer, o.map)) return {};
    if (o.map.extents.size() == 1 && o.map.strides[0] > 1) add(at + k, pattern_of_map(o.type, o.map, 4));
  }
  // Components of records that are all written are put together in one pass.
  for (const record_group& g : output_records(l, outputs))
    for (const int k : g.member)
      if (k >= 0) all[at + static_cast<std::size_t>(k)] = 0;
  at += l.outputs.size();
  for (const coordinate_plan& c : plan.coordinates)
    if (const std::size_t place = at + static_cast<std::size_t>(c.axis); place < all.size())
      add(place, pattern_of_coordinate(c));
  if (!any || !jit::takes_patterns(*l.code, {false, uniform_inputs(l, axes)})) return {};
  return all;
}

void block_plan::read_patterns(const std::string& patterns) {
  in_patterns = true;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].access == input_plan::how::copied) inputs[k].pattern = jit::pattern_of_input(patterns, k);
  for (coordinate_plan& c : coordinates)
    c.pattern = jit::pattern_of_axis(*launch->code, patterns, static_cast<std::size_t>(c.axis));
}

/// Lanes of which code reads more than there are lie in memory of their own, in the same pattern.
void block_walker::bind_pattern(std::size_t k, std::int64_t start, int n, int padded) {
  const input_plan& in = plan_.inputs[k];
  const auto size = static_cast<std::int64_t>(itemsize(in.type));
  const bool apart = in.pattern.what == kind::apart;
  const std::int64_t number = in.pattern.number, step = apart ? number * size : size;
  const std::int64_t first = apart ? start : start / number;
  const char* const from = base_[k] + first * step;
  // Ahead of the last one lies what is before the array where the stride is negative.
  if (padded == n || (apart && step > 0 && in.ahead_apart && from + (padded - 1) * step + size <= in.end)) {
    inputs_[k] = from;
    return;
  }
  const auto count = static_cast<int>(apart ? n : (n + number - 1) / number);
  const auto filled = static_cast<int>(apart ? padded : padded / number);
  char* const to = static_cast<char*>(lanes_[k]) + (step < 0 ? (1 - filled) * step : 0);
  for (int e = 0; e < filled; ++e)
    std::memcpy(to + e * step, from + std::min(e, count - 1) * step, static_cast<std::size_t>(size));
  inputs_[k] = to;
}

void block_walker::bind_runs(std::size_t k, const output_plan& o, std::int64_t start, int n) {
  outputs_[k] = o.at(coordinate_);
  fill_offsets(offsets_[plan_.inputs.size() + k], 0, o.map, start, n, pad_lanes(n));
}

void output_plan::store_apart(char* to, const void* buffer, int n) const {
  const auto size = itemsize(type);
  const auto step = static_cast<std::size_t>(pattern.number) * size;
  for (std::size_t l = 0; l < static_cast<std::size_t>(n); ++l)
    std::memcpy(to + l * step, static_cast<const char*>(buffer) + l * step, size);
}

}  // namespace sinter::cpu
