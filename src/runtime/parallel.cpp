// parallel_for by OpenMP, or by std::thread where the thread sanitizer must see the synchronisation.
#include "runtime/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#if defined(_OPENMP) && !defined(SINTER_USE_STD_THREAD)
#include <omp.h>
#define SINTER_PARALLEL_OPENMP 1
#endif

namespace sinter::runtime {
namespace {

int default_threads() noexcept {
  if (const char* text = std::getenv("SINTER_NUM_THREADS")) {
    int n = std::atoi(text);
    if (n > 0) return std::min(n, 1024);
  }
#ifdef SINTER_PARALLEL_OPENMP
  return std::max(1, omp_get_max_threads());
#else
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
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
  std::exception_ptr error;
  std::mutex mutex;

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

}  // namespace

int thread_count() noexcept {
  int n = chosen.load(std::memory_order_relaxed);
  if (n > 0) return n;
  static const int by_default = default_threads();
  return by_default;
}

void set_thread_count(int n) noexcept { chosen.store(std::max(n, 0), std::memory_order_relaxed); }

void detail::parallel_for(std::int64_t tasks, void (*run)(void*, std::int64_t), void* context) {
  int threads = static_cast<int>(std::min<std::int64_t>(tasks, thread_count()));
#ifdef SINTER_PARALLEL_OPENMP
  bool nested = inside || omp_in_parallel();
#else
  bool nested = inside;
#endif
  if (threads <= 1 || nested) {
    for (std::int64_t t = 0; t < tasks; ++t) run(context, t);
    return;
  }
  job shared;
  shared.tasks = tasks;
  shared.run = run;
  shared.context = context;
#ifdef SINTER_PARALLEL_OPENMP
#pragma omp parallel num_threads(threads)
  shared.work();
#else
  std::vector<std::thread> workers;
  try {
    for (int k = 1; k < threads; ++k) workers.emplace_back([&] { shared.work(); });
  } catch (const std::exception&) {  // fewer threads do as well
  }
  shared.work();
  for (auto& w : workers) w.join();
#endif
  if (shared.error) std::rethrow_exception(shared.error);
}

}  // namespace sinter::runtime
