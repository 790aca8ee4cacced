// Merging of programs over one space of rows.
#include "graph/plan/stage_builder.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "graph/values/limits.hpp"

namespace sinter::graph {

using jit::instr;
using jit::opcode;

std::int64_t row_space::rows() const noexcept {
  return std::accumulate(extents.begin(), extents.begin() + kept, std::int64_t{1}, std::multiplies<>());
}
std::int64_t row_space::elements() const noexcept {
  return std::accumulate(extents.begin() + kept, extents.end(), std::int64_t{1}, std::multiplies<>());
}

namespace {

bool reads_only_elements(const jit::program& p) {
  if (!p.calls.empty() || !p.combines.empty() || p.loop.end != 0 || fault_count(p) != 0) return false;
  if (std::any_of(p.inputs.begin(), p.inputs.end(), [](auto& in) { return in.gathers != 0; })) return false;
  bool coordinates = false, draws = false, others = false;
  for (const instr& i : p.code) {
    coordinates = coordinates || i.op == opcode::coord;
    draws = draws || jit::is_random(i.op);
    others = others || i.op == opcode::address || (i.op == opcode::coord && i.a == jit::flat_axis);
  }
  return !others && !(coordinates && draws);
}

}  // namespace

/// Whether a kernel goes over all elements (`whole`) or over the rows of the space.
bool stage_builder::matches(const kernel_plan& k, bool& whole) const {
  if (k.kind == plan_kind::reduce) {
    whole = true;
    return k.kept == space_.kept && k.extents == space_.extents;
  }
  if (k.kind != plan_kind::elementwise) return false;
  whole = k.extents == space_.extents;
  if (whole) return true;
  if (k.extents.size() < space_.kept) return false;
  for (int a = 0; a < k.extents.size(); ++a)
    if (k.extents[a] != (a < space_.kept ? space_.extents[a] : 1)) return false;
  return true;
}

/// A form over the rows, or the whole space, as one over the whole space.
linear_form stage_builder::in_space(const linear_form& at) const {
  linear_form f = at;
  f.coefficients.resize(space_.extents.size(), 0);
  for (int a = 0; a < space_.extents.size(); ++a)
    if (space_.extents[a] == 1) f.coefficients[a] = 0;
  return f;
}

bool stage_builder::is_row_of_space(const dims& coefficients) const {
  return std::all_of(coefficients.begin() + space_.kept, coefficients.end(), [](std::int64_t c) { return c == 0; });
}

const stage_builder::result* stage_builder::find_result(const node* n) const {
  for (const auto* list : {&results_, &aliases_})
    for (const result& r : *list)
      if (r.n == n) return &r;
  return nullptr;
}

bool stage_builder::add_alias(node* n, const node* base) {
  const result* const of = find_result(base);
  if (!of || n->size() != base->size() || n->type != base->type) return false;
  aliases_.push_back({n, of->item});
  return true;
}

/// The item that holds what is loaded from a result of the joined kernels (`known`); nothing where another element of
/// it is loaded than the one of this row or this place.
std::optional<std::uint16_t> stage_builder::result_read_by(const input_slot& s, bool whole, bool& known) const {
  const result* const found = find_result(s.source);
  known = found != nullptr;
  if (!known || s.at.offset != 0) return {};
  const bool per_row = items_[found->item].per_row;
  if (!per_row && !whole) return {};
  const dims over(space_.extents.data(), per_row ? space_.kept : space_.extents.size());
  const dims dense = core::contiguous_strides(over);
  const linear_form at = in_space(s.at);
  for (int a = 0; a < space_.extents.size(); ++a)
    if (space_.extents[a] != 1 && at.coefficients[a] != (a < dense.size() ? dense[a] : 0)) return {};
  return found->item;
}

std::uint16_t stage_builder::add_input(const input_slot& s, const jit::input_desc& d, bool& is_new) {
  const linear_form at = in_space(s.at);
  std::size_t slot = 0;
  for (; slot < slots_.size(); ++slot)
    if (slots_[slot].source == s.source && slots_[slot].at.offset == at.offset &&
        slots_[slot].at.coefficients == at.coefficients)
      break;
  is_new = slot == slots_.size();
  if (is_new) {
    slots_.push_back({s.source, at});
    inputs_.push_back(d);
  }
  return static_cast<std::uint16_t>(slot);
}

std::optional<std::uint16_t> stage_builder::add_load(const kernel_plan& k, std::size_t slot, bool whole, bool per_row) {
  const input_slot& s = k.inputs[slot];
  bool known = false, is_new = false;
  const std::optional<std::uint16_t> held = result_read_by(s, whole, known);
  if (known) {
    shares_ = shares_ || (held && !items_[*held].per_row);
    return held;
  }
  const std::uint16_t input = add_input(s, k.code.inputs[slot], is_new);
  per_row = per_row || is_row_of_space(slots_[input].at.coefficients);
  shares_ = shares_ || (!is_new && !per_row);
  const dtype type = inputs_[input].type;
  return add_item({opcode::load, type, type, 0, input, 0, 0, 0}, per_row, 0);
}

// Equal as in kernel_builder::param.
std::uint16_t stage_builder::add_param(const jit::scalar& v, dtype type, const param_source& source) {
  std::size_t index = 0;
  for (; index < params_.size(); ++index)
    if (param_types_[index] == type && params_[index].u == v.u && !sources_[index].n == !source.n &&
        (!is_complex(type) || std::memcmp(params_[index].f, v.f, sizeof v.f) == 0))
      break;
  if (index == params_.size()) {
    params_.push_back(v);
    sources_.push_back(source);
    param_types_.push_back(type);
  }
  return add_item({opcode::param, type, type, 0, static_cast<std::uint16_t>(index), 0, 0, 0}, true, 0);
}

std::uint16_t stage_builder::add_item(const instr& i, bool per_row, int earliest) {
  for (std::size_t k = 0; k < items_.size(); ++k)
    if (std::memcmp(&items_[k].i, &i, sizeof i) == 0) return static_cast<std::uint16_t>(k);
  items_.push_back({i, per_row, earliest});
  return static_cast<std::uint16_t>(items_.size() - 1);
}

/// An operation on rows' values alone is computed once for each row.
std::uint16_t stage_builder::add_operation(instr i, const registers& of) {
  std::uint16_t* const operands[3] = {&i.a, &i.b, &i.c};
  bool per_row = true;
  int earliest = 0;
  for (int n = 0; n < jit::operand_count(i.op); ++n) {
    *operands[n] = of[*operands[n]];
    const item& x = items_[*operands[n]];
    per_row = per_row && x.per_row;
    earliest = std::max(earliest, x.earliest);
  }
  return add_item(i, per_row, earliest);
}

std::optional<std::uint16_t> stage_builder::add_reduction(jit::reduce_desc r, const registers& of) {
  r.reg = r.inner = of[r.reg];
  r.tail = 0;
  if (items_[r.reg].per_row) return {};
  std::size_t index = 0;
  for (; index < reductions_.size(); ++index)
    if (std::memcmp(&reductions_[index], &r, sizeof r) == 0) break;
  if (index == reductions_.size()) {
    reductions_.push_back(r);
    stage_of_reduction_.push_back(items_[r.reg].earliest);
  }
  return static_cast<std::uint16_t>(index);
}

bool stage_builder::add(const kernel_plan& k) {
  bool whole = false;
  if (k.code.code.empty() || !matches(k, whole) || !reads_only_elements(k.code)) return false;
  if (!items_.empty() && fast_math_ != k.code.flags.fast_math) return false;
  fast_math_ = k.code.flags.fast_math;
  shares_ = false;
  const bool reduces = k.kind == plan_kind::reduce;
  if (reduces && (!k.reduces_last || k.whole.split_lanes != 0)) return false;
  if (reduces && !(whole_.value_or(k.whole) == k.whole)) return false;
  if (reduces) whole_ = k.whole;
  registers of(k.code.code.size());
  registers reduced(k.code.reductions.size());
  for (std::size_t r = 0; r < k.code.code.size(); ++r) {
    if (reduces && r == k.code.epilogue) {
      for (std::size_t j = 0; j < reduced.size(); ++j) {
        const auto index = add_reduction(k.code.reductions[j], of);
        if (!index) return false;
        reduced[j] = *index;
      }
    }
    const instr& i = k.code.code[r];
    const bool per_row = !whole || (reduces && r >= k.code.epilogue);
    std::optional<std::uint16_t> at;
    if (i.op == opcode::load) at = add_load(k, i.a, !per_row, per_row);
    else if (i.op == opcode::param) at = add_param(k.params[i.a], i.type, k.sources[i.a]);
    else if (i.op == opcode::reduced)
      at = add_item({opcode::reduced, i.type, i.arg, 0, reduced[i.a], 0, 0, 0}, true,
                    stage_of_reduction_[reduced[i.a]] + 1);
    else if (i.op != opcode::coord) at = add_operation(i, of);
    else if (i.a < space_.kept || !per_row) at = add_item(i, i.a < space_.kept, 0);
    if (!at) return false;
    of[r] = *at;
  }
  for (std::size_t n = 0; n < k.results.size(); ++n) {
    const std::uint16_t x = of[k.code.outputs[n].reg];
    if (items_[x].per_row != (!whole || reduces)) return false;  // the same for all elements of a row
    results_.push_back({k.results[n], x});
  }
  return true;
}

void stage_builder::leave_out(const std::vector<const node*>& nodes) {
  std::erase_if(results_, [&](const result& r) { return std::find(nodes.begin(), nodes.end(), r.n) != nodes.end(); });
}

/// The stage that computes each item: rows' values as soon as they can be, elements' values when they are first needed,
/// so that what is kept from stage to stage is little. -1: nothing needs it.
std::vector<int> stage_builder::homes() const {
  std::vector<int> home(items_.size(), -1);
  const auto needed = [&](std::uint16_t x, int stage) {
    int& h = home[x];
    if (items_[x].per_row) h = items_[x].earliest;
    else h = h < 0 ? stage : std::min(h, stage);
  };
  for (std::size_t j = 0; j < reductions_.size(); ++j) needed(reductions_[j].reg, stage_of_reduction_[j]);
  for (const result& r : results_) needed(r.item, items_[r.item].earliest);
  for (std::size_t k = items_.size(); k-- > 0;) {
    if (home[k] < 0) continue;
    const instr& i = items_[k].i;
    const std::uint16_t operands[3] = {i.a, i.b, i.c};
    for (int n = 0; n < jit::operand_count(i.op); ++n) needed(operands[n], home[k]);
  }
  return home;
}

bool stage_builder::finish(kernel_plan& out) const {
  const std::vector<int> home = homes();
  int stages = 1;
  for (const int s : stage_of_reduction_) stages = std::max(stages, s + 2);
  jit::program& p = out.code;
  p.clear();
  p.kind = jit::kernel_kind::staged;
  p.flags.fast_math = fast_math_;
  std::vector<std::uint16_t> reg(items_.size()), reduction(reductions_.size());
  for (int s = 0; s < stages; ++s) {
    jit::stage bounds{};
    for (const bool per_row : {true, false}) {
      for (std::size_t k = 0; k < items_.size(); ++k) {
        if (home[k] != s || items_[k].per_row != per_row) continue;
        instr i = items_[k].i;
        std::uint16_t* const operands[3] = {&i.a, &i.b, &i.c};
        for (int n = 0; n < jit::operand_count(i.op); ++n) *operands[n] = reg[*operands[n]];
        if (i.op == opcode::reduced) i.a = reduction[i.a];
        reg[k] = static_cast<std::uint16_t>(p.code.size());
        p.code.push_back(i);
      }
      (per_row ? bounds.element : bounds.end) = static_cast<std::uint16_t>(p.code.size());
    }
    for (std::size_t j = 0; j < reductions_.size(); ++j) {
      if (stage_of_reduction_[j] != s) continue;
      reduction[j] = static_cast<std::uint16_t>(p.reductions.size());
      p.reductions.push_back(reductions_[j]);
      p.reductions.back().reg = p.reductions.back().inner = reg[reductions_[j].reg];
    }
    bounds.reductions = static_cast<std::uint16_t>(p.reductions.size());
    p.stages.push_back(bounds);
  }
  p.epilogue = static_cast<std::uint16_t>(p.code.size());
  p.inputs = inputs_;
  p.param_types = param_types_;
  p.params = static_cast<std::uint16_t>(params_.size());
  out.kind = plan_kind::staged;
  out.results.clear();
  for (const result& r : results_) {
    out.results.push_back(r.n);
    p.outputs.push_back({r.n->type, 0, reg[r.item]});
  }
  out.extents = space_.extents;
  out.kept = space_.kept;
  out.reduces_last = true;
  out.whole = whole_.value_or(payload::whole_reduction{});
  out.inputs = slots_;
  out.params = params_;
  out.sources = sources_;
  const planner_limits& most = limits();
  return static_cast<int>(p.code.size()) <= most.instructions && static_cast<int>(p.inputs.size()) <= most.inputs &&
         static_cast<int>(p.outputs.size()) <= most.outputs;
}

}  // namespace sinter::graph
