// CUDA reductions whose operands depend on the row or on the column only: threads own rows, columns stream through the
// cache four at a time. What depends on the row alone is computed once. Only for reductions whose order is free.
#include <algorithm>
#include <bit>

#include "emit_cuda_body.hpp"
#include "prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

template <class V>
bool contains(const V& v, int x) {
  return std::find(v.begin(), v.end(), x) != v.end();
}

/// The end of a chain of operations whose result the kernel computes only where it can win, last operation first. The
/// chain may begin later than the planner's (`inner`), where an earlier operation moves the domain of an arcsine.
struct tail_chain {
  std::vector<int> registers, multipliers;
  int inner = 0;
  bool unit_domain = false;
};

tail_chain find_tail(const program& p, const reduce_desc& r) {
  const bool ordered =
      r.op == reduce_op::min || r.op == reduce_op::max || r.op == reduce_op::argmin || r.op == reduce_op::argmax;
  if (!r.tail || !ordered || (r.arg != dtype::f32 && r.arg != dtype::f64)) return {};
  auto is_param = [&](int reg) { return p.code[static_cast<std::size_t>(reg)].op == opcode::param; };
  tail_chain t;
  t.inner = r.reg;
  int roots = 0;
  bool worthwhile = false;
  while (t.inner > r.inner) {
    const instr& i = p.code[static_cast<std::size_t>(t.inner)];
    if (i.type != r.arg || i.arg != r.arg) break;
    int operand;
    if (i.op == opcode::sqrt && roots < 3) {
      ++roots;
      worthwhile = true;
      operand = i.a;
    } else if (i.op == opcode::arcsin && !t.unit_domain) {
      t.unit_domain = worthwhile = true;
      operand = i.a;
    } else if (i.op == opcode::multiply && !t.unit_domain && is_param(i.a) != is_param(i.b)) {
      t.multipliers.push_back(p.code[is_param(i.a) ? i.a : i.b].a);
      operand = is_param(i.a) ? i.b : i.a;
    } else if (i.op == opcode::divide && !t.unit_domain && is_param(i.b) && !is_param(i.a)) {
      t.multipliers.push_back(p.code[i.b].a);
      operand = i.a;
    } else {
      break;
    }
    t.registers.push_back(t.inner);
    t.inner = operand;
  }
  return worthwhile ? t : tail_chain{};
}

// A division would be compiled as one: the quick compilation leaves out what turns it into a shift.
constexpr int columns_shift = std::countr_zero(static_cast<unsigned>(cuda_columns));
static_assert(std::has_single_bit(static_cast<unsigned>(cuda_columns)));

static_assert(cuda_columns == 4);
/// CUDA's own vector of four such elements: fetch() by words takes the compiler longer. Null where there is none.
const char* vector_of_four(dtype t) noexcept {
  switch (t) {
    case dtype::f32: return "float4";
    case dtype::i32: return "int4";
    case dtype::u32: return "uint4";
    default: return nullptr;
  }
}

bool is_low(reduce_op op) { return op == reduce_op::min || op == reduce_op::argmin; }

/// The chain that all reductions with a tail share; empty where they differ or another register reads inside of it.
tail_chain shared_tail(const program& p) {
  tail_chain t;
  const reduce_desc* first = nullptr;
  for (auto& r : p.reductions) {
    if (!r.tail) continue;
    if (first && (r.reg != first->reg || r.inner != first->inner || is_low(r.op) != is_low(first->op))) return {};
    if (!first) t = find_tail(p, r);
    first = &r;
  }
  if (t.registers.empty()) return {};
  for (int k = 0; k < p.epilogue; ++k) {
    if (contains(t.registers, k)) continue;
    bool inside = false;
    p.each_operand(p.code[static_cast<std::size_t>(k)], [&](std::uint16_t r) { inside |= contains(t.registers, r); });
    if (inside) return {};
  }
  for (auto& r : p.reductions)
    if (!r.tail && contains(t.registers, r.reg)) return {};
  return t;
}

class broadcast_emitter {
 public:
  broadcast_emitter(const program& p, const cuda_variant& v) : p_(p), v_(v) {
    if (v.skip_tail) tail_ = shared_tail(p);
    const auto count = static_cast<std::size_t>(p.epilogue);
    std::vector<bool> row_only(count);
    for (std::size_t k = 0; k < count; ++k) row_only[k] = depends_on_row_only(k, row_only);
    std::vector<int> row_code, code, row_results, results;
    for (std::size_t k = 0; k < count; ++k) {
      const int r = static_cast<int>(k);
      if (row_only[k])
        row_code.push_back(r);
      else if (!contains(tail_.registers, r))
        code.push_back(r);
    }
    for (auto& r : p.reductions) {
      const int reg = tail_.registers.empty() || !r.tail ? int(r.reg) : tail_.inner;
      if (!contains(results, reg)) results.push_back(reg);
    }
    element_ = make_phase(p, v, "element", code, results);
    for (int r : element_.live_in) row_results.push_back(r);
    if (!tail_.registers.empty()) {
      std::vector<int> chain(tail_.registers.rbegin(), tail_.registers.rend());
      tail_phase_ = make_phase(p, v, "tail", chain, {chain.back()});
    }
    row_ = make_phase(p, v, "of_row", row_code, row_results);
    row_.quick = false;  // once a row
  }

