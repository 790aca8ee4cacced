// Monotone tails of minima and maxima: a chain such as 2*arcsin(sqrt(h)) need not be evaluated where it cannot win.
#pragma once
#include <optional>

#include "jit/program.hpp"
#include "runtime/kernel.hpp"

namespace sinter::cpu {

/// When the tail of a lane may be skipped: its inner value lies in the tail's domain and is worse than the best by more
/// than the tail's rounding could undo.
struct tail_chain {
  dtype type{};
  bool minimum = true;
  double low = 0, high = 0;  // inner values for which the tail is certainly no NaN
  double margin = 0;         // relative
  double floor = 0;          // absolute: keeps the relative argument away from subnormal numbers
};

/// Whether the program has a tail that can be split off: all reductions over one register, in one direction.
bool has_tail(const jit::program& p) noexcept;
/// The chain for these scalars; nothing where one of them does not allow the skip.
std::optional<tail_chain> analyse_tail(const runtime::launch& l);

/// The program up to the inner register, and the tail with the inner value as its only input.
jit::program inner_program(const jit::program& p);
jit::program tail_program(const jit::program& p);

}  // namespace sinter::cpu
