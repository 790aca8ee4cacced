// What has ended a job: shared by all groups that were split from one another.
#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "sinter/error.hpp"

namespace sinter::runtime {

/// The first failure stays. Thread safe.
class failure_record {
 public:
  bool is_raised() const noexcept { return raised_.load(std::memory_order_acquire); }
  /// Whether it is the first one.
  bool raise(std::string_view message) noexcept {
    const std::lock_guard lock(mutex_);
    if (is_raised()) return false;
    try {
      message_ = message;
    } catch (...) {  // without memory for the message the failure counts all the same
    }
    raised_.store(true, std::memory_order_release);
    return true;
  }
  std::string message() const {
    const std::lock_guard lock(mutex_);
    return message_;
  }
  /// Throws device_error in the name of a function if there is one.
  void throw_if_raised(const char* function) const {
    if (is_raised()) throw device_error("[" + std::string(function) + "] " + message());
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> raised_{false};
  std::string message_;
};

}  // namespace sinter::runtime
