// Operands whose lanes lie in memory by a pattern that generated code knows (jit::lane_pattern): it reads and writes them where they
// are, by shuffles, and nothing is copied block by block.
#pragma once
#include <string>

#include "backends/cpu/kernels/block_plan.hpp"

namespace sinter::cpu {

/// The patterns of an elementwise launch, or of what a reduction reads, as jit::block_variant has them; empty where there are none, or
/// where the program or the walk takes none.
std::string lane_patterns(const jit::launch& l, const walk_axes& axes);

}  // namespace sinter::cpu
