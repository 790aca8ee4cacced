// Users' functions that run when they are called, for what they write.
#pragma once
#include <span>
#include <vector>

#include "graph/run/array.hpp"

namespace sinter::graph {

/// Runs a function now, writing all outputs: outputs[k] is a storage of `shape`'s elements, or, where the function's
/// parameter is raw, an array that the body writes by index. Pending operands are fused in; what else reads the old
/// versions of the written arrays keeps them. The storages stay lazy afterwards.
void run_call(const jit::user_function* f, const dims& shape, std::vector<value> operands,
              std::span<const view_ref> outputs);

}  // namespace sinter::graph
