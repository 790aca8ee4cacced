// Loops of equal steps as launches: every element runs all steps (graph/plan/steps/step_loop.hpp).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/plan/steps/step_loop.hpp"

namespace sinter::graph {

/// What the steps of a loop go over.
struct loop_range {
  std::int64_t steps = 0;         // at least 1; with a condition: at most so many
  std::int64_t first_number = 0;  // of the first step
  bool reverse = false;           // from the last scanned element to the first
};

class step_loop {
 public:
  /// Null where the step does not suit. Evaluates what the step reads besides its inputs.
  static std::unique_ptr<step_loop> make(const recorded_step& step);

  /// Runs the steps from the carry on: the last carry, then the outputs, with the steps as their first axis, or the
  /// condition after the last step, all in new memory. `scanned`: arrays whose first axis is the steps. At least one step is
  /// run.
  std::vector<value> run(std::span<const value> carry, std::span<const value> scanned, const loop_range& over) const;

 private:
  step_loop() = default;
  struct result {
    dims shape;
    dtype type;
    runtime::device_id device;
  };
  struct arrays;
  jit::launch launch_of(const loop_kernel& k, const arrays& a, const loop_range& over) const;

  std::vector<loop_kernel> kernels_;
  std::vector<result> results_;
  std::size_t last_ = 0;  // results of the last step; the others are those of each
};

}  // namespace sinter::graph
