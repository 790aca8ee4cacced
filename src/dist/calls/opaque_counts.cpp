// Counts and sums by bins: of parts, added up.
#include <string_view>

#include "dist/calls/opaque_parts.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// A row of numbers for each part along an axis in front.
layout rows_of_parts(const split& s) {
  layout how;
  split beside{0, s.over, {}};
  for (std::int64_t p = 0; p <= s.parts(); ++p) beside.bounds.push_back(p);
  how.add(std::move(beside));
  return how;
}

/// Sums of few weights have the bits of one device, whose order of additions is its own: every position adds up all of them.
ndarray sum_everywhere(const opaque_call& call, const operand_parts& at, const operand_parts& weights) {
  const operand_parts all_at = at.as({}), all_weights = weights.as({});
  return from_parts(*at.m, {}, dims{call.numbers[0]}, dtype::f64, [&](int p) {
    return call.again(std::vector<ndarray>{all_at.at(p), all_weights.at(p)})[0];
  });
}

}  // namespace

/// bincount, histogram: counts of parts, in an axis of parts in front, which is summed.
results count_parts(const opaque_call& call) {
  const operand_parts x = parts_of(call.operands[0]);
  const std::int64_t n = call.numbers[0];
  const bool has_weights = call.operands.size() > 1 && call.operands[1].defined();
  operand_parts weights;
  if (has_weights) {
    weights = parts_of(call.operands[1]).as(x.how());
    constexpr std::int64_t few = 1 << 16;  // with their bins a megabyte at most
    if (x.shape()[0] < few) return {sum_everywhere(call, x, weights)};
  }
  const split& s = x.how().splits[0];
  const dtype type = has_weights ? dtype::f64 : dtype::i64;
  const ndarray counts = from_parts(*x.m, rows_of_parts(s), dims{s.parts(), n}, type, [&](int p) {
    std::vector<ndarray> local(call.operands.size());
    local[0] = x.at(p);
    if (has_weights) local[1] = weights.at(p);
    return call.again(local)[0].reshape(shape_t{1, n});
  });
  return {sum(counts, {.axis = 0})};
}

}  // namespace sinter::sharding
