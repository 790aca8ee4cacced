// A step of a loop, captured once and run again and again on the host: what the step is given lies at fixed places, and so
// does what it computes.
//
// Unlike captured work that a user launches (capture.hpp), arrays from before are read where they are and stay as they
// were: none is pinned, and a step that writes one is refused. So nobody can tell afterwards that there was a capture.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/capture/recording_capture.hpp"
#include "graph/run/array.hpp"

namespace sinter::graph {

/// What a step takes and gives: leaves in C order. They keep their memory.
class step_work {
 public:
  ~step_work();
  step_work(const step_work&) = delete;
  step_work& operator=(const step_work&) = delete;

  std::span<const value> results() const noexcept { return results_; }
  /// What the step reads besides memory of its own, the inputs included.
  std::span<const value> reads() const noexcept { return held_; }
  /// Computes the results from what lies in the memory of the inputs. Within a submission.
  void run() { work_->launch(); }
  /// What the step reads is not written by anybody else as long as it is run, but for `inputs`.
  void expect_unchanged(std::span<const value> inputs);
  /// Declares what run() uses.
  void declare(runtime::submission& work) const;

 private:
  friend class step_session;
  step_work() = default;
  std::shared_ptr<capture_memory> memory_;
  std::vector<value> results_, held_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::unique_ptr<runtime::recorded_work> work_;  // destroyed first
};

/// The capture of a step on this thread, from its beginning to finish(). Without finish(), everything is as before.
class step_session final : public recording_capture {
 public:
  /// Of the host, whose memory the inputs have. device_error within another capture.
  explicit step_session(runtime::stream& s);
  ~step_session();
  step_session(const step_session&) = delete;
  step_session& operator=(const step_session&) = delete;

  /// Values that finish() evaluates and whose places are the results.
  void give(std::vector<value> results) { results_ = std::move(results); }
  /// Whether the step has written arrays from before, or has left arrays of its own somewhere.
  bool has_side_effects() const;
  /// Null where it has.
  std::unique_ptr<step_work> finish();

  void touch(const std::shared_ptr<storage>& s);
  void note_deferred(const std::shared_ptr<const array_view>& v) { deferred_.push_back(v); }
  /// The one of the calling thread, also while it works outside of it; null if there is none.
  static step_session* current() noexcept;

 private:
  void leave() noexcept;
  void restore() noexcept;

  struct array_before {
    std::shared_ptr<storage> array;
    value original;
  };
  std::unordered_map<const storage*, array_before> touched_;
  std::vector<std::weak_ptr<const array_view>> deferred_;
  std::vector<value> results_;
};

}  // namespace sinter::graph
