// Calls of the device-wide algorithms: buffers, layouts, scratch memory.
#include "ops/base/algorithm_calls.hpp"

#include <bit>
#include <utility>
#include <vector>

#include "core/shape.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/live_values.hpp"
#include "graph/run/ongoing_capture.hpp"
#include "graph/values/faults.hpp"
#include "graph/values/trace.hpp"
#include "ops/base/axes.hpp"

namespace sinter::ops {
namespace {

runtime::algorithms& algorithms_of(const value& v) { return runtime::get_backend(v->device).algorithms(); }

/// Scratch memory for one call. Freeing it does not wait, since the pool reuses memory in stream order.
runtime::buffer scratch_for(const value& v, std::size_t bytes) { return {runtime::get_backend(v->device), bytes}; }

}  // namespace

value evaluated(value v) {
  graph::flush(std::span(&v, 1));
  return v;
}

namespace {

std::int64_t itemsize_of(const value& v) { return static_cast<std::int64_t>(itemsize(v->type)); }

bool is_recorded_by_host(const value& leaf) {
  return graph::is_capturing() && runtime::get_backend(leaf->device).host_addressable();
}

}  // namespace

const void* readable_by_library(const value& leaf, std::int64_t element) {
  if (!is_recorded_by_host(leaf)) [[likely]]
    return address_to_read(leaf, element);
  graph::note_memory_use(leaf, "read outside of the recorded graph");
  runtime::submission work(runtime::get_backend(leaf->device));
  return static_cast<const char*>(work.reads(*leaf->buffer)) + (leaf->buffer_offset + element) * itemsize_of(leaf);
}
void* writable_by_library(const value& leaf) {
  if (!is_recorded_by_host(leaf)) [[likely]]
    return address_to_write(leaf);
  graph::note_memory_use(leaf, "written outside of the recorded graph");
  runtime::submission work(runtime::get_backend(leaf->device));
  return static_cast<char*>(work.writes(*leaf->buffer)) + leaf->buffer_offset * itemsize_of(leaf);
}

namespace {

/// In a capture the call that is recorded writes it.
void* address_of_scratch(const runtime::buffer& scratch) {
  if (!graph::is_capturing() || !scratch.owner().host_addressable()) return scratch.data();
  runtime::submission work(scratch.owner());
  return work.writes(scratch);
}

}  // namespace

namespace {

/// Whether an algorithm is to work in the memory of its result, into which a pending expression is evaluated. A variable of a loop is
/// likely to be read again: it is stored, and read where it is. What a view shows may be as well (operand_to_keep): it is stored, and the
/// result's memory gets what the view shows.
bool works_in_place(const value& v) {
  if (v->assigned.load(std::memory_order_relaxed) || graph::is_in_memory(v)) return false;
  if (const value kept = graph::operand_to_keep(v)) evaluated(kept);
  return !graph::is_in_memory(v);
}

}  // namespace

value own_memory(const value& v) {
  value memory = unset_leaf(v->shape, v->type, v->device);
  if (v->size() == 0) return memory;
  if (graph::is_in_memory(v)) {
    graph::copy_elements(memory, evaluated(v));
    return memory;
  }
  // An update of the whole array: the kernel that computes the expression stores directly into the memory. The update
  // must hold the only reference to the memory, or copy-on-write would allocate another buffer.
  value filled = graph::record_update(std::exchange(memory, value()), core::contiguous_strides(v->shape), 0, v);
  graph::flush(std::span(&filled, 1));
  if (graph::is_sole_owner(filled)) return filled;
  return own_memory(filled);
}

rows_of rows_along(const value& v, int axis) {
  rows_of r;
  r.shape = v->shape;
  r.axis = axis;
  r.count = v->shape[axis];
  const dims dense = core::contiguous_strides(v->shape);
  dims shape, strides;
  for (int a = 0; a < v->shape.size(); ++a)
    if (a != axis) {
      shape.push_back(v->shape[a]);
      strides.push_back(dense[a]);
      r.rows *= v->shape[a];
    }
  shape.push_back(r.count);
  strides.push_back(dense[axis]);
  r.elements = axis == v->shape.size() - 1 ? v : graph::record_view(v, shape, strides, 0);
  return r;
}

ndarray in_place_of(const rows_of& r, const value& leaf) {
  const int last = leaf->shape.size() - 1;
  if (r.axis == last) return wrap(leaf);
  const dims dense = core::contiguous_strides(leaf->shape);
  dims shape, strides;
  for (int a = 0; a <= last; ++a) {
    const int from = a == r.axis ? last : a < r.axis ? a : a - 1;
    shape.push_back(leaf->shape[from]);
    strides.push_back(dense[from]);
  }
  return wrap(graph::record_view(leaf, shape, strides, 0));
}

value sorted_rows(const value& v, const runtime::row_layout& l, bool descending) {
  if (l.rows == 0 || l.columns < 2) return own_memory(v);
  // A value in memory is read in place.
  const bool in_place = works_in_place(v);
  value to = in_place ? own_memory(v) : unset_leaf(v->shape, v->type, v->device);
  if (!in_place) evaluated(v);
  runtime::algorithms& device = algorithms_of(to);
  const runtime::buffer scratch = scratch_for(to, device.sort_scratch(l));
  void* const result = writable_by_library(to);
  device.sort(l, descending, in_place ? result : readable_by_library(v), result, address_of_scratch(scratch));
  if (!in_place) graph::inherit_faults(to, {&v});
  return to;
}

value merged_runs(const value& v, std::span<const std::int64_t> ends, bool descending) {
  const value from = evaluated(v);
  runtime::algorithms& device = algorithms_of(from);
  if (!device.merges_runs(from->type) || from->size() == 0)
    return sorted_rows(from, {from->type, 1, from->size()}, descending);
  value to = unset_leaf(from->shape, from->type, from->device);
  const runtime::buffer scratch = scratch_for(to, device.merge_scratch(from->type, ends));
  device.merge(from->type, descending, ends, readable_by_library(from), writable_by_library(to),
               address_of_scratch(scratch));
  graph::inherit_faults(to, {&from});
  return to;
}

value argsort_rows(const value& keys, const runtime::row_layout& l, bool descending) {
  value order = unset_leaf(keys->shape, dtype::i64, keys->device);
  if (l.rows == 0 || l.columns == 0) return order;
  runtime::algorithms& device = algorithms_of(keys);
  const runtime::buffer scratch = scratch_for(keys, device.argsort_scratch(l));
  device.argsort(l, descending, readable_by_library(keys), static_cast<std::int64_t*>(writable_by_library(order)),
                 address_of_scratch(scratch));
  graph::inherit_faults(order, {&keys});
  return order;
}

value random_order_of(const value& keys, std::int64_t first) {
  value order = unset_leaf(keys->shape, dtype::i64, keys->device);
  const std::int64_t n = keys->size();
  if (n == 0) return order;
  runtime::algorithms& device = algorithms_of(keys);
  const runtime::buffer scratch = scratch_for(keys, device.random_order_scratch(n));
  device.random_order_first(n, first, static_cast<const std::uint64_t*>(readable_by_library(keys)),
                            static_cast<std::int64_t*>(writable_by_library(order)), address_of_scratch(scratch));
  graph::inherit_faults(order, {&keys});
  return order;
}

bool is_in_host_memory(runtime::device_id device) { return runtime::get_backend(device).host_addressable(); }

value made_at_once(const value& v, const dims& shape, dtype type, const std::function<void(const void*, void*)>& f) {
  const value from = evaluated(v), to = unset_leaf(shape, type, v->device);
  if (to->size() != 0) f(address_to_read(from), address_to_write(to));
  graph::inherit_faults(to, {&from});
  return to;
}

value first_different_of(const value& numbers, std::int64_t wanted) {
  value to = unset_leaf(dims{wanted}, dtype::i64, numbers->device);
  const auto* x = static_cast<const std::int64_t*>(address_to_read(numbers));
  auto* found = static_cast<std::int64_t*>(address_to_write(to));
  // A table of places, at most half of which are taken, says which numbers have been seen.
  const int bits = std::bit_width(static_cast<std::uint64_t>(wanted)) + 1;
  std::vector<std::int64_t> seen(std::size_t{1} << bits, -1);
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < numbers->size() && count < wanted; ++k) {
    std::size_t at = static_cast<std::uint64_t>(x[k]) * 0x9e3779b97f4a7c15u >> (64 - bits);  // the golden ratio
    while (seen[at] >= 0 && seen[at] != x[k]) at = (at + 1) & (seen.size() - 1);
    if (seen[at] == x[k]) continue;
    seen[at] = found[count++] = x[k];
  }
  if (count < wanted) return {};
  graph::inherit_faults(to, {&numbers});
  return to;
}

