// Whole numbers of 64 bits that are computed in 32, where the values that they are made of are small enough: coordinates, in
// what NumPy makes of arange. Twice as many are in a vector, and on a GPU a product or a remainder is a fraction of the instructions.
#pragma once
#include <vector>

#include "core/dims.hpp"
#include "jit/program/number_range.hpp"
#include "jit/program/program.hpp"

namespace sinter::jit {

/// Computes in int32 what is int64, follows from coordinates, parameters and narrower numbers, cannot leave the range of int32, and is
/// not needed in int64 itself. `params`: of each parameter; what is not a whole number is not looked at. Values stay the same.
/// Programs without coordinates, and those with loops, stages or calls stay as they are. `reduced`: what a reduction reads is needed in
/// int64 by the reduction alone, and made so at last.
void narrow_integers(program& p, const core::dims& extents, const std::vector<number_range>& params,
                     bool reduced = false);

}  // namespace sinter::jit
