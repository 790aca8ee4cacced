// Large blocks of a pool: split from the allocations of its source, and joined again when they are given back.
#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "runtime/stream.hpp"

namespace sinter::runtime {

/// Memory that is free, or has just been taken.
struct free_block {
  void* p = nullptr;
  use_list* uses = nullptr;  // pending uses by other streams; owned
};

/// All large blocks, in use or free, by address. Neighbours of one allocation that are free for the same stream are
/// joined. Sources, limits and locks are the pool's. Giving a block back allocates nothing, so it cannot fail.
class large_blocks {
  using by_size = std::set<std::pair<std::size_t, void*>>;

 public:
  /// The free blocks of a stream.
  class shelf {
   public:
    std::size_t bytes() const noexcept { return bytes_; }

   private:
    friend class large_blocks;
    by_size blocks_;
    std::size_t bytes_ = 0;
  };

  /// A new allocation of a source, which is in use.
  void add(void* p, std::size_t size);
  /// A free block of at least `size` bytes; false: there is none. `size` becomes the block's. It is handed out whole
  /// where at most a quarter is wasted. A larger one is taken only if it may be split; the rest stays on the shelf.
  bool take(shelf& from, std::size_t& size, bool may_cut, free_block& out);
  /// The size of a block that is in use; 0: no such block.
  std::size_t size_of(void* p) const noexcept;
  /// Puts a block that is in use on a shelf and joins it with its free neighbours. Returns where the joined block
  /// begins.
  void* give(const free_block& b, shelf& to) noexcept;
  /// Moves all blocks; change(uses) returns the new record of each one's pending uses.
  template <class F>
  void move(shelf& from, shelf& to, F change) {
    while (!from.blocks_.empty()) {
      const auto at = pieces_.find(static_cast<char*>(from.blocks_.begin()->second));
      at->second.uses = change(at->second.uses);
      take_off(at->second, at->first);
      give({at->first, at->second.uses}, to);
    }
  }
  /// Forgets the allocation that the free block at p is; 0 where it is only a part of one. `uses` becomes the caller's.
  std::size_t remove(void* p, use_list*& uses) noexcept;
  /// Forgets every allocation without a block in use: free(p, bytes) for each, after wait(uses) for each of its parts.
  template <class Wait, class Free>
  void remove_free(Wait wait, Free free) {
    for (auto first = pieces_.begin(); first != pieces_.end();) {
      auto end = first;
      std::size_t size = 0;
      bool is_free = true;
      do {
        size += end->second.size;
        is_free = is_free && end->second.on;
      } while (++end != pieces_.end() && !end->second.begins);
      if (is_free) {
        char* const p = first->first;
        for (; first != end; first = pieces_.erase(first)) {
          take_off(first->second, first->first);
          wait(first->second.uses);
        }
        free(p, size);
      }
      first = end;
    }
  }
  /// Bytes of all shelves.
  std::size_t free_bytes() const noexcept { return free_bytes_; }

 private:
  struct piece {
    std::size_t size = 0;
    bool begins = false;       // an allocation
    shelf* on = nullptr;       // null: in use
    use_list* uses = nullptr;  // of a free block
    by_size::node_type entry;  // of a block in use: for the shelf that it will be put on
  };
  using pieces = std::map<char*, piece>;

  static by_size::node_type make_entry();
  void put_on(shelf& s, piece& x, char* p) noexcept;
  void take_off(piece& x, char* p) noexcept;
  void cut(pieces::iterator at, std::size_t size);
  bool join_next(pieces::iterator at) noexcept;

  pieces pieces_;
  std::size_t free_bytes_ = 0;
};

}  // namespace sinter::runtime
