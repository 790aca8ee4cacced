// Views and partial writes of divided arrays.
#include <algorithm>

#include "dist/partitioner.hpp"

namespace sinter::sharding {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

struct interval {
  std::int64_t first, end;
};
/// The k for which start + step * k lies in [first, end).
interval steps_within(std::int64_t start, std::int64_t step, std::int64_t first, std::int64_t end) {
  if (step > 0) return {ceil_div(first - start, step), floor_div(end - 1 - start, step) + 1};
  return {ceil_div(start - (end - 1), -step), floor_div(start - first, -step) + 1};
}

/// Whether the coordinates that all elements of a view share lie in a box of the base.
bool shares(const slices& s, const box& of_base) {
  for (int a = 0; a < s.start.size(); ++a) {
    const bool stepped = std::any_of(s.along.begin(), s.along.end(), [&](const course& c) { return c.axis == a; });
    if (!stepped && (s.start[a] < of_base.first[a] || s.start[a] >= of_base.end[a])) return false;
  }
  return true;
}

/// The box of a view whose elements lie in a box of the base, which has the coordinates that all of them share. Of plain
/// slices.
box seen_within(const slices& s, const dims& shape, const box& of_base) {
  box b = whole_box(shape);
  for (int j = 0; j < shape.size(); ++j) {
    const course& c = s.along[static_cast<std::size_t>(j)];
    if (c.axis < 0) continue;
    const interval k = steps_within(s.start[c.axis], c.step, of_base.first[c.axis], of_base.end[c.axis]);
    b.first[j] = std::clamp<std::int64_t>(k.first, 0, shape[j]);
    b.end[j] = std::clamp<std::int64_t>(k.end, b.first[j], shape[j]);
  }
  return b;
}

/// The axes of a layout as joined axes; false where a divided axis is not the first one of those that it is joined with.
bool join_layout(const slices& s, const dims& shape, const layout& how, layout& out) {
  for (split one : how.splits) {
    const int to = s.joined[static_cast<std::size_t>(one.axis)];
    std::int64_t inner = 1;
    for (int a = 0; a < shape.size(); ++a) {
      if (s.joined[static_cast<std::size_t>(a)] != to || a == one.axis) continue;
      if (a < one.axis && shape[a] != 1) return false;
      if (a > one.axis) inner *= shape[a];
    }
    if (out.along(to)) return false;
    for (std::int64_t& b : one.bounds) b *= inner;
    one.axis = to;
    out.add(std::move(one));
  }
  return true;
}

/// A layout of the same array whose divided axes are the first of those that a view joins. Where such an axis of a large array is shorter
/// than its parts, which would leave devices without any, the longest one that is the first of others is divided in its place; false
/// where there is none.
bool divide_first(const slices& s, const dims& shape, std::int64_t bytes, const layout& how, layout& out) {
  for (int joined = 0; joined < s.base.size(); ++joined) {
    split all{-1, {}, {}};
    const split* only = nullptr;
    std::int64_t parts = 1;
    for (int a = 0; a < shape.size(); ++a) {
      if (s.joined[static_cast<std::size_t>(a)] != joined) continue;
      if (all.axis < 0 && shape[a] != 1) all.axis = a;
      const split* const one = how.along(a);
      if (!one) continue;
      only = all.over.empty() ? one : nullptr;
      all.over.insert(all.over.end(), one->over.begin(), one->over.end());
      parts *= one->parts();
    }
    if (all.over.empty()) continue;
    if (only && only->axis == all.axis) {
      out.add(*only);
      continue;
    }
    if (all.axis < 0 || (shape[all.axis] < parts && bytes > small_operand)) {
      all.axis = -1;
      for (int a = 0; a < shape.size(); ++a) {
        const bool is_first =
            a == 0 || s.joined[static_cast<std::size_t>(a)] != s.joined[static_cast<std::size_t>(a) - 1];
        if (is_first && shape[a] >= parts && !how.along(a) && !out.along(a) &&
            (all.axis < 0 || shape[a] > shape[all.axis]))
          all.axis = a;
      }
      if (all.axis < 0) return false;
    }
    all.bounds = even_bounds(shape[all.axis], parts);
    out.add(std::move(all));
  }
  return true;
}

/// The box of an oblique view whose elements lie in a box of the base; empty where there are none.
box seen_within(const oblique& o, const dims& shape, const layout& how, const box& of_base) {
  box b = whole_box(shape);
  for (const split& s : how.splits) {
    const std::int64_t first = of_base.first[s.axis], end = of_base.end[s.axis], start = o.start[s.axis];
    const int j = o.stepping_along(s.axis);
    if (j < 0) {
      if (start < first || start >= end) return {dims(shape.size()), dims(shape.size())};
      continue;
    }
    const interval k = steps_within(start, o.steps[static_cast<std::size_t>(j)][s.axis], first, end);
    b.first[j] = std::clamp(k.first, b.first[j], b.end[j]);
    b.end[j] = std::clamp(k.end, b.first[j], b.end[j]);
  }
  return b;
}

/// The layout of an oblique view whose elements stay where they are. False where that is none: several axes of the view step along one that is
/// divided, or none, or an axis steps forwards along some of them and back along others. reversed: the axes that step back, which are turned.
bool stay_layout(oblique& o, const dims& shape, const layout& how, layout& out, std::vector<bool>& reversed) {
  reversed.assign(static_cast<std::size_t>(shape.size()), false);
  for (const split& s : how.splits) {
    const int j = o.stepping_along(s.axis);
    if (j < 0) return false;
    reversed[static_cast<std::size_t>(j)] = o.steps[static_cast<std::size_t>(j)][s.axis] < 0;
  }
  for (int j = 0; j < shape.size(); ++j) {
    dims& steps = o.steps[static_cast<std::size_t>(j)];
    if (!reversed[static_cast<std::size_t>(j)]) continue;
    for (int a = 0; a < steps.size(); ++a) {
      o.start[a] += steps[a] * (shape[j] - 1);
      steps[a] = -steps[a];
    }
  }
  for (int j = 0; j < shape.size(); ++j) {
    split all{j, {}, {0, shape[j]}};
    for (const split& s : how.splits) {
      if (o.stepping_along(s.axis) != j) continue;
      const std::int64_t step = o.steps[static_cast<std::size_t>(j)][s.axis];
      if (step < 0) return false;
      std::vector<std::int64_t> bounds{0};
      for (std::size_t k = 0; k + 1 < all.bounds.size(); ++k)
        for (std::size_t q = 1; q < s.bounds.size(); ++q)
          bounds.push_back(std::clamp(ceil_div(s.bounds[q] - o.start[s.axis], step), all.bounds[k], all.bounds[k + 1]));
      all.bounds = std::move(bounds);
      all.over.insert(all.over.end(), s.over.begin(), s.over.end());
    }
    if (!all.over.empty()) out.add(std::move(all));
  }
  return true;
}

value reshaped(const value& v, const dims& shape) {
  return graph::record_view(v, shape, core::contiguous_strides(shape), 0);
}

/// A box of an array that has all elements that a view shows: whole along axes that are joined, which are divided by `bind`.
box shown_of(const slices& s, const dims& base, const dims& view) {
  const box seen = s.reach(whole_box(view));
  box b = whole_box(base);
  for (int a = 0; a < base.size(); ++a) {
    const int to = s.joined[static_cast<std::size_t>(a)];
    if (std::count(s.joined.begin(), s.joined.end(), to) > 1) continue;
    b.first[a] = seen.first[to];
    b.end[a] = seen.end[to];
  }
  return b;
}

}  // namespace

