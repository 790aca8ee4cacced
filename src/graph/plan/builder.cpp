// Lowering of nodes into the program of one kernel.
#include "graph/plan/builder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/plan/forms/short_sums.hpp"
#include "graph/values/limits.hpp"
#include "jit/program/rewrite/roll.hpp"

namespace sinter::graph {

using jit::instr;
using jit::opcode;

// ---- the three kinds of kernels

// Repeated steps become a loop, whose count is a further parameter.
void kernel_builder::roll(std::vector<std::uint16_t>& registers) {
  jit::roll(out_->code, out_->params, registers);
  out_->sources.resize(out_->params.size());
}

kernel_plan& kernel_builder::begin(kernel_plan& out, const dims& variables) {
  out_ = &out;
  out.code.clear();
  out.inputs.clear();
  out.params.clear();
  out.sources.clear();
  out.dependencies.clear();
  out.computed.clear();
  out.extents = variables;
  out.kept = variables.size();
  out.reduces_last = out.unset_base = false;
  out.whole = {};  // the plan object may have held another kernel before
  out.apart = -1;
  rank_ = variables.size();
  whole_ = variables;
  space_ = core::element_count(variables);
  begin_phase();
  reduced_.clear();
  places_.clear();
  unfusible_ = false;
  gathers_ = 0;
  joined_.clear();
  outer_gather_ = nullptr;
  phase_code_ = phase_inputs_ = 0;
  short_times_ = 0;
  split_ = nullptr;
  restart_ = in_epilogue_ = in_order_ = in_index_ = false;
  stored_before_ = table_.stored().size();
  return out;
}

void kernel_builder::begin_phase() {
  ++phase_;
  memo_.clear();
  calls_.clear();
  param_registers_.clear();
  equal_.clear();
}

bool kernel_builder::finish() {
  bool large = static_cast<int>(out_->code.code.size()) > limits().instructions ||
               static_cast<int>(out_->inputs.size()) > limits().inputs;
  if (large && split_) {
    table_.materialise(split_, store_reason::size);
    restart_ = true;
  }
  // What was lowered for a node that has been materialised since is not needed.
  if (in_order_ && stored_before_ != table_.stored().size()) restart_ = true;
  out_->code.params = static_cast<std::uint16_t>(out_->params.size());
  return !restart_;
}

/// The space that a result's kernel was found to need: its shape with axes split (lower_reshaped); null: its shape.
const dims* kernel_builder::finer_space(std::span<node* const> results) {
  if (std::exchange(refined_in_, table_.epoch()) != table_.epoch()) refined_.clear();
  const auto found = std::find_if(refined_.begin(), refined_.end(), [&](auto& r) { return r.first == results[0]; });
  return results.size() == 1 && found != refined_.end() ? &found->second : nullptr;
}

bool kernel_builder::elementwise(kernel_plan& out, std::span<node* const> results) {
  const dims* const finer = finer_space(results);
  begin(out, finer ? *finer : results[0]->shape);
  index_map place;  // of the results in a finer space
  if (finer) {
    decompose(results[0]->shape, *finer, core::contiguous_strides(*finer), 0, place);
    place = widened(place, rank_ + max_gathers);
  }
  const index_map* const map = finer ? &place : nullptr;
  out_->kind = plan_kind::elementwise;
  out_->code.kind = jit::kernel_kind::elementwise;
  out_->results.assign(results.begin(), results.end());
  unfusible_ = unfusible(*results[0]);
  for (node* n : results) table_.at(n).result_of = phase_;
  store_rolled_operands(results);
  lower_in_order(results);
  std::vector<std::uint16_t> registers;
  for (node* n : results) {
    const int known = find(n, map);
    registers.push_back(known >= 0 ? static_cast<std::uint16_t>(known) : lower_pending(n, map));
    remember(n, map, registers.back());
  }
  if (in_order_) roll(registers);
  for (std::size_t k = 0; k < results.size(); ++k) out_->code.outputs.push_back({results[k]->type, 0, registers[k]});
  out_->code.epilogue = static_cast<std::uint16_t>(out_->code.code.size());
  return finish();
}

bool kernel_builder::update(kernel_plan& out, std::span<node* const> results) {
  begin(out, results[0]->args[1]->shape);
  out_->kind = plan_kind::update;
  out_->code.kind = jit::kernel_kind::elementwise;
  out_->results.assign(results.begin(), results.end());
  out_->unset_base = table_.at(results[0]).unset;
  if (node* const base = base_of(out); base && !base->is_leaf()) {
    table_.materialise(base, store_reason::write);
    out_->dependencies.push_back(base);
  }
  for (node* n : results) out_->code.outputs.push_back({n->type, 0, lower(n->args[1].get(), nullptr)});
  out_->code.epilogue = static_cast<std::uint16_t>(out_->code.code.size());
  return finish();
}

// ---- index maps

index_map kernel_builder::full_map(const node* n, const index_map* map) const {
  return map ? *map : index_map::identity(n->shape.size(), rank_ + max_gathers);
}

bool kernel_builder::is_plain(const node* n, const index_map& map) const {
  if (!(n->shape == whole_)) return false;
  for (int k = 0; k < map.rows(); ++k) {
    if (map.offset(k) != 0) return false;
    for (int v = 0; v < map.variables(); ++v)
      if (k == v ? n->shape[k] != 1 && map.coefficient(k, v) != 1 : map.coefficient(k, v) != 0) return false;
  }
  return true;
}

bool kernel_builder::reads_points(const index_map* map) const {
  if (!map) return false;
  for (int k = 0; k < map->rows(); ++k)
    for (int v = rank_; v < map->variables(); ++v)
      if (map->coefficient(k, v) != 0) return true;
  return false;
}

void kernel_builder::remember(node* n, const index_map* map, std::uint16_t reg) {
  if (map) {
    memo_.push_back({n, false, *map, reg});
    return;
  }
  plan_table::entry& e = table_.at(n);
  e.reg = reg;
  e.phase = phase_;
}

// The register that already holds a value; -1 if there is none.
int kernel_builder::find(node* n, const index_map* map) {
  if (!map) {
    const plan_table::entry& e = table_.at(n);
    return e.phase == phase_ ? e.reg : -1;
  }
  for (const memo& m : memo_)
    if (m.n == n && m.map == *map) return m.reg;
  return -1;
}

// ---- instructions

// `after`: the search for an equal instruction may end here, since an instruction follows its operands.
std::uint16_t kernel_builder::emit(instr i, std::size_t after) {
  auto& code = out_->code.code;
  const std::size_t first = std::max(phase_code_, after);
  if (code.size() - first > equal_.few) {
    if (const int known = equal_.find(code, i, first); known >= 0) return static_cast<std::uint16_t>(known);
  } else {
    for (std::size_t k = code.size(); k-- > first;)
      if (std::memcmp(&code[k], &i, sizeof i) == 0) return static_cast<std::uint16_t>(k);
  }
  code.push_back(i);
  return static_cast<std::uint16_t>(code.size() - 1);
}

std::uint16_t kernel_builder::binary(opcode op, std::uint16_t a, std::uint16_t b) {
  return emit({op, dtype::i64, dtype::i64, 0, a, b, 0, 0});
}

std::uint16_t kernel_builder::add_param(const jit::scalar& v, dtype type, param_source source) {
  out_->params.push_back(v);
  out_->sources.push_back(source);
  out_->code.param_types.push_back(type);
  return static_cast<std::uint16_t>(out_->params.size() - 1);
}

// Scalars of the program with the same bits are one parameter, and so are numbers that follow from shapes (no `source`).
// The two are never one: a plan serves graphs with other scalars, too (plan_cache.hpp).
std::uint16_t kernel_builder::param(const jit::scalar& v, dtype type, const node* source) {
  std::uint16_t index = 0;
  for (; index < out_->params.size(); ++index) {
    const jit::scalar& p = out_->params[index];
    const node* const from = out_->sources[index].n;
    if (source ? !from || from->kind != node_kind::scalar : from != nullptr) continue;
    // Bits, not values: -0.0 and NaN payloads are different parameters.
    if (out_->code.param_types[index] == type && p.u == v.u && (!is_complex(type) || std::memcmp(p.f, v.f, 16) == 0))
      break;
  }
  if (index == out_->params.size()) index = add_param(v, type, {source});
  // Repeated steps are the same code only if they read the same registers.
  for (const auto& [known, reg] : param_registers_)
    if (known == index) return reg;
  const std::uint16_t reg = emit({opcode::param, type, type, 0, index, 0, 0, 0});
  if (in_order_) param_registers_.emplace_back(index, reg);
  return reg;
}

std::uint16_t kernel_builder::integer_param(std::int64_t v) {
  jit::scalar s;
  s.type = dtype::i64;
  s.i = v;
  return param(s, dtype::i64, nullptr);
}

std::uint16_t kernel_builder::load(node* source, const index_map* map) {
  // The identity needs no composition, and most loads are of that kind.
  if (!map) {
    const int known = find(source, nullptr);
    if (known >= 0) return static_cast<std::uint16_t>(known);
    const std::uint16_t reg = load(source, {0, core::contiguous_strides(source->shape)});
    remember(source, nullptr, reg);
    return reg;
  }
  if (const int known = places_.empty() ? -1 : find(source, map); known >= 0) return static_cast<std::uint16_t>(known);
  return load(source, compose(full_map(source, map), core::contiguous_strides(source->shape), 0));
}

// A kernel cannot read what it writes: its results are used where they are computed, or it cannot be built.
bool kernel_builder::is_own_result(node* n) { return !n->is_leaf() && table_.at(n).result_of == phase_; }

void kernel_builder::depend_on(node* source) {
  if (is_own_result(source)) restart_ = true;
  auto& known = out_->dependencies;
  if (!source->is_leaf() && std::find(known.begin(), known.end(), source) == known.end()) known.push_back(source);
}

std::uint16_t kernel_builder::load(node* source, linear_form at) {
  join_gathers(at);
  // Equal forms get equal lengths: trailing zeros are removed.
  while (at.coefficients.size() > rank_ + load_gathers && at.coefficients.back() == 0)
    at.coefficients.resize(at.coefficients.size() - 1);
  while (at.coefficients.size() < rank_ + load_gathers) at.coefficients.push_back(0);
  for (int v = 0; v < rank_; ++v)
    if (out_->extents[v] == 1) at.coefficients[v] = 0;
  std::uint16_t slot = static_cast<std::uint16_t>(phase_inputs_);
  for (; slot < out_->inputs.size(); ++slot) {
    const input_slot& s = out_->inputs[slot];
    if (s.source == source && !s.raw && s.at.offset == at.offset && s.at.coefficients == at.coefficients) break;
  }
  if (slot == out_->inputs.size()) {
    jit::input_desc d{source->type, 0, {0, 0}};
    for (int g = 0; rank_ + g < at.coefficients.size(); ++g)
      if (at.coefficients[rank_ + g] != 0)
        d.gather[d.gathers++] = g < max_gathers ? gather_regs_[g] : joined_[static_cast<std::size_t>(g - max_gathers)];
    out_->code.inputs.push_back(d);
    out_->inputs.push_back({source, std::move(at)});
    depend_on(source);
  }
  return emit({opcode::load, source->type, source->type, 0, slot, 0, 0, 0});
}

// ---- nodes

std::uint16_t kernel_builder::lower(node* n, const index_map* map) {
  ++planning().lowered;
  node_kind kind = n->kind;
  if (kind == node_kind::scalar) return scalar_param(n);
  const bool own = !map && is_own_result(n);
  if (table_.is_stored(n) && !own && !(in_epilogue_ && kind == node_kind::reduce)) return load(n, map);
  if (const int known = find(n, map); known >= 0) return static_cast<std::uint16_t>(known);
  if (kind == node_kind::reduce) {
    if (const int index = in_epilogue_ ? find_reduced(n, map) : -1; index >= 0)
      return emit({opcode::reduced, n->type, n->type, 0, static_cast<std::uint16_t>(index), 0, 0, 0});
    if (table_.is_stored(n)) return load(n, map);
    if (!is_in_place(n)) {
      table_.materialise(n, store_reason::reduction);
      note_space(n);
      return load(n, map);
    }
  }
  if (n->kind == node_kind::update && short_times_ != 0 && map && limits().fuse) {
    const std::optional<std::uint16_t> written = lower_written(n, *map);
    if (written) remember(n, map, *written);
    if (written) return *written;
  }
  if (!own && must_store(n, map)) return load(n, map);
  if (!own && is_computed(n)) out_->computed.push_back(n);
  std::size_t code_before = out_->code.code.size(), inputs_before = out_->inputs.size();
  std::uint16_t reg = lower_pending(n, map);
  remember(n, map, reg);
  if (!split_ && is_computed(n) && !n->opaque && !reads_points(map) &&
      (static_cast<int>(out_->code.code.size() - code_before) * 2 > limits().instructions ||
       static_cast<int>(out_->inputs.size() - inputs_before) * 2 > limits().inputs))
    split_ = n;
  return reg;
}

/// At how many elements that lie apart a value is computed: components of a point, a small matrix. A sum by halves would be as many
/// instructions as it has terms.
constexpr int most_elements_apart = 32;

bool kernel_builder::must_store(node* n, const index_map* map) {
  if (n->kind == node_kind::update) {
    table_.materialise(n, store_reason::write);
    return true;
  }
  if (n->kind == node_kind::call) {
    if (n->opaque) return false;
    if (must_store_call(n, map)) return true;
  }
  if (n->kind == node_kind::iota) return false;
  if (reads_points(map)) return is_small_and_costly(n, map) || is_computed_again(n, map) || looks_up_several(n);
  if (!limits().fuse && n->kind != node_kind::view) {
    table_.materialise(n, store_reason::unfused);
    return true;
  }
  if (is_small_and_costly(n, map) || skips_rolled(n, map)) return true;
  if (gathers_rows(n)) {
    table_.materialise(n, store_reason::rows);
    return true;
  }
  const std::int64_t size = n->size();
  if (is_computed(n)) {
    bool elsewhere = find(n, nullptr) >= 0;
    int places = 0;  // that it is read at
    for (const memo& m : memo_) {
      if (m.n != n || reads_points(&m.map)) continue;
      elsewhere = elsewhere || !(map && are_apart(n, m.map, *map));
      ++places;
    }
    const bool is_taken_apart = places >= most_elements_apart;
    if (table_.inline_weight(n) > 0 && (is_taken_apart || (elsewhere && !is_cheap_again(n)))) {
      table_.materialise(n, store_reason::several_views);
      restart_ = true;
      return true;
    }
    if (is_computed_again(n, map)) return true;
  }
  if (n->evaluated_before && space_ * 4 >= size && is_computed(n) && table_.inline_weight(n) > 0 &&
      (table_.worth_storing(n) || is_better_kept(n))) {
    table_.materialise(n, store_reason::reused);
    return true;
  }
  return false;
}

std::uint16_t kernel_builder::lower_pending(node* n, const index_map* map) {
  switch (n->kind.load(std::memory_order_relaxed)) {
    case node_kind::map: return lower_map(n, map);
    case node_kind::random: return lower_random(n, map);
    case node_kind::view: return lower_view(n, map);
    case node_kind::gather: return lower_gather(n, map);
    case node_kind::iota: return lower_iota(n, map);
    case node_kind::call: return lower_call(n, map);
    case node_kind::scalar: return scalar_param(n);
    case node_kind::reduce: return lower_short(n, map);
    default: return lower(n, map);
  }
}

std::uint16_t kernel_builder::lower_operand(node* n, const index_map* map, node* operand) {
  if (operand->kind == node_kind::scalar) return scalar_param(operand);
  if (!map && operand->shape == whole_) return lower(operand, nullptr);
  index_map sub = broadcast(full_map(n, map), n->shape, operand->shape);
  return lower(operand, is_plain(operand, sub) ? nullptr : &sub);
}

std::uint16_t kernel_builder::lower_map(node* n, const index_map* map) {
  std::uint16_t reg[3] = {0, 0, 0};
  // Scalars first, so that a monotone tail's instructions stay together.
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < n->nargs; ++k)
      if ((n->args[k]->kind == node_kind::scalar) == (pass == 0)) reg[k] = lower_operand(n, map, n->args[k].get());
  dtype arg = n->args[n->nargs - 1]->type;
  if (n->map().fast_math) out_->code.flags.fast_math = true;
  return emit({n->map().op, n->type, arg, 0, reg[0], reg[1], reg[2], 0},
              std::size_t{std::max({reg[0], reg[1], reg[2]})} + 1);
}

