// src/dist: distributed arrays. Values on a device of kind `mesh` are recorded as any others, with the shape of the whole
// array; here they are divided among the mesh's devices: each pending value gets a layout, local values of its parts are
// recorded for the devices, and transfers between them are inserted. Nothing here computes elements, and nothing moves
// bytes by itself (runtime/collectives).
//
// Layouts: which part of an array each position of a mesh has.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/dims.hpp"
#include "graph/values/regions.hpp"

namespace sinter::sharding {

using core::dims;
using graph::box;

/// An axis of an array that is divided along axes of the mesh: part p is [bounds[p], bounds[p + 1]).
struct split {
  int axis = 0;
  std::vector<int> over;  // axes of the mesh; positions are numbered in C order of these
  std::vector<std::int64_t> bounds;

  std::int64_t parts() const noexcept { return static_cast<std::int64_t>(bounds.size()) - 1; }
  friend bool operator==(const split&, const split&) = default;
};

/// Along mesh axes that are named nowhere, positions have the same.
struct layout {
  std::vector<split> splits;  // by ascending axis
  std::vector<int> partial =
      {};  // axes of the mesh, ascending, along which positions have terms of a sum that is not made

  const split* along(int axis) const noexcept;
  bool uses(int mesh_axis) const noexcept;
  bool uses_any(const std::vector<int>& mesh_axes) const noexcept;
  bool is_replicated() const noexcept { return splits.empty() && partial.empty(); }
  /// Of the sum, when it has been made.
  layout when_made() const { return {splits, {}}; }
  /// Whether it has the splits of another one, and maybe more.
  bool refines(const layout& other) const;
  void add(split s);
  void drop(int axis);
  /// Makes an axis whole that is divided: the mesh axes along which it was divide another axis, not one of `busy`. That is the longest one
  /// that nothing divides; where it has fewer elements than there are parts, the axis with the most elements for each part, if more, whose
  /// parts are divided further. False where there is none of more than one element: then nothing is divided in its place.
  bool give_away(int axis, const dims& shape, const std::function<bool(int)>& busy);
  friend bool operator==(const layout&, const layout&) = default;
};

/// Even parts: all but the last ones have ceil(extent / parts).
std::vector<std::int64_t> even_bounds(std::int64_t extent, std::int64_t parts);
/// Each part of a split in even parts.
split divided_further(const split& s, const std::vector<int>& over, std::int64_t parts);

box whole_box(const dims& shape);
box intersect(const box& a, const box& b);
bool is_empty(const box& b) noexcept;
bool contains(const box& outer, const box& inner) noexcept;
bool same(const box& a, const box& b) noexcept;
dims extents_of(const box& b);
std::int64_t count_of(const box& b) noexcept;
/// Elements that two boxes share.
std::int64_t count_of_both(const box& a, const box& b) noexcept;
/// "[0:4, 2:6]".
std::string to_string(const box& b);

}  // namespace sinter::sharding
