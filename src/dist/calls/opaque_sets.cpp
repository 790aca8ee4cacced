// unique of divided arrays, of the sorted vector whose runs go through the parts; sorts by several keys; repetitions.

#include "dist/calls/opaque_parts.hpp"
#include "ops/base/promotion_args.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"
#include "sinter/take.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// Which elements of a sorted vector differ from the one before them; the first one does.
ndarray run_starts(const ndarray& sorted, bool equal_nan) {
  const ndarray here = sorted(slice(1, none_t{0})), before = sorted(slice(0, -1));
  ndarray differs = here != before;
  if (equal_nan && is_inexact(sorted.dtype())) differs = differs & ~(isnan(here) & isnan(before));
  ndarray starts = ones_like(sorted, {.dtype = bool_});
  starts(slice(1, none_t{0})) = differs;
  eval(starts);
  return starts;
}

/// The lengths of the runs that begin at these places of n.
ndarray run_lengths(const ndarray& first, std::int64_t n) {
  const std::int64_t last = first.size() - 1;
  ndarray next = zeros_like(first);
  next(slice(0, last)) = first(slice(1, none_t{0}));
  next(last) = n;
  return next - first;
}

}  // namespace

results unique_parts(const opaque_call& call) {
  const bool with_index = call.numbers[0] != 0, with_inverse = call.numbers[1] != 0, with_counts = call.numbers[2] != 0;
  const operand_parts x = parts_of(call.operands[0].reshape(shape_t{-1}));
  const std::int64_t n = x.shape()[0];
  if (n == 0 || x.how().is_replicated()) {
    std::vector<ndarray> everywhere{ops::wrap(x.as({}).leaf)};
    opaque_call again = call;
    again.operands = everywhere;
    return run_everywhere(again);
  }
  const sorted_vector sorted = sort_vector(x, false, with_index || with_inverse);
  const ndarray starts = run_starts(sorted.values, call.numbers[3] != 0);
  results out{ndarray(sorted.values(starts)).copy()};
  if (with_index) out.push_back(ndarray(sorted.places(starts)).copy());
  if (with_inverse) {
    ndarray inverse = zeros_like(sorted.places);
    inverse(sorted.places) = cumsum(starts.astype(int64)) - 1;
    out.push_back(inverse.reshape(call.operands[0].shape()));
  }
  if (with_counts) out.push_back(run_lengths(flatnonzero(starts), n));
  return out;
}

/// By one key after the other, the last one last: each sort keeps the order of what is equal.
results sort_by_keys(const opaque_call& call) {
  ndarray order;
  for (const ndarray& key : call.operands)
    order = order.defined() ? take(order, argsort(take(key, order))) : argsort(key);
  return {order};
}

/// repeat with counts: where each element begins is marked, and marks are counted.
results repeat_parts(const opaque_call& call) {
  const ndarray &x = call.operands[0], &counts = call.operands[1];
  const int axis = static_cast<int>(call.numbers[0]);
  if (min(counts).item<std::int64_t>() < 0)
    throw value_error("[repeat] cannot repeat " + std::to_string(min(counts).item<std::int64_t>()) + " times");
  const ndarray ends = cumsum(counts);
  const std::int64_t total = sum(counts).item<std::int64_t>();
  ndarray marks = zeros({total + 1}, {.dtype = int64, .device = x.device()});
  add_at(marks, ends, 1);
  return {take(x, cumsum(marks)(slice(0, total)), axis)};
}

}  // namespace sinter::sharding
