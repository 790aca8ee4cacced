// Annotations for the sanitizers of memory that the library caches: without them, uses of a block after it was freed or
// beyond its requested size would not be detected, and a mutex in it would be mistaken for the previous one.
#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SINTER_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define SINTER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SINTER_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define SINTER_THREAD_SANITIZER 1
#endif
#endif

#ifdef SINTER_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace sinter::runtime {

#ifdef SINTER_ADDRESS_SANITIZER
inline constexpr bool address_sanitizer = true;
/// Of `size` bytes only the first `usable` may be touched from now on.
inline void allow_bytes(void* p, std::size_t usable, std::size_t size) noexcept {
  __asan_poison_memory_region(p, size);
  __asan_unpoison_memory_region(p, usable);
}
inline bool bytes_allowed(void* p, std::size_t size) noexcept { return !__asan_region_is_poisoned(p, size); }
#else
inline constexpr bool address_sanitizer = false;
inline void allow_bytes(void*, std::size_t, std::size_t) noexcept {}
inline bool bytes_allowed(void*, std::size_t) noexcept { return true; }
#endif

/// Whether each small object is allocated from the system, so that a sanitizer checks its bounds.
#if defined(SINTER_ADDRESS_SANITIZER) || defined(SINTER_THREAD_SANITIZER)
inline constexpr bool objects_watched = true;
#else
inline constexpr bool objects_watched = false;
#endif

}  // namespace sinter::runtime
