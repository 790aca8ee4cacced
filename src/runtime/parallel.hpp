// The one place that knows about threads. What runs in parallel must not depend on how many there are.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace sinter::runtime {

/// Threads that parallel_for uses: SINTER_NUM_THREADS, else the hardware's.
int thread_count() noexcept;
/// For tests and benchmarks; 0 restores the default.
void set_thread_count(int n) noexcept;

namespace detail {
void parallel_for(std::int64_t tasks, void (*run)(void*, std::int64_t), void* context);
}

/// Calls fn(task) for each task in [0, tasks), in any order, on several threads; returns when all are done and rethrows
/// the first exception. Inside of another parallel_for it runs serially.
template <class F>
void parallel_for(std::int64_t tasks, F&& fn) {
  using function = std::remove_reference_t<F>;
  detail::parallel_for(
      tasks, [](void* f, std::int64_t task) { (*static_cast<function*>(f))(task); },
      const_cast<void*>(static_cast<const void*>(std::addressof(fn))));
}

}  // namespace sinter::runtime
