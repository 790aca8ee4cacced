// Phases in steps, between which operations are checked for all lanes together.
#include "jit/cuda/emit_steps.hpp"

#include <algorithm>

#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

/// The name of the two versions, behind "quick_" and "any_"; null: the operation is no such one.
const char* checked_name(const instr& i) noexcept {
  const bool single = i.type == dtype::f32 && i.arg == dtype::f32;
  if (!single && !(i.type == dtype::f64 && i.arg == dtype::f64)) return nullptr;
  switch (i.op) {
    case opcode::divide: return single ? "divide" : "double_divide";
    case opcode::reciprocal: return single ? "reciprocal" : "double_reciprocal";
    case opcode::sqrt: return single ? "sqrt" : "double_sqrt";
    case opcode::log: return single ? "log" : nullptr;
    default: return nullptr;
  }
}
constexpr int most_unsplit = 2;  // such operations, which the compiler's code serves as well
const instr& at(const program& p, int k) { return p.code[static_cast<std::size_t>(k)]; }
bool is_checked(const program& p, int k) { return checked_name(at(p, k)) != nullptr; }

/// Bytes that an element of a phase moves.
std::size_t bytes_of(const program& p, const cuda_variant& v, const phase& f) {
  std::size_t bytes = 0;
  for (const int k : f.inputs)
    if (v.inputs[static_cast<std::size_t>(k)] != access::uniform)
      bytes += itemsize(p.inputs[static_cast<std::size_t>(k)].type);
  for (const output_desc& o : p.outputs) bytes += itemsize(o.type);
  return bytes;
}

/// Where there is little to compute beside the bytes that an element moves, memory bounds the kernel: more text and registers
/// would only delay its first call, and operands that are not ordinary cost it more.
bool pays(const program& p, const cuda_variant& v, const phase& f) {
  if (p.flags.fast_math || cuda_is_plain(v) || f.quick || f.place || f.lambda) return false;
  constexpr std::size_t compiler_cost = 3;  // times the weight: a branch for each lane
  std::size_t checked = 0, work = 0;
  for (const int k : f.code) {
    const opcode op = at(p, k).op;
    if (op == opcode::user || p.is_in_loop(static_cast<std::size_t>(k))) return false;
    if (is_checked(p, k)) ++checked;
    const std::size_t rate = at(p, k).type == dtype::f64 ? 2 : 1;  // of float64 half as many a cycle
    work += static_cast<std::size_t>(weight(op)) * (is_checked(p, k) ? compiler_cost : 1) * rate;
  }
  const bool pairs = v.shape == cuda_shape::reduce_tiles || v.shape == cuda_shape::broadcast_rows ||
                     v.shape == cuda_shape::shared_rows || v.reused;
  constexpr std::size_t instructions_of_a_byte = 8;  // at 4, memory still bounds an H200 by the compiler's code
  return pairs ? checked > 0 : checked > most_unsplit && work >= instructions_of_a_byte * bytes_of(p, v, f);
}

/// The step of each instruction of a phase; of a checked one: that which it follows.
class step_numbers {
 public:
  step_numbers(const program& p, const phase& f) : p_(p), first_(p.code.size(), -1), last_(p.code.size()) {
    for (const int k : f.code) {
      int step = 0;
      each_earlier(k, [&](std::size_t o) { step = std::max(step, first_[o] + (is_checked(p, int(o)) ? 1 : 0)); });
      first_[static_cast<std::size_t>(k)] = step;
      if (is_checked(p, k)) checks_ = std::max(checks_, step + 1);
    }
    std::fill(last_.begin(), last_.end(), checks_);
    for (auto k = f.code.rbegin(); k != f.code.rend(); ++k)
      each_earlier(*k, [&, of = (*this)[*k]](std::size_t o) { last_[o] = std::min(last_[o], of); });
  }
  int operator[](int k) const {
    const auto r = static_cast<std::size_t>(k);
    return is_checked(p_, k) || p_.code[r].op == opcode::load ? first_[r] : last_[r];
  }
  int checks() const noexcept { return checks_; }

