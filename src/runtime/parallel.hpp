// The one place that decides what runs on several threads. What runs in parallel must not depend on how many there are.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

namespace sinter::runtime {

/// Threads that parallel_for uses, the calling one included: SINTER_NUM_THREADS, else as many as the process has cores.
int thread_count() noexcept;

/// For work of unknown duration, which may take long.
inline constexpr double any_time = std::numeric_limits<double>::infinity();

namespace detail {
void parallel_for(std::int64_t tasks, double nanoseconds, void (*run)(void*, std::int64_t), void* context);
}

/// Calls fn(task) for each task in [0, tasks), in any order, on several threads; returns when all are done and rethrows
/// the first exception. `nanoseconds` is about what all tasks together take on one thread: work for which waking
/// another thread does not pay runs on the calling thread, and so does a parallel_for inside another one.
template <class F>
void parallel_for(std::int64_t tasks, double nanoseconds, F&& fn) {
  using function = std::remove_reference_t<F>;
  detail::parallel_for(
      tasks, nanoseconds, [](void* f, std::int64_t task) { (*static_cast<function*>(f))(task); },
      const_cast<void*>(static_cast<const void*>(std::addressof(fn))));
}

}  // namespace sinter::runtime
