// parallel_for: how many threads some work is worth, and how they share its tasks.
#include "runtime/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "platform/environment.hpp"
#include "runtime/hooks.hpp"
#include "runtime/worker_pool.hpp"

namespace sinter::runtime {
namespace {

constexpr int most_threads = 1024;

/// Each thread gets at least this much work: a sleeping thread begins some tens of microseconds after the call, and
/// waking it costs the caller a few.
constexpr double least_share = 20e3;  // nanoseconds

/// Cores that the process may run on.
int cores() noexcept {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());  // more cores than a set of this size has
}

int default_threads() noexcept {
  if (const auto n = platform::environment_number("SINTER_NUM_THREADS")) return static_cast<int>(*n);
  return std::clamp(cores(), 1, most_threads);
}

std::atomic<int> chosen{0};
thread_local bool inside = false;

/// What the threads of one parallel_for share.
struct job {
  std::int64_t tasks;
  void (*run)(void*, std::int64_t);
  void* context;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error{};
  std::mutex mutex{};

  void work() noexcept {
    inside = true;
    try {
      for (std::int64_t t; !failed.load(std::memory_order_relaxed) && (t = next.fetch_add(1)) < tasks;) run(context, t);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      failed = true;
    }
    inside = false;
  }
};

int threads_for(std::int64_t tasks, double nanoseconds) noexcept {
  const bool measured = chosen.load(std::memory_order_relaxed) == 0;
  const double worth = measured ? std::min(nanoseconds / least_share, double{most_threads}) : most_threads;
  return static_cast<int>(std::min<std::int64_t>({tasks, thread_count(), static_cast<std::int64_t>(worth)}));
}

}  // namespace

int thread_count() noexcept {
  const int n = chosen.load(std::memory_order_relaxed);
  if (n > 0) return n;
  static const int by_default = default_threads();
  return by_default;
}

void set_thread_count(int n) noexcept { chosen.store(std::max(n, 0), std::memory_order_relaxed); }

void detail::parallel_for(std::int64_t tasks, double nanoseconds, void (*run)(void*, std::int64_t), void* context) {
  const int threads = inside ? 1 : threads_for(tasks, nanoseconds);
  worker_pool* const pool = threads > 1 ? worker_pool::instance() : nullptr;
  if (!pool) {
    for (std::int64_t t = 0; t < tasks; ++t) run(context, t);
    return;
  }
  job shared{tasks, run, context};
  pool->run(
      threads - 1, [](void* j) noexcept { static_cast<job*>(j)->work(); }, &shared,
      chosen.load(std::memory_order_relaxed) == 0);
  if (shared.error) std::rethrow_exception(shared.error);
}

}  // namespace sinter::runtime
