// Rows whose lanes are results. The order of the additions is that of any row: element e of a result belongs to its lane
// e mod row_lanes, and the lanes are joined by halves. Here one lane of all results comes after the other, in the order in
// which the halves need them.
#include <algorithm>

#include "backends/cpu/kernels/panel.hpp"
#include "backends/cpu/reduce/job.hpp"

namespace sinter::cpu {
namespace {

/// Reduced elements up to which panels hold them all.
constexpr std::int64_t most_elements = 128, most_bytes = 1024;

bool is_loaded(const jit::program& p, std::size_t input) noexcept {
  return std::any_of(p.code.begin(), p.code.begin() + p.epilogue,
                     [&](const jit::instr& i) { return i.op == jit::opcode::load && i.a == input; });
}

}  // namespace

bool runs_across_pairs(const jit::launch& l) noexcept {
  const int last = l.kept - 1, reduced = l.kept;
  if (l.kept < 1 || l.extents.size() - l.kept != 1 || l.extents[last] < row_lanes) return false;
  const std::int64_t elements = l.extents[reduced];
  if (elements < 2 || elements > most_elements || !l.code->calls.empty() || !l.code->combines.empty()) return false;
  for (const jit::reduce_desc& r : l.code->reductions)
    if (r.tail > 0) return false;  // skipped by the kernels of rows
  bool rows = false, columns = false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const jit::operand& o = l.inputs[k];
    const std::size_t size = itemsize(l.code->inputs[k].type);
    if (!is_loaded(*l.code, k)) continue;
    if (l.code->inputs[k].gathers || elements * static_cast<std::int64_t>(size) > most_bytes) return false;
    const std::int64_t stride = o.strides[last], step = o.strides[reduced];
    rows = rows || (stride == 0 && step != 0);
    columns = columns || stride != 0;
    if (stride != 0 && stride != 1 && !suits_panel(stride, step, elements, size)) return false;
  }
  return rows && columns;
}

// Groups are blocks of results, of all rows for one block of columns before the next, so that panels stay.
void reduce_task::across(std::int64_t group) {
  const std::int64_t run = job_.elements.block_count, rows = job_.shape.results / run;
  const std::int64_t outer = group % rows, start = group / rows * jit::block_lanes;
  const int n = static_cast<int>(std::min<std::int64_t>(jit::block_lanes, run - start));
  for (auto& stack : stacks_) stack.clear();
  across_tree(0, 1, outer, start, n);
  for (std::size_t k = 0; k < stacks_.size(); ++k) finish(k, stacks_[k].planes(), 0, n);
  store(outer * run + start, n);
}

/// The lanes from `lane` on, `step` apart, joined by halves. A lane without elements is left out.
void reduce_task::across_tree(int lane, int step, std::int64_t outer, std::int64_t start, int n) {
  if (step == row_lanes) return across_lane(lane, outer, start, n);
  across_tree(lane, 2 * step, outer, start, n);
  if (lane + step >= job_.shape.reduced) return;
  across_tree(lane + step, 2 * step, outer, start, n);
  for (auto& stack : stacks_) stack.join(n);
}

void reduce_task::across_lane(int lane, std::int64_t outer, std::int64_t start, int n) {
  const auto reduced = static_cast<int>(job_.shape.reduced);
  for (auto& a : accumulators_) a.r->reset(a.planes, n);
  int nth = 0;
  for (int e = lane; e < reduced; e += row_lanes) {
    walker_.move_to(outer * reduced + e);
    walker_.bind(start, n);
    if (!job_.only_loads) job_.code.main->run(walker_.args(), nullptr, code_scratch_);
    ++nth;
    for (std::size_t k = 0; k < accumulators_.size(); ++k)
      accumulators_[k].r->column(accumulators_[k].planes, lanes_of(k), n, e, nth);
  }
  for (auto& a : accumulators_) a.r->close(a.planes, n, false, nth, 0);
  for (std::size_t k = 0; k < stacks_.size(); ++k) stacks_[k].put(accumulators_[k].planes, n);
}

}  // namespace sinter::cpu
