// Gathered reads whose index is a coordinate and a constant, as those of roll: the iteration space is divided where such
// an index begins to count from the end, and in each part the read is a plain one.
#pragma once
#include <vector>

#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// The parts of an elementwise launch, with a program without those reads; none where it runs as it is. The parts cover
/// the iteration space, and no coordinate takes part in their programs.
std::vector<jit::launch> plain_parts_of(const jit::launch& l);

}  // namespace sinter::cpu
