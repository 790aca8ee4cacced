// Evaluated values of a mesh: leaves whose buffer has no memory but the parts, which are values of the mesh's devices.
#pragma once
#include <vector>

#include "dist/mesh_state.hpp"
#include "graph/values/node.hpp"

namespace sinter::sharding {

using graph::value;

/// A block of an array with its elements, a value of that shape on one device; pending or evaluated.
struct piece {
  box where;
  value v;
};
/// Disjoint pieces that make up a part; none of an empty part.
using pieces = std::vector<piece>;

/// An array in parts.
struct parts {
  layout how;
  std::vector<pieces> at;  // by position; none of those of other processes
};

/// What the buffer of a leaf on a mesh refers to. The parts are one value each, and may be pending: they are evaluated
/// when they are read.
struct shards {
  layout how;
  std::vector<value> at;  // by position; null: of another process
};

/// The shards of a leaf on a mesh.
const shards& shards_of(const graph::node& leaf) noexcept;
/// A buffer for a leaf that has these.
runtime::buffer_ref buffer_of(const mesh_state& m, shards s);
/// A leaf.
value leaf_of(const mesh_state& m, const dims& shape, dtype type, shards s);
parts parts_of(const mesh_state& m, const graph::node& leaf);

/// The elements of a block of a piece or of a whole value: a view.
value block_of(const value& v, const box& of, const box& wanted);
/// One value of a box from its pieces, on a device.
value joined(const pieces& all, const box& where, dtype type, runtime::device_id device);

}  // namespace sinter::sharding
