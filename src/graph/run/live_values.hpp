// The values that a long chain of operations keeps alive.
#pragma once
#include <vector>

#include "graph/values/node.hpp"

namespace sinter::graph {

/// `v`, which is pending, and the other pending values of its capture that handles hold and that are computed from the
/// same pending operations. They are those of listed values (list_pending) that are not much larger than `v`: to
/// compute a chain for one of them and again for each of the others would cost more than to store all of them at once.
/// Under the flush lock.
std::vector<value> live_values_with(const value& v);
/// The same where `v` was just recorded and nothing asks for it: without it, if it takes little to compute from the others.
std::vector<value> live_values_below(const value& v);
/// What an algorithm over `v`, a view, should leave in memory though it could have it computed into its result's memory: the pending
/// value that it is a view of, which a name is likely to hold, and what reads it next would compute again. On the host, where caches hold
/// both, and if computing it takes longer than to copy what the view shows. Null: nothing.
value operand_to_keep(const value& v);

}  // namespace sinter::graph
