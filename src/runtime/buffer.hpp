// Buffers: memory of one backend with the record of the streams that use it. Submissions: work that declares its uses.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/stream.hpp"
#include "sinter/memory_kind.hpp"

namespace sinter::runtime {

class fault;
using fault_ref = std::shared_ptr<fault>;
using fault_list = std::vector<fault_ref>;

/// Whether this process was forked from one that had GPUs: the driver does not work here, and nothing wakes it. What it
/// has pinned may not even be mapped.
extern std::atomic<bool> lost_to_fork;

/// Where buffers get their memory. Lives as long as one of its blocks.
class block_source {
 public:
  virtual ~block_source() = default;
  /// Memory for work on `owner`, aligned to 256 bytes, never null. `uses` gets the pending uses of the memory by
  /// streams (null: none), which the caller owns; `owner` becomes the stream in whose order the memory is to be given
  /// back. Throws memory_error.
  virtual void* allocate(std::size_t bytes, stream*& owner, use_list*& uses) = 0;
  /// `bytes` as given to allocate(). The memory may be reused in the order of `owner`, after the pending uses by other
  /// streams in `uses` (null: none), which passes into the source's ownership.
  virtual void deallocate(void* p, std::size_t bytes, stream& owner, use_list* uses) noexcept = 0;
  virtual memory_kind kind() const noexcept { return memory_kind::device; }
  /// Where threads that have chosen this source get memory of a kind; null: from the device's pool.
  virtual block_source* of_kind(memory_kind k) noexcept { return k == kind() ? this : nullptr; }
};

/// Memory of one backend, given back on destruction. A submission declares the work on it. An address taken by data()
/// counts as read and written by the calling thread's current stream until the buffer is used on another stream or
/// freed.
class buffer {
 public:
  /// From the source that the calling thread has chosen for the device; of the thread's kind of memory, or of `kind`.
  buffer(backend& owner, std::size_t bytes);
  buffer(backend& owner, std::size_t bytes, memory_kind kind);
  buffer(backend& owner, std::size_t bytes, block_source& source);
  /// Foreign memory of a kind, ready in the order of the current stream. `keep` is released when the streams that have
  /// used the memory are done. fixed: its elements never change, so nothing may be written there.
  buffer(backend& owner, void* data, std::size_t bytes, std::shared_ptr<void> keep, bool fixed,
         memory_kind kind = memory_kind::device);
  /// A block that was allocated from a source before.
  buffer(backend& owner, void* data, std::size_t bytes, block_source& source, stream& owner_stream) noexcept;
  ~buffer();
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  /// The address, for work that is enqueued next on the current stream (on the CPU: that runs next).
  void* data() const { return use_now(true); }
  /// The same for work that only reads.
  const void* data_to_read() const { return use_now(false); }
  /// The address as a number; declares no use.
  void* address() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  backend& owner() const noexcept { return *owner_; }
  memory_kind kind() const noexcept { return source_ ? source_->kind() : foreign_kind_; }
  bool fixed() const noexcept { return fixed_; }
  stream& owner_stream() const noexcept { return *owner_stream_; }
  block_source* source() const noexcept { return source_; }
  /// Faults that launches have found, or may yet find, in the data that the elements were computed from. Almost always
  /// none, which one load tells.
  bool has_faults() const noexcept { return faults_.load(std::memory_order_acquire) != nullptr; }
  fault_list faults() const;
  void add_faults(const fault_list& more) const;
  void drop_fault(const fault_ref& f) const noexcept;
  void clear_faults() const noexcept;
  /// Adds pending uses of the memory by other streams.
  void join_uses(const use_list& uses);
  /// The block will be given back to another source.
  void hand_over(block_source& to) noexcept { source_ = &to; }

