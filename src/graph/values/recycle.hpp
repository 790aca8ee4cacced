// Memory of small objects that come and go with every recorded operation: a free list for each thread and size.
#pragma once
#include <cstddef>
#include <new>

#include "runtime/sanitizer.hpp"

namespace sinter::graph {

/// Free blocks of one size, of one thread, which go when the thread ends. The list itself is trivially destructible on
/// purpose: arrays in static storage may die after it. Sanitizers see every block come and go.
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
  /// Blocks may come back on another thread than the one that took them.
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
  static constexpr int most = 512;
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
      l.count = most;  // what comes now is not kept
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
