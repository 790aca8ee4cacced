// What partial writes read of the array that they write to.
#pragma once
#include "graph/plan/plan.hpp"

namespace sinter::graph {

/// Whether what a kernel reads of an array, at each point of `extents`, is certainly disjoint from what an update of that
/// array writes.
bool reads_elsewhere(const linear_form& read, const node& update, const dims& extents);
/// The same for all that a view shows.
bool shows_elsewhere(const node& view, const node& update);

/// The version that the elements of a view of a partial write come from, if all writes down to it are among `writes`, which
/// one kernel does, and the view shows nothing that they write; else null.
node* version_below(const node& view, std::span<node* const> writes);

}  // namespace sinter::graph