 private:
  /// The operands that the phase computes.
  template <class F>
  void each_earlier(int k, F&& use) const {
    p_.each_operand(at(p_, k), [&](std::uint16_t o) {
      if (first_[o] >= 0) use(std::size_t{o});
    });
  }
  const program& p_;
  std::vector<int> first_, last_;
  int checks_ = 0;
};

}  // namespace

void divide_into_steps(const program& p, const cuda_variant& v, phase& f) {
  if (!pays(p, v, f)) return;
  const step_numbers step(p, f);
  std::vector<std::vector<int>> code(static_cast<std::size_t>(step.checks()) + 1), results(code.size());
  f.checked.resize(code.size() - 1);
  const auto outlives_step = [&](int r) {
    if (is_checked(p, r) && contains(f.code, r)) return;
    auto& list = contains(f.code, r) ? results[static_cast<std::size_t>(step[r])] : results.back();
    if (!contains(list, r)) list.push_back(r);
  };
  for (const int k : f.code) {
    (is_checked(p, k) ? f.checked : code)[static_cast<std::size_t>(step[k])].push_back(k);
    p.each_operand(at(p, k), [&](std::uint16_t o) {
      if (contains(f.code, o) && (is_checked(p, k) || step[o] < step[k])) outlives_step(o);
    });
  }
  for (const int r : f.results) outlives_step(r);
  for (std::size_t s = 0; s < code.size(); ++s)
    f.steps.push_back(make_phase(p, v, f.name + "_" + num(static_cast<int>(s)), code[s], results[s]));
}

int registers_in_steps(const program& p) {
  const int n = static_cast<int>(p.code.size());
  if (p.flags.fast_math || p.loop.begin < p.loop.end) return 0;
  int checked = 0;
  for (int k = 0; k < n; ++k) checked += is_checked(p, k);
  if (checked <= most_unsplit) return 0;
  std::vector<int> last(p.code.size(), -1);
  for (int k = 0; k < n; ++k) p.each_operand(at(p, k), [&](std::uint16_t r) { last[r] = k; });
  for (const output_desc& o : p.outputs) last[o.reg] = n;
  int now = 0, most = 0;
  std::vector<int> ending(p.code.size() + 1);
  for (int k = 0; k < n; ++k) {
    now -= ending[static_cast<std::size_t>(k)];
    const int end = last[static_cast<std::size_t>(k)];
    if (at(p, k).op == opcode::param || end < 0) continue;
    const int size = static_cast<int>((itemsize(at(p, k).type) + 3) / 4);
    now += size;
    ending[static_cast<std::size_t>(end)] += size;
    most = std::max(most, now);
  }
  return most;
}

void call_steps(text& t, const program& p, const phase& f, int lanes, const argument_source& source) {
  const auto type = [&](int r) { return type_of_lane(p, r); };
  const argument_source here = [&](char kind, int k) -> argument {
    if (kind == 'r' && contains(f.code, k)) return {"x" + num(k), type(k)};
    return source(kind, k);
  };
  const auto lane = [&](std::uint16_t r) {
    if (p.code[r].op == opcode::param) return launch_value(p, r, "a");
    const argument x = here('r', r);
    return x.array_type.empty() ? x.expression : x.expression + "[l]";
  };
  const auto every = [&](const std::vector<int>& checked, const char* version, const std::string& more) {
    t.unrolled("l", lanes, [&] {
      for (const int k : checked) {
        const instr& i = at(p, k);
        const std::string operands = operand_count(i.op) > 1 ? lane(i.a) + ", " + lane(i.b) : lane(i.a);
        t("x", k, "[l] = sn::", version, checked_name(i), "(", operands, more, ");");
      }
    });
  };
  for (std::size_t s = 0; s < f.steps.size(); ++s) {
    if (!f.steps[s].results.empty()) call_lanes(t, p, f.steps[s], lanes, false, here);
    if (s == f.checked.size()) break;
    const std::string slow = "slow" + num(static_cast<int>(s));
    for (const int k : f.checked[s]) t(type(k), " x", k, "[", lanes, "];");
    t("bool ", slow, " = false;");
    every(f.checked[s], "quick_", ", " + slow);
    t.scope("if (" + slow + ")", [&] { every(f.checked[s], "any_", ""); });
  }
}

}  // namespace sinter::jit::cuda
