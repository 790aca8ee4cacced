// Reads and writes of arrays: where views of one storage meet its versions.
#include "graph/array.hpp"

#include <string>
#include <vector>

#include "graph/flush.hpp"
#include "graph/limits.hpp"
#include "graph/recycle.hpp"
#include "sinter/error.hpp"

namespace sinter::graph {
namespace {

/// A private copy of a pinned storage's present contents: others may change them at any time.
value snapshot(const value& current) {
  runtime::backend& device = runtime::get_backend(current->device);
  std::size_t bytes = static_cast<std::size_t>(current->size()) * itemsize(current->type);
  auto copy = std::make_shared<runtime::buffer>(device, bytes);
  if (bytes != 0)
    device.copy(copy->data(),
                static_cast<char*>(current->buffer->data()) +
                    current->buffer_offset * static_cast<std::int64_t>(itemsize(current->type)),
                bytes);
  return make_leaf(std::move(copy), 0, current->shape, current->type);
}

char* address_of(const node& leaf, std::int64_t element) {
  return static_cast<char*>(leaf.buffer->data()) +
         (leaf.buffer_offset + element) * static_cast<std::int64_t>(itemsize(leaf.type));
}

/// Elements that were never given a value need none before they are written: sn::empty costs an allocation.
void allocate_unset(storage& s) {
  if (s.current->is_leaf() || !s.current->unset) return;
  const node& n = *s.current;
  auto memory = std::make_shared<runtime::buffer>(runtime::get_backend(n.device),
                                                  static_cast<std::size_t>(n.size()) * itemsize(n.type));
  s.current = make_leaf(std::move(memory), 0, n.shape, n.type);
}

/// Of an evaluated storage that is not pinned.
void unshare(storage& s) {
  const node& n = *s.current;
  if (n.refs.load(std::memory_order_acquire) != 1 || n.buffer.use_count() != 1 || n.buffer->fixed())
    s.current = snapshot(s.current);
}

}  // namespace

void report_faults(runtime::backend& device) {
  constexpr const char* when = " (found by a kernel that has run since the last synchronisation)";
  runtime::bad_index bad;
  switch (device.take_fault(&bad)) {
    case runtime::data_fault::none: return;
    case runtime::data_fault::index_out_of_range:
      throw index_error("[index] index " + std::to_string(bad.value) + " is out of range for axis " +
                        std::to_string(bad.axis) + " with extent " + std::to_string(bad.extent) + when);
    case runtime::data_fault::negative_integer_power:
      throw value_error(std::string("[power] integers to negative integer powers are not allowed") + when);
    case runtime::data_fault::random_parameter:
      throw value_error(std::string("[random] an element of an array of parameters is outside of what the distribution "
                                    "allows") + when);
  }
}

view_ref make_array(value v) {
  auto view = std::allocate_shared<array_view>(recycling_allocator<array_view>());
  view->shape = v->shape;
  view->strides = core::contiguous_strides(v->shape);
  view->type = v->type;
  view->whole = true;
  view->store = std::allocate_shared<storage>(recycling_allocator<storage>());
  view->store->current = std::move(v);
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
    value update = record_update(std::exchange(s.current, value()), v.strides, v.offset, rhs);
    s.current = update;
    flush(std::span(&s.current, 1));
    return;
  }
  if (v.whole) {
    s.current = std::move(rhs);
    return;
  }
  if (v.offset == 0 && core::is_contiguous(v.shape, v.strides) && core::element_count(v.shape) == s.current->size()) {
    // A reshaped view of everything: the right-hand side in the storage's own shape.
    s.current = record_view(rhs, s.current->shape, core::contiguous_strides(s.current->shape), 0);
    return;
  }
  s.current = record_update(s.current, v.strides, v.offset, rhs);
  if (s.current->writes > limits().update_chain) flush(std::span(&s.current, 1));
}

void evaluate(std::span<const view_ref> arrays) {
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
  device.copy_to_host(to, address_of(*source, first), static_cast<std::size_t>(count) * itemsize(v.type));
  report_faults(device);
}

void* pin(const array_view& v) {
  storage& s = *v.store;
  flush(std::span(&s.current, 1));
  if (!s.pinned) unshare(s);
  s.pinned = true;
  return address_of(*s.current, v.offset);
}

void* export_address(const array_view& v) {
  void* const address = pin(v);
  runtime::backend& device = runtime::get_backend(v.device());
  device.synchronize();
  report_faults(device);
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

void* address_of(const exposed& e) { return address_of(*e.held, e.offset); }

void* address_of(const array_view& v) { return address_of(*v.store->current, v.offset); }

value pending_of_write(const array_view& v) {
  allocate_unset(*v.store);
  return v.store->current->is_leaf() ? value() : v.store->current;
}

void* begin_write(const array_view& v) {
  storage& s = *v.store;
  allocate_unset(s);
  flush(std::span(&s.current, 1));
  if (!s.pinned) unshare(s);
  return address_of(v);
}

view_ref from_host(const void* from, const dims& shape, dtype type, runtime::device_id device) {
  runtime::backend& target = runtime::get_backend(device);
  std::size_t bytes = static_cast<std::size_t>(core::element_count(shape)) * itemsize(type);
  auto buffer = std::make_shared<runtime::buffer>(target, bytes);
  if (bytes != 0) target.copy_from_host(buffer->data(), from, bytes);
  return make_array(make_leaf(std::move(buffer), 0, shape, type));
}

view_ref from_buffer(std::shared_ptr<runtime::buffer> memory, std::int64_t extent, dtype type, dims shape, dims strides,
                     std::int64_t offset, bool live, bool readonly) {
  const bool dense = offset == 0 && core::element_count(shape) == extent && core::is_contiguous(shape, strides);
  const view_ref whole = make_array(make_leaf(std::move(memory), 0, dense ? shape : dims{extent}, type));
  whole->store->pinned = live;
  return make_view(*whole, std::move(shape), std::move(strides), offset, readonly);
}

view_ref to_device(const array_view& v, runtime::device_id device) {
  value source = read(v);
  flush(std::span(&source, 1));
  runtime::backend& target = runtime::get_backend(device);
  runtime::backend& origin = runtime::get_backend(source->device);
  std::size_t bytes = static_cast<std::size_t>(source->size()) * itemsize(source->type);
  auto copy = std::make_shared<runtime::buffer>(target, bytes);
  if (bytes != 0) {
    const char* from = address_of(*source, 0);
    if (device == source->device) {
      target.copy(copy->data(), from, bytes);
    } else if (origin.host_addressable()) {
      origin.synchronize();
      target.copy_from_host(copy->data(), from, bytes);
    } else if (target.host_addressable()) {
      origin.copy_to_host(copy->data(), from, bytes);
    } else {
      std::vector<char> staging(bytes);
      origin.copy_to_host(staging.data(), from, bytes);
      target.copy_from_host(copy->data(), staging.data(), bytes);
    }
  }
  return make_array(make_leaf(std::move(copy), 0, source->shape, source->type));
}

std::string explain(const array_view& v, bool with_source) {
  value root = v.store->current;
  return describe(std::span(&root, 1), with_source);
}

}  // namespace sinter::graph
