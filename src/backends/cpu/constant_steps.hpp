// Which steps of captured work compute the same each time that it is run again in a loop, of whose memory only some changes.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "backends/cpu/kernels/step_memory.hpp"

namespace sinter::cpu {

struct recorded_step;

step_memory memory_of(const recorded_step& s);
bool overlap(const runtime::unchanged_memory& a, const runtime::unchanged_memory& b) noexcept;

/// The numbers of the steps that have to be run again where the others have been run and nothing but `changing` has been written
/// since, besides by the steps themselves. A step need not that reads nothing that changes, and whose results nothing writes
/// over.
std::vector<std::size_t> steps_to_repeat(std::span<const step_memory> steps,
                                         std::span<const runtime::unchanged_memory> changing);

}  // namespace sinter::cpu
