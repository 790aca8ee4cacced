// Launches of an evaluation that the device may put off until the last one of them is known.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/backend.hpp"

namespace sinter::graph {

/// During its lifetime launches make a list (runtime::backend::begin_list).
class listed_launches {
 public:
  /// `kept`: null, and there is no list. `done`: the number of jobs that have run; 0 where the list's launches fail.
  listed_launches(runtime::backend& device, std::unique_ptr<jit::launch_list>* kept, std::size_t& done)
      : device_(device), done_(done), open_(kept != nullptr) {
    if (open_) device_.begin_list(*kept);
  }
  /// Where a launch has failed, those before it run.
  ~listed_launches() {
    try {
      end();
    } catch (...) {  // the failure of the launch is reported
    }
  }
  listed_launches(const listed_launches&) = delete;
  listed_launches& operator=(const listed_launches&) = delete;

  void end() {
    if (!std::exchange(open_, false)) return;
    try {
      device_.end_list();
    } catch (...) {
      done_ = 0;
      throw;
    }
  }

 private:
  runtime::backend& device_;
  std::size_t& done_;
  bool open_;
};

/// While parts of divided arrays are evaluated: launches of a part must not wait for copies from other devices that only later ones
/// need, so none is put off. Under the flush lock.
class evaluating_parts {
 public:
  evaluating_parts() noexcept { ++depth; }
  ~evaluating_parts() { --depth; }
  evaluating_parts(const evaluating_parts&) = delete;
  evaluating_parts& operator=(const evaluating_parts&) = delete;
  static bool none() noexcept { return depth == 0; }

 private:
  static inline int depth = 0;
};

}  // namespace sinter::graph