std::vector<value> partitioner::whole_of(const parts& from, const dims& shape, dtype type, const layout& how) {
  const wishes want = parts_under(mesh_, how, shape);
  const std::vector<pieces> all = how == from.how ? from.at : mover_.fetch(from, shape, type, want);
  return once(how, [&](int p) { return whole_at(all, want, type, p); });
}

parts partitioner::view(node* n) {
  node* const base = n->operand(0);
  const auto s = find_slices(base->shape, n->shape, n->view().strides, n->view().offset);
  if (!s || s->joins()) (void)whole(base, made(base).how);  // which others use as well
  return view_of(made(base), n->operand(0)->shape, n->type, n->shape, n->view().strides, n->view().offset);
}

/// A view that joins axes of which a divided one is not the first: each element moves once, to its part of the view. A view of few
/// elements of a large array is not worth that. False where it is not, or cannot be.
bool partitioner::view_across(const parts& from, const dims& base, dtype type, const dims& shape, const slices& s,
                              parts& out) {
  dims strides;
  std::int64_t offset = 0;
  const box shown = shown_of(s, base, shape);
  if (!same(shown, whole_box(base))) {  // of what it shows
    const dims extents = extents_of(shown), dense = core::contiguous_strides(base);
    for (int a = 0; a < base.size(); ++a) offset += shown.first[a] * dense[a];
    box joined_box = whole_box(s.base);
    for (int a = 0; a < base.size(); ++a) {
      const auto to = s.joined[static_cast<std::size_t>(a)];
      if (std::count(s.joined.begin(), s.joined.end(), to) > 1) continue;
      joined_box.first[to] = shown.first[a];
      joined_box.end[to] = shown.end[a];
    }
    std::int64_t first = 0;
    s.bind(whole_box(shape), joined_box, strides, first);
    out = view_of(view_of(from, base, type, extents, dense, offset), extents, type, shape, strides, first);
    return true;
  }
  layout source, joined_layout;
  const std::int64_t elements = core::element_count(base), bytes = elements * static_cast<std::int64_t>(itemsize(type));
  if ((core::element_count(shape) * 2 < elements && bytes > small_operand) ||
      !divide_first(s, base, bytes, from.how, source) || !join_layout(s, base, source, joined_layout))
    return false;
  s.bind(whole_box(shape), whole_box(s.base), strides, offset);
  const parts moved = as_parts(mesh_, source, base, whole_of(from, base, type, source));
  out = view_of(moved, base, type, shape, strides, offset);
  return true;
}

