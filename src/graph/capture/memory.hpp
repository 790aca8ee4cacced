// Memory that belongs to captured work: blocks are taken from the thread's memory source and stay here as long as the
// work can be launched or an array uses them; blocks freed meanwhile are reused.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/backend.hpp"

namespace sinter::graph {

class capture_memory : public std::enable_shared_from_this<capture_memory> {
 public:
  /// Blocks are returned in the order of `owner`.
  capture_memory(runtime::backend& device, runtime::stream& owner);
  capture_memory(const capture_memory&) = delete;
  capture_memory& operator=(const capture_memory&) = delete;

  runtime::block_source& source(memory_kind k) noexcept { return parts_[static_cast<int>(k)]; }
  /// Whether a buffer's memory belongs here.
  bool owns(const runtime::buffer& b) const noexcept;
  /// Takes ownership of a buffer's memory, also while the buffer lives.
  void adopt(runtime::buffer& b);
  /// The memory at these addresses, once free, is not allocated for anything else.
  void reserve(const std::vector<void*>& addresses);
  /// A buffer over free memory at an address that belongs here; null if the memory is in use.
  std::shared_ptr<runtime::buffer> take(void* address);
  /// The work has been destroyed: free blocks return to their source, and so do others when they become free.
  void close() noexcept;
  /// Bytes taken from the source; adopted blocks do not count.
  std::size_t bytes() const;

 private:
  /// The block source that buffers refer to: one for each kind of memory.
  class part final : public runtime::block_source {
   public:
    capture_memory* owner = nullptr;
    memory_kind of = memory_kind::device;
    void* allocate(std::size_t bytes, runtime::stream*& owner_stream, runtime::use_list*& uses) override;
    void deallocate(void* p, std::size_t bytes, runtime::stream& owner_stream,
                    runtime::use_list* uses) noexcept override;
    memory_kind kind() const noexcept override { return of; }
    runtime::block_source* of_kind(memory_kind k) noexcept override { return &owner->source(k); }
  };
  struct block {
    std::unique_ptr<runtime::buffer> memory;
    bool free = false, adopted = false;
  };
  void note_live();
  void* find_free(std::size_t bytes, memory_kind kind);

  runtime::backend& device_;
  runtime::stream& owner_;
  part parts_[3];
  mutable std::mutex mutex_;
  std::unordered_map<void*, block> blocks_;
  std::vector<void*> free_;  // last in, first out
  std::unordered_set<void*> reserved_;
  std::size_t live_ = 0;  // blocks held by buffers
  bool closed_ = false;
  std::shared_ptr<capture_memory> self_;  // keeps this alive while there are live blocks
};

}  // namespace sinter::graph
