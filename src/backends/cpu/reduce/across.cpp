// Rows whose lanes are results. The order of the additions is that of any row (reducers.hpp). Here one lane of all results
// comes after the other, in the order in which the tree joins them.
#include <algorithm>

#include "backends/cpu/kernels/panel.hpp"
#include "backends/cpu/reduce/job.hpp"

namespace sinter::cpu {
namespace {

constexpr std::int64_t most_panel_bytes = 1024;
constexpr std::int64_t least_across = 16;  // results that are neighbours in memory
constexpr std::int64_t least_reuses = 4;   // for which transposing an operand pays

/// Whether results may be computed side by side at all: no user's code, nothing that skips elements of a row.
bool may_run_across(const jit::launch& l) noexcept {
  if (l.kept < 1 || l.extents.size() == l.kept || !l.code->calls.empty() || !l.code->combines.empty()) return false;
  bool by_groups = false, by_elements = false;
  for (const jit::reduce_desc& r : l.code->reductions) {
    if (r.tail > 0) return false;
    const reducer& table = reducer_of(*l.code, r);
    by_groups = by_groups || table.by_groups;
    by_elements = by_elements || (!table.by_groups && !table.any_order);
  }
  if (by_groups && by_elements) return false;  // their lanes come in different orders
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (l.code->inputs[k].gathers && is_loaded(*l.code, k)) return false;
  return true;
}

/// Results that read the same elements of an operand.
std::int64_t reuses_of(const jit::launch& l, const jit::operand& o) noexcept {
  std::int64_t n = 1;
  for (int a = 0; a < l.kept; ++a)
    if (o.strides[a] == 0) n *= l.extents[a];
  return n;
}

/// Whether lanes run along a kept axis, where some operands vary along it and others do not.
bool runs_across_pairs(const jit::launch& l, int along) noexcept {
  const int reduced = l.kept;
  if (along < 0 || l.extents.size() - l.kept != 1 || l.extents[along] < row_lanes) return false;
  const std::int64_t elements = l.extents[reduced];
  if (elements < 2 || elements > most_panel_elements) return false;
  bool rows = false, columns = false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const jit::operand& o = l.inputs[k];
    const std::size_t size = itemsize(l.code->inputs[k].type);
    if (!is_loaded(*l.code, k)) continue;
    if (elements * static_cast<std::int64_t>(size) > most_panel_bytes) return false;
    const std::int64_t stride = o.strides[along], step = o.strides[reduced];
    rows = rows || (stride == 0 && step != 0);
    columns = columns || stride != 0;
    const bool panel = stride != 0 && stride != 1;
    if (panel && (!suits_panel(stride, step, elements, size) || reuses_of(l, o) < least_reuses)) return false;
  }
  return rows && columns;
}

/// The kept axis along which the lanes of pairs run, or -1: the last one, along which results lie, but the one before it
/// where that fills blocks and the last one does not.
int axis_of_pairs(const jit::launch& l) noexcept {
  const int last = l.kept - 1;
  const bool short_blocks = l.extents[last] < jit::block_lanes;
  if (short_blocks && last > 0 && l.extents[last - 1] >= jit::block_lanes && runs_across_pairs(l, last - 1))
    return last - 1;
  return runs_across_pairs(l, last) ? last : -1;
}

/// The kept axis along which an operand that varies within rows lies in memory, or -1.
int dense_kept_axis(const jit::launch& l) noexcept {
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const core::dims& s = l.inputs[k].strides;
    const bool varies = std::any_of(s.begin() + l.kept, s.end(), [](std::int64_t step) { return step != 0; });
    for (int a = 0; a < l.kept && varies; ++a)
      if (s[a] == 1 && l.extents[a] > 1 && is_loaded(*l.code, k)) return a;
  }
  return -1;
}

/// Whether every operand that is read is dense along `inner`, or does not vary along it.
bool all_dense_along(const jit::launch& l, int inner) noexcept {
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (is_loaded(*l.code, k) && l.inputs[k].strides[inner] != 1 && l.inputs[k].strides[inner] != 0) return false;
  return true;
}

/// Whether axis `a` continues the axes of `block`, the innermost of which comes last, in every operand that is read.
bool continues(const jit::launch& l, int a, const core::dims& block) noexcept {
  const int next = static_cast<int>(block[0]);
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const core::dims& s = l.inputs[k].strides;
    if (is_loaded(*l.code, k) && s[a] != s[next] * l.extents[next]) return false;
  }
  return true;
}

