// Division, square root and logarithm for a group of lanes at a time: a version without branches (cuda_quick.h),
// and one branch for the group, to a version for every operand. The compiler's own code has a branch for each operation of each
// lane, so that no lane's instructions overlap another's.
#pragma once
#include "jit/cuda/emit_body.hpp"

namespace sinter::jit::cuda {

/// Sets the steps of a phase with enough such operations. Those whose operands are there at the same time share one branch;
/// all else is done as late as it can be, but elements of memory are read as early as possible.
void divide_into_steps(const program& p, const cuda_variant& v, phase& f);

/// 32-bit registers of the values that an element has at once, in the order of the instructions, if a phase of the whole
/// program may have steps; else 0.
int registers_in_steps(const program& p);

/// call_lanes for a phase that has steps.
void call_steps(text& t, const program& p, const phase& f, int lanes, const argument_source& source);

}  // namespace sinter::jit::cuda
