// From a staged program to its steps.
#include <algorithm>
#include <map>

#include "backends/cpu/reduce/stages.hpp"
#include "jit/program/stages.hpp"

namespace sinter::cpu {
namespace {

using jit::instr;
using jit::opcode;

class step_maker {
 public:
  step_maker(const jit::program& p, stage_steps& out) : p_(p), out_(out), held_(p.code.size()) {
    read_by_later_ = rows_read_later();
    for (int s = 0; s < static_cast<int>(p.stages.size()); ++s) {
      element_step(s);
      if (jit::first_reduction(p, s) < stage(s).reductions) reduce_step(s);
    }
  }

 private:
  struct holder {
    bool any = false;
    step_operand where{};
  };
  const jit::stage& stage(int s) const { return p_.stages[static_cast<std::size_t>(s)]; }
  const instr& at(int r) const { return p_.code[static_cast<std::size_t>(r)]; }
  holder& held(int r) { return held_[static_cast<std::size_t>(r)]; }

  /// Rows' registers that code of other parts than their own reads.
  std::vector<bool> rows_read_later() const {
    std::vector<bool> read(p_.code.size());
    for (int k = 0; k < static_cast<int>(p_.code.size()); ++k)
      p_.each_operand(at(k), [&](std::uint16_t r) {
        const bool same = jit::is_per_row(p_, k) && jit::stage_of(p_, k) == jit::stage_of(p_, r);
        if (jit::is_per_row(p_, r) && !same) read[r] = true;
      });
    return read;
  }

  int weight_of(int r) {
    if (held(r).any || jit::is_per_row(p_, r)) return 0;
    int sum = jit::weight(at(r).op);
    p_.each_operand(at(r), [&](std::uint16_t o) { sum = std::min(sum + weight_of(o), stored_weight); });
    return sum;
  }

  void begin(jit::kernel_kind kind) {
    out_.steps.emplace_back();
    step_ = &out_.steps.back();
    step_->code.kind = kind;
    step_->code.flags = p_.flags;
    begin_part();
  }
  /// Nothing is shared between the elements' and the results' code of a reduction.
  void begin_part() {
    copies_.clear();
    first_input_ = step_->inputs.size();
  }
  void end() {
    step_->code.params = static_cast<std::uint16_t>(step_->params.size());
    if (step_->code.kind == jit::kernel_kind::elementwise)
      step_->code.epilogue = static_cast<std::uint16_t>(step_->code.code.size());
  }

  std::uint16_t load(step_operand from, dtype type) {
    std::size_t slot = first_input_;
    while (slot < step_->inputs.size() &&
           (step_->inputs[slot].where != from.where || step_->inputs[slot].index != from.index))
      ++slot;
    if (slot == step_->inputs.size()) {
      step_->inputs.push_back(from);
      step_->code.inputs.push_back({type, 0, {0, 0}});
    }
    return push({opcode::load, type, type, 0, static_cast<std::uint16_t>(slot), 0, 0, 0});
  }
  std::uint16_t param(std::uint16_t index) {
    auto& known = step_->params;
    const auto slot = std::find(known.begin(), known.end(), index) - known.begin();
    if (slot == static_cast<std::ptrdiff_t>(known.size())) {
      known.push_back(index);
      step_->code.param_types.push_back(p_.param_types[index]);
    }
    const dtype type = p_.param_types[index];
    return push({opcode::param, type, type, 0, static_cast<std::uint16_t>(slot), 0, 0, 0});
  }
  /// Blocks are along the first axis of programs that read coordinates, which count from a block's beginning.
  std::uint16_t coordinate(const instr& i) {
    const std::uint16_t within = push(i);
    if (i.a != 0) return within;
    auto& known = step_->params;
    const auto slot = std::find(known.begin(), known.end(), stage_step::first_row) - known.begin();
    if (slot == static_cast<std::ptrdiff_t>(known.size())) {
      known.push_back(stage_step::first_row);
      step_->code.param_types.push_back(dtype::i64);
    }
    const std::uint16_t first =
        push({opcode::param, dtype::i64, dtype::i64, 0, static_cast<std::uint16_t>(slot), 0, 0, 0});
    return push({opcode::add, dtype::i64, dtype::i64, 0, within, first, 0, 0});
  }
  std::uint16_t push(const instr& i) {
    step_->code.code.push_back(i);
    return static_cast<std::uint16_t>(step_->code.code.size() - 1);
  }

  /// The register of the step that holds register r of the program.
  std::uint16_t copy(int r) {
    if (const auto known = copies_.find(r); known != copies_.end()) return known->second;
    instr i = at(r);
    std::uint16_t made = 0;
    if (held(r).any) {
      made = load(held(r).where, i.type);
    } else if (i.op == opcode::load) {
      made = load({step_operand::place::input, i.a}, i.type);
    } else if (i.op == opcode::param) {
      made = param(i.a);
    } else if (i.op == opcode::coord) {
      made = coordinate(i);
    } else {
      std::uint16_t* const operands[3] = {&i.a, &i.b, &i.c};
      for (int n = 0; n < jit::operand_count(i.op); ++n) *operands[n] = copy(*operands[n]);
      if (i.op == opcode::reduced) i.a = static_cast<std::uint16_t>(i.a - first_reduction_);
      made = push(i);
    }
    return copies_[r] = made;
  }

