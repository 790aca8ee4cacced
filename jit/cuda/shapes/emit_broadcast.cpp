// CUDA reductions whose operands depend on the row or on the column only: each row has a thread group, and columns
// stream through the cache four at a time. What depends on the row alone is computed once. Only for reductions whose
// order is free.
#include <algorithm>
#include <bit>

#include "jit/cuda/shapes/emit_reduction.hpp"

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

class broadcast_writer : reduction_writer {
 public:
  broadcast_writer(const program& p, const cuda_variant& v) : reduction_writer(p, v, 1) {
    if (v.skip_tail) tail_ = cuda_tail(p);
    make_phases();
  }

  std::string run() {
    open_reduction({&row_, &element_});
    if (skips()) define_out_of_line(t_, p_, tail_phase_);
    head(0);
    place();
    declare_accumulators();
    if (skips()) declare_skip();
    if (v_.baseline) elements_one_by_one();
    else elements_in_groups();
    join_each("merge_lanes", "acc", "team");
    t_("if (live && (thread & (team - 1)) == 0) finish(a, row, acc);");
    t_("}");
    return close();
  }

 private:
  bool skips() const { return !tail_.steps.empty(); }

  /// What depends on the row alone, what does not, and the tail that may be skipped.
  void make_phases() {
    const auto count = static_cast<std::size_t>(p_.epilogue);
    std::vector<bool> row_only(count);
    std::vector<int> row_code, code, results;
    for (std::size_t k = 0; k < count; ++k) {
      row_only[k] = depends_on_row_only(k, row_only);
      const int r = static_cast<int>(k);
      if (row_only[k]) row_code.push_back(r);
      else if (!skips() || r <= tail_.inner()) code.push_back(r);
    }
    for (auto& r : p_.reductions) {
      const int reg = skips() ? tail_.inner() : r.reg;
      if (!contains(results, reg)) results.push_back(reg);
    }
    element_ = make_phase(p_, v_, "element", code, results);
    row_ = make_phase(p_, v_, "of_row", row_code, element_.live_in);
    row_.runs_once();  // runs once per row
    if (!skips()) return;
    std::vector<int> chain;
    for (auto s = tail_.steps.rbegin(); s != tail_.steps.rend(); ++s) chain.push_back(s->reg);
    tail_phase_ = make_phase(p_, v_, "tail", chain, {chain.back()});
    tail_phase_.runs_once();
  }

  bool depends_on_row_only(std::size_t k, const std::vector<bool>& row_only) const {
    const instr& i = p_.code[k];
    if (i.op == opcode::param || i.op == opcode::address) return true;
    if (i.op == opcode::coord) return i.a < v_.kept;
    if (i.op == opcode::load) return v_.row_only[i.a] != 0;
    bool all = true;
    p_.each_operand(i, [&](std::uint16_t r) { all = all && row_only[r]; });
    return all;
  }

  void place() {
    t_("const long long thread = (long long)blockIdx.x * ", cuda_block, " + threadIdx.x;");
    t_("const int team = (int)a.team;  // threads of a row, a power of two");
    t_("const long long wanted = thread >> (__ffs(team) - 1);");
    t_("const bool live = wanted < a.results;");
    t_("const I row = live ? (I)wanted : 0, columns = (I)a.elements;");
    decompose(t_, "row", 0, v_.kept, "k");
    t_("of_row_out fixed;");
    t_.scope("", [&] {
      one_element({.element = row_,
                   .address = [this](int k) { return address(k); },
                   .coordinate = [](int j) { return "k" + num(j); }});
      t_("fixed = out;");
    });
  }

  void declare_skip() {
    const auto is_arcsine = [this](const tail_step& s) { return p_.code[s.reg].op == opcode::arcsin; };
    const bool unit_domain = !limit() && std::any_of(tail_.steps.begin(), tail_.steps.end(), is_arcsine);
    const std::string fast = p_.flags.fast_math ? "true, " : "false, ", type = register_type(tail_.type);
    if (tail_.minimum && !unit_domain) t_("sn::skip_above<", fast, type, "> skip;");
    else
      t_("sn::skip_range<", tail_.minimum ? "true, " : "false, ", unit_domain ? "true, " : "false, ", fast, type,
         "> skip;");
    t_("skip.init();");
  }
  std::optional<std::uint16_t> limit() const { return tail_.steps.back().limit; }

  void elements_one_by_one() {
    t_.loop("for (I r0 = live ? (I)(thread & (team - 1)) : columns; r0 < columns; r0 += team)", [&] { single(); });
  }

