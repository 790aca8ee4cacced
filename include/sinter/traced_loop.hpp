// What loops.hpp needs to run steps without calling them again. Not part of sinter.hpp, and not for users.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sinter/ndarray.hpp"

namespace sinter::inline v0::detail {

/// What is known of a step before it is called.
enum class step_kind : std::uint8_t {
  called,   // it is called for each step: the caller wants that, or its structures have numbers
  unknown,  // whether two calls record the same is to be seen
  pure,     // each call records the same and does nothing else: a function of the library's
};

/// Steps of a loop of which two in a row have recorded the same: a third one is captured, and all that follow are run from
/// there (src/ops/loops/traced_loop.cpp says when).
class traced_loop {
 public:
  using arrays = std::span<ndarray* const>;
  /// `steps`: how many there are; -1: unknown.
  traced_loop(const char* function, std::int64_t steps, step_kind kind);
  ~traced_loop();
  traced_loop(const traced_loop&) = delete;
  traced_loop& operator=(const traced_loop&) = delete;

  /// Before step k is called: where it is to be watched, its arguments become arrays of their own with the same elements.
  void before_call(std::int64_t k, arrays carry, arrays arguments);
  /// After it, when nothing else of the step is left: what it has given.
  void after_call(arrays carry, arrays arguments, arrays next, arrays outputs);
  /// Whether step k, and all that follow, can be captured. `call` calls the step with these structures, which get arrays of
  /// the capture, and passes what it gives to give(). False: nothing has happened, and the step is to be called.
  bool capture(std::int64_t k, arrays carry, arrays arguments, const std::function<void()>& call);
  void give(arrays next, arrays outputs);

  /// Runs the captured step for numbers [k, steps), which read elements of `xs`, or the last first. Returns the outputs of
  /// all steps, in the order of the elements; `before`: those of each output so far, k of them.
  std::vector<ndarray> run_scan(std::int64_t k, arrays carry, arrays xs, bool reverse,
                                std::span<std::vector<ndarray>> before);
  /// The same where the argument is the number of the step, counted from `lower`.
  void run_numbers(std::int64_t k, std::int64_t lower, arrays carry);
  /// From step k on the condition of a while_loop depends on the example of a vmap: its steps are watched soon after it, and
  /// those of all examples are one loop. (What capture() finds out for itself where the condition of the first step does not.)
  void watch_examples(std::int64_t k);
  bool watches_examples() const noexcept;
  /// Whether the step that is called is watched.
  bool is_watching() const noexcept;
  /// As long as the output, before the first step the condition, is true; of examples for each of them.
  void run_while(arrays carry, const ndarray& condition);
  /// Whether the step is to be captured before it has been called: the host cannot read the condition.
  bool is_captured_at_once() const noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;  // null: not watched any more
};

}  // namespace sinter::inline v0::detail
