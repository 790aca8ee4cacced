// Indices in data, whose reads are counted as work, and those that follow from positions.
#pragma once
#include "graph/values/node.hpp"

namespace sinter::graph {

/// Whether indices come from memory or draws. Those of rolls and the like follow from positions: parts of them are read in
/// place, and their reads cost no more than others.
bool is_data(const node* index, int depth = 0) noexcept;

/// Whether indices are a position and a constant, as those of rolls: the reads are plain ones in parts. Others are looked up.
bool is_shift(const node* index) noexcept;

/// Whether a gather's elements are looked up: by indices in data, and on the host, where only rolls have plain reads, by any others.
bool is_looked_up(const node* gather) noexcept;

}  // namespace sinter::graph
