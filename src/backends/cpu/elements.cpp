// Elementwise launches: blocks over the space, shared out to the threads.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "backends/cpu/kernels.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {

std::int64_t task_lanes(std::size_t instructions) noexcept {
  // Some 20 microseconds' work: far more than it costs to hand out a task.
  return std::max<std::int64_t>(4096, 131072 / static_cast<std::int64_t>(instructions + 1));
}

void merge_fault(int* shared, int mine) noexcept {
  if (mine) std::atomic_ref<int>(*shared).store(mine, std::memory_order_relaxed);
}

// Along the innermost axis where it is long, so that operands that do not vary along it have one value in a block.
walk_axes element_axes(const runtime::launch& l) {
  walk_axes axes;
  const int rank = l.extents.size();
  const bool along = rank > 0 && l.extents[rank - 1] >= long_axis;
  for (int a = 0; a < rank; ++a) (along && a < rank - 1 ? axes.outer : axes.block).push_back(a);
  return axes;
}

namespace {

/// Whether an operand's neighbours along the last outer axis lie closer than those along a block: a transposed one. Blocks
/// below each other then share cache lines, and are run one after the other.
bool runs_across(const block_plan& plan, const std::vector<output_plan>& outputs) {
  if (plan.outer.empty()) return false;
  auto across = [](const core::dims& outer, const lane_map& map) {
    if (map.strides.size() != 1) return false;
    const std::int64_t near = std::abs(outer.back()), far = std::abs(map.strides[0]);
    return near != 0 && near < far;
  };
  for (auto& in : plan.inputs)
    if (in.access == input_plan::how::copied && across(in.outer, in.map)) return true;
  for (auto& o : outputs)
    if (across(o.outer, o.map)) return true;
  return false;
}

}  // namespace

void run_elements(const runtime::prepared& code, const runtime::launch& l, int* fault) {
  if (core::element_count(l.extents) == 0) return;
  const walk_axes axes = element_axes(l);
  const param_block params(l);
  const block_plan plan(l, axes, 0, l.code->code.size(), params);
  std::vector<output_plan> outputs;
  for (std::size_t k = 0; k < l.outputs.size(); ++k) outputs.emplace_back(l, k, axes);
  const std::int64_t run = (plan.block_count + jit::block_lanes - 1) / jit::block_lanes;  // blocks of an outer position
  const std::int64_t blocks = run * plan.outer_count;
  const bool across = runs_across(plan, outputs);
  const std::int64_t lanes = std::min<std::int64_t>(jit::block_lanes, plan.block_count);
  const std::int64_t per_task = std::max<std::int64_t>(1, task_lanes(l.code->code.size()) / lanes);
  runtime::parallel_for((blocks + per_task - 1) / per_task, [&](std::int64_t task) {
    arena memory;
    int mine = 0;
    block_walker walker(plan, memory, static_cast<int>(outputs.size()), 0, &mine);
    std::vector<void*> buffers(outputs.size());
    for (std::size_t k = 0; k < outputs.size(); ++k)
      buffers[k] = memory.take(static_cast<std::size_t>(jit::block_lanes * jit::lane_bytes(outputs[k].type)));
    void* scratch = memory.take(code.main->scratch_bytes());
    const std::int64_t end = std::min(blocks, (task + 1) * per_task);
    for (std::int64_t block = task * per_task; block < end; ++block) {
      const std::int64_t outer = across ? block % plan.outer_count : block / run;
      const std::int64_t start = (across ? block / plan.outer_count : block - outer * run) * jit::block_lanes;
      const int n = static_cast<int>(std::min<std::int64_t>(jit::block_lanes, plan.block_count - start));
      walker.move_to(outer);
      walker.bind(start, n);
      const bool whole = n == walker.args().n;
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        const output_plan& o = outputs[k];
        const bool in_place = o.in_place && whole;
        walker.outputs()[k] = in_place ? o.at(walker.coordinates()) + start * static_cast<std::int64_t>(itemsize(o.type)) : buffers[k];
      }
      code.main->run(walker.args(), nullptr, scratch);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        const output_plan& o = outputs[k];
        if (walker.outputs()[k] == buffers[k]) store_lanes(o.at(walker.coordinates()), o.type, o.map, start, n, buffers[k]);
      }
    }
    merge_fault(fault, mine);
  });
}

}  // namespace sinter::cpu
