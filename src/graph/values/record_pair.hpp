// Recording operations of two operands, which most are.
#pragma once
#include "graph/values/record.hpp"

namespace sinter::graph {

/// record_map with the shape and the device of one of the operands, whose references it takes over, also where it throws.
value record_pair(jit::opcode op, dtype type, const node& like, node* a, node* b);
/// record_scalar with the dtype, the shape and the device of a value.
value record_scalar_like(const jit::scalar& v, const node& like);

}  // namespace sinter::graph