core::dims with_first(int a, const core::dims& rest) {
  core::dims all(1, a);
  for (const std::int64_t b : rest) all.push_back(b);
  return all;
}

/// The kept axes that make one dense run of every operand, in the order of memory.
core::dims dense_run(const jit::launch& l) {
  const int inner = dense_kept_axis(l);
  if (inner < 0 || !all_dense_along(l, inner)) return {};
  core::dims run(1, inner);
  for (bool found = true; found;) {
    found = false;
    for (int a = 0; a < l.kept && !found; ++a) {
      if (std::find(run.begin(), run.end(), a) != run.end() || !continues(l, a, run)) continue;
      run = with_first(a, run);
      found = true;
    }
  }
  return run;
}

}  // namespace

bool is_loaded(const jit::program& p, std::size_t input) noexcept {
  return std::any_of(p.code.begin(), p.code.begin() + p.epilogue,
                     [&](const jit::instr& i) { return i.op == jit::opcode::load && i.a == input; });
}

walk_axes axes_across(const jit::launch& l) {
  walk_axes axes;
  if (!may_run_across(l)) return axes;
  const int pairs = axis_of_pairs(l);
  core::dims block = pairs >= 0 ? core::dims(1, pairs) : dense_run(l);
  std::int64_t run = 1;
  for (const std::int64_t a : block) run *= l.extents[static_cast<int>(a)];
  if (run < least_across) return axes;
  axes.block = block;
  for (int a = 0; a < l.extents.size(); ++a)
    if (std::find(block.begin(), block.end(), a) == block.end()) axes.outer.push_back(a);
  return axes;
}

// Groups are blocks of results, of all rows for one block of columns before the next, so that panels stay.
void reduce_task::across(std::int64_t group, std::int64_t segment, char* scratch) {
  const std::int64_t run = job_.elements.block_count, rows = job_.shape.results / run;
  const std::int64_t outer = group % rows, start = group / rows * job_.split.group;
  across_part part{outer, start, static_cast<int>(std::min(job_.split.group, run - start))};
  const reduce_split& s = job_.split;
  const bool by_groups =
      std::any_of(job_.reducers.begin(), job_.reducers.end(), [](const reducer* r) { return r->by_groups; });
  for (auto& stack : stacks_) stack.clear();
  const std::int64_t last = std::min(s.chunks, (segment + 1) * s.segment_chunks);
  for (std::int64_t c = segment * s.segment_chunks; c < last; ++c) {
    part.begin = c * s.chunk;
    part.end = std::min(job_.shape.reduced, part.begin + s.chunk);
    if (by_groups) across_groups(0, job_.lanes(), part);
    else across_halves(0, 1, part);
    for (auto& stack : stacks_) stack.settle(part.n);
  }
  leave(outer * run + start, segment, 0, part.n, scratch);
  if (s.segments == 1) store(outer * run + start, part.n);
}

/// `lanes` lanes of groups from `lane` on, neighbours joined first. A lane without elements is left out.
void reduce_task::across_groups(int lane, int lanes, const across_part& part) {
  if (lanes == 1) return across_lane(lane, jit::addition_group, job_.lanes(), part);
  const auto run = static_cast<int>(jit::addition_run);
  const int step = lanes > run ? run : lanes / 2;
  across_groups(lane, step, part);
  for (int next = lane + step; next < lane + lanes; next += step) {
    if (std::int64_t{next} * jit::addition_group >= part.end - part.begin) return;
    across_groups(next, step, part);
    for (auto& stack : stacks_) stack.join(part.n);
  }
}

/// The lanes from `lane` on, `step` apart, joined by halves.
void reduce_task::across_halves(int lane, int step, const across_part& part) {
  if (step == row_lanes) return across_lane(lane, 1, row_lanes, part);
  across_halves(lane, 2 * step, part);
  if (lane + step >= part.end - part.begin) return;
  across_halves(lane + step, 2 * step, part);
  for (auto& stack : stacks_) stack.join(part.n);
}

/// The elements of one of `lanes` lanes, to which they are dealt in groups.
void reduce_task::across_lane(int lane, int group, int lanes, const across_part& part) {
  const std::int64_t elements = part.end - part.begin;
  for (auto& a : accumulators_) {
    a.pitch = part.n;
    a.r->reset(a.planes, part.n);
  }
  int nth = 0;
  for (std::int64_t e = std::int64_t{lane} * group; e < elements; e += std::int64_t{lanes} * group) {
    const auto count = static_cast<int>(std::min<std::int64_t>(group, elements - e));
    across_elements(e, count, nth, part);
    nth += count;
  }
  for (auto& a : accumulators_) {
    if (a.r->close_columns) a.r->close_columns(a.planes, part.n, {nth, 1, a.pitch});
    else a.r->close(a.planes, part.n, false, nth, part.begin);
  }
  for (std::size_t k = 0; k < stacks_.size(); ++k) stacks_[k].put(accumulators_[k].planes, part.n);
}

