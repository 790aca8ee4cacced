// Rows whose lanes are results. The order of the additions is that of any row: element e of a chunk belongs to its lane
// e mod row_lanes, and the lanes are joined by halves. Here one lane of all results comes after the other, in the order in
// which the halves need them.
#include <algorithm>

#include "backends/cpu/kernels/panel.hpp"
#include "backends/cpu/reduce/job.hpp"

namespace sinter::cpu {
namespace {

constexpr std::int64_t most_panel_bytes = 1024;
constexpr std::int64_t least_across = 16;  // results that are neighbours in memory
constexpr std::int64_t least_reuses = 4;   // for which transposing an operand pays

bool is_loaded(const jit::program& p, std::size_t input) noexcept {
  return std::any_of(p.code.begin(), p.code.begin() + p.epilogue,
                     [&](const jit::instr& i) { return i.op == jit::opcode::load && i.a == input; });
}

/// Whether results may be computed side by side at all: no user's code, nothing that skips elements of a row.
bool may_run_across(const jit::launch& l) noexcept {
  if (l.kept < 1 || l.extents.size() == l.kept || !l.code->calls.empty() || !l.code->combines.empty()) return false;
  for (const jit::reduce_desc& r : l.code->reductions)
    if (r.tail > 0) return false;
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

bool runs_across_pairs(const jit::launch& l) noexcept {
  const int last = l.kept - 1, reduced = l.kept;
  if (l.extents.size() - l.kept != 1 || l.extents[last] < row_lanes) return false;
  const std::int64_t elements = l.extents[reduced];
  if (elements < 2 || elements > most_panel_elements) return false;
  bool rows = false, columns = false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const jit::operand& o = l.inputs[k];
    const std::size_t size = itemsize(l.code->inputs[k].type);
    if (!is_loaded(*l.code, k)) continue;
    if (elements * static_cast<std::int64_t>(size) > most_panel_bytes) return false;
    const std::int64_t stride = o.strides[last], step = o.strides[reduced];
    rows = rows || (stride == 0 && step != 0);
    columns = columns || stride != 0;
    const bool panel = stride != 0 && stride != 1;
    if (panel && (!suits_panel(stride, step, elements, size) || reuses_of(l, o) < least_reuses)) return false;
  }
  return rows && columns;
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

walk_axes axes_across(const jit::launch& l) {
  walk_axes axes;
  if (!may_run_across(l)) return axes;
  core::dims block = runs_across_pairs(l) ? core::dims(1, l.kept - 1) : dense_run(l);
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
  for (auto& stack : stacks_) stack.clear();
  const std::int64_t last = std::min(s.chunks, (segment + 1) * s.segment_chunks);
  for (std::int64_t c = segment * s.segment_chunks; c < last; ++c) {
    part.begin = c * s.chunk;
    part.end = std::min(job_.shape.reduced, part.begin + s.chunk);
    across_tree(0, 1, part);
    for (auto& stack : stacks_) stack.settle(part.n);
  }
  leave(outer * run + start, segment, 0, part.n, scratch);
  if (s.segments == 1) store(outer * run + start, part.n);
}

/// The lanes from `lane` on, `step` apart, joined by halves. A lane without elements is left out.
void reduce_task::across_tree(int lane, int step, const across_part& part) {
  if (step == row_lanes) return across_lane(lane, part);
  across_tree(lane, 2 * step, part);
  if (lane + step >= part.end - part.begin) return;
  across_tree(lane + step, 2 * step, part);
  for (auto& stack : stacks_) stack.join(part.n);
}

void reduce_task::across_lane(int lane, const across_part& part) {
  const auto elements = static_cast<int>(part.end - part.begin);
  for (auto& a : accumulators_) a.r->reset(a.planes, part.n);
  int nth = 0;
  for (int e = lane; e < elements; e += row_lanes) {
    walker_.move_to(part.outer * job_.shape.reduced + part.begin + e);
    walker_.bind(part.start, part.n);
    if (!job_.only_loads) job_.code.main->run(walker_.args(), nullptr, code_scratch_);
    ++nth;
    for (std::size_t k = 0; k < accumulators_.size(); ++k)
      accumulators_[k].r->column(accumulators_[k].planes, lanes_of(k), part.n, e, nth);
  }
  for (auto& a : accumulators_) a.r->close(a.planes, part.n, false, nth, part.begin);
  for (std::size_t k = 0; k < stacks_.size(); ++k) stacks_[k].put(accumulators_[k].planes, part.n);
}

}  // namespace sinter::cpu
