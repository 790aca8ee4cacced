// Evaluated values of a mesh: leaves whose buffer has no memory but the parts, which are values of the mesh's devices.
#pragma once
#include <memory>
#include <vector>

#include "dist/mesh_state.hpp"
#include "graph/values/node.hpp"
#include "jit/program/program.hpp"

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

/// A sum (or product) that is still to be made: an array of its terms, which has the axes of the result and one more.
struct unmade_sum {
  jit::reduce_op op = jit::reduce_op::sum;
  dtype type = dtype::f64;  // of the terms: 16-bit numbers are joined in float32
  dims shape;               // of the terms
  int axis = 0;             // along which they lie
  std::int64_t lanes =
      1;       // term t belongs to lane t mod lanes; each adds its terms in their order, a tree of halves joins lanes
  layout how;  // of the terms; the axis is divided among positions
  std::vector<int> over;  // the axes of the mesh that divide it, ascending
};

/// What the buffer of a leaf on a mesh refers to. The parts are one value each, and may be pending: they are evaluated
/// when they are read.
struct shards {
  layout how;
  std::vector<value> at;                       // by position; null: of another process
  std::shared_ptr<const unmade_sum> sum = {};  // of a layout with partial axes: `at` has the terms
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