  std::string run() {
    t_(open_kernel(p_, v_));
    t_(define_accumulators(p_));
    t_(define(p_, row_));
    t_(define(p_, element_));
    if (skips()) t_(define_out_of_line(p_, tail_phase_));
    t_(define_finish(p_, v_));
    kernel();
    return t_.str() + close_kernel();
  }

 private:
  bool skips() const { return !tail_.registers.empty(); }
  dtype type(int k) const { return p_.inputs[static_cast<std::size_t>(k)].type; }
  access input_class(int k) const { return v_.inputs[static_cast<std::size_t>(k)]; }

  bool depends_on_row_only(std::size_t k, const std::vector<bool>& row_only) const {
    const instr& i = p_.code[k];
    if (i.op == opcode::param || i.op == opcode::address) return true;
    if (i.op == opcode::coord) return i.a < v_.kept;
    if (i.op == opcode::load) return v_.row_only[i.a] != 0;
    bool all = true;
    p_.each_operand(i, [&](std::uint16_t r) { all = all && row_only[r]; });
    return all;
  }

  void kernel() {
    t_("extern \"C\" __global__ void __launch_bounds__(", cuda_block, ") ", cuda_kernel_name(p_, v_),
       "(const __grid_constant__ args a) {");
    t_("  const long long thread = (long long)blockIdx.x * ", cuda_block, " + threadIdx.x;");
    t_("  const int team = (int)a.team;  // threads of a row, a power of two");
    t_("  const long long wanted = thread >> (__ffs(team) - 1);");
    t_("  const bool live = wanted < a.results;");
    t_("  const I row = live ? (I)wanted : 0, columns = (I)a.elements;");
    t_(decompose("row", 0, v_.kept, "k", "  "));
    t_("  of_row_out fixed;");
    t_("  {");
    t_(call_once(
        row_,
        [&](char kind, int k) -> argument {
          if (kind == 'c') return {"k" + num(k), ""};
          return {widened(type(k), "a.p" + num(k) + "[" + offset("s", k, 0, v_.kept, "k") + "]"), ""};
        },
        "    "));
    t_("    fixed = out;");
    t_("  }");
    t_("  accs acc;");
    t_("  acc.init();");
    if (skips()) {
      const reduce_desc& r = first_tail();
      t_("  sn::skip_range<", is_low(r.op) ? "true, " : "false, ", tail_.unit_domain ? "true, " : "false, ",
         register_type(r.arg), "> skip;");
      t_("  skip.init();");
    }
    if (v_.lean)
      elements_one_by_one();
    else
      elements_in_groups();
    for (std::size_t j = 0; j < p_.reductions.size(); ++j)
      t_("  sn::merge_lanes(acc.a", static_cast<int>(j), ", team);");
    t_("  if (live && (thread & (team - 1)) == 0) finish(a, row, acc);");
    t_("}");
  }

  const reduce_desc& first_tail() const {
    return *std::find_if(p_.reductions.begin(), p_.reductions.end(), [](const reduce_desc& r) { return r.tail > 0; });
  }

  void elements_one_by_one() {
    t_("#pragma unroll 1");
    t_("  for (I r0 = live ? (I)(thread & (team - 1)) : columns; r0 < columns; r0 += team) {");
    single("    ");
    t_("  }");
  }

  void elements_in_groups() {
    t_("  const I full = columns >> ", columns_shift, ", first = live ? (I)(thread & (team - 1)) : full + 1;");
    t_("  I g = first;");
    if (element_.quick) t_("  bool slow = false;");
    t_("#pragma unroll 1");
    t_("  for (; g < full; g += team) {");
    t_("    const I r0 = g * ", cuda_columns, ";");
    group("    ");
    t_("  }");
    // One element at a time: the columns left over, or the whole row where the fast version was not good for it. Small
    // code, as it is compiled each time and runs hardly ever.
    if (element_.quick) {
      t_("  if (slow) {");
      t_("    acc.init();");
      if (skips()) t_("    skip.init();");
      t_("    g = first;");
      t_("  }");
    }
    t_("#pragma unroll 1");
    t_("  for (; g <= full; g += team) {");
    t_("    const I begin = g * ", cuda_columns, ", next = begin + ", cuda_columns, ";");
    t_("    const I end = next < columns ? next : columns;");
    t_("#pragma unroll 1");
    t_("    for (I r0 = begin; r0 < end; ++r0) {");
    single("      ");
    t_("    }");
    t_("  }");
  }

