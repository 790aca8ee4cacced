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

bool layout::give_away(int axis, const dims& shape, const std::function<bool(int)>& busy) {
  const split from = *along(axis);
  drop(axis);
  int whole = -1, divided = -1;
  const auto for_each_part = [&](int a) { return shape[a] / along(a)->parts(); };
  for (int a = 0; a < shape.size(); ++a) {
    if (a == axis || busy(a) || shape[a] < 2) continue;
    int& best = along(a) ? divided : whole;
    if (best < 0 || (along(a) ? for_each_part(a) > for_each_part(best) : shape[a] > shape[best])) best = a;
  }
  const bool is_short = whole < 0 || shape[whole] < from.parts();
  if (divided >= 0 && is_short && (whole < 0 || for_each_part(divided) > shape[whole])) {
    const split further = divided_further(*along(divided), from.over, from.parts());
    drop(divided);
    add(further);
    return true;
  }
  if (whole < 0) return false;
  add({whole, from.over, even_bounds(shape[whole], from.parts())});
  return true;
}

split divided_further(const split& s, const std::vector<int>& over, std::int64_t parts) {
  split out{s.axis, s.over, {0}};
  out.over.insert(out.over.end(), over.begin(), over.end());
  for (std::size_t k = 0; k + 1 < s.bounds.size(); ++k) {
    const std::vector<std::int64_t> inner = even_bounds(s.bounds[k + 1] - s.bounds[k], parts);
    for (std::size_t j = 1; j < inner.size(); ++j) out.bounds.push_back(s.bounds[k] + inner[j]);
  }
  return out;
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
