// Recording of reductions over parts of arrays, as distributed arrays have them.
#pragma once
#include <span>

#include "graph/values/record.hpp"

namespace sinter::graph {

/// A reduction over a part of an array, with the order of additions of the reduction of the whole array: its results are
/// some of those of the whole, or splits of them (jit/program/addition_order.hpp). Some elements are reduced. `combine`: of
/// reduce_op::user, else null.
value record_part_of_reduce(jit::reduce_op op, const jit::user_reduction* combine, dtype type, const value& v,
                            std::span<const bool> reduced, payload::whole_reduction whole);

}  // namespace sinter::graph