std::uint16_t kernel_builder::lower_view(node* n, const index_map* map) {
  node* base = n->args[0].get();
  if (base->kind == node_kind::scalar) return scalar_param(base);
  if (node* const packed = table_.find_packed(n)) return load(packed, map);
  if (out_->kind == plan_kind::update && base->kind == node_kind::update) {
    base = version_below(*n, out_->results);
    restart_ = restart_ || !base;  // a kernel cannot read what it writes
    if (!base) base = n->args[0].get();
  }
  const payload::view& region = n->view();
  index_map outer = full_map(n, map);
  index_map inner;
  bool stored = table_.is_stored(base);
  if (!stored && base->kind != node_kind::update && (base->kind != node_kind::reduce || is_in_place(base))) {
    if (decompose(base->shape, n->shape, region.strides, region.offset, inner)) {
      index_map sub = substitute(inner, outer);
      return lower(base, is_plain(base, sub) ? nullptr : &sub);
    }
    if (const auto reg = lower_reshaped(base, compose(outer, region.strides, region.offset))) return *reg;
    if (base->kind == node_kind::view || base->kind == node_kind::map || base->kind == node_kind::gather ||
        base->kind == node_kind::iota || base->kind == node_kind::call || base->kind == node_kind::random ||
        base->kind == node_kind::reduce)
      table_.materialise(base, store_reason::not_affine);
  } else if (!stored) {
    table_.materialise(base, base->kind == node_kind::update ? store_reason::write : store_reason::reduction);
    if (base->kind == node_kind::reduce) note_space(base);
  }
  linear_form at = compose(outer, region.strides, region.offset);
  if (wants_packing(n, outer, at) || is_against_memory(n, outer, at)) {
    return load(table_.pack(n), map);
  }
  return load(base, std::move(at));
}

