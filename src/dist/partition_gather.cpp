// Elements that are taken by their numbers along an axis.
#include <algorithm>

#include "dist/partitioner.hpp"
#include "dist/routes.hpp"

namespace sinter::sharding {
namespace {

/// Whether an axis shows the same elements several times over, as broadcasting does.
bool repeats(const node* x) {
  if (x->kind != node_kind::view) return false;
  for (int a = 0; a < x->shape.size(); ++a)
    if (x->view().strides[a] == 0 && x->shape[a] > 1) return true;
  return false;
}

}  // namespace

parts partitioner::gather(node* n) {
  node *const from = n->operand(0), *const index = n->operand(1);
  const int axis = n->gather().axis;
  const auto splits_of = [&](node* x) {
    layout how;
    if (at(x).free) return how;
    for (const split& s : at(x).in.how.splits)
      if (x->shape[s.axis] == n->shape[s.axis] && (x == index || s.axis != axis)) how.add(s);
    return how;
  };
  const auto wanted_of = [&](node* x, const layout& how) {
    layout out;
    for (const split& s : how.splits)
      if (x->shape[s.axis] == n->shape[s.axis] && (x == index || s.axis != axis)) out.add(s);
    return out;
  };
  if (!at(from).free && at(from).in.how.along(axis) && static_cast<std::int64_t>(from->bytes()) > small_operand)
    return gather_across(n);
  layout best;
  std::int64_t least = -1;
  for (const bool index_first : {false, true}) {
    layout how = splits_of(index_first ? index : from);
    for (const split& s : splits_of(index_first ? from : index).splits)
      if (!how.along(s.axis) && !how.uses_any(s.over)) how.add(s);
    std::int64_t bytes = 0;
    for (node* x : {from, index})
      if (!at(x).free)
        bytes += bytes_to_move(mesh_, at(x).in.how, x->shape, x->type, parts_under(mesh_, wanted_of(x, how), x->shape));
    if (least < 0 || bytes < least) best = std::move(how), least = bytes;
  }
  const std::vector<value> sources = whole(from, wanted_of(from, best)), indices = whole(index, wanted_of(index, best));
  return as_parts(mesh_, best, n->shape, once(best, [&](int p) {
                    const auto k = static_cast<std::size_t>(p);
                    const box where = mesh_.part(best, n->shape, p);
                    if (is_empty(where)) return graph::record_unset(n->type, extents_of(where), device(p));
                    return graph::record_gather(sources[k], indices[k], axis, extents_of(where),
                                                n->gather().reported_axis);
                  }));
}

/// Along a divided axis of what is too large to go to all: rows that each position asks for, of those that have them; or, where
/// each row has indices of its own, along that axis after another one has been divided instead.
parts partitioner::gather_across(node* n) {
  node *const from = n->operand(0), *const index = n->operand(1);
  const int axis = n->gather().axis;
  if (index->size() == index->shape[axis]) return gather_rows(n);
  layout how = made(from).how;
  const split divided = *how.along(axis);
  int other = -1;
  for (int a = 0; a < n->shape.size(); ++a)
    if (a != axis && !how.along(a) && from->shape[a] == n->shape[a] && n->shape[a] >= divided.parts() &&
        (other < 0 || n->shape[a] > n->shape[other]))
      other = a;
  if (other < 0 || repeats(from))
    refuse_sharded(
        "take",
        "elements are taken along axis " + std::to_string(axis) + " of an array of shape " +
            core::to_string(from->shape) + ", which is sharded along it",
        "redistribute it so that this axis is on every device whole: it is " + placements_text(mesh_, how) + " now");
  how.drop(axis);
  how.add({other, divided.over, even_bounds(n->shape[other], divided.parts())});
  layout of_index;
  for (const split& s : how.splits)
    if (index->shape[s.axis] == n->shape[s.axis]) of_index.add(s);
  const std::vector<value> sources = whole(from, how), indices = whole(index, of_index);
  return as_parts(mesh_, how, n->shape, once(how, [&](int p) {
                    const auto k = static_cast<std::size_t>(p);
                    const box where = mesh_.part(how, n->shape, p);
                    if (is_empty(where)) return graph::record_unset(n->type, extents_of(where), device(p));
                    return graph::record_gather(sources[k], indices[k], axis, extents_of(where),
                                                n->gather().reported_axis);
                  }));
}

/// The indices are a vector: requests for rows.
parts partitioner::gather_rows(node* n) {
  node *const from = n->operand(0), *const index = n->operand(1);
  const int axis = n->gather().axis;
  const std::int64_t count = index->size();
  layout source = made(from).how;
  const split owners = *source.along(axis);
  // The list is divided as the indices are; those that are everywhere by the owners, unless the result is small.
  layout list, result;
  const split* const given = at(index).free ? nullptr : at(index).in.how.along(axis);
  if (given) list.add({0, given->over, given->bounds});
  else if (static_cast<std::int64_t>(n->bytes()) > small_operand)
    list.add({0, owners.over, even_bounds(count, owners.parts())});
  for (const split& s : std::vector<split>(source.splits))
    if (s.axis != axis && !list.splits.empty() && list.splits[0].over != owners.over && list.uses_any(s.over))
      source.drop(s.axis);
  result = source;
  result.drop(axis);
  for (const split& s : list.splits) result.add({axis, s.over, s.bounds});
  if (mover_.is_dry()) {
    mover_.note("rows by index", n->shape, n->type, static_cast<std::int64_t>(n->bytes() + index->bytes()));
    return as_parts(mesh_, result, n->shape, once(result, [&](int p) {
                      return graph::record_unset(n->type, extents_of(mesh_.part(result, n->shape, p)), device(p));
                    }));
  }
  layout of_index;
  for (const split& s : list.splits) of_index.add({axis, s.over, s.bounds});
  const std::vector<value> numbers = whole(index, of_index), sources = whole(from, source);
  std::vector<value> lists(numbers.size());
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (mesh_.is_local(p)) lists[k] = graph::record_view(numbers[k], dims{numbers[k]->size()}, dims{1}, 0);
  }
  const route way(mesh_, mover_, owners, as_parts(mesh_, list, dims{count}, std::move(lists)), count,
                  std::max(n->gather().reported_axis, 0));
  const std::vector<value> asked = way.asked();
  std::vector<value> rows(asked.size());
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (!mesh_.is_local(p)) continue;
    dims shape = sources[k]->shape, along(shape.size(), 1);
    shape[axis] = along[axis] = asked[k]->size();
    rows[k] = graph::record_gather(sources[k], graph::record_view(asked[k], along, core::contiguous_strides(along), 0),
                                   axis, shape, graph::payload::gather::in_range);
  }
  return as_parts(mesh_, result, n->shape, way.to_requests(std::move(rows), result, n->shape, n->type, axis));
}

}  // namespace sinter::sharding
