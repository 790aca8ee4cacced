// What views of one array share: its present version, which threads read and replace at the same time.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "graph/values/node.hpp"

namespace sinter::graph {

/// The rule of ownership: elements may be written where they lie if the caller accounts for all references to their
/// memory. Fixed memory is excluded, whoever has let go of it. It is for every caller: each wants to write there, or to
/// give the address to others that will, and memory that never changes may be read-only, or others may count on it.
inline bool is_owned(const runtime::buffer_ref& memory, long references) noexcept {
  return memory.use_count() == references && !memory->fixed();
}
/// The same of a value, which is in memory, and the one reference to it that the caller has.
bool is_sole_owner(const value& leaf) noexcept;

/// A version, with the storage's C-contiguous nominal shape, and what was true when it was read.
struct version {
  value v;
  bool pinned = false;
};

/// Any thread may read the version at any time. It is replaced by whoever has the storage's turn (below).
class storage {
 public:
  explicit storage(value v) noexcept : device(v->device), current_(std::move(v)) {}

  const runtime::device_id device;

  value now() const noexcept {
    const guard lock(busy_);
    return current_;
  }
  version now_as_is() const noexcept {
    const guard lock(busy_);
    return {current_, pinned_.load(std::memory_order_relaxed)};
  }
  /// An address has been handed out: the buffer stays, writes and reads happen at once.
  bool pinned() const noexcept { return pinned_.load(std::memory_order_acquire); }

  // With the storage's turn, or while nobody else knows the storage.
  const value& held() const noexcept { return current_; }
  void replace(value v) noexcept {
    const guard lock(busy_);
    std::swap(current_, v);  // the old version goes behind the lock
  }
  void set_pinned(bool yes) noexcept { pinned_.store(yes, std::memory_order_release); }
  void replace_and_pin(value v) noexcept {
    const guard lock(busy_);
    std::swap(current_, v);
    pinned_.store(true, std::memory_order_release);
  }
  /// Whether nobody else refers to the version, which is in memory, or to its elements.
  bool is_sole_owner() const noexcept { return graph::is_sole_owner(current_); }
  /// Whether elements are written where they lie: their address is out, or nobody else refers to them.
  bool is_written_in_place() const noexcept { return pinned() || is_sole_owner(); }
  /// Pins the storage if it is the sole owner of its elements. A thread that reads the version at the same time has its
  /// reference before that, or finds the storage pinned.
  bool pin_if_sole_owner() noexcept {
    const guard lock(busy_);
    if (!is_sole_owner()) return false;
    pinned_.store(true, std::memory_order_release);
    return true;
  }

  std::atomic<std::uint32_t> made_in{0};  // the capture that it was made in; 0: none
  std::uint32_t touched_in = 0;           // the capture that is using it; 0: none

 private:
  friend class turn;
  friend class turns;
  /// Held for the copy of a pointer. A mutex would cost more than that, on every operand of every recorded operation.
  class guard {
   public:
    explicit guard(std::atomic<bool>& busy) noexcept : busy_(busy) {
      while (busy_.exchange(true, std::memory_order_acquire)) wait();
    }
    ~guard() { busy_.store(false, std::memory_order_release); }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    void wait() const noexcept {
      constexpr int spins = 100;  // then its holder may have lost the core
      for (int k = 0; busy_.load(std::memory_order_relaxed); ++k)
        if (k >= spins) std::this_thread::yield();
    }
    std::atomic<bool>& busy_;
  };

  mutable std::atomic<bool> busy_{false};
  std::atomic<bool> pinned_{false};
  value current_;
  std::recursive_mutex writers_;
};

/// A thread's turn to write a storage: others that want to write wait until it ends. Ends after the write has been
/// recorded, or enqueued where memory is written directly. Readers never wait for it. Taken before the flush lock,
/// never within.
class turn {
 public:
  explicit turn(storage& s) : lock_(s.writers_) {}

 private:
  const std::lock_guard<std::recursive_mutex> lock_;
};

/// Turns of several storages at once, which all threads take in one order.
class turns {
 public:
  explicit turns(std::vector<storage*> all);
  ~turns();
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;

 private:
  std::vector<storage*> all_;
};

}  // namespace sinter::graph
