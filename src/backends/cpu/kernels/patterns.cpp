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

/// Rows of a few lanes near each other.
lane_pattern pattern_of_rows(const core::dims& extents, const core::dims& strides, bool written) noexcept {
  const std::int64_t lanes = extents[1], near = strides[1], far = strides[0];
  const bool is_short = is_short_period(lanes) || lanes == 3 || lanes == 6 || lanes == 12;
  if (!is_short || std::abs(near) > 2 || std::abs(far) > 4 * lanes || (near == 0 && far == 0)) return {};
  if (written && (near != 1 || far <= lanes)) return {};
  return {kind::rows, static_cast<int>(lanes), static_cast<int>(near), static_cast<int>(far)};
}

lane_pattern pattern_of_map(dtype type, const lane_map& map, std::int64_t longest, bool written) noexcept {
  if (!suits(type)) return {};
  const core::dims &extents = map.extents, &strides = map.strides;
  if (extents.size() == 1) {
    const std::int64_t s = strides[0];
    const bool apart = (s >= -4 && s < 0) || (s > 1 && s <= longest);
    return apart ? lane_pattern{kind::apart, static_cast<int>(s)} : lane_pattern{};
  }
  if (extents.size() != 2) return {};
  const bool runs = strides[0] == 1 && strides[1] == 0 && is_short_period(extents[1]) && !written;
  return runs ? lane_pattern{kind::runs, static_cast<int>(extents[1])} : pattern_of_rows(extents, strides, written);
}

lane_pattern pattern_of_coordinate(const coordinate_plan& c) noexcept {
  const core::dims &extents = c.map.extents, &strides = c.map.strides;
  if (c.uniform) return {};
  if (extents.size() == 1 && strides[0] == 1) return {kind::counted, 0};
  const bool periodic = extents.size() == 2 && strides[0] == 0 && strides[1] == 1 && is_short_period(extents[1]);
  return periodic ? lane_pattern{kind::periodic, static_cast<int>(extents[1])} : lane_pattern{};
}

/// Whether anything of the launch may lie in a pattern: looks at the innermost axes only.
bool may_have_patterns(const jit::launch& l, bool of_elements) noexcept {
  const int last = l.extents.size() - 1;
  if (last < 0 || !l.wraps.empty() || l.inputs.size() + l.outputs.size() > 64 ||
      core::element_count(l.extents) < least_elements)
    return false;
  const bool is_short = last > 0 && l.extents[last] <= 16;
  const auto differs = [&](const jit::operand& o) {
    return o.strides[last] != 1 || (is_short && o.strides[last - 1] != l.extents[last]);
  };
  return std::any_of(l.inputs.begin(), l.inputs.end(), differs) ||
         (of_elements && std::any_of(l.outputs.begin(), l.outputs.end(), differs)) ||
         std::any_of(l.code->code.begin(), l.code->code.end(),
                     [](const jit::instr& i) { return i.op == jit::opcode::coord; });
}

/// Whether neighbours of an operand lie closer along the last outer axis than along a block.
bool lies_across(const core::dims& outer, const lane_map& map) noexcept {
  if (outer.empty() || map.strides.size() != 1) return false;
  const std::int64_t near = std::abs(outer.back());
  return near != 0 && near < std::abs(map.strides[0]);
}

/// From how many inputs on it takes less to take records apart than to gather each of them: shuffles of two vectors of bytes or of 16
/// bits take two or three times as long as others.
int least_members(dtype t, int apart) noexcept {
  if (itemsize(t) <= 2) return 2;
  return apart == 2 ? 3 : apart == 4 ? 3 : 4;
}

/// Inputs whose elements lie apart in the same records: all of them are found by the first one, of the lowest address.
void find_members(const jit::launch& l, std::string& patterns) {
  const auto is_apart = [&](std::size_t k) {
    const lane_pattern p = lane_pattern::read(patterns, k);
    return p.what == kind::apart && (p.number == 2 || p.number == 4 || p.number == 8);
  };
  const std::size_t n = l.inputs.size();
  for (std::size_t first = 0; first < n; ++first) {
    if (!is_apart(first)) continue;
    const lane_pattern how = lane_pattern::read(patterns, first);
    const jit::operand& a = l.inputs[first];
    std::vector<std::pair<std::int64_t, std::size_t>> members;  // by their places
    std::int64_t lowest = a.offset, highest = a.offset;
    for (std::size_t k = first; k < n; ++k) {
      const jit::operand& b = l.inputs[k];
      if (!is_apart(k) || b.base != a.base || b.strides != a.strides ||
          lane_pattern::read(patterns, k).number != how.number || l.code->inputs[k].type != l.code->inputs[first].type)
        continue;
      const std::int64_t low = std::min(lowest, b.offset), high = std::max(highest, b.offset);
      const bool known =
          std::any_of(members.begin(), members.end(), [&](const auto& m) { return m.first == b.offset; });
      if (known || high - low >= how.number) continue;
      lowest = low, highest = high;
      members.emplace_back(b.offset, k);
    }
    if (static_cast<int>(members.size()) < least_members(l.code->inputs[first].type, how.number)) continue;
    const std::size_t leader = std::min_element(members.begin(), members.end())->second;
    if (leader > INT8_MAX) continue;
    for (const auto& [offset, k] : members)
      lane_pattern{kind::member, how.number, static_cast<int>(offset - lowest), static_cast<int>(leader)}.write(
          patterns, k);
  }
}

}  // namespace

