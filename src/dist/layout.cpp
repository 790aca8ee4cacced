// Arithmetic of layouts and boxes.
#include "dist/layout.hpp"

#include <algorithm>

namespace sinter::sharding {

const split* layout::along(int axis) const noexcept {
  for (const split& s : splits)
    if (s.axis == axis) return &s;
  return nullptr;
}

bool layout::uses(int mesh_axis) const noexcept {
  return std::any_of(splits.begin(), splits.end(), [&](const split& s) {
    return std::find(s.over.begin(), s.over.end(), mesh_axis) != s.over.end();
  });
}

bool layout::uses_any(const std::vector<int>& mesh_axes) const noexcept {
  return std::any_of(mesh_axes.begin(), mesh_axes.end(), [&](int a) { return uses(a); });
}

bool layout::refines(const layout& other) const {
  return std::all_of(other.splits.begin(), other.splits.end(), [&](const split& s) {
    const split* const mine = along(s.axis);
    return mine && *mine == s;
  });
}

void layout::add(split s) {
  const auto at = std::find_if(splits.begin(), splits.end(), [&](const split& other) { return other.axis > s.axis; });
  splits.insert(at, std::move(s));
}

void layout::drop(int axis) {
  std::erase_if(splits, [&](const split& s) { return s.axis == axis; });
}

std::vector<std::int64_t> even_bounds(std::int64_t extent, std::int64_t parts) {
  const std::int64_t step = (extent + parts - 1) / parts;
  std::vector<std::int64_t> bounds(static_cast<std::size_t>(parts) + 1);
  for (std::int64_t p = 0; p <= parts; ++p) bounds[static_cast<std::size_t>(p)] = std::min(extent, p * step);
  return bounds;
}

box whole_box(const dims& shape) { return {dims(shape.size()), shape}; }

box intersect(const box& a, const box& b) {
  box out = a;
  for (int k = 0; k < a.first.size(); ++k) {
    out.first[k] = std::max(a.first[k], b.first[k]);
    out.end[k] = std::max(out.first[k], std::min(a.end[k], b.end[k]));
  }
  return out;
}

std::int64_t count_of_both(const box& a, const box& b) noexcept {
  std::int64_t count = 1;
  for (int k = 0; k < a.first.size(); ++k)
    count *= std::max<std::int64_t>(0, std::min(a.end[k], b.end[k]) - std::max(a.first[k], b.first[k]));
  return count;
}

bool is_empty(const box& b) noexcept {
  for (int k = 0; k < b.first.size(); ++k)
    if (b.end[k] <= b.first[k]) return true;
  return false;
}

bool contains(const box& outer, const box& inner) noexcept {
  for (int k = 0; k < outer.first.size(); ++k)
    if (inner.first[k] < outer.first[k] || inner.end[k] > outer.end[k]) return false;
  return true;
}

bool same(const box& a, const box& b) noexcept { return a.first == b.first && a.end == b.end; }

dims extents_of(const box& b) {
  dims out = b.end;
  for (int k = 0; k < out.size(); ++k) out[k] -= b.first[k];
  return out;
}

std::int64_t count_of(const box& b) noexcept { return count_of_both(b, b); }

std::string to_string(const box& b) {
  std::string out = "[";
  for (int k = 0; k < b.first.size(); ++k)
    out += (k ? ", " : "") + std::to_string(b.first[k]) + ":" + std::to_string(b.end[k]);
  return out + "]";
}

}  // namespace sinter::sharding
