// Which code a launch needs.
#include "backends/cpu/prepared_table.hpp"

#include "backends/cpu/kernels/code.hpp"
#include "backends/cpu/kernels/patterns.hpp"
#include "backends/cpu/kernels/tail.hpp"
#include "backends/cpu/reduce/groups.hpp"
#include "backends/cpu/reduce/job.hpp"
#include "backends/cpu/reduce/stages.hpp"
#include "platform/per_thread.hpp"

namespace sinter::cpu {
namespace {

std::unique_ptr<runtime::prepared> make_prepared(const jit::program& p, const needs& n) {
  auto made = std::make_unique<runtime::prepared>();
  if (p.kind == jit::kernel_kind::staged) {
    made->steps = std::make_shared<const stage_steps>(p);
    return made;
  }
  made->main = &find_code(p, {false, n.elements, n.patterns});
  if (p.kind == jit::kernel_kind::reduce) made->epilogue = &find_code(p, {true, n.results});
  if (n.groups) made->groups = &find_code(group_program(p), {false, group_inputs(p, n.elements)});
  if (n.split_tail) {
    made->inner = &find_code(inner_program(p), {false, n.elements});
    made->tail = &find_code(tail_program(p), {false, 0});
  }
  return made;
}

}  // namespace

needs needs_of(const jit::launch& l, bool split_tail, bool alone) {
  if (l.code->kind == jit::kernel_kind::staged) return {};
  if (l.code->kind == jit::kernel_kind::elementwise) {
    const walk_axes axes = element_axes(l);
    return {uniform_inputs(l, axes), 0, false, false, alone ? lane_patterns(l, axes) : std::string()};
  }
  const reduce_shape shape = shape_of(l);
  const std::uint64_t elements = uniform_inputs(l, shape.axes);
  return {elements, uniform_inputs(l, epilogue_axes(l)), split_tail, !split_tail && joins_groups(l, elements),
          alone && !split_tail ? row_patterns(l, shape) : std::string()};
}

runtime::prepared& prepared_table::find(const jit::launch& l, const needs& n) {
  std::string& key = platform::per_thread<std::string, prepared_table>::get();
  key.clear();
  key.append(reinterpret_cast<const char*>(&n.elements), sizeof n.elements);
  key.append(reinterpret_cast<const char*>(&n.results), sizeof n.results);
  key.push_back(static_cast<char>(n.split_tail + 2 * n.groups));
  key.push_back(static_cast<char>(n.patterns.size() / jit::lane_pattern::letters));
  key.append(n.patterns);
  l.code->append_key(key);
  const std::lock_guard lock(mutex_);
  auto& slot = entries_[key];
  if (!slot) slot = make_prepared(*l.code, n);
  return *slot;
}

}  // namespace sinter::cpu
