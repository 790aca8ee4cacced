// Where arrays lie and what that costs: pools with figures and limits, managed and pinned memory, allocators of others.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "sinter/device.hpp"
#include "sinter/memory_kind.hpp"
#include "sinter/ndarray.hpp"
#include "sinter/stream.hpp"

namespace sinter::inline v0 {

/// Bytes of a pool: handed out, held from the system, the highest `used` so far, what could still be had (free memory of
/// the system and of the pool, within the limit), the limit (the largest number where there is none).
struct pool_figures {
  std::size_t used = 0, reserved = 0, peak = 0, available = 0, limit = 0;
};

/// The pool of one kind of memory of a device; a handle. Freed blocks stay in it for arrays to come, since giving memory
/// back to a driver waits for the device.
///
/// When a request cannot be met (the system has no more, or the limit is reached), this is tried in turn: cutting larger
/// free blocks; free blocks of other streams; waiting for the device and giving all free blocks back; evaluating pending
/// expressions that release more memory than their results take, and all of that again. Then memory_error is thrown with
/// the pool's figures. Arrays and pending expressions from before are as they were.
class memory_pool {
 public:
  /// Throws device_error where the device is missing or has no such memory.
  explicit memory_pool(const std::optional<device>& of = {}, memory_kind kind = memory_kind::device);

  sinter::device device() const noexcept { return device_; }
  memory_kind kind() const noexcept { return kind_; }
  pool_figures figures() const;
  /// What arrays hold that were made while the stream was current, and free blocks of that stream. `available` and
  /// `limit` are the pool's.
  pool_figures figures(const stream& s) const;

  /// The most bytes that the pool may hold from the system; what it holds already stays. 0: no limit. The pool of a
  /// GPU's own memory begins with SINTER_GPU_MEMORY_LIMIT ("8GiB", "500 MB", "0.5" of the memory).
  void set_limit(std::size_t bytes) const;
  /// The same as a part of the device's memory (of the host's for pinned memory); value_error unless 0 < fraction <= 1.
  void set_limit_fraction(double fraction) const;
  /// Waits for the device and gives free memory back to the system: all of it, unless an array lies in a part of a block
  /// that was cut because memory had run out.
  void trim() const;
  /// From here on `peak` is the highest `used` since now.
  void reset_peak() const;

 private:
  sinter::device device_;
  memory_kind kind_;
};
/// The pool of a GPU's managed memory.
inline memory_pool managed_pool(const std::optional<device>& of = {}) { return memory_pool(of, memory_kind::managed); }
/// The pool of host memory that a device's pinned arrays lie in.
inline memory_pool pinned_pool(const std::optional<device>& of = {}) { return memory_pool(of, memory_kind::pinned); }

/// While it lives, arrays that the calling thread makes on a device lie in memory of that kind, also those that are
/// evaluated later: what counts is where an expression is written. Guards nest. Arrays that share elements with one
/// from before (views, copies until they are written) lie where that one does; to_memory moves.
///
///   { const sn::memory_scope managed(sn::memory_kind::managed); x = sn::zeros(n); }
///
/// Arrays never come to lie in managed memory without being asked to.
class [[nodiscard]] memory_scope {
 public:
  /// device_error where the device is missing or has no such memory: the CPU has no managed memory, and pinned memory
  /// only where there is a GPU.
  [[nodiscard]] explicit memory_scope(memory_kind kind, const std::optional<device>& on = {});
  ~memory_scope();
  memory_scope(const memory_scope&) = delete;
  memory_scope& operator=(const memory_scope&) = delete;

 private:
  int slot_;
  memory_kind before_;
};

/// The array in memory of that kind on its device: itself if it lies there already, else a copy, enqueued.
ndarray to_memory(const ndarray& x, memory_kind kind);

/// Moves the pages of a managed array to a device, or to the host (sn::cpu), in the order of the stream (default: the
/// current one), so that the work that comes needs no page faults. Evaluates x. Changes no element. value_error unless x
/// lies in managed memory. Where the GPU has no concurrent managed access, does nothing.
void prefetch(const ndarray& x, const device& to, const std::optional<stream>& on = {});

enum class memory_advice : std::uint8_t {
  read_mostly,         ///< every reader may keep a copy of its own, which a write throws away
  preferred_location,  ///< where the pages should lie, also while others use them
  accessed_by,         ///< a device that should always reach the pages without a fault
};
/// Advises the driver about a managed array; never needed for correct values. `where` is a GPU or sn::cpu (read_mostly:
/// not used). value_error unless x lies in managed memory. Where the GPU has no concurrent managed access, does nothing.
/// Advice belongs to the memory that x has now: writes in place (`x(_) = e`) keep it, another value for the name does not,
/// and arrays that get the memory later inherit it, so take back what would not suit them.
void advise(const ndarray& x, memory_advice advice, const device& where = cpu);
/// Takes the advice back.
void unadvise(const ndarray& x, memory_advice advice, const device& where = cpu);

/// Where else memory may come from: another library's pool, a test's. Functions are called from any thread, several at a
/// time. Addresses are aligned to 256 bytes.
class allocator {
 public:
  virtual ~allocator() = default;
  /// Memory that work enqueued on the stream may use: a cudaStream_t, null for the default stream and on the CPU. Throw
  /// memory_error (or std::bad_alloc, which becomes one) where there is none.
  virtual void* allocate(std::size_t bytes, void* stream) = 0;
  /// Takes the memory back. Work that uses it may still be enqueued on the stream, but on no other: wait for the stream,
  /// or hand the memory out again in the order of that stream.
  virtual void deallocate(void* p, std::size_t bytes, void* stream) noexcept = 0;
  /// For messages.
  virtual std::string name() const = 0;
};

/// From now on memory of kind `device` comes from there; null: from the library's pool again. Each array gives its
/// memory back to where it came from, and an allocator lives as long as one of its arrays.
void set_allocator(const device& d, std::shared_ptr<allocator> a);
/// The same for the calling thread while it lives, and counts for what is evaluated in the scope. device_error within a
/// capture, whose memory belongs to the graph: begin the scope around it.
class [[nodiscard]] allocator_scope {
 public:
  [[nodiscard]] allocator_scope(const device& d, std::shared_ptr<allocator> a);
  ~allocator_scope();
  allocator_scope(const allocator_scope&) = delete;
  allocator_scope& operator=(const allocator_scope&) = delete;

 private:
  int slot_;
  void* before_;
  std::shared_ptr<void> held_;
};

}  // namespace sinter::inline v0
