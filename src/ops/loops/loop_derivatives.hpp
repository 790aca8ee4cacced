// Derivatives of loops whose steps are known, as loops.
#pragma once
#include <span>
#include <vector>

#include "ops/loops/known_loop.hpp"

namespace sinter::ops {

/// The last carry, then the outputs of all steps along new first axes. `operands`: the carry, the scanned arrays, and what is
/// in place of the step's constants. Derivatives that are followed see one call, whose derivatives are loops:
/// - of tangents: one over carry and tangents;
/// - of cotangents: a loop over the steps from the last to the first, which passes on the cotangents of the carry and the sums
///   of those of the constants. It needs the carry before each step, which the call keeps. Where the carries of all steps take
///   much memory, it does not; then they are computed once more, for a part of the steps at a time, from its first one.
std::vector<ndarray> run_for_derivatives(known_loop loop, std::span<const ndarray> operands);

}  // namespace sinter::ops
