// Reads and writes of arrays through views of a storage and its versions.
#include "graph/run/array.hpp"

#include <atomic>
#include <string>
#include <vector>

#include "core/shape.hpp"
#include "graph/run/explain.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/fresh_view.hpp"
#include "graph/run/kept_arrays.hpp"
#include "graph/run/mesh_hook.hpp"
#include "graph/run/ongoing_capture.hpp"
#include "graph/values/faults.hpp"
#include "graph/values/long_chains.hpp"
#include "graph/values/recycle.hpp"
#include "graph/values/trace.hpp"
#include "graph/values/watch.hpp"
#include "sinter/error.hpp"

namespace sinter::graph {
namespace {

/// Bytes from the beginning of the buffer to an element.
std::int64_t bytes_before(const node& leaf, std::int64_t element) {
  return (leaf.buffer_offset + element) * static_cast<std::int64_t>(itemsize(leaf.type));
}

/// The same to the first element of a view of it.
std::int64_t bytes_before(const node& leaf, const array_view& v) {
  return bytes_before(leaf, 0) + v.offset * static_cast<std::int64_t>(itemsize(v.type));
}

/// Uninitialised elements need no values before they are written: sn::empty costs an allocation only.
void allocate_unset(storage& s) {
  const node& n = *s.held();
  if (n.kind != node_kind::scalar || !n.scalar().unset) return;
  s.replace(unset_leaf(n.shape, n.type, n.device, n.memory));
}

bool is_imaginary(const array_view& v) { return v.offset % 2 != 0; }
value part_of(dtype type, const value& numbers, bool imaginary) {
  const value operands[] = {numbers};
  return record_map(imaginary ? jit::opcode::imag : jit::opcode::real, type, numbers->shape, operands);
}
/// What a view of parts shows of the complex numbers whose parts they are.
value part_of(const array_view& v, const value& numbers) { return part_of(v.type, numbers, is_imaginary(v)); }

/// What a view shows of a version.
value shown_of(const value& now, const array_view& v) {
  if (v.whole) return now;
  if (!v.parts) return record_view(now, v.shape, v.strides, v.offset);
  dims strides = v.strides;
  for (std::int64_t& step : strides) step /= 2;
  return part_of(v, record_view(now, v.shape, strides, v.offset / 2));
}

/// The present elements of a view of a pinned storage. Copies no more than the range from its first to its last
/// element, since other threads may be writing elsewhere.
value copy_of_view(const value& leaf, const array_view& v) {
  if (v.whole) return snapshot(leaf);
  if (v.parts) {
    const view_ref numbers = make_whole_numbers(v);
    return part_of(v, copy_of_view(leaf, *numbers));
  }
  std::int64_t first = v.offset, last = v.offset;
  for (int a = 0; a < v.shape.size(); ++a) {
    if (v.shape[a] == 0) first = last = 0;
    if (v.shape[a] == 0) break;
    (v.strides[a] < 0 ? first : last) += v.strides[a] * (v.shape[a] - 1);
  }
  const std::int64_t extent = leaf->size() == 0 ? 0 : last - first + 1;
  const value part = snapshot(make_leaf(leaf->buffer, leaf->buffer_offset + first, dims{extent}, leaf->type));
  return record_view(part, v.shape, v.strides, v.offset - first);
}

}  // namespace

void copy_elements(const value& to, const value& from) {
  note_memory_use(from, "copied outside of the recorded graph");
  const std::size_t bytes = from->bytes();
  if (bytes == 0) return;
  runtime::backend& device = runtime::get_backend(from->device);
  runtime::submission work(device);
  const auto* source = static_cast<const char*>(work.reads(*from->buffer)) + bytes_before(*from, 0);
  device.copy(static_cast<char*>(work.writes(*to->buffer)) + bytes_before(*to, 0), source, bytes);
  inherit_faults(to, {&from});
}

value snapshot(const value& leaf) {
  value copy = unset_leaf(leaf->shape, leaf->type, leaf->device, leaf->buffer->kind());
  copy_elements(copy, leaf);
  return copy;
}

namespace {

/// The shape of a handle must be countable, for size() and for the allocation of its elements.
void require_countable(const dims& shape) {
  if (!core::is_countable(shape)) [[unlikely]]
    core::checked_count(shape, "shape");
}

[[gnu::noinline]] void list_kept(const value& v) {
  if (!list_any_pending(v)) return;
  if (v->over_large() || v->holds_larger()) [[unlikely]] {  // those that relieve() looks at
    runtime::set_pressure_hook(&relieve);
    if (v->holds_larger()) release_kept_arrays_if_many(/*in_statement=*/true);
  }
}
/// Lists a pending value that a handle gets, if it may be evaluated to release memory or with others of its chain.
void list_if_pending(const value& v) {
  if (may_be_listed(*v)) list_kept(v);
  else if (lists_all_pending().load(std::memory_order_relaxed)) [[unlikely]] list_any_pending(v);
}

}  // namespace

bool may_stay_value(const node& n) noexcept {
  const node_kind kind = n.kind.load(std::memory_order_relaxed);
  return kind != node_kind::leaf && kind != node_kind::update && kind != node_kind::call && !n.opaque &&
         n.device.kind != runtime::device_kind::mesh && !is_capturing();
}

void enter_handle(const value& v) {
  if (v->large) require_countable(v->shape);  // of smaller ones it is known
  flush_if_long(v);
  list_if_pending(v);
}

view_ref array_of(value& v) {
  auto view = std::allocate_shared<array_view>(recycling_allocator<array_view>());
  set_whole(*view, v->shape);
  view->type = v->type;
  view->store = std::allocate_shared<storage>(recycling_allocator<storage>(), std::move(v));
  return view;
}

view_ref make_array(value v) {
  enter_handle(v);
  view_ref view = array_of(v);
  if (is_capturing()) [[unlikely]]
    current_capture()->note_made(view->store);
  return view;
}

value elements_in_memory(const array_view& v) {
  const value& all = v.store->held();
  return v.parts ? make_leaf(all->buffer, 2 * all->buffer_offset, dims{2 * all->size()}, v.type) : all;
}

namespace {

[[gnu::noinline]] value read_part(version now, const array_view& v) {
  return now.pinned ? copy_of_view(now.v, v) : shown_of(now.v, v);
}

}  // namespace

value read(const array_view& v) {
  version now = v.store->now_as_is();
  if (v.whole && !now.pinned) [[likely]]
    return std::move(now.v);
  return read_part(std::move(now), v);
}

namespace {

/// Written in place and at once, even if there are other references: the address has been handed out. Right-hand sides
/// hold copies.
void write_pinned(storage& s, const array_view& v, const value& rhs) {
  flush(std::span(&s.held(), 1));
  const value update = record_update(s.held(), v.strides, v.offset, rhs, true);
  flush(std::span(&update, 1));
}

/// The numbers with these parts and their old other ones.
void write_parts(const array_view& v, const value& rhs) {
  const view_ref numbers = make_whole_numbers(v);
  const value old = read(*numbers);
  const bool imaginary = is_imaginary(v);
  const value other = part_of(v.type, old, !imaginary);
  const value both[] = {imaginary ? other : rhs, imaginary ? rhs : other};
  write(*numbers, record_map(jit::opcode::make_complex, numbers->type, v.shape, both));
}

}  // namespace

void write(const array_view& v, value rhs) {
  storage& s = *v.store;
  const write_lock mine(s);
  if (v.parts) return write_parts(v, rhs);
  if (s.pinned()) {
    note_memory_use(rhs, "written to an array whose address has been handed out");
    flush(std::span(&rhs, 1));
    return write_pinned(s, v, rhs);
  }
  flush_if_long(rhs);
  const value& current = s.held();
  const bool moves = current->kind_of_memory() != rhs->kind_of_memory();  // an array keeps its kind of memory
  if (v.whole && !moves) {
    list_if_pending(rhs);
    rhs->assigned.store(true, std::memory_order_relaxed);
    return s.replace(std::move(rhs));
  }
  if (!moves && v.offset == 0 && core::is_contiguous(v.shape, v.strides) &&
      core::element_count(v.shape) == current->size()) {
    // A reshaped view of everything: the right-hand side in the storage's nominal shape.
    value all = record_view(rhs, current->shape, core::contiguous_strides(current->shape), 0);
    list_if_pending(all);
    return s.replace(std::move(all));
  }
  // Not after this write: the temporary values of its statement, which are still there, would keep the old elements.
  flush_if_long(current);
  s.replace(record_update(current, v.strides, v.offset, rhs));
  list_if_pending(current);
}

void evaluate(std::span<const view_ref> arrays) {
  if (arrays.size() == 1) {  // without allocating a list: single small arrays are common
    const value root = arrays[0]->store->now();
    return flush(std::span(&root, 1));
  }
  std::vector<value> roots;
  roots.reserve(arrays.size());
  for (const view_ref& a : arrays) roots.push_back(a->store->now());
  flush(roots);
}

void copy_to_host(const array_view& v, void* to) {
  std::int64_t count = core::element_count(v.shape);
  if (count == 0) return;
  note_host_read();
  const value current = v.store->now();
  // A small part of something pending is computed alone.
  const bool dense = core::is_contiguous(v.shape, v.strides);
  if (!v.whole && !current->is_leaf() && count * 4 >= current->size()) flush(std::span(&current, 1));
  const bool direct = v.whole || (dense && !v.parts && current->is_leaf());
  if (is_on_mesh(v.device())) {
    const value part = shown_of(current, v);
    flush(std::span(&part, 1));
    return mesh_hook.load()->copy_to_host(part, to);
  }
  const value source = direct ? current : shown_of(current, v);
  flush(std::span(&source, 1));
  const std::int64_t first = source == current && !v.whole ? v.offset : 0;
  runtime::backend& device = runtime::get_backend(source->device);
  const runtime::fault_list known = source->buffer->faults();
  {
    runtime::submission work(device);
    const auto* from = static_cast<const char*>(work.reads(*source->buffer)) + bytes_before(*source, first);
    device.copy_to_host(to, from, static_cast<std::size_t>(count) * itemsize(v.type));
  }
  report_captured_faults(device);
  refuse_wrong_data(*source->buffer, known);
}

namespace {

/// The address of a pinned view, and the point in the current stream's work from which on it may be used.
struct pinned_place {
  void* address;
  runtime::stream* on;
  runtime::timeline_value ready;
};

pinned_place pin_in_order(const array_view& v) {
  if (is_on_mesh(v.device())) refuse_mesh("data", v.device());
  storage& s = *v.store;
  const write_lock mine(s);
  const value& current = s.held();
  note_memory_use(current, "handed out by its address");
  flush(std::span(&current, 1));
  if (!s.pinned() && !s.pin_if_sole_owner()) s.replace_and_pin(snapshot(current));
  runtime::submission work(runtime::get_backend(s.device));
  work.writes(*current->buffer);
  return {static_cast<char*>(current->buffer->address()) + bytes_before(*current, v), &work.on(), work.value()};
}

/// Queried once for each device.
bool has_concurrent_access(runtime::backend& device) {
  enum answer : std::int8_t { unknown, no, yes };
  static std::atomic<std::int8_t> answers[runtime::device_slots];
  std::atomic<std::int8_t>& known = answers[device.slot()];
  if (known == unknown) known = device.properties().concurrent_managed_access ? yes : no;
  return known == yes;
}

}  // namespace

void* pin(const array_view& v) { return pin_in_order(v).address; }

void* hand_over(const array_view& v, void* their_stream) {
  const pinned_place place = pin_in_order(v);  // its submission has ended
  place.on->hold_others(their_stream, place.ready);
  return place.address;
}

void* export_address(const array_view& v) {
  note_host_read();
  void* const address = pin(v);
  const value now = v.store->now();
  const runtime::fault_list known = now->buffer->faults();
  report_captured_faults(runtime::get_backend(v.device()));  // waits
  refuse_wrong_data(*now->buffer, known);
  return address;
}

bool is_host_reachable(const array_view& v) {
  return runtime::get_backend(v.device()).host_addressable() || v.store->now()->kind_of_memory() != memory_kind::device;
}

bool host_may_share(const array_view& v) {
  runtime::backend& device = runtime::get_backend(v.device());
  const memory_kind kind = v.store->now()->kind_of_memory();
  return device.host_addressable() || kind == memory_kind::pinned ||
         (kind == memory_kind::managed && has_concurrent_access(device));
}

void* export_to_host(const array_view& v) {
  void* const address = export_address(v);
  if (!host_may_share(v)) runtime::get_backend(v.device()).synchronize();  // the device must be idle meanwhile
  return address;
}

bool in_c_order(const array_view& v) noexcept {
  return v.whole || (!v.parts && core::is_contiguous(v.shape, v.strides));
}

exposed begin_read(const array_view& v, bool any_strides) {
  const value current = v.store->now();
  const bool ordered = in_c_order(v);
  // A small part of something pending is computed alone; otherwise all of it is evaluated and stays in memory.
  const bool part = !current->is_leaf() && core::element_count(v.shape) * 4 < current->size();
  if (v.whole || (!part && !v.parts && (ordered || any_strides))) return {current, v.strides, v.offset};
  return {shown_of(current, v), core::contiguous_strides(v.shape), 0};
}

const void* address_of(const exposed& e) {
  if (e.unit == 0) return address_to_read(e.held, e.offset);
  return static_cast<const char*>(address_to_read(e.held)) + e.offset * e.unit;
}
const void* address_to_read(const value& leaf, std::int64_t element) {
  note_memory_use(leaf, "read outside of the recorded graph");
  return static_cast<const char*>(leaf->buffer->data_to_read()) + bytes_before(*leaf, element);
}
void* address_to_write(const value& leaf, std::int64_t element) {
  note_memory_use(leaf, "written outside of the recorded graph");
  return static_cast<char*>(leaf->buffer->data()) + bytes_before(*leaf, element);
}

value pending_of_write(const array_view& v) {
  const write_lock mine(*v.store);
  allocate_unset(*v.store);
  return v.store->held()->is_leaf() ? value() : v.store->held();
}

void own_elements(storage& s) {
  const value& current = s.held();
  flush(std::span(&current, 1));
  if (!s.is_written_in_place()) s.replace(snapshot(current));
}

void* begin_write(const array_view& v) {
  storage& s = *v.store;
  allocate_unset(s);
  own_elements(s);
  return static_cast<char*>(address_to_write(s.held())) + v.offset * static_cast<std::int64_t>(itemsize(v.type));
}

view_ref from_host(const void* from, const dims& shape, dtype type, runtime::device_id device) {
  if (is_on_mesh(device)) {
    runtime::get_backend(device);  // throws if there is no such mesh
    return make_array(mesh_hook.load()->from_host(from, shape, type, device));
  }
  runtime::backend& target = runtime::get_backend(device);
  std::size_t bytes = static_cast<std::size_t>(core::element_count(shape)) * itemsize(type);
  value leaf;
  {
    const outside_capture now;  // the host has the elements already, so their upload is not part of the graph
    auto buffer = std::make_shared<runtime::buffer>(target, bytes);
    if (bytes != 0) {
      runtime::submission work(target);
      target.copy_from_host(work.writes(*buffer), from, bytes);
    }
    leaf = make_leaf(std::move(buffer), 0, shape, type);
  }
  if (is_capturing()) current_capture()->hold(leaf);  // every launch reads the elements as they are now
  return make_array(std::move(leaf));
}

namespace {

bool is_pinned(const runtime::buffer& b) { return b.kind() == memory_kind::pinned; }
/// Ordinary host memory: copies to or from it are complete when the call returns, so no wait is needed.
bool is_ordinary_host_memory(const runtime::buffer& b) { return b.owner().host_addressable() && !is_pinned(b); }

/// Copies between two devices, in the order of a stream of one of them. The buffers are whole arrays.
void copy_between(const runtime::buffer& to, const runtime::buffer& from, std::int64_t skip, std::size_t bytes,
                  runtime::stream* on) {
  runtime::backend &target = runtime::get_backend(to.owner().id()), &origin = runtime::get_backend(from.owner().id());
  refuse_other_device(target.id());
  refuse_other_device(origin.id());
  runtime::backend& works = on ? on->owner() : target.host_addressable() ? origin : target;
  const runtime::current_guard here(on ? *on : works.current_stream());
  runtime::submission work(works);
  const void* const begin = is_ordinary_host_memory(from) ? from.address() : work.reads(from);
  const auto* source = static_cast<const char*>(begin) + skip;
  void* const result = is_ordinary_host_memory(to) ? to.address() : work.writes(to);
  if (!origin.host_addressable() && !target.host_addressable())
    target.copy_from_peer(result, origin, source, bytes, work.on());
  else if (origin.host_addressable())
    is_pinned(from) ? target.enqueue_from_host(result, source, bytes) : target.copy_from_host(result, source, bytes);
  else is_pinned(to) ? origin.enqueue_to_host(result, source, bytes) : origin.copy_to_host(result, source, bytes);
}

}  // namespace

view_ref from_buffer(std::shared_ptr<runtime::buffer> memory, std::int64_t extent, dtype type, dims shape, dims strides,
                     std::int64_t offset, bool live, bool readonly) {
  const bool dense = offset == 0 && core::element_count(shape) == extent && core::is_contiguous(shape, strides);
  const view_ref whole = make_array(make_leaf(std::move(memory), 0, dense ? shape : dims{extent}, type));
  whole->store->set_pinned(live);
  return make_view(*whole, std::move(shape), std::move(strides), offset, readonly);
}

view_ref to_device(const array_view& v, runtime::device_id device, std::optional<memory_kind> kind,
                   runtime::stream* on) {
  if (is_on_mesh(v.device())) refuse_mesh("to_device", v.device());
  if (is_on_mesh(device))
    throw device_error("[to_device] " + runtime::to_string(device) +
                       " is several devices: dist::shard says which of them gets what");
  value source = read(v);
  flush(std::span(&source, 1));
  runtime::backend& target = runtime::get_backend(device);
  const memory_kind chosen = kind.value_or(runtime::this_thread().kind[target.slot()]);
  const value copy = unset_leaf(source->shape, source->type, device, chosen);
  note_memory_use(source, "copied outside of the recorded graph");
  if (device == source->device) {
    std::optional<runtime::current_guard> here;
    if (on) here.emplace(*on);
    copy_elements(copy, source);
  } else if (source->bytes() != 0) {
    copy_between(*copy->buffer, *source->buffer, bytes_before(*source, 0), source->bytes(), on);
    inherit_faults(copy, {&source});
  }
  return make_array(copy);
}

std::string explain(const array_view& v, bool with_source) {
  const value root = v.store->now();
  std::string text = describe(std::span(&root, 1), with_source);
  if (!v.whole) text += "the array is a view of that, with shape " + core::to_string(v.shape) + "\n";
  return text;
}

}  // namespace sinter::graph