bool can_partition(const value& v, const runtime::row_layout& l) {
  return l.rows > 0 && l.columns > 0 && algorithms_of(v).can_partition(l);
}

value partitioned_rows(const value& from, const runtime::row_layout& l, std::span<const std::int64_t> kth) {
  value to = unset_leaf(from->shape, from->type, from->device);
  runtime::algorithms& device = algorithms_of(from);
  const auto count = static_cast<std::int64_t>(kth.size());
  const runtime::buffer scratch = scratch_for(from, device.partition_scratch(l, count, false));
  device.partition(l, kth, readable_by_library(from), writable_by_library(to), address_of_scratch(scratch));
  graph::inherit_faults(to, {&from});
  return to;
}

value argpartitioned_rows(const value& keys, const runtime::row_layout& l, std::span<const std::int64_t> kth) {
  value order = unset_leaf(keys->shape, dtype::i64, keys->device);
  runtime::algorithms& device = algorithms_of(keys);
  const auto count = static_cast<std::int64_t>(kth.size());
  const runtime::buffer scratch = scratch_for(keys, device.partition_scratch(l, count, true));
  device.argpartition(l, kth, readable_by_library(keys), static_cast<std::int64_t*>(writable_by_library(order)),
                      address_of_scratch(scratch));
  graph::inherit_faults(order, {&keys});
  return order;
}

