// Per-thread objects that can be used at any time, also while the thread ends.
#pragma once
#include <unistd.h>

namespace sinter::platform {

/// A T of the calling thread, made at its first use; `Tag` distinguishes objects of one type. A thread_local T would
/// not do: destructors of static objects run on a thread whose thread_local objects are destroyed, and arrays with
/// static lifetime still compute there. Here only a pointer is thread_local, which has no destructor. The main thread's
/// object lives as long as the process; another thread's is destroyed with the thread, and a later use on that thread
/// makes a new one, which is never destroyed.
template <class T, class Tag>
class per_thread {
 public:
  /// Throws what T's constructor does, and std::bad_alloc.
  static T& get() {
    if (T* const object = object_) [[likely]]
      return *object;
    return make();
  }

 private:
  struct guard {
    ~guard() {
      delete object_;
      object_ = nullptr;
    }
  };
  [[gnu::noinline, gnu::cold]] static T& make() {
    T* const made = new T;
    object_ = made;
    if (!guarded_ && ::gettid() != ::getpid()) {
      guarded_ = true;
      [[maybe_unused]] static thread_local const guard at_end;
    }
    return *made;
  }

  static inline constinit thread_local T* object_ = nullptr;
  static inline constinit thread_local bool guarded_ = false;
};

}  // namespace sinter::platform
