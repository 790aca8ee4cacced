// Writes and accumulations by lists of indices: values go to the parts that they are written to.
#include <algorithm>

#include "core/shape.hpp"
#include "dist/calls/opaque_parts.hpp"
#include "ops/base/promotion_args.hpp"
#include "dist/routes.hpp"
#include "graph/run/flush.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/indexing.hpp"
#include "sinter/reduce.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// An index array of the call: the axis that it indexes.
struct listed {
  int axis = 0, reported = 0;
  bool in_range = false;
};

/// What is written where, with the selection as a list: index arrays are vectors of its length, values rows beside them.
struct writing {
  std::vector<listed> lists;
  std::vector<operand_parts> indices;
  operand_parts values;   // (length, kept axes...)
  std::vector<int> kept;  // axes of the base
  int selected_at = 0;

  std::int64_t length() const { return values.shape()[0]; }
};

writing writing_of(const opaque_call& call) {
  writing w;
  dims selected;
  for (std::size_t k = 4; k < call.numbers.size(); k += 3)
    w.lists.push_back(
        {static_cast<int>(call.numbers[k]), static_cast<int>(call.numbers[k + 1]), call.numbers[k + 2] != 0});
  for (std::size_t k = 2; k < call.operands.size(); ++k)
    core::broadcast_into(selected, ops::view_of(call.operands[k], call.name).shape);
  const auto as_list = [&](const ndarray& x) {
    return parts_of(selected.size() == 1 ? broadcast_to(x, ops::to_shape(selected))
                                         : broadcast_to(x, ops::to_shape(selected)).reshape(shape_t{-1}));
  };
  for (std::size_t k = 2; k < call.operands.size(); ++k) w.indices.push_back(as_list(call.operands[k]));
  w.selected_at = static_cast<int>(call.numbers[3]);
  ndarray values = call.operands[1];
  dims rows{core::element_count(selected)};
  std::vector<std::int64_t> from, to;
  for (int a = 0; a < selected.size(); ++a) from.push_back(w.selected_at + a), to.push_back(a);
  values = moveaxis(values, axes(from), axes(to));
  for (int a = selected.size(); a < values.ndim(); ++a) rows.push_back(values.shape(a));
  w.values = parts_of(reshape(values, ops::to_shape(rows)));
  const int rank = parts_of(call.operands[0]).shape().size();
  for (int a = 0; a < rank; ++a)
    if (std::none_of(w.lists.begin(), w.lists.end(), [a](const listed& l) { return l.axis == a; })) w.kept.push_back(a);
  return w;
}

/// Nothing is written anywhere if an index is out of range: all processes find that before they write.
void require_in_range(const listed& l, const operand_parts& index, std::int64_t extent) {
  if (l.in_range || index.shape()[0] == 0) return;
  const ndarray all = ops::wrap(index.leaf);
  for (const std::int64_t number : {min(all).item<std::int64_t>(), max(all).item<std::int64_t>()})
    if (number < -extent || number >= extent)
      throw index_error("[index] index " + std::to_string(number) + " is out of range for axis " +
                        std::to_string(l.reported % runtime::statement_axis) + " with extent " +
                        std::to_string(extent));
}

/// The layout of the values as a list, where the base is divided as `how`.
layout beside_list(const writing& w, const layout& how, const layout& list) {
  layout out;
  for (const split& s : list.splits) out.add({0, s.over, s.bounds});
  for (std::size_t k = 0; k < w.kept.size(); ++k)
    if (const split* s = how.along(w.kept[k]))
      if (!out.uses_any(s->over)) out.add({static_cast<int>(k) + 1, s->over, s->bounds});
  return out;
}

/// The function on the part of each position, with the values and the indices that it gets.
ndarray write_at(const opaque_call& call, const writing& w, const operand_parts& base,
                 const std::function<ndarray(int)>& values, const std::function<ndarray(std::size_t, int)>& index) {
  return from_parts(*base.m, base.how(), base.shape(), base.leaf->type, [&](int p) {
    std::vector<ndarray> local{base.at(p), moveaxis(values(p), axes{0}, axes{w.selected_at})};
    for (std::size_t k = 0; k < w.indices.size(); ++k) local.push_back(index(k, p));
    return call.again(local)[0];
  });
}

/// Along axes that every position has whole: all of the list, and the values of its kept axes.
ndarray write_beside(const opaque_call& call, const writing& w, const operand_parts& base) {
  std::vector<operand_parts> indices;
  for (const operand_parts& x : w.indices) {
    if (x.cost_as({}) > 0 && static_cast<std::int64_t>(x.leaf->bytes()) > small_operand)
      refuse_call(call, x, "every device needs all of the indices", "redistribute them with {replicate()}");
    indices.push_back(x.as({}));
  }
  const operand_parts values = w.values.as(beside_list(w, base.how(), {}));
  return write_at(
      call, w, base, [&](int p) { return values.at(p); }, [&](std::size_t k, int p) { return indices[k].at(p); });
}

