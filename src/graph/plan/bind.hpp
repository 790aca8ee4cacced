// From a planned kernel to a launch: operands get strides over the merged iteration axes.
#pragma once
#include "graph/plan/plan.hpp"

namespace sinter::graph {

/// Fills `out` except for the operands' base addresses. Adjacent axes are merged where every operand allows it and the
/// program reads no coordinate of them; axes of extent 1 are dropped. Renumbers the program's coordinates accordingly.
void bind(kernel_plan& plan, jit::launch& out);

}  // namespace sinter::graph