std::string lane_patterns(const jit::launch& l, const walk_axes& axes) {
  const bool of_elements = l.code->kind == jit::kernel_kind::elementwise;
  if (l.code->kind == jit::kernel_kind::staged || !l.wraps.empty() || !may_have_patterns(l, of_elements)) return {};
  const param_block params(l);
  const block_plan plan(l, axes, 0, of_elements ? l.code->code.size() : l.code->epilogue, params);
  if (plan.block_count < jit::block_lanes) return {};
  const std::size_t operands = l.code->inputs.size() + l.code->outputs.size();
  std::string all((operands + static_cast<std::size_t>(l.extents.size()) + 1) * lane_pattern::letters, '\0');
  bool any = false;
  const auto add = [&](std::size_t at, const lane_pattern& p) {
    p.write(all, at);
    // A row that repeats can be copied once: alone it is no reason.
    any = any || !(p.is_dense() || (p.what == kind::rows && p.far == 0));
  };
  std::size_t at = 0;
  for (const input_plan& in : plan.inputs) {
    if (in.access == input_plan::how::copied) {
      if (lies_across(in.outer, in.map)) return {};
      add(at, pattern_of_map(in.type, in.map, 8, false));
    }
    ++at;
  }
  find_members(l, all);
  std::vector<output_plan> outputs;
  outputs.reserve(l.outputs.size());
  for (std::size_t k = 0; of_elements && k < l.outputs.size(); ++k) {
    const output_plan& o = outputs.emplace_back(l, k, axes);
    if (o.in_runs || lies_across(o.outer, o.map)) return {};
    if (o.map.extents.size() > 1 || o.map.strides[0] > 1) add(at + k, pattern_of_map(o.type, o.map, 4, true));
  }
  // Components of records that are all written are put together in one pass.
  for (const record_group& g : output_records(l, outputs))
    for (const int k : g.member)
      if (k >= 0) lane_pattern{}.write(all, at + static_cast<std::size_t>(k));
  at += l.outputs.size();
  for (const coordinate_plan& c : plan.coordinates)
    if (const std::size_t place = at + static_cast<std::size_t>(c.axis); place < all.size() / lane_pattern::letters)
      add(place, pattern_of_coordinate(c));
  if (!any || !jit::takes_patterns(*l.code, {false, uniform_inputs(l, axes)})) return {};
  return all;
}

void block_plan::read_patterns(const std::string& patterns) {
  in_patterns = true;
  multiple = jit::multiple_of_lanes(*launch->code, patterns);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].access == input_plan::how::copied) inputs[k].pattern = jit::pattern_of_input(patterns, k);
  for (const input_plan& in : inputs)
    if (in.pattern.what == kind::member) {
      int& span = inputs[static_cast<std::size_t>(in.pattern.far)].span;
      span = std::max(span, in.pattern.near);
    }
  for (coordinate_plan& c : coordinates)
    c.pattern = jit::pattern_of_axis(*launch->code, patterns, static_cast<std::size_t>(c.axis));
}

/// Lanes of which code reads more than there are lie in memory of their own, in the same pattern.
void block_walker::bind_pattern(std::size_t k, std::int64_t start, int n, int padded) {
  const input_plan& in = plan_.inputs[k];
  const auto size = static_cast<std::int64_t>(itemsize(in.type));
  const lane_pattern& how = in.pattern;
  const char* const from = base_[k] + how.place(start) * size;
  // Ahead of the last one lies what is before the array where the stride is negative.
  const bool ahead = (how.what == kind::apart || how.what == kind::member) && how.number > 0 && in.ahead_apart;
  if (padded == n || (ahead && from + how.place(padded - 1) * size + size <= in.end)) {
    inputs_[k] = from;
    return;
  }
  if (how.what == kind::member) {  // whole records, by the first input of them
    auto* const records = static_cast<char*>(lanes_[k]);
    const std::int64_t record = how.number * size;
    inputs_[k] = records;
    if (static_cast<std::size_t>(how.far) != k) return;
    std::memcpy(records, from, static_cast<std::size_t>((n - 1) * record + (in.span + 1) * size));
    for (int l = n; l < padded; ++l)
      std::memcpy(records + l * record, records + (n - 1) * record, static_cast<std::size_t>((in.span + 1) * size));
    return;
  }
  std::int64_t first = 0;  // of the places of lanes
  for (int l = 0; l < padded; ++l) first = std::min(first, how.place(l));
  char* const to = static_cast<char*>(lanes_[k]) - first * size;
  for (int l = padded; l-- > 0;)  // a place of several lanes is that of the first one
    std::memcpy(to + how.place(l) * size, from + how.place(std::min(l, n - 1)) * size, static_cast<std::size_t>(size));
  inputs_[k] = to;
}

void block_walker::bind_runs(std::size_t k, const output_plan& o, std::int64_t start, int n) {
  outputs_[k] = o.at(coordinate_);
  fill_offsets(offsets_[plan_.inputs.size() + k], 0, o.map, start, n, pad_lanes(n));
}

void output_plan::store_apart(char* to, const void* buffer, int n) const {
  const auto size = itemsize(type);
  for (int l = 0; l < n; ++l) {
    const std::int64_t at = pattern.place(l) * static_cast<std::int64_t>(size);
    std::memcpy(to + at, static_cast<const char*>(buffer) + at, size);
  }
}

}  // namespace sinter::cpu
