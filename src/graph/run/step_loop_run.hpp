// Loops of equal steps as launches: every element runs all steps (graph/plan/steps/step_loop.hpp).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
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

  /// Makes it one that keeps no array: those that are the `places`' (by node) are given with each run. False: it reads others.
  bool give_constants(const std::unordered_map<const node*, std::size_t>& places);

  /// Runs the steps from the carry on: the last carry, then the outputs, with the steps as their first axis, or the
  /// condition after the last step, all in new memory. `scanned`: arrays whose first axis is the steps. At least one step is
  /// run.
  /// `constants`: what give_constants() has asked for. Nothing is run, and there are no results, where an element of these
  /// that is a number of the program cannot be read.
  std::vector<value> run(std::span<const value> carry, std::span<const value> scanned, const loop_range& over,
                         std::span<const value> constants = {}) const;

 private:
  step_loop() = default;
  struct result {
    dims shape;
    dtype type;
    runtime::device_id device;
  };
  struct arrays;
  jit::launch launch_of(const loop_kernel& k, const arrays& a, const loop_range& over) const;
  static bool read_numbers(const loop_kernel& k, std::span<const value> constants, jit::launch& l);

  std::vector<loop_kernel> kernels_;
  std::vector<result> results_;
  std::size_t last_ = 0;  // results of the last step; the others are those of each
};

}  // namespace sinter::graph
