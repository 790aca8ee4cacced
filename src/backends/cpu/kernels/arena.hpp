// Memory that a task needs while it runs: taken from a list of slabs that each thread keeps.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "platform/per_thread.hpp"

namespace sinter::cpu {

/// Allocates 64-byte aligned memory that lives as long as the arena; the slabs stay with the thread.
class arena {
 public:
  arena() : mine_(slabs()), slab_(mine_.current), used_(mine_.used) {}
  ~arena() {
    mine_.current = slab_;
    mine_.used = used_;
  }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  void* take(std::size_t bytes) {
    bytes = (bytes + 63) & ~std::size_t{63};
    while (mine_.current < mine_.list.size() && mine_.used + bytes > mine_.list[mine_.current].bytes) {
      ++mine_.current;
      mine_.used = 0;
    }
    if (mine_.current == mine_.list.size()) mine_.grow(bytes);
    void* p = mine_.list[mine_.current].data + mine_.used;
    mine_.used += bytes;
    return p;
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
  struct thread_slabs {
    std::vector<slab> list;
    std::size_t current = 0, used = 0;
    void grow(std::size_t bytes) {
      const std::size_t size = bytes < (std::size_t{1} << 18) ? std::size_t{1} << 18 : bytes;
      list.reserve(list.size() + 1);
      void* p = std::aligned_alloc(64, size);
      if (!p) throw std::bad_alloc();
      list.push_back({static_cast<char*>(p), size});
    }
    ~thread_slabs() {
      for (auto& s : list) std::free(s.data);
    }
  };
  static thread_slabs& slabs() { return platform::per_thread<thread_slabs, arena>::get(); }

  thread_slabs& mine_;
  std::size_t slab_, used_;
};

}  // namespace sinter::cpu
