// Work on the host, spread over its cores.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace examples {

inline int core_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// Calls body(begin, end) for parts of 0 ... count of at most `part`, on `threads` threads, the caller's among them.
/// The first exception is thrown again when all have stopped.
template <class F>
void on_cores(std::int64_t count, std::int64_t part, int threads, F&& body) {
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&] {
    try {
      for (std::int64_t begin; (begin = next.fetch_add(part)) < count;) body(begin, std::min(begin + part, count));
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> others;
    for (int k = 1; k < threads && k * part < count; ++k) others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace examples
