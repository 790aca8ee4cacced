// Reads and writes of arrays: where views of one storage meet its versions.
#include "graph/array.hpp"

#include <atomic>
#include <string>
#include <vector>

#include "graph/capture.hpp"
#include "graph/flush.hpp"
#include "graph/limits.hpp"
#include "graph/pressure.hpp"
#include "graph/recycle.hpp"
#include "sinter/error.hpp"

namespace sinter::graph {
namespace {

/// Bytes from the beginning of the buffer to an element.
std::int64_t bytes_before(const node& leaf, std::int64_t element) {
  return (leaf.buffer_offset + element) * static_cast<std::int64_t>(itemsize(leaf.type));
}
const char* address_to_read(const node& leaf, std::int64_t element) {
  return static_cast<const char*>(leaf.buffer->data_to_read()) + bytes_before(leaf, element);
}

/// Elements that were never given a value need none before they are written: sn::empty costs an allocation.
void allocate_unset(storage& s) {
  if (s.current->is_leaf() || !s.current->unset) return;
  const node& n = *s.current;
  auto memory = std::make_shared<runtime::buffer>(runtime::get_backend(n.device), n.bytes(), n.memory);
  s.current = make_leaf(std::move(memory), 0, n.shape, n.type);
}

/// Of an evaluated storage that is not pinned.
void unshare(storage& s) {
  const node& n = *s.current;
  if (n.refs.load(std::memory_order_acquire) != 1 || n.buffer.use_count() != 1 || n.buffer->fixed())
    s.current = snapshot(s.current);
}

}  // namespace

void copy_elements(const value& to, const value& from) {
  const std::size_t bytes = from->bytes();
  if (bytes == 0) return;
  runtime::backend& device = runtime::get_backend(from->device);
  runtime::batch work(device);
  const auto* source = static_cast<const char*>(work.reads(*from->buffer)) + bytes_before(*from, 0);
  device.copy(static_cast<char*>(work.writes(*to->buffer)) + bytes_before(*to, 0), source, bytes);
}

value snapshot(const value& leaf) {
  auto memory =
      std::make_shared<runtime::buffer>(runtime::get_backend(leaf->device), leaf->bytes(), leaf->buffer->kind());
  value copy = make_leaf(std::move(memory), 0, leaf->shape, leaf->type);
  copy_elements(copy, leaf);
  return copy;
}

void report_faults(runtime::backend& device, const std::string& kernel) {
  const auto when = [&] {
    return " (found by " + (kernel.empty() ? "a kernel that has run since the last synchronisation" : kernel) + ")";
  };
  runtime::bad_index bad;
  switch (device.take_fault(&bad)) {
    case runtime::data_fault::none: return;
    case runtime::data_fault::index_out_of_range:
      throw index_error("[index] index " + std::to_string(bad.value) + " is out of range for axis " +
                        std::to_string(bad.axis) + " with extent " + std::to_string(bad.extent) + when());
    case runtime::data_fault::negative_integer_power:
      throw value_error(std::string("[power] integers to negative integer powers are not allowed") + when());
    case runtime::data_fault::random_parameter:
      throw value_error(std::string("[random] an element of an array of parameters is outside of what the distribution "
                                    "allows") + when());
  }
}

view_ref make_array(value v) {
  auto view = std::allocate_shared<array_view>(recycling_allocator<array_view>());
  view->shape = v->shape;
  view->strides = core::contiguous_strides(v->shape);
  view->type = v->type;
  view->whole = true;
  view->store = std::allocate_shared<storage>(recycling_allocator<storage>());
  list_if_large(v);
  view->store->current = std::move(v);
  if (is_capturing()) [[unlikely]]
    note_made(view->store);
  return view;
}

view_ref make_view(const array_view& of, dims shape, dims strides, std::int64_t offset, bool readonly) {
  auto view = std::allocate_shared<array_view>(recycling_allocator<array_view>());
  view->store = of.store;
  view->type = of.type;
  view->offset = offset;
  view->readonly = of.readonly || readonly;
  view->whole = offset == 0 && shape == of.store->current->shape && core::is_contiguous(shape, strides);
  view->shape = std::move(shape);
  view->strides = std::move(strides);
  return view;
}

value read(const array_view& v) {
  const value& current = v.store->current;
  if (v.store->pinned) {
    value copy = snapshot(current);
    return v.whole ? copy : record_view(copy, v.shape, v.strides, v.offset);
  }
  if (v.whole) return current;
  return record_view(current, v.shape, v.strides, v.offset);
}

void write(const array_view& v, value rhs) {
  storage& s = *v.store;
  if (s.pinned) {
    // In place, and now: the address is out. Right-hand sides hold snapshots, so nothing else refers to the version.
    flush(std::span(&rhs, 1));
    const value update = record_update(s.current, v.strides, v.offset, rhs);
    s.current = update;
    try {
      flush(std::span(&update, 1));
    } catch (...) {
      if (!update->is_leaf()) s.current = update->args[0];  // pinned storages are always in memory
      throw;
    }
    return;
  }
  const bool moves = s.current->kind_of_memory() != rhs->kind_of_memory();  // arrays stay in their kind of memory
  if (v.whole && !moves) {
    list_if_large(rhs);
    s.current = std::move(rhs);
    return;
  }
  if (!moves && v.offset == 0 && core::is_contiguous(v.shape, v.strides) && core::element_count(v.shape) == s.current->size()) {
    // A reshaped view of everything: the right-hand side in the storage's own shape.
    s.current = record_view(rhs, s.current->shape, core::contiguous_strides(s.current->shape), 0);
    return;
  }
  s.current = record_update(s.current, v.strides, v.offset, rhs);
  if (s.current->writes > limits().update_chain) flush(std::span(&s.current, 1));
}

void evaluate(std::span<const view_ref> arrays) {
  if (arrays.size() == 1) {  // without memory for a list: small work is often evaluated by itself
    const value root = arrays[0]->store->current;
    return flush(std::span(&root, 1));
  }
  std::vector<value> roots;
  roots.reserve(arrays.size());
  for (const view_ref& a : arrays) roots.push_back(a->store->current);
  flush(roots);
}

void copy_to_host(const array_view& v, void* to) {
  std::int64_t count = core::element_count(v.shape);
  if (count == 0) return;
  value source;
  if (v.whole || (v.store->current->is_leaf() && core::is_contiguous(v.shape, v.strides))) {
    source = v.store->current;
  } else if (!v.store->current->is_leaf() && count * 4 >= v.store->current->size()) {
    flush(std::span(&v.store->current, 1));
    source = core::is_contiguous(v.shape, v.strides) ? v.store->current
                                                     : record_view(v.store->current, v.shape, v.strides, v.offset);
  } else {
    source = record_view(v.store->current, v.shape, v.strides, v.offset);
  }
  flush(std::span(&source, 1));
  std::int64_t first = source == v.store->current && !v.whole ? v.offset : 0;
  runtime::backend& device = runtime::get_backend(source->device);
  {
    runtime::batch work(device);
    const auto* from = static_cast<const char*>(work.reads(*source->buffer)) + bytes_before(*source, first);
    device.copy_to_host(to, from, static_cast<std::size_t>(count) * itemsize(v.type));
  }
  report_faults(device);
}

namespace {

/// Where a pinned view is, and the point in the current stream's work from which on it may be used.
struct pinned_place {
  void* address;
  runtime::stream* on;
  runtime::ticket ready;
};

pinned_place pin_in_order(const array_view& v) {
  storage& s = *v.store;
  flush(std::span(&s.current, 1));
  if (!s.pinned) unshare(s);
  runtime::batch work(runtime::get_backend(s.current->device));
  work.writes(*s.current->buffer);
  s.pinned = true;
  return {static_cast<char*>(s.current->buffer->address()) + bytes_before(*s.current, v.offset), &work.on(),
          work.number()};
}

/// Asked once for each device.
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
  const pinned_place place = pin_in_order(v);  // its batch has ended
  place.on->hold_others(their_stream, place.ready);
  return place.address;
}

void* export_address(const array_view& v) {
  void* const address = pin(v);
  report_faults(runtime::get_backend(v.device()));  // waits
  return address;
}

bool is_host_reachable(const array_view& v) {
  return runtime::get_backend(v.device()).host_addressable() ||
         v.store->current->kind_of_memory() != memory_kind::device;
}

bool host_may_share(const array_view& v) {
  runtime::backend& device = runtime::get_backend(v.device());
  return device.host_addressable() || v.store->current->kind_of_memory() == memory_kind::pinned ||
         (v.store->current->kind_of_memory() == memory_kind::managed && has_concurrent_access(device));
}

void* export_to_host(const array_view& v) {
  void* const address = export_address(v);
  if (!host_may_share(v)) runtime::get_backend(v.device()).synchronize();  // nobody may work while the host does
  return address;
}

bool in_c_order(const array_view& v) noexcept { return v.whole || core::is_contiguous(v.shape, v.strides); }

exposed begin_read(const array_view& v, bool any_strides) {
  const value& current = v.store->current;
  const bool ordered = in_c_order(v);
  // A small part of something pending is computed by itself; otherwise the whole of it is, and keeps its place.
  const bool part = !current->is_leaf() && core::element_count(v.shape) * 4 < current->size();
  if (v.whole || (!part && (ordered || any_strides))) return {current, v.strides, v.offset};
  return {record_view(current, v.shape, v.strides, v.offset), core::contiguous_strides(v.shape), 0};
}

const void* address_of(const exposed& e) { return address_to_read(*e.held, e.offset); }

const void* address_of(const array_view& v) { return address_to_read(*v.store->current, v.offset); }

value pending_of_write(const array_view& v) {
  allocate_unset(*v.store);
  return v.store->current->is_leaf() ? value() : v.store->current;
}

void* begin_write(const array_view& v) {
  storage& s = *v.store;
  allocate_unset(s);
  flush(std::span(&s.current, 1));
  if (!s.pinned) unshare(s);
  return static_cast<char*>(s.current->buffer->data()) + bytes_before(*s.current, v.offset);
}

view_ref from_host(const void* from, const dims& shape, dtype type, runtime::device_id device) {
  runtime::backend& target = runtime::get_backend(device);
  std::size_t bytes = static_cast<std::size_t>(core::element_count(shape)) * itemsize(type);
  value leaf;
  {
    const outside_capture now;  // the elements are there already, so bringing them is no work of a graph
    auto buffer = std::make_shared<runtime::buffer>(target, bytes);
    if (bytes != 0) {
      runtime::batch work(target);
      target.copy_from_host(work.writes(*buffer), from, bytes);
    }
    leaf = make_leaf(std::move(buffer), 0, shape, type);
  }
  if (is_capturing()) hold_in_capture(leaf);  // every launch finds the elements as they are now
  return make_array(std::move(leaf));
}

namespace {

bool is_pinned(const runtime::buffer& b) { return b.kind() == memory_kind::pinned; }
/// Whether copies to or from it are done when the call returns: nobody has to wait for them.
bool is_ordinary_host_memory(const runtime::buffer& b) { return b.owner().host_addressable() && !is_pinned(b); }

/// Between two devices, in the order of a stream of one of them. The buffers are whole arrays.
void copy_between(const runtime::buffer& to, const runtime::buffer& from, std::int64_t skip, std::size_t bytes,
                  runtime::stream* on) {
  runtime::backend &target = to.owner(), &origin = from.owner();
  refuse_other_device(target.id());
  refuse_other_device(origin.id());
  runtime::backend& works = on ? on->owner() : target.host_addressable() ? origin : target;
  const runtime::current_guard here(on ? *on : works.current_stream());
  runtime::batch work(works);
  const void* const begin = is_ordinary_host_memory(from) ? from.address() : work.reads(from);
  const auto* source = static_cast<const char*>(begin) + skip;
  void* const result = is_ordinary_host_memory(to) ? to.address() : work.writes(to);
  if (!origin.host_addressable() && !target.host_addressable())
    target.copy_from_peer(result, origin, source, bytes, work.on());
  else if (origin.host_addressable())
    is_pinned(from) ? target.enqueue_from_host(result, source, bytes) : target.copy_from_host(result, source, bytes);
  else
    is_pinned(to) ? origin.enqueue_to_host(result, source, bytes) : origin.copy_to_host(result, source, bytes);
}

}  // namespace

view_ref from_buffer(std::shared_ptr<runtime::buffer> memory, std::int64_t extent, dtype type, dims shape, dims strides,
                     std::int64_t offset, bool live, bool readonly) {
  const bool dense = offset == 0 && core::element_count(shape) == extent && core::is_contiguous(shape, strides);
  const view_ref whole = make_array(make_leaf(std::move(memory), 0, dense ? shape : dims{extent}, type));
  whole->store->pinned = live;
  return make_view(*whole, std::move(shape), std::move(strides), offset, readonly);
}

view_ref to_device(const array_view& v, runtime::device_id device, std::optional<memory_kind> kind,
                   runtime::stream* on) {
  value source = read(v);
  flush(std::span(&source, 1));
  runtime::backend& target = runtime::get_backend(device);
  const memory_kind chosen = kind.value_or(runtime::this_thread().kind[target.slot()]);
  auto buffer = std::make_shared<runtime::buffer>(target, source->bytes(), chosen);
  const value copy = make_leaf(std::move(buffer), 0, source->shape, source->type);
  if (device == source->device) {
    std::optional<runtime::current_guard> here;
    if (on) here.emplace(*on);
    copy_elements(copy, source);
  } else if (source->bytes() != 0) {
    copy_between(*copy->buffer, *source->buffer, bytes_before(*source, 0), source->bytes(), on);
  }
  return make_array(copy);
}

std::string explain(const array_view& v, bool with_source) {
  value root = v.store->current;
  std::string text = describe(std::span(&root, 1), with_source);
  if (!v.whole) text += "the array is a view of that, with shape " + core::to_string(v.shape) + "\n";
  return text;
}

}  // namespace sinter::graph
