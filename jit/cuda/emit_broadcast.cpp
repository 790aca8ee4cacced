// CUDA reductions whose operands depend on the row or on the column only: each row has a thread group, and columns
// stream through the cache four at a time. What depends on the row alone is computed once. Only for reductions whose
// order is free.
#include <algorithm>
#include <bit>

#include "jit/cuda/emit_body.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

// A division would not be optimised: the quick compilation omits the pass that turns it into a shift.
constexpr int columns_shift = std::countr_zero(static_cast<unsigned>(cuda_columns));
static_assert(std::has_single_bit(static_cast<unsigned>(cuda_columns)));

static_assert(cuda_columns == 4);
/// CUDA's vector type of four such elements: fetch() by words takes longer to compile. Null if there is none.
const char* vector_of_four(dtype t) noexcept {
  switch (t) {
    case dtype::f32: return "float4";
    case dtype::i32: return "int4";
    case dtype::u32: return "uint4";
    default: return nullptr;
  }
}

class broadcast_emitter {
 public:
  broadcast_emitter(const program& p, const cuda_variant& v) : p_(p), v_(v) {
    if (v.skip_tail) tail_ = cuda_tail(p);
    const auto count = static_cast<std::size_t>(p.epilogue);
    std::vector<bool> row_only(count);
    for (std::size_t k = 0; k < count; ++k) row_only[k] = depends_on_row_only(k, row_only);
    std::vector<int> row_code, code, row_results, results;
    for (std::size_t k = 0; k < count; ++k) {
      const int r = static_cast<int>(k);
      if (row_only[k]) row_code.push_back(r);
      else if (!skips() || r <= tail_.inner()) code.push_back(r);
    }
    for (auto& r : p.reductions) {
      const int reg = skips() ? tail_.inner() : r.reg;
      if (!contains(results, reg)) results.push_back(reg);
    }
    element_ = make_phase(p, v, "element", code, results);
    for (int r : element_.live_in) row_results.push_back(r);
    if (skips()) {
      std::vector<int> chain;
      for (auto s = tail_.steps.rbegin(); s != tail_.steps.rend(); ++s) chain.push_back(s->reg);
      tail_phase_ = make_phase(p, v, "tail", chain, {chain.back()});
    }
    row_ = make_phase(p, v, "of_row", row_code, row_results);
    row_.quick = false;  // runs once per row
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
  bool skips() const { return !tail_.steps.empty(); }
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
    t_.add(kernel_head(p_, v_));
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
    if (skips()) declare_skip();
    if (v_.baseline) elements_one_by_one();
    else elements_in_groups();
    for (std::size_t j = 0; j < p_.reductions.size(); ++j)
      t_("  sn::merge_lanes(acc.a", static_cast<int>(j), ", team);");
    t_("  if (live && (thread & (team - 1)) == 0) finish(a, row, acc);");
    t_("}");
  }

