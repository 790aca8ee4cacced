// Monotone tails: order-preserving operations at the end of the value of minima and maxima, such as the 2 *
// arcsin(sqrt(h)) of a distance. A kernel can omit them for an element that cannot win by h alone.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "jit/program/program.hpp"

namespace sinter::jit {

/// sqrt, arcsin, or a multiplication or division by a parameter, which keeps the order if it is positive. Before these,
/// only in tails of minima on a GPU (cuda_tail): a minimum with a parameter.
struct tail_step {
  std::uint16_t reg;                        // the instruction
  std::uint16_t operand;                    // the preceding register, to which it is applied
  std::optional<std::uint16_t> scale;       // of a multiplication or division: the register of the parameter
  std::optional<std::uint16_t> limit = {};  // of a minimum: the register of the parameter
};

struct monotone_tail {
  dtype type{};
  bool minimum = true;           // all reductions are minima or their positions; else maxima
  std::vector<tail_step> steps;  // the last operation first; none: no tail
  std::uint16_t inner() const noexcept { return steps.back().operand; }
};

/// The tail that all reductions of a program share: the last instructions before the epilogue, a root or an arcsine
/// among them.
monotone_tail find_tail(const program& p);

/// Stores the tail in the reductions of a program, for has_tail() and its key.
void mark_tail(program& p);
/// Whether mark_tail has found one.
bool has_tail(const program& p) noexcept;

}  // namespace sinter::jit