bool orders_first(const value& keys, const runtime::row_layout& l, std::int64_t k) {
  return algorithms_of(keys).orders_first(l, k);
}

std::int64_t most_ranks(const value& v, const runtime::row_layout& l) {
  return l.rows > 0 && l.columns > 0 ? algorithms_of(v).most_ranks(l) : 0;
}

value ranked_elements(const value& from, const runtime::row_layout& l, std::span<const std::int64_t> kth) {
  dims shape = from->shape;
  shape[shape.size() - 1] = static_cast<std::int64_t>(kth.size());
  value to = unset_leaf(shape, from->type, from->device);
  runtime::algorithms& device = algorithms_of(from);
  const auto count = static_cast<std::int64_t>(kth.size());
  const runtime::buffer scratch = scratch_for(from, device.find_ranks_scratch(l, count));
  device.find_ranks(l, kth, readable_by_library(from), writable_by_library(to), address_of_scratch(scratch));
  graph::inherit_faults(to, {&from});
  return to;
}

bool finds_own_ranks(const value& v, const runtime::row_layout& l) {
  return l.rows > 0 && l.columns > 0 && algorithms_of(v).finds_own_ranks(l);
}

value own_ranked_elements(const value& from, const runtime::row_layout& l, const value& ranks) {
  value to = unset_leaf(ranks->shape, from->type, from->device);
  if (to->size() == 0) return to;
  runtime::algorithms& device = algorithms_of(from);
  const runtime::buffer scratch = scratch_for(from, device.own_ranks_scratch(l));
  device.find_own_ranks(l, ranks->size() / l.rows, static_cast<const std::int64_t*>(readable_by_library(ranks)),
                        readable_by_library(from), writable_by_library(to), address_of_scratch(scratch));
  graph::inherit_faults(to, {&from, &ranks});
  return to;
}

value first_of_rows(const value& keys, const runtime::row_layout& l, bool descending, std::int64_t k) {
  dims shape = keys->shape;
  shape[shape.size() - 1] = k;
  value positions = unset_leaf(shape, dtype::i64, keys->device);
  runtime::algorithms& device = algorithms_of(keys);
  const runtime::buffer scratch = scratch_for(keys, device.select_first_scratch(l, k));
  device.select_first(l, descending, k, readable_by_library(keys),
                      static_cast<std::int64_t*>(writable_by_library(positions)), address_of_scratch(scratch));
  graph::inherit_faults(positions, {&keys});
  return positions;
}

bool keeps_zeros(dtype type, const value& v) {
  return v->device.kind != runtime::device_kind::mesh && algorithms_of(v).keeps_zeros(type);
}
bool repeats_pieces(const value& v) { return algorithms_of(v).repeats_pieces(); }

repetitions counted_repetitions(const value& counts) {
  const value numbers = evaluated(counts);
  repetitions r{unset_leaf(numbers->shape, dtype::i64, numbers->device), {}};
  r.total = algorithms_of(numbers).count_pieces(static_cast<const std::int64_t*>(address_to_read(numbers)),
                                                numbers->size(), static_cast<std::int64_t*>(address_to_write(r.ends)));
  graph::inherit_faults(r.ends, {&numbers});
  graph::check_data(numbers);
  return r;
}

value repeated(const value& v, const repetitions& r, int axis) {
  const value from = evaluated(v);
  runtime::piece_layout l{1, v->shape[axis], itemsize(v->type)};
  dims shape = v->shape;
  shape[axis] = r.total.exact;
  for (int a = 0; a < axis; ++a) l.outer *= shape[a];
  for (int a = axis + 1; a < shape.size(); ++a) l.bytes *= static_cast<std::size_t>(shape[a]);
  value to = unset_leaf(shape, v->type, v->device);
  if (to->size() != 0)
    algorithms_of(from).repeat_pieces(l, static_cast<const std::int64_t*>(address_to_read(r.ends)),
                                      address_to_read(from), address_to_write(to));
  graph::inherit_faults(to, {&from});
  return to;
}

namespace {

runtime::scan_layout scan_along(runtime::scan_op op, const value& v, int axis) {
  runtime::scan_layout l{op, v->type, 1, v->shape[axis], 1};
  for (int a = 0; a < axis; ++a) l.outer *= v->shape[a];
  for (int a = axis + 1; a < v->shape.size(); ++a) l.inner *= v->shape[a];
  return l;
}

}  // namespace