/// A pending value whose elements a view shows in another shape. Where an axis of an elementwise kernel runs over several axes
/// of the value, the kernel is built again over a space whose axes are split there: outputs lie in memory as before. Nothing
/// where no splitting makes the map affine.
std::optional<std::uint16_t> kernel_builder::lower_reshaped(node* base, const linear_form& at) {
  if (out_->kind != plan_kind::elementwise || out_->results.size() != 1) return {};
  if (in_index_) return {};  // indices in memory let rows be copied whole
  if (std::any_of(at.coefficients.begin() + rank_, at.coefficients.end(), [](std::int64_t c) { return c != 0; }))
    return {};
  const dims strides(at.coefficients.data(), rank_);
  index_map sub;
  if (decompose(base->shape, out_->extents, strides, at.offset, sub)) {
    sub = widened(sub, rank_ + max_gathers);
    return lower(base, &sub);
  }
  dims finer = refined(out_->extents, strides, base->shape);
  if (finer.empty()) return {};
  constexpr std::int64_t shortest_run = 16;  // on the CPU shorter ones take longer than a copy
  if (out_->results[0]->device.kind == runtime::device_kind::cpu && finer[finer.size() - 1] < shortest_run) return {};
  if (std::exchange(restart_, true)) return integer_param(0);
  std::erase_if(refined_, [&](auto& r) { return r.first == out_->results[0]; });
  refined_.emplace_back(out_->results[0], std::move(finer));
  return integer_param(0);
}

// Lowers the operations over the kernel's own space below the results, each after its operands. Others are lowered where
// they are needed.
void kernel_builder::lower_in_order(std::span<node* const> results) {
  std::vector<node*> found;
  const std::uint64_t mark = table_.begin_search();
  const auto add = [&](node* n) {
    if (!is_operation(n->kind) || n->opaque || !(n->shape == whole_) || unfusible(*n)) return;
    if (table_.is_stored(n) && !is_own_result(n)) return;
    if (std::exchange(table_.at(n).search, mark) != mark) found.push_back(n);
  };
  for (node* n : results) add(n);
  for (std::size_t k = 0; k < found.size(); ++k)  // grows
    for (int a = 0; a < found[k]->operand_count(); ++a)
      if (!reads_raw(*found[k], a)) add(found[k]->operand(a));
  if (found.size() < many_operations) return;
  in_order_ = true;
  std::sort(found.begin(), found.end(), [](const node* a, const node* b) { return a->order < b->order; });
  for (node* n : found) lower(n, nullptr);
}

}  // namespace sinter::graph
