// Derivatives of loops whose steps are known, as loops.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ops/loops/step_function.hpp"

namespace sinter::ops {

/// A scan: `step` takes the carry and an element of each scanned array, and gives the next carry and the outputs.
struct known_loop {
  step_function step;
  std::size_t carried;  // arrays of the carry
  std::int64_t steps;
  bool reverse;
};

/// The last carry, then the outputs of all steps along new first axes. `operands`: the carry, the scanned arrays, and what is
/// in place of the step's constants. Derivatives that are followed see one call, whose derivatives are loops:
/// - of tangents: one over carry and tangents;
/// - of cotangents: the loop once more, which keeps the carry before each step, then a loop over the steps from the last to the
///   first, which passes on the cotangents of the carry and the sums of those of the constants. Where the carries of all steps
///   take much memory, they are kept for a part of the steps at a time, and computed from its first one.
std::vector<ndarray> run_for_derivatives(const std::shared_ptr<const known_loop>& loop,
                                         std::span<const ndarray> operands);

}  // namespace sinter::ops
