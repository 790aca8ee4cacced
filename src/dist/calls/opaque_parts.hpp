// What the functions that run at once share: operands in parts, and calls of the function part by part.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dist/evaluation.hpp"
#include "ops/base/opaque_call.hpp"

namespace sinter::sharding {

/// An evaluated operand.
struct operand_parts {
  const mesh_state* m = nullptr;
  value leaf;

  const layout& how() const noexcept { return shards_of(*leaf).how; }
  const dims& shape() const noexcept { return leaf->shape; }
  /// The array that a position has.
  ndarray at(int position) const;
  box part(int position) const { return m->part(how(), leaf->shape, position); }
  std::int64_t cost_as(const layout& to) const;
  operand_parts as(const layout& to) const;
};
operand_parts parts_of(const ndarray& x);

/// An array of local arrays, one for each position (those of twins are made once).
ndarray from_parts(const mesh_state& m, const layout& how, const dims& shape, dtype type,
                   const std::function<ndarray(int)>& make);

/// The layout with an axis on all positions whole: what divided it divides the longest other axis that is in none of `busy`.
/// False where there is none.
bool without_axes(const operand_parts& x, const std::vector<int>& busy, layout& how);

/// The function is named, with what would help.
[[noreturn]] void refuse_call(const ops::opaque_call& call, const operand_parts& x, const std::string& why,
                              const std::string& remedy);

// Functions of call.name; results as those of the call.
using results = std::vector<ndarray>;
results multiply(const ops::opaque_call& call);
/// Whether sort, argsort, topk, ... are about a divided vector, or an array that is flattened to one.
bool orders_vector(const ops::opaque_call& call);
results sort_parts(const ops::opaque_call& call);
results first_of_parts(const ops::opaque_call& call);
results ranks_of_parts(const ops::opaque_call& call);
results count_parts(const ops::opaque_call& call);
results scan_parts(const ops::opaque_call& call);
results select_parts(const ops::opaque_call& call);
results write_parts(const ops::opaque_call& call);
results unique_parts(const ops::opaque_call& call);
results sort_by_keys(const ops::opaque_call& call);
results repeat_parts(const ops::opaque_call& call);
/// Transforms whose axes leave none to divide.
results transform_parts(const ops::opaque_call& call);
/// How a vector is divided that consists of what the positions have found, whose number others are asked for.
split found_by_parts(const mesh_state& m, const split& by, const std::vector<ndarray>& found);
results lists_by_parts(const ops::opaque_call& call);
/// On operands that are everywhere each device does all of it.
results run_everywhere(const ops::opaque_call& call);

/// Axes along which a function does the same for each index by itself.
struct loop_axes {
  dims extents;  // of these
  std::vector<std::vector<int>>
      operands;  // by operand and axis: which of them, or -1 of an axis that must be whole. An
                 // axis of one element, where there are more, is the same for all indices
  std::function<std::vector<int>(std::size_t result, int rank)> result;  // as of an operand
  std::string why, remedy;                                               // if an operand cannot be divided so
};
/// Where what divides the operands divides the loop each device does its indices, and has them of the results. What divides axes that
/// must be whole divides one of the loop's instead; where there is none, and of operands that all indices need, up to 1 MB goes to all.
results run_loop(const ops::opaque_call& call, const loop_axes& loop);
/// A loop without axes: a function of which each device does all. Operands of up to 1 MB go to all, larger ones must be everywhere.
results run_whole(const ops::opaque_call& call);
/// Operands and results of one rank, of which some axes are whole.
loop_axes loop_along_others(const ops::opaque_call& call, const std::vector<int>& whole);
/// Functions of stacks of matrices: the axes before them, and the columns of right sides. Nothing where the call is none.
std::optional<results> run_stacks(const ops::opaque_call& call);

/// A divided vector in order, in even parts; places are undefined where they are not asked for.
struct sorted_vector {
  ndarray values, places;
};
sorted_vector sort_vector(const operand_parts& x, bool descending, bool with_places);

}  // namespace sinter::sharding