bool scanned_into(runtime::scan_op op, const value& v, int axis, const graph::array_view& to) {
  if (!graph::is_in_memory(v)) return false;
  if (v->size() == 0) return true;
  const runtime::scan_layout l = scan_along(op, v, axis);
  const value from = evaluated(v);
  const graph::write_lock mine(*to.store);
  // The operand is held: where it is the array itself, its elements are copied before they are overwritten.
  void* const address = graph::begin_write(to);
  runtime::algorithms& device = algorithms_of(from);
  const runtime::buffer scratch = scratch_for(from, device.scan_scratch(l));
  device.scan(l, address_to_read(from), address, scratch.data());
  graph::inherit_faults(to.store->held(), {&from});
  return true;
}

value scanned(runtime::scan_op op, const value& v, int axis) {
  const runtime::scan_layout l = scan_along(op, v, axis);
  // A value in memory is read in place; a pending expression is evaluated into the result's memory and scanned there.
  const bool in_place = works_in_place(v);
  value to = in_place ? own_memory(v) : unset_leaf(v->shape, v->type, v->device);
  if (v->size() == 0) return to;
  if (!in_place) evaluated(v);
  runtime::algorithms& device = algorithms_of(to);
  const runtime::buffer scratch = scratch_for(to, device.scan_scratch(l));
  device.scan(l, readable_by_library(in_place ? to : v), writable_by_library(to), address_of_scratch(scratch));
  if (!in_place) graph::inherit_faults(to, {&v});
  return to;
}

value binned(const value& bins, const value& weights, std::int64_t count) {
  const value numbers = evaluated(bins), added = weights ? evaluated(weights) : value();
  value out = unset_leaf(dims{count}, weights ? dtype::f64 : dtype::i64, numbers->device);
  if (count == 0) return out;
  runtime::algorithms& device = algorithms_of(numbers);
  const std::int64_t n = numbers->size();
  runtime::bin_entries entries{n, numbers->type, readable_by_library(numbers)};
  if (weights) {
    entries.weight_type = added->type;
    entries.weights = readable_by_library(added);
    const runtime::buffer scratch = scratch_for(numbers, device.sum_bins_scratch(n, count));
    device.sum_bins(entries, count, static_cast<double*>(writable_by_library(out)), address_of_scratch(scratch));
  } else {
    const runtime::buffer scratch = scratch_for(numbers, device.count_bins_scratch(n, count));
    device.count_bins(entries, count, static_cast<std::int64_t*>(writable_by_library(out)),
                      address_of_scratch(scratch));
  }
  graph::inherit_faults(out, {&numbers, &added});
  return out;
}

bool adds_in_order(dtype type, runtime::device_id device) {
  if (graph::is_capturing()) return false;
  return is_in_host_memory(device) && runtime::get_backend(device).algorithms().adds_in_order(type);
}
bool writes_in_order(runtime::device_id device) {
  return !graph::is_capturing() && is_in_host_memory(device) &&
         runtime::get_backend(device).algorithms().writes_in_order();
}

void add_in_order_to(const value& to, const value& at, const value& v) {
  algorithms_of(to).add_in_order(v->type, v->size(), static_cast<const std::int64_t*>(address_to_read(at)),
                                 address_to_read(v), address_to_write(to));
}

bool records_additions(dtype type, runtime::device_id device) {
  return graph::is_capturing() && is_in_host_memory(device) &&
         runtime::get_backend(device).algorithms().adds_in_order(type);
}

void record_add_in_order(const value& to, const value& at, const value& v, const value& skip) {
  algorithms_of(to).add_in_order_unless(static_cast<const bool*>(readable_by_library(skip)), v->type, v->size(),
                                        static_cast<const std::int64_t*>(readable_by_library(at)),
                                        readable_by_library(v), writable_by_library(to));
}

void write_in_order_to(const value& to, const value& at, const value& v) {
  algorithms_of(to).write_in_order(v->type, v->size(), static_cast<const std::int64_t*>(address_to_read(at)),
                                   address_to_read(v), address_to_write(to));
}

value counted_in(const runtime::bin_range& bins, const value& samples) {
  const value x = evaluated(samples);
  value out = unset_leaf(dims{bins.count}, dtype::i64, x->device);
  runtime::algorithms& device = algorithms_of(x);
  const runtime::buffer scratch = scratch_for(x, device.histogram_scratch(x->type, x->size(), bins));
  device.histogram(x->type, readable_by_library(x), x->size(), bins,
                   static_cast<std::int64_t*>(writable_by_library(out)), address_of_scratch(scratch));
  graph::inherit_faults(out, {&x});
  return out;
}

}  // namespace sinter::ops