  void write(std::uint16_t reg, int r, step_operand to, std::vector<std::pair<int, step_operand>>& stored) {
    step_->outputs.push_back(to);
    step_->code.outputs.push_back({at(r).type, 0, reg});
    stored.emplace_back(r, to);
  }
  /// Writes register r to all outputs of the program that it is, otherwise to memory of the block if `needed`.
  void write_all(int r, bool needed, step_operand::place memory, std::vector<std::pair<int, step_operand>>& stored) {
    bool any = false;
    for (std::size_t k = 0; k < p_.outputs.size(); ++k) {
      if (p_.outputs[k].reg != r) continue;
      write(copy(r), r, {step_operand::place::output, static_cast<std::uint16_t>(k)}, stored);
      any = true;
    }
    if (any || !needed) return;
    auto& types = memory == step_operand::place::rows ? out_.rows : out_.elements;
    write(copy(r), r, {memory, static_cast<std::uint16_t>(types.size())}, stored);
    types.push_back(at(r).type);
  }
  void hold(const std::vector<std::pair<int, step_operand>>& stored) {
    for (const auto& [r, where] : stored)
      if (!held(r).any) held(r) = {true, where};
  }

  /// The stage's outputs, and what is costly and kept for later stages.
  void element_step(int s) {
    std::vector<int> wanted;
    for (const jit::output_desc& o : p_.outputs)
      if (!jit::is_per_row(p_, o.reg) && jit::stage_of(p_, o.reg) == s) wanted.push_back(o.reg);
    for (const int r : jit::kept_after(p_, s))
      if (jit::stage_of(p_, r) == s && weight_of(r) >= stored_weight) wanted.push_back(r);
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    if (wanted.empty()) return;
    begin(jit::kernel_kind::elementwise);
    std::vector<std::pair<int, step_operand>> stored;
    for (const int r : wanted) write_all(r, true, step_operand::place::elements, stored);
    end();
    hold(stored);
  }

  /// The reductions of a stage, with the rows' code of the next one as what is computed from the results.
  void reduce_step(int s) {
    begin(jit::kernel_kind::reduce);
    first_reduction_ = jit::first_reduction(p_, s);
    for (int j = first_reduction_; j < stage(s).reductions; ++j) {
      jit::reduce_desc r = p_.reductions[static_cast<std::size_t>(j)];
      r.reg = r.inner = copy(r.reg);
      step_->code.reductions.push_back(r);
    }
    step_->code.epilogue = static_cast<std::uint16_t>(step_->code.code.size());
    begin_part();
    std::vector<std::pair<int, step_operand>> stored;
    if (first_reduction_ == 0)  // rows' results that wait for no reduction
      for (int r = 0; r < stage(0).element; ++r) write_all(r, false, step_operand::place::rows, stored);
    for (int r = stage(s).end; r < stage(s + 1).element; ++r)
      if (at(r).op != opcode::param)
        write_all(r, read_by_later_[static_cast<std::size_t>(r)], step_operand::place::rows, stored);
    end();
    hold(stored);
  }

  const jit::program& p_;
  stage_steps& out_;
  std::vector<holder> held_;  // per register: memory that has it
  std::vector<bool> read_by_later_;
  stage_step* step_ = nullptr;
  std::map<int, std::uint16_t> copies_;
  std::size_t first_input_ = 0;
  int first_reduction_ = 0;
};

/// Calls f(operand, step, whether it is written) for all operands of the steps.
template <class F>
void each_operand(std::vector<stage_step>& steps, const F& f) {
  for (int k = 0; k < static_cast<int>(steps.size()); ++k) {
    for (step_operand& o : steps[static_cast<std::size_t>(k)].inputs) f(o, k, false);
    for (step_operand& o : steps[static_cast<std::size_t>(k)].outputs) f(o, k, true);
  }
}

/// Where an operand is written first and read last; -1: nowhere.
struct lifetime {
  int written = -1, read = -1;

  lifetime(std::vector<stage_step>& steps, step_operand::place where, int index) {
    each_operand(steps, [&](const step_operand& o, int step, bool writes) {
      if (o.where != where || o.index != index) return;
      if (!writes) read = step;
      else if (written < 0) written = step;
    });
  }
};

/// An output whose memory may hold elements: one of their dtype that is written when they have been read, or while they are,
/// element by element; -1: none. Results of staged programs share no memory with operands, since only elementwise kernels write
/// over what they read (graph/run/placement.cpp).
int lender_of(int e, stage_steps& s, const jit::program& p) {
  const lifetime of(s.steps, step_operand::place::elements, e);
  for (int k = 0; k < static_cast<int>(p.outputs.size()); ++k) {
    const jit::output_desc& o = p.outputs[static_cast<std::size_t>(k)];
    if (jit::is_per_row(p, o.reg) || o.type != s.elements[static_cast<std::size_t>(e)]) continue;
    const int at = lifetime(s.steps, step_operand::place::output, k).written;
    const bool by_element = s.steps[static_cast<std::size_t>(at)].code.kind == jit::kernel_kind::elementwise;
    if (at > of.read || (at == of.read && by_element)) return k;
  }
  return -1;
}

/// Elements go to memory of outputs where these lend it; then they are what is written there first.
void borrow(stage_steps& s, const jit::program& p) {
  for (int e = static_cast<int>(s.elements.size()); e-- > 0;) {
    const int k = lender_of(e, s, p);
    if (k < 0) continue;
    s.lent_bytes += static_cast<std::int64_t>(itemsize(s.elements[static_cast<std::size_t>(e)]));
    s.elements.erase(s.elements.begin() + e);
    each_operand(s.steps, [&](step_operand& o, int, bool) {
      if (o.where != step_operand::place::elements || o.index < e) return;
      if (o.index == e) o = {step_operand::place::output, static_cast<std::uint16_t>(k)};
      else --o.index;
    });
  }
}

}  // namespace

stage_steps::stage_steps(const jit::program& p) {
  step_maker(p, *this);
  borrow(*this, p);
}

}  // namespace sinter::cpu
