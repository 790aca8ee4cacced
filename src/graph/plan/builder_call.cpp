// Lowering of users' functions: calls and what they read by index.
#include <algorithm>

#include "graph/plan/builder.hpp"
#include "jit/program/index_check.hpp"

namespace sinter::graph {

using jit::opcode;

bool kernel_builder::effect(kernel_plan& out, node* n) {
  begin(out, n->shape);
  out_->kind = plan_kind::effect;
  out_->code.kind = jit::kernel_kind::elementwise;
  out_->results.clear();
  unfusible_ = unfusible(*n);
  const std::uint16_t call = lower_operands(n, nullptr);
  const jit::user_function& f = *n->call().function;
  // After the inputs come the raw outputs.
  for (int k = static_cast<int>(f.inputs.size()); k < n->operand_count(); ++k)
    for (input_slot& s : out_->inputs)
      if (s.raw && s.source == n->operand(k)) s.written = true;
  for (std::size_t k = 0; k < f.outputs.size(); ++k) {
    if (f.outputs[k].raw) continue;
    out_->results.push_back(n->call().targets[out_->results.size()].get());
    out_->code.outputs.push_back({f.outputs[k].type, 0, output_of(call, k)});
  }
  out_->code.epilogue = static_cast<std::uint16_t>(out_->code.code.size());
  return finish();
}

// Whether a call must be materialised: the kernel has a call that is not fusible, or a reduction result that is never
// in memory.
bool kernel_builder::must_store_call(node* n, const index_map* map) {
  if (unfusible_ || unfusible(*n)) {
    table_.materialise(n, store_reason::unfusible);
    return true;
  }
  const node* r = finished_reduction(*n);
  if (!r) return false;
  auto is_r = [r](const auto& known) { return known.n == r; };
  if (in_epilogue_ && !map && std::any_of(reduced_.begin(), reduced_.end(), is_r)) return false;
  table_.materialise(n, store_reason::reduction);
  return true;
}

std::uint16_t kernel_builder::lower_call(node* n, const index_map* map) {
  const auto output = static_cast<std::size_t>(n->call().output);
  for (const memo& m : calls_)
    if (same_call(*m.n, *n) && (map ? !m.plain && m.map == *map : m.plain)) return output_of(m.reg, output);
  const std::uint16_t call = lower_operands(n, map);
  calls_.push_back({n, map == nullptr, map ? *map : index_map(), call});
  return output_of(call, output);
}

std::uint16_t kernel_builder::lower_operands(node* n, const index_map* map) {
  std::vector<std::uint16_t> operands;
  for (int k = 0; k < n->operand_count(); ++k)
    operands.push_back(reads_raw(*n, k) ? address(n->operand(k)) : lower_operand(n, map, n->operand(k)));
  if (n->call().fast_math) out_->code.flags.fast_math = true;
  if (jit::checks_index()) out_->code.flags.check_index = true;
  return add_call(n->call().function, std::move(operands));
}

std::uint16_t kernel_builder::add_call(const jit::user_function* f, std::vector<std::uint16_t> operands) {
  auto& code = out_->code.code;
  auto& calls = out_->code.calls;
  for (std::size_t k = phase_code_; k < code.size(); ++k)
    if (code[k].op == opcode::user && calls[code[k].a].function == f && calls[code[k].a].operands == operands)
      return code[k].a;
  const auto call = static_cast<std::uint16_t>(calls.size());
  calls.push_back({f, std::move(operands)});
  const std::size_t before = code.size();
  for (std::size_t k = 0; k < f->outputs.size(); ++k) {
    if (f->outputs[k].raw) continue;
    const dtype type = f->outputs[k].type;
    code.push_back({opcode::user, type, type, 0, call, static_cast<std::uint16_t>(k), 0, 0});
  }
  if (code.size() == before) code.push_back({opcode::user, dtype::u8, dtype::u8, 0, call, 0, 0, 0});
  return call;
}

std::uint16_t kernel_builder::output_of(std::uint16_t call, std::size_t output) const {
  const auto& code = out_->code.code;
  std::size_t k = code.size();
  while (code[--k].op != opcode::user || code[k].a != call || code[k].b != output) {
  }
  return static_cast<std::uint16_t>(k);
}

// The address of a whole node in memory; its extents are consecutive parameters.
std::uint16_t kernel_builder::address(node* source) {
  if (!table_.is_stored(source)) table_.materialise(source, store_reason::raw);
  std::size_t slot = phase_inputs_;
  while (slot < out_->inputs.size() && !(out_->inputs[slot].source == source && out_->inputs[slot].raw)) ++slot;
  auto& code = out_->code.code;
  if (slot < out_->inputs.size()) {
    std::size_t k = phase_code_;
    while (code[k].op != opcode::address || code[k].a != slot) ++k;
    return static_cast<std::uint16_t>(k);
  }
  out_->code.inputs.push_back({source->type, 0, {0, 0}});
  out_->inputs.push_back({source, {0, dims(rank_ + max_gathers)}, true});
  depend_on(source);
  const auto extents = static_cast<std::uint16_t>(out_->params.size());
  for (int a = 0; a < source->shape.size(); ++a) {
    jit::scalar s;
    s.type = dtype::i64;
    s.i = source->shape[a];
    add_param(s, dtype::i64, {});
  }
  code.push_back({opcode::address, source->type, source->type, 0, static_cast<std::uint16_t>(slot), extents,
                  static_cast<std::uint16_t>(source->shape.size()), 0});
  return static_cast<std::uint16_t>(code.size() - 1);
}

}  // namespace sinter::graph
