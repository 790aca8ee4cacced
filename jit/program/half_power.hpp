// Divisions by odd powers of roots, such as w / (r * sqrt(r)): under fast_math one inverse root and products replace the
// root and the division.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "jit/program/program.hpp"

namespace sinter::jit {

/// A value as a power of a register.
struct half_power {
  std::uint16_t base;
  int halves;  // the exponent is halves / 2
};

/// Which power the value of `reg` is, as far as instructions of `code` compute it, up to `depth` of them in a chain;
/// otherwise of itself.
inline half_power power_of(const program& p, const std::vector<int>& code, std::uint16_t reg, int depth = 5) {
  const instr& i = p.code[reg];
  const half_power itself{reg, 2};
  if (depth == 0 || std::find(code.begin(), code.end(), int{reg}) == code.end()) return itself;
  if (i.op == opcode::sqrt) return {i.a, 1};
  if (i.op != opcode::square && i.op != opcode::multiply) return itself;
  const half_power a = power_of(p, code, i.a, depth - 1);
  if (i.op == opcode::square || i.a == i.b) return {a.base, 2 * a.halves};
  const half_power b = power_of(p, code, i.b, depth - 1);
  for (const half_power x : {half_power{i.a, 2}, a})
    for (const half_power y : {half_power{i.b, 2}, b})
      if (x.base == y.base) return {x.base, x.halves + y.halves};
  return itself;
}

/// The odd power of a root that a float32 quotient or reciprocal divides by. `code`: the instructions of which the root
/// must be one.
inline std::optional<half_power> divides_by_root(const program& p, const std::vector<int>& code, const instr& i) {
  constexpr int most_halves = 9;
  const bool divides = i.op == opcode::divide || i.op == opcode::reciprocal;
  if (!divides || i.type != dtype::f32 || i.arg != dtype::f32) return {};
  const half_power power = power_of(p, code, i.op == opcode::divide ? i.b : i.a);
  if (power.halves % 2 == 0 || power.halves > most_halves) return {};
  return power;
}

}  // namespace sinter::jit
