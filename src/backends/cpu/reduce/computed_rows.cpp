// What is computed before it is reduced: blocks of lanes, and runs of lanes that the code takes several of in one call.
#include <algorithm>

#include "backends/cpu/kernels/patterns.hpp"
#include "backends/cpu/reduce/job.hpp"

namespace sinter::cpu {

std::string row_patterns(const jit::launch& l, const reduce_shape& shape) {
  using kind = jit::lane_pattern::kind;
  if (!shape.rows || shape.across || shape.lengthwise || shape.reduced == 0) return {};
  std::string all = lane_patterns(l, shape.axes);
  if (all.empty()) return all;
  const reduce_split split = split_of(l, shape);
  // Blocks of lanes begin with rows, or with chunks of one.
  const std::int64_t from = shape.shared || split.chunks == 1 ? shape.reduced : split.chunk;
  for (std::size_t k = 0; k < all.size() / jit::lane_pattern::letters; ++k) {
    const jit::lane_pattern p = jit::lane_pattern::read(all, k);
    const bool in_periods = p.what == kind::runs || p.what == kind::periodic || p.what == kind::rows;
    if (in_periods && from % p.number != 0) return {};
  }
  return all;
}

/// Of compiled code: it interprets no operands in patterns.
void reduce_job::take_patterns() {
  const block_code& main = *code.main;
  if (only_loads || !main.has_patterns() || !elements.compiled || row_patterns(launch, shape) != main.patterns())
    return;
  elements.read_patterns(main.patterns());
  elements.lanes = part();
}

/// The lanes [start, start + n), block by block, one after the other from lane `to` of the buffers on. Of lanes in patterns whole vectors
/// are read where they lie, and what is left by itself.
void reduce_task::compute(std::int64_t start, int n, std::int64_t to) {
  const block_plan& plan = job_.elements;
  for (int at = 0, lanes = 0; at < n; at += lanes) {
    for (std::size_t k = 0; k < buffers_.size(); ++k)
      walker_.outputs()[k] = static_cast<char*>(buffers_[k]) + (to + at) * job_.argument_bytes(k);
    lanes = std::min(plan.lanes, n - at);
    if (plan.in_patterns && lanes > plan.multiple) lanes -= lanes % plan.multiple;
    walker_.bind(start + at, lanes);
    job_.code.main->run(walker_.args(), nullptr, code_scratch_);
  }
}

/// The bytes from one run to the next one along the last outer axis, where all operands of all runs lie in memory or are numbers.
void reduce_task::find_run_steps() {
  using how = input_plan::how;
  const block_plan& plan = job_.elements;
  if (job_.only_loads || job_.tail || !job_.code.main->takes_rows() || plan.outer.empty() || plan.halves) return;
  if (plan.block_count % jit::lane_multiple != 0 || plan.block_count > plan.lanes || !plan.coordinates.empty()) return;
  for (const input_plan& in : plan.inputs) {
    const bool number = in.access == how::uniform && !is_half(in.type);
    if (in.access != how::unused && (in.wrapped || in.rows || !(number || (in.access == how::copied && in.in_place))))
      return;
  }
  run_steps_ = memory_.take_array<std::int64_t>(plan.inputs.size() + buffers_.size());
  for (std::size_t k = 0; k < plan.inputs.size(); ++k)
    run_steps_[k] = plan.inputs[k].access == how::unused ? 0 : walker_.step_of_last_axis(k);
}

/// How many runs, of at most so many, compute_runs takes from the one on at which the walker is.
std::int64_t reduce_task::runs_from(std::int64_t most) const {
  return run_steps_ ? std::min(most, walker_.left_of_last_axis()) : 1;
}

/// Runs from the one on at which the walker is, to lane `to` of the buffers and on, `step` lanes from one to the next.
void reduce_task::compute_runs(std::int64_t count, std::int64_t to, std::int64_t step) {
  const block_plan& plan = job_.elements;
  const auto run = static_cast<int>(plan.block_count);
  if (count == 1) return compute(0, run, to);
  walker_.bind(0, run);
  for (std::size_t k = 0; k < plan.inputs.size(); ++k)
    if (plan.inputs[k].access != input_plan::how::unused) walker_.inputs()[k] = walker_.in_place(k, 0);
  for (std::size_t k = 0; k < buffers_.size(); ++k) {
    walker_.outputs()[k] = static_cast<char*>(buffers_[k]) + to * job_.argument_bytes(k);
    run_steps_[plan.inputs.size() + k] = step * job_.argument_bytes(k);
  }
  walker_.args().rows = static_cast<int>(count);
  walker_.args().row_steps = run_steps_;
  job_.code.main->run(walker_.args(), nullptr, code_scratch_);
  walker_.args().rows = 1;
}

void reduce_task::whole_rows(std::int64_t first, int rows) {
  const auto columns = static_cast<int>(job_.shape.reduced);
  if (job_.shape.shared) {
    walker_.move_to(0);
    if (job_.only_loads) walker_.bind(first * columns, rows * columns);
    else compute(first * columns, rows * columns, 0);
  } else {
    const auto run = static_cast<int>(job_.elements.block_count);
    const std::int64_t runs = columns / run;
    const bool even = runs == 1 || job_.pitch == columns;
    for (std::int64_t k = 0, count = 1; k < rows * runs; k += count) {
      walker_.move_to(first * runs + k);
      count = even ? runs_from(rows * runs - k) : 1;
      compute_runs(count, k / runs * job_.pitch + k % runs * run, runs == 1 ? job_.pitch : run);
    }
  }
  for (std::size_t k = 0; k < accumulators_.size(); ++k) {
    const std::int64_t stride = job_.pitch * job_.argument_bytes(k);
    join_rows(k, {lanes_of(k), stride, factors_of(k), stride}, rows, columns);
  }
}

}  // namespace sinter::cpu
