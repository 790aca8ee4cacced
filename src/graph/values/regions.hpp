// Regions that partial writes write: whether two are disjoint, and whether several make up a whole array.
#pragma once
#include <cstdint>
#include <vector>

#include "graph/values/node.hpp"

namespace sinter::graph {

/// The elements at offset + sum strides[a] * coordinate[a] of an array's C order, for all coordinates below the extents.
struct region {
  std::int64_t offset;
  const dims& strides;
  const dims& extents;
};
/// What an update writes of its base.
region region_of(const node& update) noexcept;
/// Whether two regions of an array of this shape certainly have no element in common: their ranges do not overlap, or no
/// combination of their strides leads from one to the other (two columns), or along some axis of the array they have no
/// coordinate in common (two faces of a cube).
bool are_disjoint(const dims& shape, const region& a, const region& b);

/// A block of an array: the coordinates from `first` up to, but without, `end` along each axis.
struct box {
  dims first, end;
};
/// The region as a block of an array of this shape; false where it is none.
bool find_box(const dims& shape, const region& r, box& out);

/// The part of an array that has not been covered, as disjoint blocks.
class uncovered {
 public:
  explicit uncovered(const dims& shape);
  /// Takes a block away. What would become too many pieces stays whole.
  void remove(const box& b);
  bool empty() const noexcept { return left_.empty(); }

 private:
  std::vector<box> left_;
};

}  // namespace sinter::graph
