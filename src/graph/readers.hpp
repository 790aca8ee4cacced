// The weak list of the reductions that read a node, so that reductions over one value asked for one after the other
// become one pass.
#pragma once
#include <vector>

#include "graph/node.hpp"

namespace sinter::graph {

node* new_node();
void link_reader(node* reduction);
void unlink_reader(node* reduction) noexcept;
/// The pending reductions that read `operand` and that somebody still holds.
std::vector<value> live_readers(const node* operand);

}  // namespace sinter::graph
