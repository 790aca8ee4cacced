// CUDA kernels of loops over steps: each thread runs all steps of its elements. What moves with the steps is read and
// written as the loop goes, and the loop may end where a condition does not hold (jit/program/loop_runs.hpp).
#include <set>

#include "jit/cuda/emit_kernel.hpp"
#include "jit/cuda/emit_lines.hpp"
#include "jit/program/loop_runs.hpp"

namespace sinter::jit::cuda {
namespace {

class step_loop_writer : kernel_writer {
 public:
  step_loop_writer(const program& p, const cuda_variant& v)
      : kernel_writer(p, v),
        all_(make_phase(p, v, "steps", instructions(0, p.code.size()), registers_of(p.outputs))),
        lines_(t_, p, all_, false) {
    for (const carried_desc& c : p.carried) state_.insert(c.reg);
    each_read_after([&](int r) {
      if (!p.is_in_loop(static_cast<std::size_t>(r))) return;
      (p.code[static_cast<std::size_t>(r)].op == opcode::carried ? last_ : state_).insert(r);
    });
  }

  std::string run() {
    open({});
    head(0);
    t_.loop(
        "for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < a.n; "
        "at += (long long)gridDim.x * blockDim.x)",
        [&] { one_element(); });
    t_("}");
    return close();
  }

 private:
  /// Calls f for each register that is read after the loop.
  template <class F>
  void each_read_after(F f) const {
    for (std::size_t k = p_.loop.end; k < p_.code.size(); ++k)
      p_.each_operand(p_.code[k], [&](std::uint16_t r) { f(int{r}); });
    for (const output_desc& o : p_.outputs)
      if (!is_in_each_run(o)) f(int{o.reg});
  }

  /// The lines of the instructions from `first` to before `end`. What is a member of the state is so within the loop, too.
  void lines(std::size_t first, std::size_t end) {
    std::vector<int> some;
    for (const int k : all_.code)
      if (static_cast<std::size_t>(k) >= first && static_cast<std::size_t>(k) < end) some.push_back(k);
    lines_.lines(some);
  }

  void one_element() {
    t_("const I position = (I)at;");
    decompose(t_, "position", 0, v_.rank, "k");
    for (const int k : all_.inputs) {
      if (gathered(k)) base_pointer(k, address(k));
      else t_("const ", value_type(k), " v", k, " = ", widened(type(k), "(" + address(k) + ")[0]"), ";");
    }
    for (const int k : all_.inputs)
      if (gathered(k)) t_("const ", storage(k), "* const v", k, " = b", k, ";");
    for (std::size_t k = 0; k < p_.outputs.size(); ++k)
      t_(storage_type(p_.outputs[k].type), "* const o", static_cast<int>(k), " = a.w", static_cast<int>(k), " + (",
         offset("t", static_cast<int>(k), 0, v_.rank, "k"), ");");
    declare_state();
    lines_.keep(state_);
    lines(0, p_.loop.begin);
    for (const carried_desc& c : p_.carried) t_("s.r", int{c.reg}, " = ", lines_.reg(c.initial), ";");
    t_.loop("for (long long run = 0; run < a.q" + num(int{p_.loop.count}) + "; ++run)", [&] { one_run(); });
    lines_.keep(state_, last_);
    lines(p_.loop.end, p_.code.size());
    store(false, "[0]");
  }

  void declare_state() {
    t_("struct {");
    for (const int r : state_) t_(type_of_value(p_, r), " r", r, ";");
    for (const int r : last_) t_(type_of_value(p_, r), " last", r, ";");
    t_("} s;");
  }

  void one_run() {
    lines(p_.loop.begin, p_.loop.end);
    store(true, "");
    for (const int r : last_) t_("s.last", r, " = s.r", r, ";");
    if (const int again = condition_of_runs(p_); again >= 0) t_("if (!", lines_.reg(again), ") break;");
    // In descending order, since a carried register may get the value of one of a lower number.
    for (std::size_t k = p_.carried.size(); k-- > 0;)
      t_("s.r", int{p_.carried[k].reg}, " = ", lines_.reg(p_.carried[k].next), ";");
  }

  void store(bool in_each_run, const std::string& at) {
    for (std::size_t k = 0; k < p_.outputs.size(); ++k) {
      const output_desc& o = p_.outputs[k];
      if (is_in_each_run(o) != in_each_run) continue;
      const std::string n = num(static_cast<int>(k));
      t_("o", n, in_each_run ? "[run * a.g" + n + "]" : at, " = ", narrowed(o.type, lines_.reg(o.reg)), ";");
    }
  }

  const phase all_;
  line_writer lines_;
  std::set<int> state_, last_;  // registers that outlive a run; carried ones as they were in the last run
};

}  // namespace

std::string emit_step_loop(const program& p, const cuda_variant& v) { return step_loop_writer(p, v).run(); }

}  // namespace sinter::jit::cuda
