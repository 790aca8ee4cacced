// What a handle refers to: a view of a storage. Views of one storage alias; a write gives the storage a new version.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "graph/values/record.hpp"
#include "graph/values/storage.hpp"

namespace sinter::graph {

/// A view of a storage: shape, strides and offset in elements of the storage's C order. A view of parts shows the real parts
/// of complex numbers, or with an odd offset their imaginary parts: its strides, which are even, and its offset are in real
/// numbers, of which the storage's C order has two for each element.
struct array_view {
  array_view() noexcept {}  // without filling the object with zeros first
  /// Of all elements of a storage.
  array_view(const dims& all, dtype of) : shape(all), strides(core::contiguous_strides(all)), type(of), whole(true) {}
  std::shared_ptr<storage> store;
  dims shape, strides;
  std::int64_t offset = 0;
  dtype type{};
  bool whole = false;     // the view is the whole storage in its nominal shape
  bool readonly = false;  // writes through it, or through views of it, are refused
  bool parts = false;     // of complex numbers; never whole
  bool absent = false;    // the imaginary parts of real numbers, for the error of a write
  // A selection by index arrays that has not been read: it is resolved at the first read
  // (ops/indexing/advanced_index.hpp).
  std::atomic<bool> deferred{false};

  const runtime::device_id& device() const noexcept { return store->device; }
};
using view_ref = std::shared_ptr<const array_view>;

/// A new storage that holds `v`, viewed whole.
view_ref make_array(value v);

/// In two steps, between which a handle may hold the value alone (`may_stay_value`: an operation that has just been recorded, in no
/// capture): the value is noted as one that a handle holds, and evaluated if its chain has become too long; later it becomes an
/// array. Where array_of throws, `v` keeps its value. Instead of the second step `storage::leave` if the handle ends.
void enter_handle(const value& v);
view_ref array_of(value& v);
bool may_stay_value(const node& n) noexcept;

/// Another view of the same storage; read-only if `of` is, or if requested.
view_ref make_view(const array_view& of, dims shape, dims strides, std::int64_t offset, bool readonly = false);
/// The real or imaginary parts of a view of complex numbers: a view of the same storage.
view_ref make_parts(const array_view& of, bool imaginary);
/// All elements of the storage as a vector, in units of the view's strides: of parts all real numbers, which only code that
/// writes memory may use. And the view of the complex numbers whose parts a view shows.
view_ref whole_storage(const array_view& v);
view_ref make_whole_numbers(const array_view& parts);
/// The view's present value. Pinned storages are evaluated first.
value read(const array_view& v);
/// Writes `rhs` (already cast to the view's dtype and broadcast to its shape) through the view. The caller has refused
/// read-only views and views whose elements overlap themselves.
void write(const array_view& v, value rhs);

/// Evaluates everything that the arrays need; on return each has memory (work may still be running on the device).
void evaluate(std::span<const view_ref> arrays);
/// Evaluates and copies the elements, C order, to host memory; synchronous. Throws the faults of their data.
void copy_to_host(const array_view& v, void* to);
/// Evaluates, makes the storage the sole owner of its buffer, pins it, and returns the address of the view's first
/// element (device memory on a GPU).
void* export_address(const array_view& v);
/// The same for work in the order of the device's launches: waits for nothing and reports no faults.
void* pin(const array_view& v);
/// The same for foreign work on a stream given by its native handle (null: the device's default stream): work enqueued
/// there from now on is ordered after everything that uses the storage.
void* hand_over(const array_view& v, void* their_stream);
/// The same for the host, which must be able to access the memory.
void* export_to_host(const array_view& v);
/// Whether the host can access the view's elements, and whether it may do so while the device works.
bool is_host_reachable(const array_view& v);
bool host_may_share(const array_view& v);

/// For code that accesses memory directly, in the order of the device's launches, and has enqueued its work when it
/// returns. An address is valid until then; nothing is pinned.
///
/// What a reader needs: the value to flush and to hold, and the position of the view's elements in its C order.
struct exposed {
  value held;
  dims strides;
  std::int64_t offset = 0;
  std::int64_t unit = 0;  // bytes that the offset counts in; 0: elements of `held`
};
/// A read of the view's present value, unaffected by later writes. Records, evaluates nothing. Unless `any_strides`,
/// the elements will be in C order; they are copied only if they are not so already.
exposed begin_read(const array_view& v, bool any_strides);
/// Whether the view's elements will be in C order once its storage is evaluated.
bool in_c_order(const array_view& v) noexcept;
/// Address of the first element. The value has been evaluated.
const void* address_of(const exposed& e);
/// Address of an element of an evaluated value for the work that is enqueued next: to_read for work that only reads it,
/// possibly concurrently with readers on other streams, to_write for work that writes it.
const void* address_to_read(const value& leaf, std::int64_t element = 0);
void* address_to_write(const value& leaf, std::int64_t element = 0);
/// Evaluates the storage and makes it the sole owner of its elements, unless it is written in place anyway, so that no
/// other reference sees what is written to them (copy-on-write). Under the storage's write lock.
void own_elements(storage& s);
/// The elements of the storage, which is in memory: for a view of parts, real numbers. Positions in it are those that strides and
/// offset of the view count.
value elements_in_memory(const array_view& v);
/// The value that begin_write would evaluate, so that several arrays can be flushed together; null if none.
value pending_of_write(const array_view& v);
/// The same for writing in place through the view's strides. Evaluates the storage if necessary and makes it the sole
/// owner of its elements: pending readers, copies and host views keep the old ones. Other views of the storage see what
/// is written. The caller holds the storage's write lock (`write_lock`) until the work is enqueued.
void* begin_write(const array_view& v);

/// Array from host memory (copied): `from` holds the elements in C order.
view_ref from_host(const void* from, const dims& shape, dtype type, runtime::device_id device);
/// Array over external memory. `extent` elements begin at the buffer's first; the view has its own shape, strides and
/// offset in them. live: external code may change the elements at any time, so the storage is pinned from the
/// beginning.
view_ref from_buffer(std::shared_ptr<runtime::buffer> memory, std::int64_t extent, dtype type, dims shape, dims strides,
                     std::int64_t offset, bool live, bool readonly);
/// Copy on another device (or the same one), in memory of a kind (default: the thread's), copied on a stream of either
/// device (default: the target's current one, or the GPU's if the target is the CPU). Waits for the copy only if host
/// memory is not pinned.
view_ref to_device(const array_view& v, runtime::device_id device, std::optional<memory_kind> kind = {},
                   runtime::stream* on = nullptr);
/// An evaluated value's elements in exclusively owned memory of the same kind; enqueued.
value snapshot(const value& leaf);
/// Copies one value's elements to another, a leaf of as many bytes on the same device; enqueued.
void copy_elements(const value& to, const value& from);

/// The plan as text: kernels, shapes, bytes, materialisation points; with the generated source if requested.
std::string explain(const array_view& v, bool with_source);

}  // namespace sinter::graph