  void declare_skip() {
    const auto is_arcsine = [this](const tail_step& s) { return p_.code[s.reg].op == opcode::arcsin; };
    const bool unit_domain = !limit() && std::any_of(tail_.steps.begin(), tail_.steps.end(), is_arcsine);
    const std::string fast = p_.flags.fast_math ? "true, " : "false, ", type = register_type(tail_.type);
    if (tail_.minimum && !unit_domain) t_("  sn::skip_above<", fast, type, "> skip;");
    else
      t_("  sn::skip_range<", tail_.minimum ? "true, " : "false, ", unit_domain ? "true, " : "false, ", fast, type,
         "> skip;");
    t_("  skip.init();");
  }
  std::optional<std::uint16_t> limit() const { return tail_.steps.back().limit; }

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
    // One element at a time: the remaining columns, or the whole row if the fast version was not valid for it. The code
    // is small, since it is always compiled but rarely executed.
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
      t_.add(lane_values(p_, k, lanes, "i" + num(k) + ".v[l]", in));
    }
    for (int j : element_.coords) {
      t_(in, "long long k_", j, "[", lanes, "];");
      t_("#pragma unroll");
      t_(in, "for (int l = 0; l < ", lanes, "; ++l) k_", j, "[l] = ", coordinate(j, "(r0 | l)"), ";");
    }
    t_(call_lanes(
        p_, element_, lanes, element_.quick,
        [&](char kind, int k) -> argument {
          if (kind == 'c') return {"k_" + num(k), "long long"};
          if (kind == 'r') return {"fixed.r" + num(k), ""};
          return {"z" + num(k), register_type(type(k))};
        },
        in));
    if (!skips()) {
      for (std::size_t j = 0; j < p_.reductions.size(); ++j)
        t_(in, "acc.a", static_cast<int>(j), ".step_group<", lanes, ">(x", p_.reductions[j].reg, ", r0);");
      return;
    }
    // One test for the group; then only the elements that may win are evaluated completely.
    const std::string x = "x" + num(tail_.inner());
    t_(in, "if (skip.all_lose(", x, ")) continue;");
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
    if (skips()) return tail(in, "x" + num(tail_.inner()), "r0");
    for (std::size_t j = 0; j < p_.reductions.size(); ++j)
      t_(in, "acc.a", static_cast<int>(j), ".step(x", p_.reductions[j].reg, ", r0);");
  }

  std::string coordinate(int j, const std::string& column) const {
    if (j < v_.kept) return "k" + num(j);
    return j < v_.rank ? column : "(long long)row * columns + " + column;
  }

  /// Evaluates the tail for the inner value `x` of column `at`, unless it cannot win.
  void tail(const std::string& in, const std::string& x, const std::string& at) {
    t_(in, "if (skip.loses(", x, ")) continue;");
    t_(in, "const ", register_type(tail_.type), " value = ", call_out_of_line(p_, tail_phase_, x), ";");
    t_(in, "if (acc.a0.step(value, ", at, ")) skip.offer(", x, limit() ? ", " + launch_value(p_, *limit(), "a") : "",
       ");");
    for (std::size_t j = 1; j < p_.reductions.size(); ++j)
      t_(in, "acc.a", static_cast<int>(j), ".step(value, ", at, ");");
  }

  const program& p_;
  const cuda_variant& v_;
  monotone_tail tail_;
  phase row_, element_, tail_phase_;
  text t_;
};

}  // namespace

std::string emit_broadcast(const program& p, const cuda_variant& v) { return broadcast_emitter(p, v).run(); }

}  // namespace sinter::jit::cuda

namespace sinter::jit {

namespace {

/// The minimum with a parameter that is instruction `reg`, as in clip(h, _, 1).
std::optional<tail_step> limit_at(const program& p, std::uint16_t reg) {
  const instr& i = p.code[reg];
  if (i.op != opcode::minimum) return {};
  const bool by_a = p.code[i.a].op == opcode::param, by_b = p.code[i.b].op == opcode::param;
  const std::uint16_t operand = by_a ? i.b : i.a, limit = by_a ? i.a : i.b;
  if (by_a == by_b || operand + 1 != reg) return {};
  return tail_step{reg, operand, {}, limit};
}

}  // namespace

// The skip allows for the rounding of three roots. It tests the domain of an arcsine on the inner value, which is
// valid only if there are no operations but roots between them.
monotone_tail cuda_tail(const program& p) {
  monotone_tail t = find_tail(p);
  int roots = 0;
  bool arcsine = false;
  const auto ends = [&](const tail_step& s) {
    const opcode op = p.code[s.reg].op;
    if (op == opcode::sqrt ? ++roots > 3 : arcsine) return true;
    arcsine = arcsine || op == opcode::arcsin;
    return false;
  };
  t.steps.erase(std::find_if(t.steps.begin(), t.steps.end(), ends), t.steps.end());
  if (t.minimum && !t.steps.empty())
    if (const auto limit = limit_at(p, t.inner())) t.steps.push_back(*limit);
  return t;
}

}  // namespace sinter::jit
