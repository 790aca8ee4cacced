// Memory of small objects that every recorded operation allocates and frees: a free list for each thread and size.
#pragma once
#include <cstddef>
#include <new>

#include "runtime/sanitizer.hpp"

namespace sinter::graph {

/// A thread's free blocks of one size, freed when the thread ends. The list itself is deliberately trivially
/// destructible: arrays with static lifetime may be destroyed after it. Sanitizers see every allocation and
/// deallocation.
template <std::size_t Bytes>
struct recycler {
  static void* take() {
    if (runtime::objects_watched) return ::operator new(Bytes);
    free_list& l = list();
    if (!l.head) return ::operator new(Bytes);
    void* p = l.head;
    l.head = *static_cast<void**>(p);
    --l.count;
    return p;
  }
  /// Blocks may be freed on a thread other than the one that allocated them.
  static void give(void* p) noexcept {
    if (runtime::objects_watched) return ::operator delete(p);
    free_list& l = list();
    if (l.count >= most) return ::operator delete(p);
    if (!l.head && !l.watched) [[unlikely]]
      watch(l);
    *static_cast<void**>(p) = l.head;
    l.head = p;
    ++l.count;
  }

 private:
  static constexpr int most = 4096;
  struct free_list {
    void* head;
    int count;
    bool watched;
  };
  struct emptier {
    ~emptier() {
      free_list& l = list();
      while (l.head) {
        void* const p = l.head;
        l.head = *static_cast<void**>(p);
        ::operator delete(p);
      }
      l.count = most;  // blocks freed from now on are not kept
    }
  };
  [[gnu::noinline, gnu::cold]] static void watch(free_list& l) noexcept {
    static thread_local const emptier at_end;
    (void)at_end;
    l.watched = true;
  }
  static free_list& list() noexcept {
    static constinit thread_local free_list l{nullptr, 0, false};
    return l;
  }
};

/// For std::allocate_shared.
template <class T>
struct recycling_allocator {
  using value_type = T;
  recycling_allocator() = default;
  template <class U>
  recycling_allocator(const recycling_allocator<U>&) noexcept {}
  T* allocate(std::size_t) { return static_cast<T*>(recycler<sizeof(T)>::take()); }  // always one, from allocate_shared
  void deallocate(T* p, std::size_t) noexcept { recycler<sizeof(T)>::give(p); }
  friend bool operator==(recycling_allocator, recycling_allocator) noexcept { return true; }
};

}  // namespace sinter::graph
