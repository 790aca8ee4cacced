// How the CPU runs a launch, as a description for explain.
#pragma once
#include "jit/program/launch.hpp"
#include "jit/schedule/schedule.hpp"

namespace sinter::cpu {

/// There is one schedule for each launch: blocks, their order and their tasks follow from extents, strides and the number
/// of threads.
jit::schedule describe(const jit::launch& l);

}  // namespace sinter::cpu
