// Arrays that parts have been joined to, along an axis: `stack` and `concatenate` write one part after the other.
#pragma once
#include "graph/values/node.hpp"
#include "graph/values/regions.hpp"

namespace sinter::graph {

/// What a partial write puts to a block of an array, axis by axis.
struct written_part {
  box block;
  dims axes;  // of the array, for each axis of the part; -1: one of a single place
};
/// False where it is none, or where the array's address has been handed out.
bool find_part(const node& update, written_part& found);

/// Whether an array that is reduced over one axis, or what it is computed from, has been joined of parts along that axis, so that each
/// element along it is one of a part.
bool joins_parts(const node* x, const payload::reduce& over);

}  // namespace sinter::graph