  void group(const std::string& in) {
    constexpr int lanes = cuda_columns;
    for (int k : element_.inputs) {
      const char* s = storage_type(type(k));
      const char* vector = vector_of_four(type(k));
      if (input_class(k) == access::linear && vector) {
        const std::string i = "i" + num(k);
        t_(in, "const ", vector, " ", i, " = *(const ", vector, "*)(a.p", k, " + r0);");
        t_(in, "const ", s, " z", k, "[4] = {", i, ".x, ", i, ".y, ", i, ".z, ", i, ".w};");
        continue;
      }
      if (input_class(k) == access::linear) {
        t_(in, "const sn::pack<", s, ", ", lanes, "> i", k, " = sn::fetch<", lanes, ">(a.p", k, " + r0);");
      } else {
        t_(in, "sn::pack<", s, ", ", lanes, "> i", k, ";");
        t_("#pragma unroll");
        t_(in, "for (int l = 0; l < ", lanes, "; ++l) i", k, ".v[l] = a.p", k, "[(r0 + l) * a.s", k, "_", v_.kept,
           "];");
      }
      t_(in, register_type(type(k)), " z", k, "[", lanes, "];");
      t_("#pragma unroll");
      t_(in, "for (int l = 0; l < ", lanes, "; ++l) z", k, "[l] = ", widened(type(k), "i" + num(k) + ".v[l]"), ";");
    }
    for (int j : element_.coords) {
      t_(in, "long long k_", j, "[", lanes, "];");
      t_("#pragma unroll");
      t_(in, "for (int l = 0; l < ", lanes, "; ++l) k_", j,
         "[l] = ", coordinate(j, "(r0 | l)"), ";");
    }
    t_(call_lanes(
        p_, element_, lanes, element_.quick,
        [&](char kind, int k) -> argument {
          if (kind == 'c') return {"k_" + num(k), "long long"};
          if (kind == 'r') return {"fixed.r" + num(k), ""};
          return {"z" + num(k), register_type(type(k))};
        },
        in));
    for (std::size_t j = 0; j < p_.reductions.size(); ++j)
      if (!finishes_later(p_.reductions[j]))
        t_(in, "acc.a", static_cast<int>(j), ".step_group<", lanes, ">(x", p_.reductions[j].reg, ", r0);");
    if (!skips()) return;
    // One test for the group; then each element that may matter is evaluated to the end.
    const std::string x = "x" + num(tail_.inner);
    t_(in, "auto farthest = skip.distance(", x, "[0]);");
    t_("#pragma unroll");
    t_(in, "for (int l = 1; l < ", lanes, "; ++l) farthest = max(farthest, skip.distance(", x, "[l]));");
    t_(in, "if (farthest < skip.span) continue;");
    t_("#pragma unroll");
    t_(in, "for (int l = 0; l < ", lanes, "; ++l) {");
    tail(in + "  ", x + "[l]", "r0 + l");
    t_(in, "}");
  }

  /// The element at column r0, without arrays or loops.
  void single(const std::string& in) {
    for (int r : element_.results) t_(in, type_of_register(p_, static_cast<std::size_t>(r)), " x", r, ";");
    t_(in, "{");
    t_(call_once(
        element_,
        [&](char kind, int k) -> argument {
          if (kind == 'c') return {coordinate(k, "r0"), ""};
          if (kind == 'r') return {"fixed.r" + num(k), ""};
          return {widened(type(k), "a.p" + num(k) + "[r0 * a.s" + num(k) + "_" + num(v_.kept) + "]"), ""};
        },
        in + "  "));
    for (int r : element_.results) t_(in, "  x", r, " = out.r", r, ";");
    t_(in, "}");
    for (std::size_t j = 0; j < p_.reductions.size(); ++j)
      if (!finishes_later(p_.reductions[j]))
        t_(in, "acc.a", static_cast<int>(j), ".step(x", p_.reductions[j].reg, ", r0);");
    if (skips()) tail(in, "x" + num(tail_.inner), "r0");
  }

  std::string coordinate(int j, const std::string& column) const {
    if (j < v_.kept) return "k" + num(j);
    return j < v_.rank ? column : "(long long)row * columns + " + column;
  }

  bool finishes_later(const reduce_desc& r) const { return skips() && r.tail > 0; }

  /// The end of the chain for the inner value `x` of column `at`, unless it cannot win.
  void tail(const std::string& in, const std::string& x, const std::string& at) {
    t_(in, "if (skip.distance(", x, ") < skip.span) continue;");
    t_(in, "const ", register_type(first_tail().arg), " value = ", call_out_of_line(p_, tail_phase_, x), ";");
    bool first = true;
    for (std::size_t j = 0; j < p_.reductions.size(); ++j) {
      if (!p_.reductions[j].tail) continue;
      const std::string step = "acc.a" + num(static_cast<int>(j)) + ".step(value, " + at + ")";
      t_(in, first ? "if (" : "", step, first ? ") skip.offer(" + x + ");" : ";");
      first = false;
    }
  }

  const program& p_;
  const cuda_variant& v_;
  tail_chain tail_;
  phase row_, element_, tail_phase_;
  text t_;
};

}  // namespace

std::string emit_broadcast(const program& p, const cuda_variant& v) { return broadcast_emitter(p, v).run(); }

}  // namespace sinter::jit::cuda

namespace sinter::jit {

bool cuda_can_skip_tail(const program& p, std::vector<int>* multipliers) {
  cuda::tail_chain t = cuda::shared_tail(p);
  if (multipliers) *multipliers = t.multipliers;
  return !t.registers.empty();
}

}  // namespace sinter::jit
