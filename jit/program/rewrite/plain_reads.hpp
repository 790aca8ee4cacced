// Programs whose gathered reads have become plain ones, where the backend knows where the elements lie.
#pragma once
#include <cstdint>

#include "jit/program/program.hpp"

namespace sinter::jit {

/// The program with plain reads of these inputs (a bit for each of the first 64), without what no output needs. Never
/// destroyed. For elementwise programs and reductions without calls, tails and loops.
const program& plain_program(const program& p, std::uint64_t inputs);

}  // namespace sinter::jit