 private:
  friend class submission;
  void require_usable() const {
    if (lost_to_fork.load(std::memory_order_relaxed)) [[unlikely]]
      refuse_pinned();
  }
  void refuse_pinned() const;
  void obtain(std::size_t bytes, block_source& source);
  void* use_now(bool write) const;
  /// Waits of `s` before it reads (for writes) or writes (for all uses). Returns the uses by other streams than the
  /// owner. Call with order_mutex() held.
  use_list* wait_to_read(stream& s) const;
  use_list* wait_to_write(stream& s) const;
  /// The waits of `s`; marks the use with timeline value t.
  void read_by(stream& s, timeline_value t) const;
  void write_by(stream& s, timeline_value t) const;
  void host_waits(bool write) const;
  /// Of two submissions that do this at the same time the lower value may remain. That is enough: events that cover a
  /// value were recorded while no submission was open, so one that covers either value covers the other.
  void raise_used(timeline_value t) const noexcept {
    if (used_.load(std::memory_order_relaxed) < t) used_.store(t, std::memory_order_relaxed);
  }
  timeline_value used() const noexcept {
    return loose_.load(std::memory_order_relaxed) ? unknown_value : used_.load(std::memory_order_relaxed);
  }
  void set_written(timeline_value t) const noexcept {
    written_.store(t, std::memory_order_relaxed);
    used_.store(t, std::memory_order_relaxed);
    loose_.store(false, std::memory_order_relaxed);
  }
  bool is_only_at(const stream& s) const noexcept {
    return owner_stream_ == &s && !others_.load(std::memory_order_acquire);
  }

  backend* owner_;
  block_source* source_ = nullptr;  // null: foreign memory
  stream* owner_stream_;            // the stream that the memory belongs to
  void* data_ = nullptr;
  std::size_t bytes_;
  mutable std::atomic<timeline_value> written_{0}, used_{0};  // by the owner stream; written_ also unknown_value
  mutable std::atomic<bool> loose_{false};                    // used there outside of submissions as well
  mutable std::atomic<use_list*> others_{nullptr};            // uses by other streams; null: none
  mutable std::atomic<fault_list*> faults_{nullptr};
  std::shared_ptr<void> keep_;
  bool fixed_ = false;
  memory_kind foreign_kind_ = memory_kind::device;  // of memory without a source
};
using buffer_ref = std::shared_ptr<buffer>;

/// Makes a stream the calling thread's current one of its device, until the end of the scope.
class current_guard {
 public:
  explicit current_guard(stream& s) noexcept;
  ~current_guard() { *slot_ = before_; }
  current_guard(const current_guard&) = delete;
  current_guard& operator=(const current_guard&) = delete;

 private:
  stream** slot_;
  stream* before_;
};

/// Work that is enqueued together on the calling thread's current stream of a device, and the buffers that it uses.
/// Declare uses before enqueueing; keep the buffers alive until the submission ends; end it before another thread can
/// reach what was written. In a child that
/// has lost the GPUs, buffers in pinned memory throw device_error.
class submission {
 public:
  explicit submission(backend& device) noexcept;
  ~submission() {
    if (value_ != 0) stream_->close();
  }
  submission(const submission&) = delete;
  submission& operator=(const submission&) = delete;

  stream& on() const noexcept { return *stream_; }
  timeline_value value() const noexcept { return value_; }
  /// Declares a read and returns the address: what is enqueued from now on comes after all writes to the buffer.
  void* reads(const buffer& b) {
    b.require_usable();
    if (b.is_only_at(*stream_)) [[likely]]
      b.raise_used(value_);
    else b.read_by(*stream_, value_);
    return b.data_;
  }
  /// Declares a write and returns the address: what is enqueued from now on comes after all uses of the buffer.
  void* writes(const buffer& b) {
    b.require_usable();
    if (b.is_only_at(*stream_)) [[likely]] {
      b.set_written(value_);
    } else {
      b.write_by(*stream_, value_);
    }
    return b.data_;
  }

 private:
  stream* stream_;
  timeline_value value_;  // 0 where work is done when the call returns
};

}  // namespace sinter::runtime