/// Elements `first` and following of the part; for the lane they are number `nth` and following.
void reduce_task::across_elements(std::int64_t first, int count, int nth, const across_part& part) {
  if (job_.across_in_memory) return across_memory(first, count, nth, part);
  for (int i = 0; i < count; ++i) {
    walker_.move_to(part.outer * job_.shape.reduced + part.begin + first + i);
    if (!job_.only_loads)
      for (std::size_t k = 0; k < buffers_.size(); ++k)
        walker_.outputs()[k] = static_cast<char*>(buffers_[k]) + i * jit::block_lanes * job_.argument_bytes(k);
    walker_.bind(part.start, part.n);
    if (!job_.only_loads) {
      job_.code.main->run(walker_.args(), nullptr, code_scratch_);
      continue;
    }
    for (std::size_t k = 0; k < accumulators_.size(); ++k) across_step(k, lanes_of(k), 0, first + i, 1, nth + i, part);
  }
  if (job_.only_loads) return;
  for (std::size_t k = 0; k < accumulators_.size(); ++k)
    across_step(k, buffers_[k], std::int64_t{jit::block_lanes} * job_.argument_bytes(k), first, count, nth, part);
}

/// The same where they lie: those of the innermost reduced axis are equally far apart.
void reduce_task::across_memory(std::int64_t first, int count, int nth, const across_part& part) {
  const std::int64_t run = job_.elements.outer[job_.elements.outer.size() - 1];
  for (int i = 0; i < count;) {
    const std::int64_t at = part.outer * job_.shape.reduced + part.begin + first + i;
    const auto steps = static_cast<int>(std::min<std::int64_t>(count - i, run - at % run));
    walker_.move_to(at);
    for (std::size_t k = 0; k < accumulators_.size(); ++k) {
      const auto [lanes, factor] = job_.loaded[k];
      const void* const from = in_place(k, part.start);
      if (factor < 0) {
        across_step(k, from, step_of(lanes), first + i, steps, nth + i, part);
        continue;
      }
      const accumulator& a = accumulators_[k];
      const void* const weights = walker_.in_place(static_cast<std::size_t>(factor), 0);
      a.r->product_columns(a.planes, {from, step_of(lanes), weights, step_of(factor)}, steps, part.n,
                           {nth + i, 1, a.pitch});
    }
    i += steps;
  }
}

/// By elements, indices are those of the part, which the place of an extremum is found by.
void reduce_task::across_step(std::size_t k, const void* from, std::int64_t stride, std::int64_t first, int count,
                              int nth, const across_part& part) {
  accumulator& a = accumulators_[k];
  if (a.r->by_groups) return a.r->columns(a.planes, from, stride, count, part.n, {nth, 1, a.pitch});
  for (int i = 0; i < count; ++i)
    a.r->column(a.planes, static_cast<const char*>(from) + i * stride, part.n, static_cast<int>(first) + i,
                nth + i + 1);
}

// ---- runs of a row that lie apart

bool reduce_task::takes_runs() const noexcept {
  if (!job_.in_memory) return false;
  for (std::size_t k = 0; k < accumulators_.size(); ++k)
    if (job_.loaded[k].factor < 0 ? !accumulators_[k].r->runs : !accumulators_[k].r->product_runs) return false;
  return true;
}

void reduce_task::add_runs(std::int64_t count, std::int64_t run, int first) {
  for (std::size_t k = 0; k < accumulators_.size(); ++k) {
    const accumulator& a = accumulators_[k];
    const auto [input, factor] = job_.loaded[k];
    row_pair from{in_place(k, 0), walker_.step_of_last_axis(static_cast<std::size_t>(input)), nullptr, 0};
    if (factor >= 0) {
      from.b = walker_.in_place(static_cast<std::size_t>(factor), 0);
      from.stride_b = walker_.step_of_last_axis(static_cast<std::size_t>(factor));
    }
    (factor < 0 ? a.r->runs : a.r->product_runs)(a.planes, from, static_cast<int>(count), static_cast<int>(run), first,
                                                 job_.lanes());
  }
}

}  // namespace sinter::cpu