/// What has come to position p because of one divided axis, less what falls to others along the rest of them. Their numbers become
/// those of the part.
void keep_own(const writing& w, const operand_parts& base, std::span<const std::size_t> rest, int p, ndarray& rows,
              std::vector<ndarray>& lists) {
  const box mine = base.m->part(base.how(), base.shape(), p);
  ndarray own;
  for (const std::size_t k : rest) {
    const int axis = w.lists[k].axis;
    const std::int64_t extent = mine.end[axis] - mine.first[axis];
    lists[k] = where(lists[k] < 0, lists[k] + base.shape()[axis], lists[k]) - mine.first[axis];
    const ndarray within = (lists[k] >= 0) & (lists[k] < extent);
    own = own.defined() ? own & within : within;
  }
  const ndarray kept = nonzero(own)[0];
  rows = take(rows, kept, 0);
  for (ndarray& list : lists) list = take(list, kept);
}

/// Along divided axes, whose lists have these numbers: each position gets what is written to its part, in the order of the list. The
/// first of the axes says to whom it goes, who leave out what the others do not give them.
ndarray write_across(const opaque_call& call, const writing& w, const operand_parts& base,
                     std::span<const std::size_t> divided) {
  const mesh_state& m = *base.m;
  const std::size_t by = divided[0];
  const split owners = *base.how().along(w.lists[by].axis);
  layout list = w.indices[by].how();
  if (list.splits.empty() && w.values.how().along(0)) list.add(*w.values.how().along(0));
  for (const split& s : base.how().splits)  // the list is not divided by what divides a kept axis
    if (s.axis != owners.axis && list.uses_any(s.over)) {
      list = {};
      list.add({0, owners.over, even_bounds(w.length(), owners.parts())});
      break;
    }
  const operand_parts numbers = w.indices[by].as(list), values = w.values.as(beside_list(w, base.how(), list));
  std::vector<operand_parts> others;
  for (const operand_parts& x : w.indices) others.push_back(x.as(list));
  const std::lock_guard lock(graph::flush_mutex());
  mover moves(m, false);
  const route way(m, moves, owners, parts_of(m, *numbers.leaf), w.length(), w.lists[by].reported);
  std::vector<std::vector<value>> got;
  for (std::size_t k = 0; k < others.size(); ++k)
    got.push_back(k == by ? way.asked() : way.to_owners(parts_of(m, *others[k].leaf), dims{w.length()}, dtype::i64, 0));
  const std::vector<value> rows = way.to_owners(parts_of(m, *values.leaf), values.shape(), values.leaf->type, 0);
  std::vector<ndarray> values_at(static_cast<std::size_t>(m.size()));
  std::vector<std::vector<ndarray>> lists_at(values_at.size());
  for (const int p : m.locals) {
    const auto at = static_cast<std::size_t>(p);
    values_at[at] = ops::wrap(rows[at]);
    for (const std::vector<value>& list : got) lists_at[at].push_back(ops::wrap(list[at]));
    if (divided.size() > 1) keep_own(w, base, divided.subspan(1), p, values_at[at], lists_at[at]);
  }
  return write_at(
      call, w, base, [&](int p) { return values_at[static_cast<std::size_t>(p)]; },
      [&](std::size_t k, int p) { return lists_at[static_cast<std::size_t>(p)][k]; });
}

}  // namespace

results write_parts(const opaque_call& call) {
  const writing w = writing_of(call);
  const operand_parts given = parts_of(call.operands[0]);
  for (std::size_t k = 0; k < w.lists.size(); ++k)
    require_in_range(w.lists[k], w.indices[k], given.shape()[w.lists[k].axis]);
  operand_parts base = given;
  if (given.how().is_replicated()) {  // by parts, as the list is, and put together again
    int axis = w.lists[0].axis;
    for (const listed& l : w.lists)
      if (given.shape()[l.axis] > given.shape()[axis]) axis = l.axis;
    split s{axis, {}, {}};
    for (int a = 0; a < given.m->extents.size(); ++a) s.over.push_back(a);
    s.bounds = even_bounds(given.shape()[axis], given.m->parts_along(s.over));
    layout how;
    how.add(std::move(s));
    base = given.as(how);
  }
  std::vector<std::size_t> divided;
  for (std::size_t k = 0; k < w.lists.size(); ++k)
    if (base.how().along(w.lists[k].axis)) divided.push_back(k);
  const ndarray out = divided.empty() ? write_beside(call, w, base) : write_across(call, w, base, divided);
  return {given.how() == base.how() ? out : ops::wrap(parts_of(out).as(given.how()).leaf)};
}

}  // namespace sinter::sharding
