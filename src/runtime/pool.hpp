// Block cache over any raw allocator, host or device: it never touches the memory itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/backend.hpp"

namespace sinter::runtime {

/// Where a pool gets its memory. Calls come with the pool's lock held.
class memory_source {
 public:
  virtual ~memory_source() = default;
  virtual void* allocate(std::size_t bytes) noexcept = 0;  // null when exhausted
  virtual void release(void* p, std::size_t bytes) noexcept = 0;
  virtual std::size_t available() const noexcept = 0;      // bytes that the system could still give
  /// Called before cached blocks go back to the system, and before a retry after exhaustion.
  virtual void synchronize() noexcept {}
};

/// Small blocks come in size classes, four to an octave, kept in free lists; large ones in steps of 2 MiB, reused where
/// at most a quarter is wasted and kept up to a limit. Thread safe.
class pool {
 public:
  struct options {
    std::string name = "memory";                          // for messages
    std::size_t large = std::size_t{32} << 20;            // from here on blocks are large
    std::size_t keep_large = std::size_t{1} << 30;        // free large blocks held at most
  };
  pool(std::unique_ptr<memory_source> source, options o);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Never null, also for 0 bytes; throws memory_error with the figures when nothing is left after a trim.
  void* allocate(std::size_t bytes);
  /// `bytes` as given to allocate().
  void deallocate(void* p, std::size_t bytes) noexcept;
  /// Returns every free block to the system.
  void trim() noexcept;
  memory_figures figures() const noexcept;
  /// The highest `used` is from now on that since here.
  void reset_peak() noexcept;
  /// Requests served so far.
  std::uint64_t allocations() const noexcept;

 private:
  static constexpr int class_count = 4 * 48;
  static int class_of(std::size_t bytes) noexcept;
  static std::size_t class_bytes(int c) noexcept;
  void* allocate_small(std::size_t bytes);
  void* allocate_large(std::size_t bytes);
  void* obtain(std::size_t block, std::size_t asked);
  void deallocate_large(void* p) noexcept;
  void trim_locked() noexcept;
  void count(std::size_t bytes) noexcept;
  [[noreturn]] void exhausted(std::size_t asked) const;

  std::unique_ptr<memory_source> source_;
  options options_;
  mutable std::mutex mutex_;
  std::vector<void*> free_[class_count];
  std::multimap<std::size_t, void*> free_large_;
  std::unordered_map<void*, std::size_t> live_large_;
  std::size_t used_ = 0, reserved_ = 0, peak_ = 0, kept_large_ = 0;
  std::uint64_t allocations_ = 0;
};

}  // namespace sinter::runtime
