// Indices in data, whose reads are counted as work, and those that follow from positions.
#pragma once
#include "graph/values/node.hpp"

namespace sinter::graph {

/// Whether indices come from memory or draws. Those of rolls and the like follow from positions: parts of them are read in
/// place, and their reads cost no more than others.
bool is_data(const node* index, int depth = 0) noexcept;

}  // namespace sinter::graph
