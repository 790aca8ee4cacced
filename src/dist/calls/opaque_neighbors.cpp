// Lists of neighbours: each device finds those of its queries, among points that every device has.
#include "dist/calls/opaque_parts.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// The offsets of all lists from those of parts: each part but the first has lost its leading 0.
ndarray offsets_of(const mesh_state& m, const split& queries, const split& found, const std::vector<ndarray>& own) {
  split s = queries;
  for (std::size_t k = 1; k < s.bounds.size(); ++k) ++s.bounds[k];
  const dims shape{s.bounds.back()};
  layout how;
  how.add(std::move(s));
  return from_parts(m, how, shape, dtype::i64, [&](int p) {
    const auto k = static_cast<std::size_t>(m.number_along(p, queries.over));
    const ndarray& mine = own[static_cast<std::size_t>(p)];
    return k == 0 ? mine : ndarray(mine(slice(1, none_t{0}))) + found.bounds[k];
  });
}

}  // namespace

results lists_by_parts(const opaque_call& call) {
  const operand_parts given = parts_of(call.operands[0]);
  layout how;
  if (given.shape().size() != 2 || given.how().is_replicated() || !without_axes(given, {1}, how))
    return run_whole(call);
  const operand_parts queries = given.as(how);
  std::vector<operand_parts> others;
  for (std::size_t k = 1; k < call.operands.size(); ++k) {
    others.emplace_back();
    if (!call.operands[k].defined()) continue;
    const operand_parts x = parts_of(call.operands[k]);
    if (x.cost_as({}) > 0 && static_cast<std::int64_t>(x.leaf->bytes()) > small_operand)
      refuse_call(call, x, "every device needs all of it", "redistribute it with {replicate()}");
    others.back() = x.as({});
  }
  const mesh_state& m = *queries.m;
  std::vector<ndarray> offsets(static_cast<std::size_t>(m.size())), indices = offsets, distances = offsets;
  for (const int p : m.locals) {
    const auto k = static_cast<std::size_t>(p);
    if (const int t = m.twin(how, p); t < p) {
      const auto first = static_cast<std::size_t>(t);
      offsets[k] = offsets[first], indices[k] = indices[first], distances[k] = distances[first];
      continue;
    }
    std::vector<ndarray> local{queries.at(p)};
    for (const operand_parts& x : others) local.push_back(x.m ? x.at(p) : ndarray());
    const results r = call.again(local);
    offsets[k] = r[0], indices[k] = r[1], distances[k] = r[2];
  }
  const split& by = how.splits[0];
  const split found = found_by_parts(m, by, indices);
  const auto lists = [&](const std::vector<ndarray>& own) {
    const ndarray& mine = own[static_cast<std::size_t>(m.first_local())];
    if (!mine.defined()) return ndarray();
    layout of_found;
    of_found.add(found);
    return from_parts(m, of_found, dims{found.bounds.back()}, ops::view_of(mine, call.name).type,
                      [&](int p) { return own[static_cast<std::size_t>(p)]; });
  };
  return {offsets_of(m, by, found, offsets), lists(indices), lists(distances)};
}

}  // namespace sinter::sharding
