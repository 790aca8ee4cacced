// A lock for a few instructions, on the path of every recorded operation: a mutex would cost more than what it guards.
#pragma once
#include <atomic>
#include <thread>

namespace sinter::graph {

class spin_guard {
 public:
  explicit spin_guard(std::atomic<bool>& busy) noexcept : busy_(busy) {
    while (busy_.exchange(true, std::memory_order_acquire)) wait();
  }
  ~spin_guard() { busy_.store(false, std::memory_order_release); }
  spin_guard(const spin_guard&) = delete;
  spin_guard& operator=(const spin_guard&) = delete;

 private:
  void wait() const noexcept {
    constexpr int spins = 100;  // after these the holder has probably been descheduled
    for (int k = 0; busy_.load(std::memory_order_relaxed); ++k)
      if (k >= spins) std::this_thread::yield();
  }
  std::atomic<bool>& busy_;
};

}  // namespace sinter::graph
