// Derivatives of loops whose steps are known, as loops.
#pragma once
#include <cstdint>
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
  bool keeps_carry = false;  // the last outputs are the carry before each step
};

/// The last carry, then the outputs of all steps along new first axes. `operands`: the carry, the scanned arrays, and what is
/// in place of the step's constants. Derivatives that are followed see one call, whose derivatives are loops:
/// - of tangents: one over carry and tangents;
/// - of cotangents: a loop over the steps from the last to the first, which passes on the cotangents of the carry and the sums
///   of those of the constants. It needs the carry before each step, which the call keeps. Where the carries of all steps take
///   much memory, it does not; then they are computed once more, for a part of the steps at a time, from its first one.
std::vector<ndarray> run_for_derivatives(known_loop loop, std::span<const ndarray> operands);

}  // namespace sinter::ops
