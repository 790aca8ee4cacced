// Factors of sums under fast_math.
#pragma once
#include <cstdint>

#include "jit/program/program.hpp"

namespace sinter::jit {

/// (x + y) * s as x * s + y * s, and differences likewise, where x depends on inputs of `rows` alone (a bit for each of
/// the first 64), y on none of them, and s is a scalar: if the rows' part is computed once for many sums, a multiply-add is
/// left of each. Exact for powers of two; otherwise one more rounding, which only fast_math allows. `p` itself where
/// there is nothing to do, else a program that is never destroyed.
const program& without_common_factors(const program& p, std::uint64_t rows);

}  // namespace sinter::jit
