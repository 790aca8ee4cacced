// Monotone tails (jit/program/monotone_tail.hpp) on the CPU: where they may be skipped, and programs for what comes before and
// for them.
#pragma once
#include <optional>

#include "jit/program/launch.hpp"
#include "jit/program/monotone_tail.hpp"

namespace sinter::cpu {

/// When the tail of a lane may be skipped: its inner value lies in the tail's domain and is worse than the best by more
/// than the tail's rounding could undo.
struct tail_bounds {
  dtype type{};
  bool minimum = true;
  double low = 0, high = 0;  // inner values for which the tail is certainly no NaN
  double margin = 0;         // relative
  double floor = 0;          // absolute: keeps the relative argument away from subnormal numbers
};

/// The bounds for these scalars; nothing where there is no tail, or one of them does not allow the skip.
std::optional<tail_bounds> bound_tail(const jit::launch& l);

/// The program up to the inner register, and the tail with the inner value as its only input.
jit::program inner_program(const jit::program& p);
jit::program tail_program(const jit::program& p);

}  // namespace sinter::cpu
