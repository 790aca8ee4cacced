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
/// Programs without coordinates, and those with loops, stages or calls stay as they are. `widen`: what a reduction reads, and results,
/// are needed in int64 there alone, and made so at last; programs of narrower numbers are rewritten without coordinates, too.
void narrow_integers(program& p, const core::dims& extents, const std::vector<number_range>& params,
                     bool widen = false);

}  // namespace sinter::jit
