// Threads that help a calling thread with its work and sleep in between.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace sinter::runtime {

/// One for the process. It is never destroyed, so that arrays in static storage may still be computed at exit, and a
/// forked child, where its threads are gone, gets a new one.
class worker_pool {
 public:
  /// Null where there is no memory for one.
  static worker_pool* instance() noexcept;

  /// Calls work(what) on this thread and, while that lasts, on up to `helpers` threads of the pool, which are started
  /// when they are first needed. Returns when all these calls have returned; a thread that has not begun when this
  /// thread is done is not waited for. The pool helps one caller at a time; others work alone. With `may_decline`, more
  /// and more calls work alone where calls wait for threads that have lost their cores to other programs.
  void run(int helpers, void (*work)(void*) noexcept, void* what, bool may_decline);

 private:
  static constexpr std::uint32_t seat = 1u << 16;       // state_: seats that are free, ...
  static constexpr std::uint32_t asleep = 1u << 15;     // whether the caller sleeps, ...
  static constexpr std::uint32_t at_work = asleep - 1;  // and the threads that have taken one
  static constexpr int most_workers = at_work;

  void start(int workers);
  void live();
  bool help();
  void rouse(std::uint32_t seats);
  std::chrono::steady_clock::duration finish();
  void learn(bool held_up) noexcept;

  std::atomic_flag taken_;  // a caller uses the pool
  int workers_ = 0;         // threads so far; used by that caller, as the next two are
  int calls_alone_ = 0;     // further calls that get no help, since others use the cores
  int next_alone_ = 0;      // how many the next one that is held up will cost
  void (*work_)(void*) noexcept = nullptr;
  void* what_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> state_{0};
  alignas(64) std::atomic<std::uint32_t> calls_{0};  // number of calls: workers sleep on it
  std::atomic<int> sleeping_{0};
};

}  // namespace sinter::runtime