/// Diagonals and what else steps along several axes at once: each position shows the elements that it has.
bool partitioner::view_oblique(const parts& from, const dims& base, dtype type, const dims& shape, const dims& strides,
                               std::int64_t offset, parts& out) {
  std::optional<oblique> o = find_oblique(base, shape, strides, offset);
  layout how;
  std::vector<bool> reversed;
  if (!o || !stay_layout(*o, shape, from.how, how, reversed)) return false;
  const std::vector<value> all = whole_of(from, base, type, from.how);
  const std::vector<value> shown = once(how, [&](int p) {
    const box seen = mesh_.part(how, shape, p), of = mesh_.part(from.how, base, p);
    if (is_empty(seen)) return value();
    dims part_strides;
    std::int64_t part_offset = 0;
    o->bind(seen, of, part_strides, part_offset);
    return graph::record_view(all[static_cast<std::size_t>(p)], extents_of(seen), part_strides, part_offset);
  });
  out = as_parts(mesh_, how, shape, shown);
  if (std::find(reversed.begin(), reversed.end(), true) == reversed.end()) return true;
  dims back = core::contiguous_strides(shape);
  std::int64_t last = 0;
  for (int j = 0; j < shape.size(); ++j) {
    if (!reversed[static_cast<std::size_t>(j)]) continue;
    last += back[j] * (shape[j] - 1);
    back[j] = -back[j];
  }
  out = view_of(out, shape, type, shape, back, last);
  return true;
}

namespace {

/// The layout of a view of an array, whose elements stay where they are. how: of the array with joined axes.
layout layout_seen(const slices& s, const layout& how, const dims& shape) {
  layout seen;
  for (const split& one : how.splits) {
    int axis = -1;
    std::int64_t longest = 0;
    for (int j = 0; j < shape.size(); ++j) {
      const course& c = s.along[static_cast<std::size_t>(j)];
      if (c.axis == one.axis && std::abs(c.step) > longest) axis = j, longest = std::abs(c.step);
    }
    if (axis < 0) continue;  // one coordinate: its part goes to all
    const std::int64_t step = s.along[static_cast<std::size_t>(axis)].step, extent = shape[axis];
    split out{axis, one.over, even_bounds(extent, one.parts())};
    if (step > 0) {
      for (std::size_t k = 1; k + 1 < one.bounds.size(); ++k)
        out.bounds[k] = std::clamp<std::int64_t>(ceil_div(one.bounds[k] - s.start[one.axis], step), 0, extent);
    }
    seen.add(std::move(out));
  }
  return seen;
}

}  // namespace

