// Pending values over large operands: what may be evaluated when memory runs out, to get rid of the operands.
#pragma once
#include <vector>

#include "graph/node.hpp"

namespace sinter::graph {

/// Remembers a pending value, weakly, if something large (limits().large_operand bytes) lies below it. The value is
/// complete: other threads may evaluate it from now on.
void list_if_large(const value& v);
void unlist(node* n) noexcept;
/// The values that are pending on a device and that somebody still holds.
std::vector<value> listed_values(runtime::device_id device);

/// Evaluates pending values whose evaluation releases more memory than it takes; whether it has released any. Within a
/// flush of the calling thread it does nothing. What cannot be evaluated stays as it is.
bool relieve(runtime::backend& device);

}  // namespace sinter::graph
