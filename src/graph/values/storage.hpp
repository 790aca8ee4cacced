// What views of one array share: its current version, which threads read and replace concurrently.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "graph/values/left_bytes.hpp"
#include "graph/values/node.hpp"
#include "graph/values/spin_guard.hpp"

namespace sinter::graph {

/// The ownership rule: elements may be written in place if the caller accounts for all references to their memory.
/// Fixed memory is excluded even without other references: it may be read-only, or others may rely on its contents. The
/// rule holds for every caller that writes in place or hands the address to code that will.
inline bool is_owned(const runtime::buffer_ref& memory, long references) noexcept {
  return memory.use_count() == references && !memory->fixed();
}
/// The same for an evaluated value, to which the caller holds one reference.
bool is_sole_owner(const value& leaf) noexcept;

/// A version, with the storage's C-contiguous nominal shape, and whether the storage was pinned when it was read.
struct version {
  value v;
  bool pinned = false;
};

/// Any thread may read the version at any time. Only the holder of the storage's write lock (`write_lock`, below) replaces
/// it.
class storage {
 public:
  explicit storage(value v) noexcept : device(v->device), current_(std::move(v)) {}
  ~storage() { leave(current_); }
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;

  const runtime::device_id device;

  value now() const noexcept {
    const guard lock(busy_);
    return current_;
  }
  version now_as_is() const noexcept {
    const guard lock(busy_);
    return {current_, pinned_.load(std::memory_order_relaxed)};
  }
  /// An address has been handed out: the buffer stays, writes and reads are evaluated at once.
  bool pinned() const noexcept { return pinned_.load(std::memory_order_acquire); }

  // Under the storage's write lock, or while no other thread has a reference to the storage.
  const value& held() const noexcept { return current_; }
  void replace(value v) noexcept {
    exchange(v, false);
    leave(v);
  }
  /// A name was rebound to this storage.
  void note_assigned() noexcept {
    const guard lock(busy_);
    current_->assigned.store(true, std::memory_order_relaxed);
  }
  void set_pinned(bool yes) noexcept { pinned_.store(yes, std::memory_order_release); }
  void replace_and_pin(value v) noexcept {
    exchange(v, true);
    leave(v);
  }
  /// Whether there is no other reference to the version, which is in memory, or to its elements.
  bool is_sole_owner() const noexcept { return graph::is_sole_owner(current_); }
  /// Whether elements are written in place: their address has been handed out, or there is no other reference to them.
  bool is_written_in_place() const noexcept { return pinned() || is_sole_owner(); }
  /// Pins the storage if it is the sole owner of its elements. A thread that reads the version concurrently either has
  /// its reference before that, or finds the storage pinned.
  bool pin_if_sole_owner() noexcept {
    const guard lock(busy_);
    if (!is_sole_owner()) return false;
    pinned_.store(true, std::memory_order_release);
    return true;
  }

  /// What holds a version gives it up.
  static void leave(const value& v) noexcept {
    if (v->is_listed.load(std::memory_order_relaxed)) [[unlikely]]
      leave_storage(v.get());
    if (v->refs.load(std::memory_order_relaxed) > 1 && v->is_leaf()) left_bytes().add(v->bytes());
  }

  std::atomic<std::uint32_t> made_in{0};  // the capture in which it was made; 0: none
  std::uint32_t touched_in = 0;           // the capture that uses it; 0: none

 private:
  friend class write_lock;
  friend class write_locks;
  using guard = spin_guard;  // for copying a pointer, on every operand of every recorded operation

  void exchange(value& v, bool pins) noexcept {
    const guard lock(busy_);
    std::swap(current_, v);
    if (pins) pinned_.store(true, std::memory_order_release);
  }
  mutable std::atomic<bool> busy_{false};
  std::atomic<bool> pinned_{false};
  value current_;
  std::recursive_mutex writers_;
};

/// Write lock of a storage, held by a thread until its write has been recorded, or enqueued if memory is written
/// directly. Readers never wait for it. Lock order: acquired before the flush lock, never within it.
class write_lock {
 public:
  explicit write_lock(storage& s) : lock_(s.writers_) {}

 private:
  const std::lock_guard<std::recursive_mutex> lock_;
};

/// Write locks of several storages, acquired in one order by all threads to avoid deadlock.
class write_locks {
 public:
  explicit write_locks(std::vector<storage*> all);
  ~write_locks();
  write_locks(const write_locks&) = delete;
  write_locks& operator=(const write_locks&) = delete;

 private:
  std::vector<storage*> all_;
};

}  // namespace sinter::graph
