// What a handle refers to: a view of a storage. Views of one storage alias; a write gives the storage a new version.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "graph/values/record.hpp"
#include "graph/values/storage.hpp"

namespace sinter::graph {

/// A view of a storage: shape, strides and offset in elements of the storage's C order.
struct array_view {
  std::shared_ptr<storage> store;
  dims shape, strides;
  std::int64_t offset = 0;
  dtype type{};
  bool whole = false;     // the view is the storage, element for element, in its nominal shape
  bool readonly = false;  // writes through it, or through views of it, are refused
  // A selection by arrays that nobody has read: what it holds is worked out when somebody does (ops/indexing/advanced_index.hpp).
  std::atomic<bool> deferred{false};

  const runtime::device_id& device() const noexcept { return store->device; }
};
using view_ref = std::shared_ptr<const array_view>;

/// A new storage that holds `v`, viewed whole.
view_ref make_array(value v);
/// Another view of the same storage; read-only where `of` is, or when asked.
view_ref make_view(const array_view& of, dims shape, dims strides, std::int64_t offset, bool readonly = false);
/// The value that a read of the view has now. Pinned storages are evaluated first.
value read(const array_view& v);
/// Writes `rhs` (already cast to the view's dtype and broadcast to its shape) through the view. The caller has refused
/// read-only views and views whose elements overlap themselves.
void write(const array_view& v, value rhs);

/// Evaluates everything that the arrays need; on return each is in memory (work may still be running on the device).
void evaluate(std::span<const view_ref> arrays);
/// Evaluates and copies the elements, C order, to host memory; synchronous. Throws what is wrong with their data.
void copy_to_host(const array_view& v, void* to);
/// Evaluates, makes the storage the sole owner of its buffer, pins it, and returns the address of the view's first
/// element (device memory on a GPU).
void* export_address(const array_view& v);
/// The same for work in the order of the device's launches: waits for nothing and reports no faults.
void* pin(const array_view& v);
/// The same for work of others on a stream that they know by its native handle (null: the device's default stream):
/// what they enqueue there from now on comes after everything that uses the storage.
void* hand_over(const array_view& v, void* their_stream);
/// The same for the host, which must be able to reach the memory.
void* export_to_host(const array_view& v);
/// Whether the host can reach the view's elements, and whether it may look at them while the device works.
bool is_host_reachable(const array_view& v);
bool host_may_share(const array_view& v);

/// For code that works on memory by itself, in the order of the device's launches, and has done so when it returns
/// (enqueued it). An address is good until then; nothing is pinned.
///
/// What a reader needs: the value to flush and to hold, and where the view's elements lie in its C order.
struct exposed {
  value held;
  dims strides;
  std::int64_t offset = 0;
};
/// A read of what the view holds now, whatever is written meanwhile. Records, evaluates nothing. Unless `any_strides`,
/// the elements will lie in C order; a copy is made only where they do not lie so already.
exposed begin_read(const array_view& v, bool any_strides);
/// Whether the view's elements will lie in C order where its storage is evaluated.
bool in_c_order(const array_view& v) noexcept;
/// Address of the first element. The value has been evaluated.
const void* address_of(const exposed& e);
/// Evaluates the storage and makes it the only owner of its elements, unless it is written in place anyway, so that
/// nobody else sees what is written to them. With the storage's turn.
void own_elements(storage& s);
/// What begin_write would evaluate, so that several arrays can be flushed together; null if nothing.
value pending_of_write(const array_view& v);
/// The same for writing in place through the view's strides. Evaluates the storage if need be and makes it the only
/// owner of its elements: pending readers, copies and host views keep the old ones. Other views of the storage see what
/// is written. Whoever calls has a turn of the storage, and keeps it until the work is enqueued.
void* begin_write(const array_view& v);

/// Array from host memory (copied): `from` holds the elements in C order.
view_ref from_host(const void* from, const dims& shape, dtype type, runtime::device_id device);
/// Array over somebody else's memory. `extent` elements begin at the buffer's first; the view has its own shape, strides
/// and offset in them. live: others may change the elements at any time, so the storage is pinned from the beginning.
view_ref from_buffer(std::shared_ptr<runtime::buffer> memory, std::int64_t extent, dtype type, dims shape, dims strides,
                     std::int64_t offset, bool live, bool readonly);
/// Copy on another device (or the same one), in memory of a kind (default: the thread's), copied on a stream of either
/// device (default: the target's current one, or the GPU's where the target is the CPU). Waits for the copy only where
/// host memory is not pinned.
view_ref to_device(const array_view& v, runtime::device_id device, std::optional<memory_kind> kind = {},
                   runtime::stream* on = nullptr);
/// An evaluated value's elements in memory of its own, of the same kind; enqueued.
value snapshot(const value& leaf);
/// Copies out of one value's memory into another's, which is a leaf of as many bytes on the same device; enqueued.
void copy_elements(const value& to, const value& from);

/// How a plan would look: kernels, shapes, bytes, cuts; with the generated source if asked.
std::string explain(const array_view& v, bool with_source);

}  // namespace sinter::graph