parts partitioner::view_of(const parts& from, const dims& base, dtype type, const dims& shape, const dims& strides,
                           std::int64_t offset) {
  const auto s = find_slices(base, shape, strides, offset);
  layout joined_layout;
  if (!s || !join_layout(*s, base, from.how, joined_layout)) {
    parts moved;
    if (view_oblique(from, base, type, shape, strides, offset, moved)) return moved;
    if (s && view_across(from, base, type, shape, *s, moved)) return moved;
    const std::int64_t bytes = core::element_count(base) * static_cast<std::int64_t>(itemsize(type));
    if (!from.how.is_replicated() && bytes > small_operand)
      refuse_sharded(s ? "reshape" : "view",
                     "a view of shape " + core::to_string(shape) + " crosses the parts of an array of shape " +
                         core::to_string(base) + " that is " + placements_text(mesh_, from.how),
                     s ? "redistribute it along the first of the axes that are joined, or with replicate()"
                       : "redistribute it with replicate()");
    const std::vector<value> all = whole_of(from, base, type, {});
    return as_parts(mesh_, {}, shape, once({}, [&](int p) {
                      return graph::record_view(all[static_cast<std::size_t>(p)], shape, strides, offset);
                    }));
  }
  // The base with joined axes.
  parts wide{joined_layout, {}};
  if (s->joins()) {
    std::vector<value> all = whole_of(from, base, type, from.how);
    for (int p = 0; p < mesh_.size(); ++p) {
      value& v = all[static_cast<std::size_t>(p)];
      const box where = mesh_.part(joined_layout, s->base, p);
      if (!is_empty(where) && v) v = reshaped(v, extents_of(where));
    }
    wide = as_parts(mesh_, joined_layout, s->base, std::move(all));
  } else {
    wide.at = from.at;
  }
  const layout how = layout_seen(*s, joined_layout, shape);  // elements stay where they are
  wishes want, seen = parts_under(mesh_, how, shape);
  for (const box& b : seen) want.push_back(is_empty(b) ? box{dims(s->base.size()), dims(s->base.size())} : s->reach(b));
  const std::vector<pieces> all = mover_.fetch(wide, s->base, type, want);
  parts out{how, std::vector<pieces>(seen.size())};
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (is_empty(seen[k]) || !mesh_.is_local(p)) continue;
    if (const int t = mesh_.twin(how, p); t < p) {
      out.at[k] = out.at[static_cast<std::size_t>(t)];
      continue;
    }
    dims part_strides;
    std::int64_t part_offset = 0;
    const auto show = [&](const box& part, const piece& of) {
      s->bind(part, of.where, part_strides, part_offset);
      out.at[k].push_back({part, graph::record_view(of.v, extents_of(part), part_strides, part_offset)});
    };
    if (all[k].size() > 1 && s->is_plain()) {
      for (const piece& one : all[k])
        if (const box part = intersect(seen[k], seen_within(*s, shape, one.where)); !is_empty(part)) show(part, one);
    } else {
      show(seen[k], {want[k], whole_at(all, want, type, p)});
    }
  }
  return out;
}

/// A row or an element, which all devices have, as what is written to a new array: the array is divided as that which it is taken from.
layout partitioner::layout_of_source(node* written, const dims& shape) {
  layout how;
  node* from = written;
  while (from->kind == node_kind::view) from = from->operand(0);
  if (from == written || at(from).free || from->shape.size() != shape.size()) return how;
  for (split s : at(from).in.how.splits) {
    if (from->shape[s.axis] != shape[s.axis]) s.bounds = even_bounds(shape[s.axis], s.parts());
    how.add(std::move(s));
  }
  return how;
}

/// The layout in which an update gets what it writes, where the array that is written has one.
std::optional<layout> partitioner::layout_written(node* update) {
  node *const base = update->operand(0), *const written = update->operand(1);
  const auto known = entries_.find(base);
  if (known == entries_.end() || known->second.free) return {};
  const auto s = find_slices(base->shape, written->shape, update->update().strides, update->update().offset);
  layout joined_layout;
  if (!s || !s->is_plain() || !join_layout(*s, base->shape, known->second.in.how, joined_layout)) return {};
  return layout_seen(*s, joined_layout, written->shape);
}

