// A call offers a number of free seats. A worker takes a seat and is counted as working by one atomic operation, so
// that the caller, when it withdraws the remaining seats, waits for working threads only, never for a thread that has
// not been scheduled yet.
//
// A thread that waits spins for a few microseconds, which is enough for back-to-back calls, and then sleeps: spinning
// longer would keep the core from the thread that it waits for.
#include "runtime/worker_pool.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <thread>

namespace sinter::runtime {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds spin_time{5};
// A wait of at least this time, in which the process hardly ran, was for a thread that had lost its core.
constexpr std::chrono::microseconds long_wait{150};
constexpr int least_alone = 8, most_alone = 1024;  // calls
// Each of them wakes as many: one thread would take long to wake all of a large machine.
constexpr std::uint32_t woken_at_a_time = 4;

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

/// Returns when woken, when the word is not `expected`, or for no reason.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void wake(std::atomic<std::uint32_t>& word, int most) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
}

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Whether done() has come true within a few microseconds.
template <class Done>
bool comes_soon(Done done) noexcept {
  const clock::time_point end = clock::now() + spin_time;
  do {
    for (int k = 0; k < 16; ++k) {
      if (done()) return true;
      relax();
    }
  } while (clock::now() < end);
  return done();
}

/// Time that the process's threads have run.
clock::duration processor_time() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

std::atomic<worker_pool*> current{nullptr};

/// In a forked child, which has none of the pool's threads.
void forget_pool() noexcept { current.store(nullptr, std::memory_order_relaxed); }

}  // namespace

worker_pool* worker_pool::instance() noexcept {
  worker_pool* p = current.load(std::memory_order_acquire);
  if (p) [[likely]]
    return p;
  [[maybe_unused]] static const int registered = ::pthread_atfork(nullptr, nullptr, forget_pool);
  auto* const fresh = new (std::nothrow) worker_pool;
  if (!fresh || current.compare_exchange_strong(p, fresh, std::memory_order_acq_rel)) return fresh;
  delete fresh;
  return p;
}

void worker_pool::run(int helpers, void (*work)(void*) noexcept, void* what, bool may_decline) {
  if (helpers <= 0 || taken_.test_and_set(std::memory_order_acquire)) return work(what);
  if (may_decline && calls_alone_ > 0) {
    --calls_alone_;
    work(what);
    return taken_.clear(std::memory_order_release);
  }
  start(std::min(helpers, most_workers));
  work_ = work;
  what_ = what;
  const auto seats = static_cast<std::uint32_t>(std::min(helpers, workers_));
  state_.store(seat * seats, std::memory_order_release);
  calls_.fetch_add(1);
  rouse(seats);
  const clock::time_point begin = clock::now();
  work(what);
  const clock::duration worked = clock::now() - begin, lost = finish();
  learn(lost > long_wait && lost > worked / 2);
  taken_.clear(std::memory_order_release);
}

/// Each call that is held up doubles the number of calls that follow without help; each other one takes an eighth off.
void worker_pool::learn(bool held_up) noexcept {
  if (held_up) {
    next_alone_ = std::clamp(2 * next_alone_, least_alone, most_alone);
    calls_alone_ = next_alone_;
  } else {
    next_alone_ -= (next_alone_ + 7) / 8;
  }
}

/// Closes the call and waits for the threads at work. Returns for how long none of them ran meanwhile.
clock::duration worker_pool::finish() {
  if ((state_.fetch_and(at_work, std::memory_order_acquire) & at_work) == 0) return {};
  const auto done = [&] { return state_.load(std::memory_order_acquire) == 0; };
  if (comes_soon(done)) return {};
  const clock::time_point begin = clock::now();
  const clock::duration before = processor_time();
  for (std::uint32_t now = state_.load(std::memory_order_acquire); now != 0;
       now = state_.load(std::memory_order_acquire)) {
    if (!(now & asleep) && !state_.compare_exchange_weak(now, now | asleep)) continue;
    sleep_on(state_, now | asleep);
  }
  return (clock::now() - begin) - (processor_time() - before);
}

/// Wakes some sleeping workers for free seats.
void worker_pool::rouse(std::uint32_t seats) {
  if (seats != 0 && sleeping_.load() > 0) wake(calls_, static_cast<int>(std::min(seats, woken_at_a_time)));
}

/// Whether there was a seat; if so the work is done.
bool worker_pool::help() {
  std::uint32_t now = state_.load(std::memory_order_relaxed);
  do {
    if (now < seat) return false;
  } while (!state_.compare_exchange_weak(now, now - seat + 1, std::memory_order_acquire, std::memory_order_relaxed));
  rouse((now - seat) / seat);
  work_(what_);
  // No task is left, so the other seats are withdrawn. The last worker wakes the caller, after which `work_` may
  // dangle.
  now = state_.load(std::memory_order_relaxed);
  std::uint32_t after;
  do {
    after = (now & (at_work | asleep)) - 1;
    if (after == asleep) after = 0;
  } while (!state_.compare_exchange_weak(now, after, std::memory_order_release, std::memory_order_relaxed));
  if (after == 0 && (now & asleep)) wake(state_, 1);
  return true;
}

void worker_pool::live() {
  for (;;) {
    const std::uint32_t seen = calls_.load();
    if (help() || comes_soon([&] { return state_.load(std::memory_order_relaxed) >= seat; })) continue;
    sleeping_.fetch_add(1);
    sleep_on(calls_, seen);
    sleeping_.fetch_sub(1);
  }
}

void worker_pool::start(int workers) {
  try {
    for (; workers_ < workers; ++workers_)
      std::thread([this, n = workers_ + 1] {
        ::pthread_setname_np(::pthread_self(), ("sinter " + std::to_string(n)).c_str());
        live();
      }).detach();
  } catch (const std::exception&) {  // fewer threads do as well
  }
}

}  // namespace sinter::runtime
