// Writing advanced selections: masks as a fused select between old and new elements, index arrays as a scatter by a
// generated function. All operands are read before the first element is written.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/shape.hpp"
#include "graph/run/call.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "ops/indexing/masked.hpp"
#include "ops/indexing/select.hpp"

namespace sinter::ops {
namespace {

using graph::value;

[[noreturn]] void refuse_shape(const char* function, const dims& from, const dims& to) {
  fail<shape_error>(function, "shape mismatch: values of shape ", from,
                    " could not be broadcast to the selection's shape ", to);
}

// ---- masks

/// `r`, which broadcasts to the result's shape and along its selected axis (at p.selected_at), reshaped to the base's axes.
/// Null if it does not broadcast along that axis.
value along_mask(const advanced_index& p, const value& r) {
  const dims& base = p.base->shape;
  const int rank = base.size() - p.entries[0].axes + 1, lead = rank - r->shape.size();
  if (lead < 0 || (p.selected_at >= lead && r->shape[p.selected_at - lead] != 1)) return {};
  const dims dense = core::contiguous_strides(r->shape);
  dims strides;
  int at = 0;  // current axis of the result
  for (int a = 0; a < base.size(); ++a) {
    if (!p.keeps(a)) {
      strides.push_back(0);
      continue;
    }
    if (at == p.selected_at) ++at;
    const std::int64_t n = at < lead ? 1 : r->shape[at - lead];
    if (n != 1 && n != base[a]) return {};
    strides.push_back(n == 1 ? 0 : dense[at - lead]);
    ++at;
  }
  return graph::record_view(r, base, strides, 0);
}

bool is_one_mask(const advanced_index& p) { return p.entries.size() == 1 && p.entries[0].mask; }

void write_where(const advanced_index& p, const value& fresh) {
  const index_entry& e = p.entries[0];
  const value mask = append_unit_axes(e.values, e.values->shape.size() + p.base->shape.size() - e.axis - e.axes);
  // Excludes other writers: elements where the mask is false are rewritten as well.
  const graph::write_lock mine(*p.base->store);
  const value old = graph::read(*p.base);
  const value all[] = {mask, fresh, old};
  graph::write(*p.base, graph::record_map(opcode::select, old->type, old->shape, all));
}

/// The whole value of `e`, if it is the selection by the same mask of a value with elements for those of the base.
value whole_of(const advanced_index& p, const operand& e, const char* function) {
  if (!e.is_array()) return {};
  const auto selected = masked_elements_of(e.array());
  const value whole = selected ? selected->whole_for(p) : value();
  if (whole) require_one_device(function, p.base->device(), whole->device);
  return whole;
}

// ---- index arrays

/// The axis reported in an error, marked as one of a whole statement: with an index out of range nothing is written, so
/// the array keeps its contents.
int statement_axis_of(int reported_axis) {
  return reported_axis < runtime::statement_axis ? reported_axis + runtime::statement_axis : reported_axis;
}

/// An indexed selection prepared for writing: the loop runs over c.shape, then over the kept axes.
struct scatter {
  const advanced_index& p;
  const selected_elements& c;
  dims kept, loop;
  runtime::device_id device;

  scatter(const advanced_index& from, const selected_elements& what)
      : p(from), c(what), kept(kept_extents(from)), loop(what.shape), device(from.base->device()) {
    for (const std::int64_t n : kept) loop.push_back(n);
  }

  /// Non-negative coordinates along one axis; an index out of range is a data fault.
  value coordinate(const selected_axis& a) const {
    if (a.in_range) return a.index;
    const std::int64_t n = p.base->shape[a.axis];
    dims wide = a.index->shape, whole = wide;
    wide.push_back(1);
    whole.push_back(n);
    const value count = broadcast_value(graph::record_iota(dims{n}, 0, device), whole);
    const value checked = graph::record_gather(count, reshape_value(a.index, wide), whole.size() - 1, wide,
                                               statement_axis_of(a.reported_axis));
    return reshape_value(checked, a.index->shape);
  }

