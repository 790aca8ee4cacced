// Bounds of monotone tails, and programs for their two parts.
#include "backends/cpu/kernels/tail.hpp"

#include <cmath>
#include <limits>

namespace sinter::cpu {

using jit::instr;
using jit::opcode;

namespace {

// Let x be worse than the best inner value b by the relative margin m. Walking from the tail's result back to its
// input, `needed` is the relative distance that values must have at each point for the final results to be in order:
//  - a multiplication or division by a positive number rounds monotonically, so nothing after it can change the order;
//    values whose distance is to stay `needed` must have one more ulp before it;
//  - arcsin of libmvec errs by up to 4 ulp (we take 6), on either side; exactly it spreads values apart, being convex;
//  - sqrt halves relative distances and rounds by half an ulp on either side.
// The result is doubled. The scale of the multipliers is bounded so that no value on the way becomes subnormal while
// the inner values differ by at least `floor`.
struct walk {
  double ulp;
  double low = -std::numeric_limits<double>::infinity(), high = -low;  // between them the rest of the tail has no NaN
  double needed = 0, scale = 1;

  void root() {
    low = 0;
    high = high * high;
    if (needed > 0) needed = 2 * needed + 2 * ulp;
  }
  // Beyond +-pi/2 the result sets no bound of its own; the sine of a bound errs by less than its shrinking.
  void arcsine() {
    low = low < -1.5707963 ? -1 : std::sin(low) * (1 - 16 * ulp);
    high = high > 1.5707963 ? 1 : std::sin(high) * (1 - 16 * ulp);
    needed += 12 * ulp;
  }
  // The rounding of the bounds is covered by their shrinking at the end.
  bool multiplication(double f) {
    scale *= f;
    if (!(scale > 0x1p-24 && scale < 0x1p24 && f > 0x1p-24 && f < 0x1p24)) return false;
    low /= f;
    high /= f;
    if (needed > 0) needed += ulp;
    return true;
  }
};

/// A parameter of type `t` as a multiplier; nothing where it is not a positive finite number.
std::optional<double> multiplier(const jit::scalar& s, dtype t) {
  const double x = t == dtype::f32 ? static_cast<double>(static_cast<float>(s.f[0])) : s.f[0];
  if (!is_real_floating(s.type) || !(x > 0) || !std::isfinite(x)) return std::nullopt;
  return x;
}

}  // namespace

std::optional<tail_bounds> bound_tail(const jit::launch& l) {
  const jit::program& p = *l.code;
  if (!jit::has_tail(p)) return std::nullopt;
  const jit::monotone_tail tail = jit::find_tail(p);
  if (tail.steps.empty()) return std::nullopt;
  const bool single = tail.type == dtype::f32;
  const double ulp = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  walk at{ulp};
  for (const jit::tail_step& s : tail.steps) {
    const opcode op = p.code[s.reg].op;
    if (op == opcode::sqrt) {
      at.root();
    } else if (op == opcode::arcsin) {
      at.arcsine();
    } else {
      const auto f = multiplier(l.params[p.code[*s.scale].a], tail.type);
      if (!f || !at.multiplication(op == opcode::divide ? 1 / *f : *f)) return std::nullopt;
    }
  }
  const auto shrunk = [ulp](double bound) { return bound == 0 || std::isinf(bound) ? bound : bound * (1 - 8 * ulp); };
  tail_bounds t;
  t.type = tail.type;
  t.minimum = tail.minimum;
  t.high = at.high == 1 ? 1 : shrunk(at.high);
  t.low = shrunk(at.low);
  t.margin = 2 * at.needed;
  t.floor = single ? 1e-28 : 1e-290;
  return t;
}

jit::program inner_program(const jit::program& p) {
  jit::program inner = p;
  const std::uint16_t reg = p.reductions[0].inner;
  inner.kind = jit::kernel_kind::elementwise;
  inner.code.resize(reg + 1u);
  inner.epilogue = static_cast<std::uint16_t>(inner.code.size());
  inner.reductions.clear();
  inner.outputs.assign(1, {p.code[reg].type, 0, reg});
  return inner;
}

jit::program tail_program(const jit::program& p) {
  const jit::monotone_tail found = jit::find_tail(p);
  const dtype type = found.type;
  jit::program tail;
  tail.flags = p.flags;
  tail.params = p.params;
  tail.param_types = p.param_types;
  tail.inputs.push_back({type, 0, {0, 0}});
  tail.code.push_back({opcode::load, type, type, 0, 0, 0, 0, 0});
  const auto last = [&] { return static_cast<std::uint16_t>(tail.code.size() - 1); };
  for (auto s = found.steps.rbegin(); s != found.steps.rend(); ++s) {
    instr i = p.code[s->reg];
    const bool in_a = i.a == s->operand;
    (in_a ? i.a : i.b) = last();
    if (s->scale) {
      tail.code.push_back(p.code[*s->scale]);
      (in_a ? i.b : i.a) = last();
    }
    tail.code.push_back(i);
  }
  tail.epilogue = static_cast<std::uint16_t>(tail.code.size());
  tail.outputs.push_back({type, 0, last()});
  return tail;
}

}  // namespace sinter::cpu
