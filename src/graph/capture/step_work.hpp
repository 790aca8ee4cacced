// A step of a loop, or a function, captured once and run again and again: what it is given lies at fixed places, and so does
// what it computes. On a GPU the device runs all steps of a loop by itself (runtime/stepping_work.hpp).
//
// A function may have loops, whose steps are captured within its own capture: running them is one entry in its list.
//
// Unlike captured work that a user launches (capture.hpp), arrays from before are read where they are and stay as they
// were: none is pinned, and a step that writes one is refused. So nobody can tell afterwards that there was a capture.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/capture/recording_capture.hpp"
#include "graph/run/array.hpp"
#include "runtime/looping_work.hpp"
#include "runtime/moving_work.hpp"
#include "runtime/stepping_work.hpp"

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
  /// The same after another run, since when nothing has been written but what expect_changes() says.
  void run_again() {
    if (looping_) looping_->launch_again();
    else work_->launch();
  }
  /// Between a run and run_again() these change, which the step is given, and nothing else that it reads.
  void expect_changes(std::span<const value> inputs);
  /// What the step reads is not written by anybody else as long as it is run, but for `inputs`.
  void expect_unchanged(std::span<const value> inputs);
  /// Whether an input, or a result, need not be copied: the work can read, or write, the elements of another leaf of that shape
  /// (move()). Before the first run; afterwards each run is preceded by a move().
  bool let_move(const value& captured, runtime::moving_work::access how);
  void move(const value& captured, const value& to);
  /// Where a device runs all steps by itself, what does so; else null.
  runtime::stepping_work* stepping() const { return dynamic_cast<runtime::stepping_work*>(work_.get()); }
  /// Whether what it runs may find errors in data.
  bool finds_errors() const noexcept { return finds_errors_; }
  /// Whether it must not be destroyed before it has run: kernels and plans of libraries belong to it.
  bool has_objects() const noexcept { return !kept_.empty(); }
  /// Declares what run() uses.
  void declare(runtime::submission& work) const;
  /// Whether the arrays from before that the step has read are as they were, and somebody else still has them: a name that
  /// stands for another array now has left the one that it stood for.
  bool is_current() const;

 private:
  friend class step_session;
  step_work() = default;
  std::shared_ptr<capture_memory> memory_;
  struct array_read {
    std::shared_ptr<storage> array;
    value elements;
    bool is_shared;
  };
  std::vector<value> results_, held_;
  std::vector<array_read> arrays_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::unique_ptr<runtime::recorded_work> work_;  // destroyed first
  bool finds_errors_ = false;
  runtime::looping_work* looping_ = nullptr;  // it, where it can make use of what does not change
  runtime::moving_work* moving_ = nullptr;    // it, where some of its memory can be elsewhere
};

/// What is captured: a step, or a function whose loops are captured as well.
enum class step_of : std::uint8_t { loop, function };

/// The capture of a step on this thread, from its beginning to finish(). Without finish(), everything is as before.
class step_session final : public recording_capture {
 public:
  /// Of a stream's device, whose memory the inputs have; `carry` and `arguments` are those of a step, other elements each time.
  /// device_error within another capture, but for a step within a function.
  explicit step_session(runtime::stream& s, step_of what = step_of::loop, std::span<const value> carry = {},
                        std::span<const value> arguments = {});
  ~step_session();
  step_session(const step_session&) = delete;
  step_session& operator=(const step_session&) = delete;

  /// Values that finish() evaluates and whose places are the results.
  void give(std::vector<value> results) { results_ = std::move(results); }
  /// Whether the step has written arrays from before, or has left arrays of its own somewhere.
  bool has_side_effects() const;
  /// Null where it has.
  std::unique_ptr<step_work> finish();

  bool stays(const node& leaf) const noexcept override;
  void touch(const std::shared_ptr<storage>& s);
  void note_deferred(const std::shared_ptr<const array_view>& v) { deferred_.push_back(v); }
  /// The one of the calling thread, also while it works outside of it; null if there is none.
  static step_session* current() noexcept;
  /// Whether a function of the calling thread's is captured with its loops, or a step of one of these.
  static bool takes_loops() noexcept;
  /// What the step does besides launches and copies, each time that it is run; the calling thread is in a capture.
  static void add_call(std::function<void()> call);

 private:
  static recording_capture* around_steps() noexcept;
  std::vector<step_work::array_read> arrays_read();
  void restore() noexcept;

  struct array_before {
    std::shared_ptr<storage> array;
    value original;
  };
  std::unordered_map<const storage*, array_before> touched_;
  std::vector<std::weak_ptr<const array_view>> deferred_;
  std::vector<value> results_;
  step_of what_;
  bool takes_loops_;
  std::unordered_set<const runtime::buffer*> changing_;  // memory of the inputs
};

}  // namespace sinter::graph
