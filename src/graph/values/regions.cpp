// Regions as linear forms over an array's elements, and as blocks of its coordinates.
#include "graph/values/regions.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

namespace sinter::graph {
namespace {

struct element_range {
  std::int64_t first, last;
};
element_range range_of(const region& r) noexcept {
  element_range all{r.offset, r.offset};
  for (int a = 0; a < r.extents.size(); ++a)
    if (r.extents[a] > 0) (r.strides[a] < 0 ? all.first : all.last) += r.strides[a] * (r.extents[a] - 1);
  return all;
}

std::int64_t common_step(const region& r, std::int64_t step) noexcept {
  for (int a = 0; a < r.extents.size(); ++a)
    if (r.extents[a] > 1) step = std::gcd(step, r.strides[a]);
  return step;
}

/// A region whose coordinates along each axis of the array are all combinations of these: first, first + step, ... below
/// end; the step is 0 where there is one.
struct lattice {
  box bounds;
  dims step;
};

/// The axis of an array along which elements that lie so far apart are neighbours, or multiples of that; -1: none.
int axis_of(const dims& shape, const dims& steps, std::int64_t distance) noexcept {
  for (int k = 0; k < shape.size(); ++k)
    if (shape[k] != 1 && steps[k] <= distance) return distance % steps[k] == 0 ? k : -1;
  return -1;
}

bool find_lattice(const dims& shape, const region& r, lattice& out) {
  if (core::element_count(shape) == 0 || core::element_count(r.extents) == 0) return false;
  const dims steps = core::contiguous_strides(shape);
  const int rank = shape.size();
  out = {{dims(rank), dims(rank)}, dims(rank)};
  auto& [first, end] = out.bounds;
  std::int64_t rest = r.offset;
  for (int k = 0; k < rank; ++k) {
    first[k] = rest / steps[k];
    end[k] = first[k] + 1;
    rest %= steps[k];
  }
  for (int v = 0; v < r.extents.size(); ++v) {
    if (r.extents[v] == 1) continue;
    const std::int64_t distance = r.strides[v] < 0 ? -r.strides[v] : r.strides[v];
    const int k = axis_of(shape, steps, distance);
    if (k < 0 || out.step[k] != 0) return false;
    out.step[k] = distance / steps[k];
    const std::int64_t length = out.step[k] * (r.extents[v] - 1);
    if (r.strides[v] < 0) first[k] -= length;
    else end[k] += length;
    if (first[k] < 0 || end[k] > shape[k]) return false;  // across the ends of rows
  }
  return true;
}

bool are_disjoint(const lattice& a, const lattice& b) noexcept {
  for (int k = 0; k < a.step.size(); ++k) {
    if (a.bounds.end[k] <= b.bounds.first[k] || b.bounds.end[k] <= a.bounds.first[k]) return true;
    const std::int64_t step = std::gcd(a.step[k], b.step[k]);
    if (step > 1 && (a.bounds.first[k] - b.bounds.first[k]) % step != 0) return true;
  }
  return false;
}

/// An array of `elements` elements with the axes that the strides of two regions are those of, where its own has been reshaped.
/// Empty where they are those of none.
dims shape_of_strides(std::int64_t elements, const region& a, const region& b) {
  dims strides;
  for (const region* r : {&a, &b})
    for (int v = 0; v < r->extents.size(); ++v)
      if (r->extents[v] > 1) strides.push_back(std::abs(r->strides[v]));
  strides.push_back(1);
  std::sort(strides.begin(), strides.end(), std::greater<>());
  dims shape;
  std::int64_t outer = 0;
  for (const std::int64_t stride : strides) {
    if (stride == outer) continue;
    if (stride == 0 || outer % stride != 0) return {};
    shape.push_back(outer == 0 ? (elements + stride - 1) / stride : outer / stride);
    outer = stride;
  }
  return shape;
}

}  // namespace

region region_of(const node& update) noexcept {
  return {update.update().offset, update.update().strides, update.args[1]->shape};
}

bool are_disjoint(const dims& shape, const region& a, const region& b) {
  if (core::element_count(a.extents) == 0 || core::element_count(b.extents) == 0) return true;
  const element_range ra = range_of(a), rb = range_of(b);
  if (ra.last < rb.first || rb.last < ra.first) return true;
  const std::int64_t step = common_step(a, common_step(b, 0));
  if (step > 1 && (a.offset - b.offset) % step != 0) return true;
  lattice la, lb;
  if (find_lattice(shape, a, la) && find_lattice(shape, b, lb)) return are_disjoint(la, lb);
  const dims other = shape_of_strides(core::element_count(shape), a, b);
  return !other.empty() && find_lattice(other, a, la) && find_lattice(other, b, lb) && are_disjoint(la, lb);
}

bool find_box(const dims& shape, const region& r, box& out) {
  lattice all;
  if (!find_lattice(shape, r, all)) return false;
  for (const std::int64_t step : all.step)
    if (step > 1) return false;
  out = std::move(all.bounds);
  return true;
}

uncovered::uncovered(const dims& shape) {
  if (core::element_count(shape) != 0) left_.push_back({dims(shape.size()), shape});
}

void uncovered::remove(const box& b) {
  constexpr std::size_t most = 64;
  std::vector<box> rest;
  for (const box& whole : left_) {
    box part = whole;  // what is left of it, shrunk axis by axis to what lies within `b`
    std::vector<box> pieces;
    bool apart = false;
    for (int a = 0; a < b.first.size() && !apart; ++a) {
      apart = b.end[a] <= part.first[a] || b.first[a] >= part.end[a];
      if (apart) break;
      if (part.first[a] < b.first[a]) {
        pieces.push_back(part);
        pieces.back().end[a] = part.first[a] = b.first[a];
      }
      if (b.end[a] < part.end[a]) {
        pieces.push_back(part);
        pieces.back().first[a] = part.end[a] = b.end[a];
      }
    }
    if (apart) rest.push_back(whole);
    else rest.insert(rest.end(), pieces.begin(), pieces.end());
  }
  if (rest.size() <= most) left_ = std::move(rest);
}

}  // namespace sinter::graph