  /// sum(coordinate * stride) + offset over the selected axes, of shape c.shape; `strides` are per base axis.
  value position(const dims& strides, std::int64_t offset) const {
    value sum = graph::record_scalar(scalar_of(offset, dtype::i64, "index"), dtype::i64, c.shape, device);
    for (const selected_axis& a : c.axes)
      sum = map_of(opcode::add, dtype::i64, sum,
                   map_of(opcode::multiply, dtype::i64, coordinate(a), integer_of(strides[a.axis], device)));
    return sum;
  }

  /// The storage position of each element of the loop.
  value address() const {
    value at = append_unit_axes(position(p.base->strides, p.base->offset), loop.size());
    int k = c.shape.size();
    for (int a = 0; a < p.base->shape.size(); ++a) {
      if (!p.keeps(a)) continue;
      dims along(loop.size(), 1);
      along[k] = loop[k];
      at = map_of(opcode::add, dtype::i64, at,
                  map_of(opcode::multiply, dtype::i64, graph::record_iota(along, k, device),
                         integer_of(p.base->strides[a], device)));
      ++k;
    }
    return broadcast_value(at, loop);
  }

  /// A bool scalar: whether any index is out of range, in which case nothing is written.
  value out_of_range() const {
    value bad = bool_of(false, dims(), device);
    for (const selected_axis& a : c.axes) {
      if (a.in_range) continue;
      const std::int64_t n = p.base->shape[a.axis];
      const value each =
          map_of(opcode::logical_or, dtype::b1, map_of(opcode::less, dtype::b1, a.index, integer_of(-n, device)),
                 map_of(opcode::greater_equal, dtype::b1, a.index, integer_of(n, device)));
      bool axes[core::max_rank];
      const int rank = each->shape.size();
      std::fill_n(axes, rank, true);
      const value some = rank == 0 ? each
                                   : graph::record_reduce(jit::reduce_op::any, dtype::b1, each,
                                                          std::span(axes, static_cast<std::size_t>(rank)));
      bad = map_of(opcode::logical_or, dtype::b1, bad, some);
    }
    return bad;
  }

