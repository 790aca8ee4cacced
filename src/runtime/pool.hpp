// A caching allocator over any raw allocator, host or device: it never touches the memory itself. In host blocks it
// poisons for the address sanitizer all free bytes, and those of used blocks beyond the requested size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/large_blocks.hpp"

namespace sinter::runtime {

/// Where a pool gets its memory. Called with the pool's lock held.
class memory_source {
 public:
  virtual ~memory_source() = default;
  virtual void* allocate(std::size_t bytes) noexcept = 0;  // null when exhausted
  virtual void release(void* p, std::size_t bytes) noexcept = 0;
  virtual std::size_t available() const noexcept = 0;  // bytes that the system could still give
  /// Called before cached blocks go back to the system, and before a retry after exhaustion.
  virtual void synchronize() noexcept {}
};

/// Small blocks come in size classes, four to an octave, kept in free lists; large ones in steps of 2 MiB, reused where
/// at most a quarter is wasted and kept up to a limit. Each stream has an arena of free blocks, since later work of the
/// same stream alone may reuse at once what its work has freed. When memory runs out, larger free blocks are split, and
/// blocks of other arenas are taken together with the record of their pending uses; the same record goes with the
/// blocks of a stream that is closed. Only whole allocations go back to the system. Thread safe.
class pool final : public block_source {
 public:
  struct options {
    std::string name = "memory";                    // for messages
    std::size_t large = std::size_t{32} << 20;      // from here on blocks are large
    std::size_t keep_large = std::size_t{1} << 30;  // free large blocks held at most
    memory_kind kind = memory_kind::device;
    std::size_t limit = SIZE_MAX;  // bytes held from the system at most
    bool host = false;             // only the CPU uses the blocks
  };
  pool(std::unique_ptr<memory_source> source, options o);
  ~pool() override;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Never null, also for 0 bytes; throws memory_error with the figures when nothing is left after a trim.
  void* allocate(std::size_t bytes, stream*& owner, use_list*& uses) override;
  void deallocate(void* p, std::size_t bytes, stream& owner, use_list* uses) noexcept override;
  memory_kind kind() const noexcept override { return options_.kind; }
  /// For pools of one stream only.
  void* allocate(std::size_t bytes);
  void deallocate(void* p, std::size_t bytes) noexcept;

  /// Returns every allocation to the system of which nothing is in use.
  void trim() noexcept;
  /// The stream has no handle left: its free blocks become available to all streams.
  void orphan_blocks(stream& from) noexcept;
  /// SIZE_MAX: none. What is held already stays.
  void set_limit(std::size_t bytes) noexcept;
  void reset_peak() noexcept;
  memory_figures figures() const noexcept;
  /// Of memory that belongs to one stream.
  memory_figures figures(int stream_number) const noexcept;
  /// Requests served so far.
  std::uint64_t allocations() const noexcept;

 private:
  static constexpr int class_count = 4 * 48;
  /// The free blocks of a stream.
  struct arena {
    stream* of = nullptr;
    std::vector<free_block> small[class_count];
    large_blocks::shelf large;
    std::size_t used = 0, peak = 0;

    std::size_t free_bytes() const noexcept;
  };
  static int class_of(std::size_t bytes) noexcept;
  static std::size_t class_bytes(int c) noexcept;
  arena& arena_of(int number, stream* s) {
    return number == 0 ? default_arena_ : other_arena(static_cast<std::size_t>(number), s);
  }
  arena& other_arena(std::size_t number, stream* s);
  template <class F>
  void each_arena(F f) const;
  free_block take(std::size_t bytes, arena& mine);
  free_block take_large(std::size_t bytes, arena& mine);
  free_block take_part(std::size_t& size, arena& mine, std::size_t asked);
  void give(free_block b, std::size_t bytes, arena& mine, stream* owner) noexcept;
  void give_large(free_block b, std::size_t size, arena& mine, stream* owner) noexcept;
  /// A block of another arena, with its stream's pending work recorded as a use.
  template <class Take>
  bool take_from_others(const arena& mine, free_block& out, Take take);
  /// A free large block of any arena; larger ones are split.
  bool take_free_large(arena& mine, std::size_t& size, free_block& out);
  void* obtain(std::size_t size);
  void* obtain_large(std::size_t size);
  void count(arena& a, std::size_t size) noexcept;
  void uncount(arena& a, std::size_t size) noexcept;
  void release(const free_block& b, std::size_t size) noexcept;
  void give_back(void* p, std::size_t size) noexcept;
  void trim_locked() noexcept;
  [[noreturn]] void exhausted(std::size_t asked) const;

  std::unique_ptr<memory_source> source_;
  options options_;
  mutable std::mutex mutex_;
  arena default_arena_;                         // of the default stream
  std::vector<std::unique_ptr<arena>> arenas_;  // by the stream's number
  arena orphans_;                               // of closed streams
  large_blocks large_;
  std::size_t parts_ = 0;  // small requests that large blocks serve
  std::size_t used_ = 0, reserved_ = 0, peak_ = 0;
  std::uint64_t allocations_ = 0;
};

/// What SINTER_GPU_MEMORY_LIMIT says of a GPU with that much memory.
std::size_t gpu_memory_limit(std::size_t total);
/// "8GiB", "500 MB", "0.5" (of `total`), "1073741824"; empty: no limit (SIZE_MAX). value_error that begins
/// with [where] on anything else.
std::size_t parse_memory_limit(std::string_view text, std::size_t total, const char* where);

}  // namespace sinter::runtime
