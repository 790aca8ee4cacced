// Users' functions that run at the call, for their side effects.
#pragma once
#include <span>
#include <vector>

#include "graph/run/array.hpp"

namespace sinter::graph {

/// Runs a function now, writing all outputs: outputs[k] is a storage of `shape`'s elements, or, if the function's
/// parameter is raw, an array that the body writes by index. Pending operands are fused in; other readers of the old
/// versions of the written arrays keep them. The storages stay lazy afterwards.
void run_call(const jit::user_function* f, const dims& shape, std::vector<value> operands,
              std::span<const view_ref> outputs);

}  // namespace sinter::graph
