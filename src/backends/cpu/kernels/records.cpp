// Which operands lie side by side.
#include "backends/cpu/kernels/records.hpp"

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/block_plan.hpp"

namespace sinter::cpu {
namespace {

/// What lies in records: an operand's place, and the distances of its neighbours.
struct place {
  int number;
  dtype type;
  const char* base;
  const lane_map* map;
  const core::dims* outer;
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(itemsize(type)); }
  std::int64_t components() const noexcept { return map->strides[0]; }
};

bool suits(dtype type, const lane_map& map) noexcept {
  const std::size_t size = itemsize(type);
  return (size == 4 || size == 8) && map.extents.size() == 1 && map.strides[0] >= 2 &&
         map.strides[0] <= most_components;
}

bool are_alike(const place& a, const place& b) noexcept {
  return a.size() == b.size() && a.map->strides == b.map->strides && a.map->extents == b.map->extents &&
         *a.outer == *b.outer;
}

/// Which component b is, if a is the first one; -1: none.
int component_of(const place& a, const place& b) noexcept {
  const std::int64_t bytes = b.base - a.base;
  return bytes >= 0 && bytes % a.size() == 0 && bytes / a.size() < a.components() ? static_cast<int>(bytes / a.size())
                                                                                  : -1;
}

/// The places taken in the order of their addresses: the first of those left, and what lies in the same records.
std::vector<record_group> groups_of(std::vector<place> left, int least) {
  std::vector<record_group> all;
  std::sort(left.begin(), left.end(), [](const place& a, const place& b) { return a.base < b.base; });
  while (!left.empty()) {
    const place first = left.front();
    record_group g{static_cast<int>(first.components())};
    int found = 0;
    std::erase_if(left, [&](const place& p) {
      const int c = are_alike(first, p) ? component_of(first, p) : -1;
      if (c < 0 || g.member[static_cast<std::size_t>(c)] >= 0) return false;
      g.member[static_cast<std::size_t>(c)] = p.number;
      ++found;
      return true;
    });
    if (found >= (least > 0 ? least : g.components)) all.push_back(g);
  }
  return all;
}

}  // namespace

std::vector<record_group> input_records(const std::vector<input_plan>& inputs) {
  std::vector<place> places;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const input_plan& in = inputs[k];
    const bool copied = in.access == input_plan::how::copied && !in.period && !in.panel_rows && !in.rows &&
                        !in.wrapped && in.pattern.what == jit::lane_pattern::kind::dense;
    if (copied && suits(in.type, in.map)) places.push_back({static_cast<int>(k), in.type, in.base, &in.map, &in.outer});
  }
  return groups_of(std::move(places), 2);
}

std::vector<record_group> output_records(const jit::launch& l, const std::vector<output_plan>& outputs) {
  std::vector<place> places;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const output_plan& o = outputs[k];
    if (!o.in_runs && o.pattern.what == jit::lane_pattern::kind::dense && suits(o.type, o.map))
      places.push_back({static_cast<int>(k), o.type, o.base, &o.map, &o.outer});
  }
  std::vector<record_group> all = groups_of(std::move(places), 0);
  std::erase_if(all, [&](const record_group& g) {
    const void* const memory = l.outputs[static_cast<std::size_t>(g.member[0])].base;
    const auto writes =
        std::count_if(l.outputs.begin(), l.outputs.end(), [&](const jit::operand& o) { return o.base == memory; });
    return writes != g.components;
  });
  return all;
}

}  // namespace sinter::cpu
