// Counts and sums by bins: of parts, added up.
#include <string_view>

#include "dist/calls/opaque_parts.hpp"
#include "graph/run/flush.hpp"
#include "sinter/creation.hpp"
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

/// Sums of few weights have the order of the elements, as on one device: each part goes on with what the parts before it have added up, which comes
/// as elements of its own, one for each bin.
ndarray sum_in_order(const opaque_call& call, const operand_parts& at, const operand_parts& weights) {
  const mesh_state& m = *at.m;
  const split& s = at.how().splits[0];
  const std::int64_t n = call.numbers[0];
  const layout rows = rows_of_parts(s);
  const dims shape{s.parts(), n};
  mover moves(m, false);
  std::vector<value> before(static_cast<std::size_t>(m.size()));
  constexpr dtype type = dtype::f64;  // of sums
  for (std::int64_t part = 0; part < s.parts(); ++part) {
    parts sums{rows, std::vector<pieces>(static_cast<std::size_t>(m.size()))};
    for (int p = 0; p < m.size(); ++p) {
      if (!m.is_local(p) || m.number_along(p, s.over) != part) continue;
      const auto k = static_cast<std::size_t>(p);
      ndarray own_at = at.at(p), own_weights = weights.at(p);
      if (before[k]) {
        own_at = concatenate({arange(n, {.dtype = own_at.dtype(), .device = own_at.device()}), own_at});
        own_weights = concatenate({ops::wrap(before[k]).reshape(shape_t{n}), own_weights});
      }
      const ndarray total = call.again(std::vector<ndarray>{own_at, own_weights})[0].reshape(shape_t{1, n});
      sums.at[k].push_back({m.part(rows, shape, p), ops::value_of(total)});
    }
    // To the next part; the last one's to all.
    wishes want;
    for (int p = 0; p < m.size(); ++p) {
      const bool wants = part + 1 == s.parts() || m.number_along(p, s.over) == part + 1;
      want.push_back(wants ? box{dims{part, 0}, dims{part + 1, n}} : box{dims{0, 0}, dims{0, 0}});
    }
    const std::lock_guard lock(graph::flush_mutex());
    const std::vector<pieces> got = moves.fetch(sums, shape, type, want);
    for (int p = 0; p < m.size(); ++p) {
      const auto k = static_cast<std::size_t>(p);
      if (m.is_local(p) && !is_empty(want[k])) before[k] = joined(got[k], want[k], type, m.devices[k]);
    }
  }
  return from_parts(m, {}, dims{n}, type,
                    [&](int p) { return ops::wrap(before[static_cast<std::size_t>(p)]).reshape(shape_t{n}); });
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
    constexpr std::int64_t few = 1 << 16;  // one device adds up more than these in pieces, too
    if (x.shape()[0] < few && n > 0) return {sum_in_order(call, x, weights)};
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
