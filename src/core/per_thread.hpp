// Objects of each thread that work at any time, also when the thread has ended or is ending.
#pragma once
#include <unistd.h>

namespace sinter::core {

/// A T of the calling thread, made at its first use; `Tag` tells objects of one type apart. What a thread_local object
/// cannot do: destructors of static objects run on a thread whose thread_local objects are gone, and arrays in static
/// storage still compute there. Here only a pointer is thread_local, which has no destructor. The main thread's object
/// stays, as that thread ends with the process; another thread's goes with it, and what asks later gets a new one,
/// which stays.
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

}  // namespace sinter::core
