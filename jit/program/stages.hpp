// Staged programs (program.hpp): where a register belongs, and what is kept from one stage to the next.
#pragma once
#include <vector>

#include "jit/program/program.hpp"

namespace sinter::jit {

/// The stage whose code defines a register.
int stage_of(const program& p, int reg) noexcept;
/// Whether a register has one value for a row.
bool is_per_row(const program& p, int reg) noexcept;
/// The first instruction of a stage, and its first reduction.
int begin_of_stage(const program& p, int stage) noexcept;
int first_reduction(const program& p, int stage) noexcept;
/// The elements' registers that later stages read: what is kept of a row when the stage ends.
std::vector<int> kept_after(const program& p, int stage);
/// Calls f(element register) for the reductions and the outputs of a stage.
template <class F>
void each_result(const program& p, int stage, F f) {
  const auto end = static_cast<std::size_t>(p.stages[static_cast<std::size_t>(stage)].reductions);
  for (auto j = static_cast<std::size_t>(first_reduction(p, stage)); j < end; ++j) f(int{p.reductions[j].reg});
  for (const output_desc& o : p.outputs)
    if (!is_per_row(p, o.reg) && stage_of(p, o.reg) == stage) f(int{o.reg});
}

}  // namespace sinter::jit
