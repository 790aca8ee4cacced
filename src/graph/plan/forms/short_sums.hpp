// Reductions over a few elements, which a kernel that reads the result may compute in place: of each element of the result
// the elements that it is made of, joined in the order of every reduction. They are expressions then like operations on
// elements, so that nothing of the operand's size, or of the result's, need be stored.
#pragma once
#include "graph/plan/forms/index_data.hpp"
#include "graph/plan/forms/index_map.hpp"
#include "graph/values/node.hpp"

namespace sinter::graph {

/// The most elements of such a result: two groups of additions, whose order no extent changes.
inline constexpr std::int64_t most_short = 8;

/// The number of elements that each result of a reduction has.
std::int64_t reduced_elements(const node& reduction) noexcept;
/// The same for a reduction of an array of this shape.
std::int64_t reduced_elements(const payload::reduce& reduction, const dims& shape) noexcept;
/// Whether a node is a reduction that can be computed in place.
bool is_short(const node* n) noexcept;
/// The same for a reduction of an array of this dtype and shape.
bool is_short(const payload::reduce& reduction, dtype of, const dims& shape) noexcept;
/// Whether a short reduction that is stored for a kernel over `read_over` elements is one of rows that a GPU keeps on chip with
/// it (stages.hpp): that kernel goes over the elements which are reduced.
bool joins_rows(const node* n, std::int64_t read_over) noexcept;
/// Whether a node's elements can be computed where they are read: an operation, a short reduction, or elements that are
/// looked up by indices.
inline bool is_computed(const node* n) noexcept {
  const node_kind kind = n->kind.load(std::memory_order_relaxed);
  return is_operation(kind) || (kind == node_kind::reduce && is_short(n)) ||
         (kind == node_kind::gather && is_looked_up(n));
}
/// The weight of joining the elements of a result.
std::int32_t joining_weight(const node& reduction) noexcept;

/// Whether two index maps of a value never read the same element, since a coordinate is constant in both and differs, or on the CPU
/// grows by the same steps in both and differs by no multiple of them, as those of every other element do.
bool are_apart(const node* n, const index_map& a, const index_map& b) noexcept;

}  // namespace sinter::graph
