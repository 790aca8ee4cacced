// Memory that a task needs while it runs: taken from a list of slabs that each thread keeps, or from slabs of its own.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "platform/per_thread.hpp"

namespace sinter::cpu {

/// Allocates 64-byte aligned memory that lives as long as the arena; the slabs stay with the thread. Arenas of a thread end
/// in the reverse order of their beginning.
class arena {
 public:
  arena() : mine_(slabs()), slab_(mine_.current), next_(mine_.next) {}
  /// With slabs of its own, of so many bytes or more, for work that is kept: it may end at any time, on any thread.
  explicit arena(std::size_t slab_bytes)
      : own_(std::make_unique<slab_list>()), mine_(*own_), slab_(mine_.current), next_(mine_.next) {
    mine_.least = slab_bytes;
  }
  ~arena() { mine_.go_to(slab_, next_); }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  void* take(std::size_t bytes) {
    bytes = (bytes + 63) & ~std::size_t{63};
    if (static_cast<std::size_t>(mine_.end - mine_.next) < bytes) [[unlikely]]
      mine_.advance(bytes);
    return std::exchange(mine_.next, mine_.next + bytes);
  }
  template <class T>
  T* take_array(std::size_t n) {
    return static_cast<T*>(take(n * sizeof(T)));
  }

 private:
  struct slab {
    char* data;
    std::size_t bytes;
  };
  struct slab_list {
    std::vector<slab> list;
    std::size_t least = std::size_t{1} << 18;  // bytes of a slab
    std::size_t current = 0;                   // the slab in use
    char *next = nullptr, *end = nullptr;      // its free part
    void go_to(std::size_t k, char* from) noexcept {
      current = k;
      next = from ? from : list.empty() ? nullptr : list[k].data;
      end = list.empty() ? nullptr : list[k].data + list[k].bytes;
    }
    /// Goes on to a slab that has so many bytes, made where there is none.
    void advance(std::size_t bytes) {
      std::size_t k = next ? current + 1 : current;
      while (k < list.size() && list[k].bytes < bytes) ++k;
      if (k == list.size()) grow(bytes);
      go_to(k, nullptr);
    }
    void grow(std::size_t bytes) {
      const std::size_t size = bytes < least ? least : bytes;
      list.reserve(list.size() + 1);
      void* p = std::aligned_alloc(64, size);
      if (!p) throw std::bad_alloc();
      list.push_back({static_cast<char*>(p), size});
    }
    ~slab_list() {
      for (auto& s : list) std::free(s.data);
    }
  };
  static slab_list& slabs() { return platform::per_thread<slab_list, arena>::get(); }

  std::unique_ptr<slab_list> own_;
  slab_list& mine_;
  std::size_t slab_;
  char* next_;
};

}  // namespace sinter::cpu