  /// A value of the selection's shape with its axes in the loop's order.
  value in_loop_order(const value& r, const dims& selection) const {
    const value v = broadcast_value(r, selection);
    const dims dense = core::contiguous_strides(selection);
    dims strides;
    for (int a = 0; a < c.shape.size(); ++a) strides.push_back(dense[p.selected_at + a]);
    for (int a = 0; a < selection.size(); ++a)
      if (a < p.selected_at || a >= p.selected_at + c.shape.size()) strides.push_back(dense[a]);
    return graph::record_view(v, loop, strides, 0);
  }
};

jit::user_parameter input(const char* name, dtype type, bool raw = false, int rank = 0) {
  jit::user_parameter parameter;
  parameter.name = name;
  parameter.type = type;
  parameter.raw = raw;
  parameter.rank = static_cast<std::uint8_t>(rank);
  return parameter;
}

/// A user function over a loop that writes the raw output `y` by index.
const jit::user_function* loop_function(const char* name, std::vector<jit::user_parameter> inputs, dtype written,
                                        std::string body) {
  jit::user_function f;
  f.name = name;
  f.inputs = std::move(inputs);
  f.outputs.push_back(input("y", written, true, 1));
  f.body = std::move(body);
  return jit::intern(std::move(f));
}

graph::view_ref fresh_array(const value& v) {
  value evaluated = v;
  graph::flush(std::span(&evaluated, 1));
  return graph::make_array(std::move(evaluated));
}

value positions_in(const dims& shape, runtime::device_id device) {
  const std::int64_t n = core::element_count(shape);
  return reshape_value(graph::record_iota(dims{n}, 0, device), shape);
}

/// Whether each selected position is the last one in C order that refers to its element.
value is_last(const scatter& s) {
  dims strides(s.p.base->shape.size());  // over the selected axes only
  std::int64_t places = 1;
  for (std::size_t k = s.c.axes.size(); k-- > 0;) {
    strides[s.c.axes[k].axis] = places;
    places *= s.p.base->shape[s.c.axes[k].axis];
  }
  const value place = s.position(strides, 0), order = positions_in(s.c.shape, s.device);
  const std::int64_t n = core::element_count(s.c.shape);
  if (places / 4 <= n) {  // a dense table small enough: the highest position that refers to each element
    const graph::view_ref owner = fresh_array(
        graph::record_scalar(scalar_of(std::int64_t{-1}, dtype::i64, "index"), dtype::i64, dims{places}, s.device));
    const auto* f = loop_function("last_of_equal", {input("at", dtype::i64), input("k", dtype::i64)}, dtype::i64,
                                  "atomic_max(y, at, k);");
    graph::run_call(f, s.c.shape, {place, order}, std::span(&owner, 1));
    const value found = graph::record_gather(owner->store->now(), reshape_value(place, dims{n}), 0, dims{n});
    return map_of(opcode::equal, dtype::b1, reshape_value(found, s.c.shape), order);
  }
  const value flat = reshape_value(place, dims{n}), sorted = sorting_permutation(flat, places);
  const graph::view_ref last = fresh_array(bool_of(false, dims{n}, s.device));
  const auto* f = loop_function(
      "last_of_equal", {input("k", dtype::i64), input("order", dtype::i64, true, 1), input("at", dtype::i64, true, 1)},
      dtype::b1, "y[order[k]] = k + 1 == order.size() || at[order[k]] != at[order[k + 1]];");
  graph::run_call(f, dims{n}, {positions_in(dims{n}, s.device), sorted, flat}, std::span(&last, 1));
  return reshape_value(last->store->now(), s.c.shape);
}

void run_scatter(const scatter& s, const jit::user_function* f, std::vector<value> arguments) {
  const graph::array_view& v = *s.p.base;
  // Pending readers of the old elements are evaluated first, so that the storage need not be copied.
  const graph::write_lock mine(*v.store);
  if (!v.store->is_sole_owner()) graph::flush(arguments);
  const graph::view_ref target = graph::whole_storage(v);
  graph::run_call(f, s.loop, std::move(arguments), std::span(&target, 1));
  graph::report_statement(*v.store);
}

void write_selected(const advanced_index& p, const selected_elements& c, const value& r, const dims& selection,
                    bool same);
void accumulate_selected(const advanced_index& p, const selected_elements& c, const value& r, const dims& selection,
                         accumulation how, bool deterministic);

/// What is done to selected elements, as an attribute.
constexpr std::int64_t written = 0;
constexpr std::int64_t number_of(accumulation how) { return 1 + static_cast<std::int64_t>(how); }

/// Announced as "write_selection" with operands base, values (broadcast to the selection), and an int64 index array for
/// each indexed axis; numbers: what is done (0 written, 1 added, 2 maximum, 3 minimum), whether `same` or deterministic,
/// whether no element is selected twice, the position of the selected axes in the result, then for each index array its
/// axis, the axis reported in errors, and whether it is known to be in range. Index arrays of other shapes select as many
/// elements as these broadcast to. The result is the base afterwards. False: nobody takes it.
bool announced(const advanced_index& p, const selected_elements& c, const value& r, const dims& selection,
               std::int64_t what, bool flag) {
  if (!is_intercepting() || c.axes.empty()) [[likely]]
    return false;
  opaque_call call{"write_selection",
                   {wrap(graph::read(*p.base)), wrap(broadcast_value(r, selection))},
                   {what, flag, c.unique, p.selected_at},
                   {},
                   {}};
  for (const selected_axis& a : c.axes) {
    call.operands.push_back(wrap(a.index));
    call.numbers.insert(call.numbers.end(), {a.axis, a.reported_axis, a.in_range});
  }
  call.again = [numbers = call.numbers, what, flag](std::span<const ndarray> a) {
    const ndarray base = wrap(value_of(a[0]));
    advanced_index on;
    selected_elements chosen;
    on.base = ndarray_access::ref(base);
    on.selected_at = static_cast<int>(numbers[3]);
    for (const ndarray& one : a.subspan(2)) core::broadcast_into(chosen.shape, view_of(one, "index").shape);
    chosen.unique = numbers[2] != 0;
    for (std::size_t k = 2, n = 4; k < a.size(); ++k, n += 3) {
      const selected_axis one{value_of(a[k]), static_cast<int>(numbers[n]), static_cast<int>(numbers[n + 1]),
                              numbers[n + 2] != 0};
      on.entries.push_back({one.index, false, one.in_range, one.axis, 1, one.reported_axis});
      chosen.axes.push_back(one);
    }
    const value values = value_of(a[1]);
    if (what == written) write_selected(on, chosen, values, values->shape, flag);
    else accumulate_selected(on, chosen, values, values->shape, static_cast<accumulation>(what - 1), flag);
    return results_of(base);
  };
  const auto result = run_intercepted(call);
  if (result) graph::write(*p.base, value_of((*result)[0]));
  return result.has_value();
}

/// The smallest and the largest number, pending.
std::array<value, 2> extremes_of(const value& v) {
  bool axes[core::max_rank];
  const int rank = v->shape.size();
  std::fill_n(axes, rank, true);
  const auto one = [&](jit::reduce_op op) {
    return rank == 0 ? v : graph::record_reduce(op, v->type, v, std::span(axes, static_cast<std::size_t>(rank)));
  };
  return {one(jit::reduce_op::min), one(jit::reduce_op::max)};
}

std::int64_t number_in(const value& v) { return *static_cast<const std::int64_t*>(graph::address_to_read(v)); }

/// The selection with indices that are known to be in range and not negative; nothing where one is out of range. Waits.
std::optional<selected_elements> in_range(const scatter& s) {
  selected_elements known = s.c;
  std::vector<value> ends;
  for (const selected_axis& a : known.axes)
    for (value& end : extremes_of(a.index)) ends.push_back(std::move(end));
  graph::flush(ends);
  for (std::size_t k = 0; k < known.axes.size(); ++k) {
    selected_axis& a = known.axes[k];
    const std::int64_t n = s.p.base->shape[a.axis], low = number_in(ends[2 * k]);
    if (low < -n || number_in(ends[2 * k + 1]) >= n) return std::nullopt;
    const value &index = a.index, end = integer_of(n, s.device);
    if (low < 0)
      a.index = select_of(map_of(opcode::less, dtype::b1, index, integer_of(0, s.device)),
                          map_of(opcode::add, dtype::i64, index, end), index);
    a.in_range = true;
  }
  return known;
}

/// What the host does with a storage and the values for some of its positions, one after the other.
using host_work = void (*)(const value& to, const value& at, const value& values);

/// False, and nothing is done, where an index is out of range.
bool run_on_host(const advanced_index& p, const selected_elements& c, const value& values, host_work work) {
  const auto known = in_range({p, c});
  if (!known) return false;
  const scatter s(p, *known);
  const graph::array_view& base = *p.base;
  graph::storage& store = *base.store;
  const graph::write_lock mine(store);
  const std::int64_t n = core::element_count(s.loop);
  const bool direct =
      base.shape.size() == 1 && known->axes.size() == 1 && base.strides[0] == 1 && base.offset == 0 && !base.parts;
  const value at = direct ? broadcast_value(known->axes[0].index, s.loop) : s.address();
  value all[] = {reshape_value(at, dims{n}), reshape_value(values, dims{n})};
  graph::flush(all);
  graph::own_elements(store);
  const value to = graph::elements_in_memory(base);
  work(to, all[0], all[1]);
  graph::inherit_faults(to, {&all[0], &all[1]});
  return true;
}

/// `same`: equal indices have equal values, so the order of the writes does not matter.
void write_selected(const advanced_index& p, const selected_elements& c, const value& r, const dims& selection,
                    bool same) {
  const scatter s(p, c);
  if (core::element_count(s.loop) == 0) return;
  if (announced(p, c, r, selection, written, same)) return;
  const dtype type = p.base->type;
  std::vector<value> arguments{s.address(), s.in_loop_order(r, selection), s.out_of_range()};
  std::vector<jit::user_parameter> inputs{input("at", dtype::i64), input("v", type), input("bad", dtype::b1, true, 0)};
  if (same || c.unique) {
    run_scatter(s, loop_function("scatter", std::move(inputs), type, "if (!bad[0]) y[at] = v;"), std::move(arguments));
    return;
  }
  constexpr std::int64_t widest = 8;  // elements at a position; where there are more, they decide and not the positions
  if (core::element_count(s.kept) <= widest && writes_in_order(s.device) &&
      run_on_host(p, c, s.in_loop_order(r, selection), write_in_order_to))
    return;
  arguments.push_back(broadcast_value(append_unit_axes(is_last(s), s.loop.size()), s.loop));
  inputs.push_back(input("last", dtype::b1));
  run_scatter(s, loop_function("scatter", std::move(inputs), type, "if (last && !bad[0]) y[at] = v;"),
              std::move(arguments));
}

/// Whether a right side of this shape broadcasts along the selected axes.
bool is_same_for_all(const dims& r, const dims& selection, const advanced_index& p, const selected_elements& c) {
  const int lead = selection.size() - r.size();
  for (int a = 0; a < c.shape.size(); ++a) {
    const int at = p.selected_at + a - lead;
    if (at >= 0 && r[at] != 1) return false;
  }
  return true;
}

}  // namespace

void write_selection(advanced_index& p, const operand& e, const char* function) {
  writable(*p.base, function);
  p.source = value();
  const int masked_rank = p.base->shape.size() - p.entries[0].axes + 1;
  if (const value whole = whole_of(p, e, function)) return write_where(p, graph::record_cast(whole, p.base->type));
  if (is_one_mask(p)) {
    const value r = right_side(*p.base, e, masked_rank, function);
    if (const value fresh = along_mask(p, r)) return write_where(p, fresh);
  }
  const selected_elements c = select_elements(p);
  const dims selection = selection_shape(p, c);
  const value r = right_side(*p.base, e, selection.size(), function);
  if (!core::broadcasts_to(r->shape, selection)) refuse_shape(function, r->shape, selection);
  write_selected(p, c, r, selection, is_same_for_all(r->shape, selection, p, c));
}

namespace {

/// The result of an in-place operation on elements of dtype `type`.
value cast_back(const ndarray& result, dtype type, const char* function) {
  const value v = value_of(result, function);
  require_same_kind(function, "the result", v->type, type);
  return graph::record_cast(v, type);
}

}  // namespace

void update_selection(advanced_index& p, const operand& e, const char* function,
                      ndarray (*operation)(const operand&, const operand&)) {
  const graph::array_view& base = writable(*p.base, function);
  if (is_one_mask(p)) {
    p.source = value();
    const graph::write_lock mine(*base.store);
    const ndarray old = wrap(graph::read(base));
    if (!e.is_array()) return write_where(p, cast_back(operation(operand(old), e), base.type, function));
    value wide = whole_of(p, e, function);
    if (!wide) wide = along_mask(p, value_of(e.array(), function));
    if (wide) {
      const ndarray right = wrap(wide);
      return write_where(p, cast_back(operation(operand(old), operand(right)), base.type, function));
    }
  }
  const selected_elements c = select_elements(p);
  const dims selection = selection_shape(p, c);
  if (e.is_array() && !core::broadcasts_to(view_of(e.array(), function).shape, selection))
    refuse_shape(function, view_of(e.array(), function).shape, selection);
  advanced_index known = p;  // masks have become indices, so they need not be counted again
  known.entries.clear();
  for (const selected_axis& a : c.axes)
    known.entries.push_back({a.index, false, a.in_range, a.axis, 1, statement_axis_of(a.reported_axis)});
  // Masks of rank 0 leave no index, only an extent.
  if (!known.entries.empty()) known.entries[0].values = broadcast_value(known.entries[0].values, c.shape);
  known.source = graph::read(base);
  p.source = value();
  const bool nothing_selected = c.axes.empty();  // 0-d masks only
  ndarray old = wrap(nothing_selected ? broadcast_value(known.source, selection) : read_selection(known));
  known.source = value();
  const value result = cast_back(operation(operand(old), e), base.type, function);
  old = ndarray();
  write_selected(p, c, result, selection,
                 !e.is_array() || is_same_for_all(view_of(e.array(), function).shape, selection, p, c));
}

namespace {

const char* step_of(accumulation how) {
  return how == accumulation::add ? "atomic_add" : how == accumulation::max ? "atomic_max" : "atomic_min";
}

/// Adds values with equal indices in C order: one thread per element, which prefetches where many values fall on it.
void add_in_order(const scatter& s, std::vector<value> arguments, dtype type) {
  const std::int64_t n = core::element_count(s.loop);
  const value at = reshape_value(arguments[0], dims{n}), v = reshape_value(arguments[1], dims{n});
  const value order = sorting_permutation(at, graph::whole_storage(*s.p.base)->shape[0]);
  const auto sorted = [&](const value& x) { return graph::record_gather(x, order, 0, dims{n}); };
  const auto* f = loop_function("add_in_order",
                                {input("k", dtype::i64), input("at", dtype::i64, true, 1), input("v", type, true, 1),
                                 input("bad", dtype::b1, true, 0)},
                                type,
                                "const long long here = at[k];\n"
                                "if (!bad[0] && (k == 0 || at[k - 1] != here)) {\n"
                                "  auto sum = v[k];\n"
                                "  sum = y[here] + sum;\n"
                                "  long long j = k + 1;\n"
                                "  for (; j + 4 <= at.size() && at[j + 3] == here; j += 4) {\n"
                                "    const auto a = v[j], b = v[j + 1], c = v[j + 2], d = v[j + 3];\n"
                                "    sum = sum + a;\n"
                                "    sum = sum + b;\n"
                                "    sum = sum + c;\n"
                                "    sum = sum + d;\n"
                                "  }\n"
                                "  for (; j < at.size() && at[j] == here; ++j) sum = sum + v[j];\n"
                                "  y[here] = sum;\n"
                                "}");
  std::vector<value> inputs{positions_in(dims{n}, s.device), sorted(at), sorted(v), arguments[2]};
  const graph::view_ref target = graph::whole_storage(*s.p.base);
  graph::flush(inputs);
  graph::run_call(f, dims{n}, std::move(inputs), std::span(&target, 1));
  graph::report_statement(*s.p.base->store);
}

/// The same as a call of a capture.
void record_additions(const scatter& s, const std::vector<value>& arguments) {
  graph::storage& store = *s.p.base->store;
  const graph::write_lock mine(store);
  const std::int64_t n = core::element_count(s.loop);
  value all[] = {reshape_value(arguments[0], dims{n}), reshape_value(arguments[1], dims{n}), arguments[2]};
  graph::flush(all);
  graph::own_elements(store);
  const value to = graph::elements_in_memory(*s.p.base);
  record_add_in_order(to, all[0], all[1], all[2]);
  graph::inherit_faults(to, {&all[0], &all[1]});
}

void accumulate_selected(const advanced_index& p, const selected_elements& c, const value& r, const dims& selection,
                         accumulation how, bool deterministic) {
  const dtype type = p.base->type;
  const scatter s(p, c);
  if (core::element_count(s.loop) == 0) return;
  if (announced(p, c, r, selection, number_of(how), deterministic)) return;
  if (how == accumulation::add && adds_in_order(type, s.device) &&
      run_on_host(p, c, s.in_loop_order(r, selection), add_in_order_to))
    return;
  std::vector<value> arguments{s.address(), s.in_loop_order(r, selection), s.out_of_range()};
  if (how == accumulation::add && records_additions(type, s.device)) return record_additions(s, arguments);
  if (how == accumulation::add && deterministic && is_inexact(type)) return add_in_order(s, std::move(arguments), type);
  if (is_bool(type)) how = how == accumulation::add ? accumulation::max : how;
  std::string body = std::string("if (!bad[0]) ") + step_of(how) + "(y, at, v);";
  if (is_bool(type))
    body = how == accumulation::max ? "if (v && !bad[0]) y[at] = true;" : "if (!v && !bad[0]) y[at] = false;";
  run_scatter(s,
              loop_function("scatter", {input("at", dtype::i64), input("v", type), input("bad", dtype::b1, true, 0)},
                            type, std::move(body)),
              std::move(arguments));
}

}  // namespace

void accumulate_selection(advanced_index& p, const operand& e, accumulation how, bool deterministic,
                          const char* function) {
  const graph::array_view& base = writable(*p.base, function);
  const dtype type = base.type;
  if (how != accumulation::add && is_complex(type)) fail<dtype_error>(function, "complex numbers have no order");
  if (e.is_array()) require_same_kind(function, "the values", view_of(e.array(), function).type, type);
  p.source = value();
  const selected_elements c = select_elements(p);
  const dims selection = selection_shape(p, c);
  const value r = right_side(*p.base, e, selection.size(), function);
  if (!core::broadcasts_to(r->shape, selection)) refuse_shape(function, r->shape, selection);
  accumulate_selected(p, c, r, selection, how, deterministic);
}

}  // namespace sinter::ops
