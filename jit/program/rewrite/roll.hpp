// Programs whose code repeats the same steps: the steps become a loop.
#pragma once
#include <optional>
#include <vector>

#include "jit/program/launch.hpp"

namespace sinter::jit {

/// Rewrites the code of an unfinished program (its outputs, reductions and epilogue are not set) with a loop for the
/// steps that it repeats, whose number becomes a further parameter, so that programs that differ only in that number are
/// equal. `results`: the registers that are needed afterwards, which get their new numbers. False where nothing repeats,
/// or where a step but the last ones computes a result: then nothing is changed.
bool roll(program& p, std::vector<scalar>& params, std::vector<std::uint16_t>& results);

}  // namespace sinter::jit
