// Sums of narrow whole numbers that are added in 32 bits, where that many cannot leave their range: twice as many are in a vector.
#pragma once
#include <cstdint>

#include "jit/program/program.hpp"

namespace sinter::jit {

/// Adds numbers of up to 16 bits in int32 that a reduction over `count` elements adds in 64, and widens the result. Values stay the
/// same.
void narrow_sums(program& p, std::int64_t count);

}  // namespace sinter::jit
