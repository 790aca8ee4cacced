// Elementwise launches: blocks over the space, shared out to the threads.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>

#include "backends/cpu/kernels/kernels.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {

namespace {

/// Whether a user's function may loop for each element, so that its duration is unknown.
bool has_loops(const jit::user_function& f) {
  for (const std::string* text : {&f.body, &f.preamble})
    for (const char* word : {"for", "while", "goto"})
      if (text->find(word) != std::string::npos) return true;
  return false;
}

}  // namespace

std::int64_t task_lanes(const jit::program& p) noexcept {
  std::size_t instructions = p.code.size() + 1;
  for (const jit::instr& i : p.code) {
    if (i.op != jit::opcode::user) continue;
    if (has_loops(*p.calls[i.a].function)) return jit::block_lanes;
    instructions += static_cast<std::size_t>(weight(i.op));
  }
  // Some 20 microseconds' work: far more than the overhead of a task.
  return std::max<std::int64_t>(4096, 131072 / static_cast<std::int64_t>(instructions));
}

double lane_time(const jit::launch& l) noexcept {
  const jit::program& p = *l.code;
  double time = 0.15;
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    const jit::instr& i = p.code[k];
    const double runs = p.is_in_loop(k) ? static_cast<double>(loop_count(l)) : 1;
    time += runs * (0.15 + 0.1 * jit::weight(i.op));
    if (i.op != jit::opcode::user) continue;
    const jit::user_function& f = *p.calls[i.a].function;
    if (has_loops(f)) return runtime::any_time;
    time += 0.1 * static_cast<double>(f.body.size() + f.preamble.size());  // the length of the text has to do
  }
  return time;
}

void merge_fault(int* shared, const fault_record& mine) noexcept {
  if (mine.words[0] == 0) return;
  static std::mutex several;
  const std::lock_guard lock(several);
  std::copy(std::begin(mine.words), std::end(mine.words), shared);
}

// Along the innermost axis where it is long, so that operands that do not vary along it have one value in a block.
walk_axes element_axes(const jit::launch& l) {
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

/// How blocks are shared out.
struct partition {
  std::int64_t lanes = jit::block_lanes;  // most of a block
  std::int64_t run = 0;                   // blocks of an outer position
  std::int64_t blocks = 0;
  std::int64_t per_task = 1;  // blocks
};

// The cost of a user's function is unknown, it may loop over a whole array for each element: every thread gets several
// tasks, and small spaces get small blocks. Text around the loop runs once a block, so there the blocks must not depend
// on the number of threads.
partition share_out(const jit::launch& l, const block_plan& plan) {
  const jit::program& p = *l.code;
  partition s;
  const std::int64_t tasks = 8 * std::int64_t{runtime::thread_count()};
  bool users = false, around = false;
  for (const jit::user_call& c : p.calls) users = true, around = around || c.function->has_loop_text();
  if (users && !around) {
    const std::int64_t fair = (plan.block_count * plan.outer_count + tasks - 1) / tasks;
    s.lanes =
        std::clamp<std::int64_t>((fair + jit::lane_multiple - 1) & -jit::lane_multiple, jit::lane_multiple, s.lanes);
  }
  s.run = (plan.block_count + s.lanes - 1) / s.lanes;
  s.blocks = s.run * plan.outer_count;
  s.per_task = std::max<std::int64_t>(1, task_lanes(p) / loop_count(l) / std::min(s.lanes, plan.block_count));
  if (users) s.per_task = std::clamp<std::int64_t>(s.blocks / tasks, 1, s.per_task);
  return s;
}

/// What a thread needs for a task. With it, the task cannot fail.
struct element_memory {
  element_memory(const block_code& code, const block_plan& plan, const std::vector<output_plan>& outputs)
      : walker(plan, memory, static_cast<int>(outputs.size()), 0, fault.words),
        buffers(memory.take_array<void*>(outputs.size())),
        scratch(memory.take(code.scratch_bytes())) {
    for (std::size_t k = 0; k < outputs.size(); ++k)
      buffers[k] = memory.take(static_cast<std::size_t>(jit::block_lanes * jit::lane_bytes(outputs[k].type)));
    code.make_ready();
  }
  arena memory;
  fault_record fault;
  block_walker walker;
  void** buffers;
  void* scratch;
};

}  // namespace

void run_elements(const runtime::prepared& code, const jit::launch& l, int* fault) {
  if (core::element_count(l.extents) == 0) return;
  const walk_axes axes = element_axes(l);
  const param_block params(l);
  const block_plan plan(l, axes, 0, l.code->code.size(), params);
  std::vector<output_plan> outputs;
  for (std::size_t k = 0; k < l.outputs.size(); ++k) outputs.emplace_back(l, k, axes);
  const partition share = share_out(l, plan);
  const bool across = runs_across(plan, outputs);
  const auto run_task = [&](std::int64_t task, element_memory& mine) {
    block_walker& walker = mine.walker;
    void** const buffers = mine.buffers;
    const std::int64_t end = std::min(share.blocks, (task + 1) * share.per_task);
    for (std::int64_t block = task * share.per_task; block < end; ++block) {
      const std::int64_t outer = across ? block % plan.outer_count : block / share.run;
      const std::int64_t start = (across ? block / plan.outer_count : block - outer * share.run) * share.lanes;
      const int n = static_cast<int>(std::min<std::int64_t>(share.lanes, plan.block_count - start));
      walker.move_to(outer);
      walker.bind(start, n);
      const bool whole = n == walker.args().n;
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        const output_plan& o = outputs[k];
        const bool in_place = o.in_place && whole;
        walker.outputs()[k] =
            in_place ? o.at(walker.coordinates()) + start * static_cast<std::int64_t>(itemsize(o.type)) : buffers[k];
      }
      code.main->run(walker.args(), nullptr, mine.scratch);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        const output_plan& o = outputs[k];
        if (walker.outputs()[k] == buffers[k])
          store_lanes(o.at(walker.coordinates()), o.type, o.map, start, n, buffers[k]);
      }
    }
    merge_fault(fault, mine.fault);
  };
  // An update in place must not be left incomplete where memory runs out: this thread has its memory before anything is
  // written, and does the tasks for which other threads have none.
  element_memory own(*code.main, plan, outputs);
  const std::int64_t tasks = (share.blocks + share.per_task - 1) / share.per_task;
  if (tasks == 1) return run_task(0, own);
  std::vector<char> refused(static_cast<std::size_t>(tasks));
  const double time = lane_time(l) * static_cast<double>(core::element_count(l.extents));
  runtime::parallel_for(tasks, time, [&](std::int64_t task) {
    std::optional<element_memory> mine;
    try {
      mine.emplace(*code.main, plan, outputs);
    } catch (const std::bad_alloc&) {
      refused[static_cast<std::size_t>(task)] = 1;
      return;
    }
    run_task(task, *mine);
  });
  for (std::int64_t task = 0; task < tasks; ++task)
    if (refused[static_cast<std::size_t>(task)]) run_task(task, own);
}

}  // namespace sinter::cpu
