// Short reductions that are operations on elements where they are the result, too: each element of the result from the few that it is
// made of, which are instructions of one kernel. So no row goes through a buffer, and nothing is joined within a vector.
#pragma once
#include "graph/plan/forms/short_sums.hpp"

namespace sinter::graph {

/// The most elements of such a result where their order does not matter.
inline constexpr std::int64_t most_unordered = 16;

/// Whether a reduction's elements are computed apart. `read_over`: of the largest space that reads it.
bool is_apart(const node* n, std::int64_t read_over);
/// Of one that is_short does not hold for: on the CPU one of more elements, in any order, none of whose operands varies both from result
/// to result and from element to element.
bool is_unordered_apart(const node* n);
/// Whether it is apart since it reads narrow records: alone, since kernels that call functions copy their elements one by one, while what
/// follows from a reduction of rows may call some.
bool is_of_records(const node* n);
/// Whether what follows from reductions of a result's shape calls no function.
bool only_calculates(const node* result);

}  // namespace sinter::graph
