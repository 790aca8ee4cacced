// The library's background thread, which ends before anything that a task may be using is destroyed.
//
// NVRTC registers exit handlers while it loads, and they destroy what a load or a compilation in progress still uses.
// So the thread must have ended before any exit handler runs. Only destructors of the exiting thread's thread_local
// variables run that early: hence tasks are accepted once the main thread, which is the one that returns from main, has
// such a variable. An exit handler serves programs that call exit in another thread. NVRTC registers further handlers
// during its first compilation, and handlers run in reverse order of registration: so this one is registered again with
// each task.
#include "platform/background.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace sinter::platform {
namespace {

class worker {
 public:
  /// Never destroyed: exit handlers may run after static objects are destroyed.
  static worker& instance() {
    static worker& one = *new worker;
    return one;
  }

  void main_thread_waits() noexcept {
    const std::lock_guard lock(mutex_);
    open_ = !closed_;
  }
  bool open() const noexcept { return open_.load(std::memory_order_relaxed); }
  bool post(std::function<void()> task) {
    if (!open() || ::getpid() != process_) return false;
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;  // no further thread is available
    }
    tasks_.push_back(std::move(task));
    ++unfinished_;
    changed_.notify_all();
    return true;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return unfinished_ == 0 || closed_; });
  }
  /// Ends the thread. A forked child has no such thread.
  void close() {
    if (::getpid() != process_) return;
    std::thread ending;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      open_ = false;
      ending = std::move(thread_);
    }
    changed_.notify_all();
    if (ending.joinable()) ending.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closed_ || !tasks_.empty(); });
      if (closed_) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
      --unfinished_;
      changed_.notify_all();
    }
  }

  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  std::deque<std::function<void()>> tasks_;
  int unfinished_ = 0;
  std::atomic<bool> open_{false};  // the main thread will wait for the thread, and has not begun to
  bool closed_ = false;            // the process is ending
};

void close_worker() { worker::instance().close(); }

struct close_at_thread_end {
  ~close_at_thread_end() { close_worker(); }
};

void note_main_thread() {
  static thread_local bool noted = false;
  if (noted) return;
  noted = true;
  if (::gettid() != ::getpid()) return;
  [[maybe_unused]] static thread_local const close_at_thread_end guard;
  worker::instance().main_thread_waits();
}

}  // namespace

bool background_available() {
  note_main_thread();
  return worker::instance().open();
}

bool run_in_background(std::function<void()> task) {
  note_main_thread();
  if (!worker::instance().post(std::move(task))) return false;
  end_background_before_exit_handlers();
  return true;
}

void wait_for_background() { worker::instance().wait(); }

void end_background_before_exit_handlers() noexcept { std::atexit(close_worker); }

}  // namespace sinter::platform
