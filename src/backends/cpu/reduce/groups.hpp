// Columns that are reduced by whole groups: one piece of code computes the elements of four steps and joins them, so that what
// goes to memory for each column is a group's sum.
#pragma once
#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// Whether a launch reduces columns of computed elements whose groups group_program() joins. `uniform`: inputs that have one value
/// in a block.
bool joins_groups(const jit::launch& l, std::uint64_t uniform);
/// Input k of step s is input s * inputs + k; output k is the group of reduction k, joined as jit::addition_order says.
jit::program group_program(const jit::program& p);
/// The same inputs of all steps.
std::uint64_t group_inputs(const jit::program& p, std::uint64_t uniform);

}  // namespace sinter::cpu