parts partitioner::update(node* n) {
  node *const base = n->operand(0), *const written = n->operand(1);
  if (std::vector<pieces> room; written->size() == 0) return {layout_of(base), get(base, layout_of(base), room)};
  const auto s = find_slices(base->shape, written->shape, n->update().strides, n->update().offset);
  layout how = layout_of(base);
  if (at(base).free && s && !s->joins() && !at(written).free) {  // as what is written to it
    layout like;
    for (const split& one : at(written).in.how.splits) {
      const course& c = s->along[static_cast<std::size_t>(one.axis)];
      if (c.axis < 0 || c.step < 0 || like.along(c.axis)) continue;
      split wide{c.axis, one.over, one.bounds};
      for (std::int64_t& b : wide.bounds) b = s->start[c.axis] + c.step * b;
      wide.bounds.front() = 0;
      for (std::int64_t& b : wide.bounds) b = std::min(b, base->shape[c.axis]);
      wide.bounds.back() = base->shape[c.axis];
      // A row that is written first, as by a roll, or half of the array does not put the rest of it on one device.
      const std::vector<std::int64_t> even = even_bounds(base->shape[c.axis], wide.parts());
      std::int64_t longest = 0;
      for (std::size_t k = 0; k + 1 < wide.bounds.size(); ++k)
        longest = std::max(longest, wide.bounds[k + 1] - wide.bounds[k]);
      if (4 * longest > 5 * even[1] + 8) wide.bounds = even;
      like.add(std::move(wide));
    }
    if (like.splits.empty()) like = layout_of_source(written, base->shape);
    how = std::move(like);
  }
  layout joined_layout;
  const auto is_possible = [&] {
    return s && join_layout(*s, base->shape, how, joined_layout) && (s->is_plain() || joined_layout.is_replicated());
  };
  bool possible = is_possible();
  std::optional<oblique> o;
  if (!possible && !how.is_replicated())
    o = find_oblique(base->shape, written->shape, n->update().strides, n->update().offset);
  if (o && std::any_of(how.splits.begin(), how.splits.end(),
                       [&](const split& one) { return o->stepping_along(one.axis) == -2; }))
    o.reset();
  const layout kept = how;
  if (!possible && !o && !how.is_replicated()) {
    // Written where the elements of the region lie behind each other, or everywhere; then each part comes back.
    const auto bytes = static_cast<std::int64_t>(base->bytes());
    layout source;
    how = {};
    if (s && divide_first(*s, base->shape, bytes, kept, source)) {
      how = std::move(source);
      possible = is_possible();
      if (!possible) how = {};
    }
    if (!possible && bytes > small_operand && !at(base).free)
      refuse_sharded("assignment",
                     "a region of shape " + core::to_string(written->shape) +
                         " crosses the parts of an array of shape " + core::to_string(base->shape) + " that is " +
                         placements_text(mesh_, kept),
                     "redistribute the array with replicate()");
  }
  const wishes of_base = parts_under(mesh_, how, base->shape);
  wishes want;
  std::vector<bool> is_written(static_cast<std::size_t>(mesh_.size()), true);
  for (int p = 0; p < mesh_.size(); ++p) {
    if (o) {
      want.push_back(seen_within(*o, written->shape, how, of_base[static_cast<std::size_t>(p)]));
      continue;
    }
    if (!possible || !s->is_plain()) {
      want.push_back(whole_box(written->shape));
      continue;
    }
    const box part = mesh_.part(joined_layout, s->base, p);
    is_written[static_cast<std::size_t>(p)] = !is_empty(part) && shares(*s, part);
    want.push_back(is_written[static_cast<std::size_t>(p)]
                       ? seen_within(*s, written->shape, part)
                       : box{dims(written->shape.size()), dims(written->shape.size())});
  }
  const std::vector<value> bases = whole(base, how);
  const std::vector<pieces> all = fetch(written, want);
  std::vector<value> out;
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (!mesh_.is_local(p)) {
      out.emplace_back();
      continue;
    }
    if (const int t = mesh_.twin(how, p); t < p) {
      out.push_back(out[static_cast<std::size_t>(t)]);
      continue;
    }
    value v = bases[k];
    if (is_written[k] && !is_empty(of_base[k]) && !all[k].empty()) {
      if (o) {
        for (const piece& one : all[k]) {
          dims strides;
          std::int64_t offset = 0;
          o->bind(one.where, of_base[k], strides, offset);
          v = graph::record_update(v, strides, offset, one.v);
        }
      } else if (!possible) {
        v = graph::record_update(v, n->update().strides, n->update().offset,
                                 joined(all[k], want[k], n->type, device(p)));
      } else {
        const box part = mesh_.part(joined_layout, s->base, p);
        v = reshaped(v, extents_of(part));
        for (const piece& one : all[k]) {
          dims strides;
          std::int64_t offset = 0;
          s->bind(one.where, part, strides, offset);
          v = graph::record_update(v, strides, offset, one.v);
        }
        v = reshaped(v, extents_of(of_base[k]));
      }
    }
    out.push_back(std::move(v));
  }
  parts result = as_parts(mesh_, how, n->shape, std::move(out));
  if (how == kept) return result;
  return {kept, mover_.fetch(result, n->shape, n->type, parts_under(mesh_, kept, n->shape))};
}

}  // namespace sinter::sharding
