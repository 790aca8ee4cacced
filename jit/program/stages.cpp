// Queries about staged programs.
#include "jit/program/stages.hpp"

#include <algorithm>

namespace sinter::jit {

int stage_of(const program& p, int reg) noexcept {
  int s = 0;
  while (p.stages[static_cast<std::size_t>(s)].end <= reg) ++s;
  return s;
}

bool is_per_row(const program& p, int reg) noexcept {
  return reg < p.stages[static_cast<std::size_t>(stage_of(p, reg))].element;
}

int begin_of_stage(const program& p, int stage) noexcept {
  return stage == 0 ? 0 : p.stages[static_cast<std::size_t>(stage - 1)].end;
}

int first_reduction(const program& p, int stage) noexcept {
  return stage == 0 ? 0 : p.stages[static_cast<std::size_t>(stage - 1)].reductions;
}

std::vector<int> kept_after(const program& p, int stage) {
  const auto end = static_cast<std::size_t>(p.stages[static_cast<std::size_t>(stage)].end);
  std::vector<bool> read(end);
  for (std::size_t k = end; k < p.code.size(); ++k)
    p.each_operand(p.code[k], [&](std::uint16_t r) {
      if (r < end) read[r] = true;
    });
  std::vector<int> kept;
  for (std::size_t r = 0; r < end; ++r)
    if (read[r] && !is_per_row(p, static_cast<int>(r))) kept.push_back(static_cast<int>(r));
  return kept;
}

}  // namespace sinter::jit
