// Affine views of a C-order array as slices of its axes.
#pragma once
#include <optional>
#include <vector>

#include "dist/layout.hpp"

namespace sinter::sharding {

/// Where an axis of a view goes in the base: each step of its coordinate is `step` along `axis`; -1: nowhere.
struct course {
  int axis = -1;
  std::int64_t step = 0;
};

/// A view as slices: the element at coordinates k is at start[a] + sum of step * k[j] over the axes j that go along a. The
/// base's axes may have been joined to fewer, longer ones.
struct slices {
  dims base;                // extents of the joined axes
  std::vector<int> joined;  // for each axis of the base the joined axis that it is part of
  dims start;
  std::vector<course> along;  // by axis of the view

  /// Whether each joined axis has one axis of the view at most.
  bool is_plain() const noexcept;
  bool joins() const noexcept { return base.size() != static_cast<int>(joined.size()); }
  /// What a box of the view reads of the joined base.
  box reach(const box& of_view) const;
  /// Strides and offset of a box of the view over a box of the joined base, which has what it reads.
  void bind(const box& of_view, const box& of_base, dims& strides, std::int64_t& offset) const;
};

/// Null where a view is none of slices of (joined) axes: diagonals.
std::optional<slices> find_slices(const dims& base, const dims& shape, const dims& strides, std::int64_t offset);

/// A view whose axes step along several axes of the base at once, as diagonals do: element k has the coordinates start + sum of k_j steps[j].
struct oblique {
  dims start;
  std::vector<dims> steps;  // by axis of the view: a step along each axis of the base

  /// The only axis of the view that steps along an axis of the base; -1: none, -2: several.
  int stepping_along(int base_axis) const noexcept;
  /// The strides and the offset that show a box of the view in a block of the base.
  void bind(const box& of_view, const box& of_base, dims& strides, std::int64_t& offset) const;
};

/// Nothing where there are no such steps within the base.
std::optional<oblique> find_oblique(const dims& base, const dims& shape, const dims& strides, std::int64_t offset);

}  // namespace sinter::sharding
