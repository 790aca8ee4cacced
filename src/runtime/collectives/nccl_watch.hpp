// The thread that looks after calls of NCCL that have not been completed. It destroys nothing: a thread that waits in a copy for a
// call that does not end holds a lock of the driver's, and who destroys an event or a communicator meanwhile waits for that lock.
#pragma once
#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

#include "runtime/collectives/nccl_group.hpp"

namespace sinter::runtime {

class nccl_watch {
 public:
  static nccl_watch& instance();

  /// The time of a call counts from `begin`, when the work before it was done, to `end`.
  struct item {
    std::shared_ptr<nccl_group> group;
    const char* function;
    std::unique_ptr<event> begin, end;
    std::chrono::steady_clock::time_point started;
    bool has_started;
  };
  /// Also destroys what the calls that have been completed since held.
  void add(item i);

 private:
  /// Looks at all items once.
  void look();
  /// At exit, before the driver ends: no more looks.
  void stop() noexcept;
  nccl_watch() = default;
  [[noreturn]] void work();
  /// Whether the item needs no more looks.
  static bool is_over(item& i);

  std::mutex mutex_;
  std::condition_variable added_;
  std::list<item> items_, completed_;
  bool runs_ = false, stopped_ = false;
  std::mutex looking_;  // locked before the other one
};

}  // namespace sinter::runtime
