// Twenty NumPy programs, ported line by line (../make/golden_more_programs.py has the originals).
#pragma once
#include <numbers>
#include <vector>

#include "sinter/sinter.hpp"

namespace sinter::test::programs {

using results = std::vector<ndarray>;
constexpr double pi = std::numbers::pi;

/// Numbers in [0, 1) by a generator that both languages have: the high bits of a multiplication in uint64.
ndarray draws(std::int64_t n, std::uint64_t seed);

results bits(), bootstrap(), chains(), cleaning(), clusters(), filters(), frames(), graphs(), joint(), ledger(), life(),
    membrane(), network(), numerics(), polynomials(), seasons(), shapes(), systems(), tables(), tensors();

}  // namespace sinter::test::programs