  void elements_in_groups() {
    t_("const I full = columns >> ", columns_shift, ", first = live ? (I)(thread & (team - 1)) : full + 1;");
    t_("I g = first;");
    if (element_.quick) t_("bool slow = false;");
    t_.loop("for (; g < full; g += team)", [&] {
      t_("const I r0 = g * ", cuda_columns, ";");
      group();
    });
    // One element at a time: the remaining columns, or the whole row if the fast version was not valid for it. The code
    // is small, since it is always compiled but rarely executed.
    if (element_.quick) {
      t_.scope("if (slow)", [&] {
        t_("acc.init();");
        if (skips()) t_("skip.init();");
        t_("g = first;");
      });
    }
    t_.loop("for (; g <= full; g += team)", [&] {
      t_("const I begin = g * ", cuda_columns, ", next = begin + ", cuda_columns, ";");
      t_("const I end = next < columns ? next : columns;");
      t_.loop("for (I r0 = begin; r0 < end; ++r0)", [&] { single(); });
    });
  }

  std::string element_at(int k, const std::string& column) const {
    return "a.p" + num(k) + "[" + column + " * a.s" + num(k) + "_" + num(v_.kept) + "]";
  }

  void load(int k) {
    const char* vector = input_class(k) == access::linear ? vector_of_four(type(k)) : nullptr;
    const std::string i = "i" + num(k), from = "a.p" + num(k) + " + r0";
    if (vector) {
      t_("const ", vector, " f", k, " = *(const ", vector, "*)(", from, ");");
      t_("const ", storage(k), " ", i, "[4] = {f", k, ".x, f", k, ".y, f", k, ".z, f", k, ".w};");
      return;
    }
    t_(pack(k, cuda_columns), " ", i, ";");
    if (input_class(k) == access::linear) fetch(i, cuda_columns, from);
    else fetch_lanes(i, cuda_columns, element_at(k, "(r0 + l)"));
  }

  void group() {
    for (int k : element_.inputs) load(k);
    use_group({.element = element_,
               .lanes = cuda_columns,
               .value = [](int) { return std::string(); },
               .stored =
                   [this](int k) {
                     const bool array = input_class(k) == access::linear && vector_of_four(type(k));
                     return "i" + num(k) + (array ? "[l]" : ".v[l]");
                   },
               .coordinate = [this](int j) { return coordinate(j, "(r0 | l)"); },
               .other =
                   [](char, int r) {
                     return argument{"fixed.r" + num(r), ""};
                   },
               .use = [this] { use_columns(); },
               .slow_elsewhere = true});
  }

  void use_columns() {
    if (!skips()) {
      for (int j = 0; j < reductions(); ++j)
        t_("acc.a", j, ".step_group<", cuda_columns, ">(x", p_.reductions[static_cast<std::size_t>(j)].reg, ", r0);");
      return;
    }
    // One test for the group; then only the elements that may win are evaluated completely.
    const std::string x = "x" + num(tail_.inner());
    t_("if (skip.all_lose(", x, ")) continue;");
    t_.unrolled("l", cuda_columns, [&] { tail(x + "[l]", "r0 + l"); });
  }

  /// The element at column r0, without arrays or loops.
  void single() {
    for (int r : element_.results) t_(type_of_lane(p_, r), " x", r, ";");
    t_.scope("", [&] {
      one_element({.element = element_,
                   .value = [this](int k) { return widened(type(k), element_at(k, "r0")); },
                   .coordinate = [this](int j) { return coordinate(j, "r0"); },
                   .other =
                       [](char, int r) {
                         return argument{"fixed.r" + num(r), ""};
                       }});
      for (int r : element_.results) t_("x", r, " = out.r", r, ";");
    });
    if (skips()) return tail("x" + num(tail_.inner()), "r0");
    for (int j = 0; j < reductions(); ++j)
      t_("acc.a", j, ".step(x", p_.reductions[static_cast<std::size_t>(j)].reg, ", r0);");
  }

  std::string coordinate(int j, const std::string& column) const {
    if (j < v_.kept) return "k" + num(j);
    return j < v_.rank ? column : "(long long)row * columns + " + column;
  }

  /// Evaluates the tail for the inner value `x` of column `at`, unless it cannot win.
  void tail(const std::string& x, const std::string& at) {
    t_("if (skip.loses(", x, ")) continue;");
    t_("const ", register_type(tail_.type), " value = ", call_out_of_line(p_, tail_phase_, x), ";");
    t_("if (acc.a0.step(value, ", at, ")) skip.offer(", x, limit() ? ", " + launch_value(p_, *limit(), "a") : "", ");");
    for (int j = 1; j < reductions(); ++j) t_("acc.a", j, ".step(value, ", at, ");");
  }

  monotone_tail tail_;
  phase row_, element_, tail_phase_;
};

}  // namespace

std::string emit_broadcast(const program& p, const cuda_variant& v) { return broadcast_writer(p, v).run(); }

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
