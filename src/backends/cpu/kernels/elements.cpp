// Elementwise launches: blocks over the space, shared out to the threads.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>

#include "backends/cpu/kernels/element_run.hpp"
#include "backends/cpu/kernels/panel.hpp"
#include "backends/cpu/kernels/patterns.hpp"
#include "backends/cpu/strides/strided_loops.hpp"
#include "jit/program/scalar.hpp"
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

double lane_time(const jit::program& p, std::int64_t runs) noexcept {
  double time = 0.15;
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    const jit::instr& i = p.code[k];
    time += (p.is_in_loop(k) ? static_cast<double>(runs) : 1) * (0.15 + 0.1 * jit::weight(i.op));
    if (i.op != jit::opcode::user) continue;
    const jit::user_function& f = *p.calls[i.a].function;
    if (has_loops(f)) return runtime::any_time;
    time += 0.1 * static_cast<double>(f.body.size() + f.preamble.size());  // the length of the text has to do
  }
  return time;
}

std::int64_t number_of(const jit::launch& l, std::uint16_t param) {
  std::int64_t n = 0;
  jit::write_register(&n, dtype::i64, l.params[param]);
  return n;
}

void merge_fault(int* shared, const fault_record& mine) noexcept {
  if (mine.words[0] == 0) return;
  static std::mutex several;
  const std::lock_guard lock(several);
  std::copy(std::begin(mine.words), std::end(mine.words), shared);
}

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

// The cost of a user's function is unknown, it may loop over a whole array for each element: every thread gets several
// tasks, and small spaces get small blocks. Text around the loop runs once a block, so there the blocks must not depend
// on the number of threads.
partition share_out(const jit::launch& l, const block_plan& plan, std::int64_t lanes) {
  const jit::program& p = *l.code;
  partition s;
  s.lanes = lanes;
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
namespace {

/// Lanes of a block whose operands are all read and written where they lie; bytes of what is copied for one of others, so that it
/// stays in the first-level cache.
constexpr std::int64_t long_block = 8192, copied_lane_bytes = 16 << 10;

/// Whether elements lie apart, so that lanes are put together by shuffles. Long blocks of those took half as long again.
bool lies_apart(const lane_map& map) {
  const std::int64_t step = map.strides.empty() ? 1 : std::abs(map.strides.back());
  return step > 1;
}

bool is_dense(const jit::lane_pattern& p) { return p.what == jit::lane_pattern::kind::dense; }

/// Bytes that are copied for a lane; -1 where blocks are short for another reason.
std::int64_t copied_for_a_lane(const block_plan& plan, const std::vector<output_plan>& outputs) {
  using how = input_plan::how;
  std::int64_t bytes = 0;
  for (const coordinate_plan& c : plan.coordinates) bytes += is_dense(c.pattern) ? 8 : 0;
  for (const input_plan& in : plan.inputs) {
    if (in.panel_rows > 0 || in.rows) return -1;
    if (!is_dense(in.pattern)) continue;
    if (in.access == how::gathered) bytes += 8;
    else if (in.access == how::copied && !in.in_place) bytes += jit::lane_bytes(in.type);
    if (in.access == how::copied && in.period == 0 && lies_apart(in.map)) return -1;
  }
  for (const output_plan& o : outputs) {
    if (!is_dense(o.pattern)) continue;
    if (o.in_runs || lies_apart(o.map)) return -1;
    if (!o.in_place) bytes += jit::lane_bytes(o.type);
  }
  return bytes;
}

/// Whether everything is read and written where it lies, and nothing that is read is written.
bool may_run_twice(const block_plan& plan, const std::vector<output_plan>& outputs) {
  using how = input_plan::how;
  bool may = plan.pure;
  for (const input_plan& in : plan.inputs)
    may = may && (in.access == how::unused || (in.access == how::copied && in.ahead && in.in_place) ||
                  (in.ahead_apart && (in.pattern.what == jit::lane_pattern::kind::apart ||
                                      in.pattern.what == jit::lane_pattern::kind::member)) ||
                  (in.access == how::uniform && !is_written(*plan.launch, *in.source)));
  for (const output_plan& o : outputs) may = may && o.in_place && !o.over_input;
  for (const coordinate_plan& c : plan.coordinates)
    may = may && c.pattern.what != jit::lane_pattern::kind::periodic;  // which begins with blocks
  return may;
}

/// Whether a row may be computed with lanes behind its end: those of the next one, which follows it in every result, is computed
/// after it, and has operands that lie in memory.
bool may_run_on(const block_plan& plan, const std::vector<output_plan>& outputs) {
  if (plan.outer.empty()) return false;
  for (const input_plan& in : plan.inputs)
    if (in.access == input_plan::how::copied && (in.outer.back() < jit::lane_multiple || !is_dense(in.pattern)))
      return false;
  for (const coordinate_plan& c : plan.coordinates)
    if (!is_dense(c.pattern)) return false;
  return std::all_of(outputs.begin(), outputs.end(),
                     [&](const output_plan& o) { return o.outer.back() == plan.block_count; });
}

}  // namespace

void keep_halves(const block_code& code, block_plan& plan, std::vector<output_plan>& outputs) {
  if (!code.takes_halves()) return;
  plan.keep_halves();
  for (output_plan& o : outputs) o.keep_halves();
}

std::int64_t lanes_of_blocks(const block_code& code, const block_plan& plan, const std::vector<output_plan>& outputs,
                             bool across) {
  const bool in_blocks = across || !code.takes_any_length() || (code.has_patterns() && !plan.in_patterns);
  const auto whole = [&](std::int64_t lanes) {  // chunks of the code's loop
    return plan.multiple == jit::lane_multiple ? lanes : lanes / (4 * plan.multiple) * (4 * plan.multiple);
  };
  if (in_blocks || plan.block_count < 2 * jit::block_lanes) return whole(jit::block_lanes);
  const std::int64_t bytes = copied_for_a_lane(plan, outputs);
  if (bytes < 0) return whole(jit::block_lanes);
  if (bytes == 0) return whole(long_block);
  return whole(std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(copied_lane_bytes / bytes))),
      jit::block_lanes, repeating_block));
}

element_run::element_run(const runtime::prepared& code, const jit::launch& l, const std::vector<row_read>* rows)
    : launch_(l),
      code_(*code.main),
      axes_(element_axes(l, rows != nullptr)),
      params_(l),
      plan_(l, axes_, 0, l.code->code.size(), params_) {
  outputs_.reserve(l.outputs.size());
  for (std::size_t k = 0; k < l.outputs.size(); ++k) outputs_.emplace_back(l, k, axes_);
  keep_halves(code_, plan_, outputs_);
  if (rows) plan_.read_rows(*rows);
  if (!l.wraps.empty()) plan_.read_wrapped(l.wraps, axes_);
  const bool panels = plan_.read_through_panels();
  plan_.compiled = code_.is_compiled();
  if (code_.has_patterns() && plan_.compiled && !panels && !rows && lane_patterns(l, axes_) == code_.patterns()) {
    plan_.read_patterns(code_.patterns());
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      outputs_[k].pattern = jit::pattern_of_output(*l.code, code_.patterns(), k);
  }
  if (code_.may_overwrite() && !panels && !rows && plan_.in_patterns == code_.has_patterns())
    outputs_[0].write_over(plan_, 0);
  plan_.read_records();
  records_ = output_records(l, outputs_);
  in_record_.resize(outputs_.size());
  for (const record_group& g : records_)
    for (int c = 0; c < g.components; ++c)
      in_record_[static_cast<std::size_t>(g.member[static_cast<std::size_t>(c)])] = 1;
  across_ = panels || runs_across(plan_, outputs_);
  const std::int64_t lanes = lanes_of_blocks(code_, plan_, outputs_, across_);
  if (lanes <= repeating_block) plan_.lanes = static_cast<int>(lanes);
  overlaps_ = may_run_twice(plan_, outputs_);
  share_ = share_out(l, plan_, lanes);
  runs_on_ = overlaps_ && !across_ && share_.run == 1 && may_run_on(plan_, outputs_);
  in_rows_ = lie_in_rows();
  if (in_rows_) {
    const auto bytes = [](const core::dims& outer, dtype type) {
      return outer.back() * static_cast<std::int64_t>(itemsize(type));
    };
    for (const input_plan& in : plan_.inputs)
      row_steps_.push_back(in.access == input_plan::how::unused ? 0 : bytes(in.outer, in.type));
    for (const output_plan& o : outputs_) row_steps_.push_back(bytes(o.outer, o.type));
  }
  if (panels) share_.per_task = (share_.per_task + panel_rows(1) - 1) / panel_rows(1) * panel_rows(1);
  tasks_ = (share_.blocks + share_.per_task - 1) / share_.per_task;
  if (tasks_ > 1) refused_.resize(static_cast<std::size_t>(tasks_));
}

void element_run::run_block(std::int64_t outer, std::int64_t start, int n, element_memory& mine, bool runs_on) const {
  block_walker& walker = mine.walker;
  void** const buffers = mine.buffers;
  walker.move_to(outer);
  walker.bind(start, n);
  const bool whole = runs_on || n == walker.args().n;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const output_plan& o = outputs_[k];
    if (o.in_runs) {
      walker.bind_runs(k, o, start, n);
      continue;
    }
    const bool in_place = (o.in_place || !is_dense(o.pattern)) && whole;
    walker.outputs()[k] =
        in_place ? o.at(walker.coordinates()) + o.pattern.place(start) * static_cast<std::int64_t>(itemsize(o.type))
                 : buffers[k];
  }
  code_.run(walker.args(), nullptr, mine.scratch);
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const output_plan& o = outputs_[k];
    if (!is_dense(o.pattern)) {
      char* const to =
          o.at(walker.coordinates()) + o.pattern.place(start) * static_cast<std::int64_t>(itemsize(o.type));
      if (walker.outputs()[k] == buffers[k]) o.store_apart(to, buffers[k], n);
      continue;
    }
    if (walker.outputs()[k] == buffers[k] && !in_record_[k])
      store_lanes(o.at(walker.coordinates()), o.type, o.map, start, n, buffers[k]);
  }
  for (const record_group& g : records_) store_records(g, start, n, mine);
}

/// Whether rows are whole blocks, of which each operand has all lanes in memory, or one number.
bool element_run::lie_in_rows() const {
  using how = input_plan::how;
  if (!code_.takes_rows() || !plan_.compiled || across_ || share_.run != 1 || plan_.outer.empty()) return false;
  if (code_.has_patterns() != plan_.in_patterns) return false;
  if ((plan_.block_count % plan_.multiple != 0 && !runs_on_) || !records_.empty() || !plan_.coordinates.empty())
    return false;
  const auto suits = [&](const input_plan& in) {
    const bool number = in.access == how::uniform && !is_half(in.type) && !is_written(launch_, *in.source);
    const bool here = in.access == how::copied && (in.in_place || !is_dense(in.pattern));
    return in.access == how::unused || (!in.wrapped && (number || here));
  };
  return std::all_of(plan_.inputs.begin(), plan_.inputs.end(), suits) &&
         std::all_of(outputs_.begin(), outputs_.end(),
                     [](const output_plan& o) { return o.in_place || !is_dense(o.pattern); });
}

/// How many rows from one on are computed at once, up to the end of the last outer axis: without the last one where lanes behind
/// a row are computed that are the next one's.
std::int64_t element_run::rows_from(std::int64_t outer, std::int64_t end) const {
  const std::int64_t left = plan_.outer.back() - outer % plan_.outer.back();
  const std::int64_t rows = std::min(left, end - outer);
  return plan_.block_count % plan_.multiple == 0 ? rows : rows - 1;
}

void element_run::run_rows(std::int64_t outer, std::int64_t rows, element_memory& mine) const {
  block_walker& walker = mine.walker;
  walker.move_to(outer);
  walker.bind(0, static_cast<int>(plan_.block_count));
  for (std::size_t k = 0; k < plan_.inputs.size(); ++k)
    if (plan_.inputs[k].access != input_plan::how::unused) walker.inputs()[k] = walker.in_place(k, 0);
  for (std::size_t k = 0; k < outputs_.size(); ++k) walker.outputs()[k] = outputs_[k].at(walker.coordinates());
  walker.args().rows = static_cast<int>(rows);
  walker.args().row_steps = row_steps_.data();
  code_.run(walker.args(), nullptr, mine.scratch);
  walker.args().rows = 1;
}

void element_run::store_records(const record_group& g, std::int64_t start, int n, element_memory& mine) const {
  const output_plan& first = outputs_[static_cast<std::size_t>(g.member[0])];
  const void* from[most_components] = {};
  for (int c = 0; c < g.components; ++c) from[c] = mine.buffers[g.member[static_cast<std::size_t>(c)]];
  const std::size_t size = itemsize(first.type);
  char* const to = first.at(mine.walker.coordinates()) + start * g.components * static_cast<std::int64_t>(size);
  loops_over_strides().put_together[size / 8](to, from, g.components, n);
}

void element_run::run_task(std::int64_t task, element_memory& mine, int* fault) const {
  const std::int64_t end = std::min(share_.blocks, (task + 1) * share_.per_task);
  for (std::int64_t block = task * share_.per_task; block < end; ++block) {
    const std::int64_t outer = across_ ? block % plan_.outer_count : block / share_.run;
    if (const std::int64_t rows = in_rows_ ? rows_from(block, end) : 0; rows > 1) {
      run_rows(block, rows, mine);
      block += rows - 1;
      continue;
    }
    std::int64_t start = (across_ ? block / plan_.outer_count : block - outer * share_.run) * share_.lanes;
    int n = static_cast<int>(std::min<std::int64_t>(share_.lanes, plan_.block_count - start));
    // What is more than a block has no padding, for which there is no room.
    const int whole = n / plan_.multiple * plan_.multiple;
    if (whole < n && (n > jit::block_lanes || (plan_.in_patterns && whole > 0))) {
      if (runs_on_ && block + 1 < end && is_followed(outer)) {
        run_block(outer, start, n, mine, true);
        continue;
      }
      run_block(outer, start, whole, mine);
      const int again = overlaps_ ? jit::lane_multiple - (n - whole) : 0;
      start += whole - again;
      n -= whole - again;
    }
    run_block(outer, start, n, mine);
  }
  merge_fault(fault, mine.fault);
}

void element_run::run(int* fault) {
  if (tasks_ == 1) return run_task(0, *own_, fault);
  const double time =
      lane_time(*launch_.code, loop_count(launch_)) * static_cast<double>(core::element_count(launch_.extents));
  runtime::parallel_for(tasks_, time, [&](std::int64_t task) {
    std::optional<element_memory> mine;
    try {
      mine.emplace(code_, plan_, outputs_);
    } catch (const std::bad_alloc&) {
      refused_[static_cast<std::size_t>(task)] = 1;
      return;
    }
    run_task(task, *mine, fault);
  });
  for (std::int64_t task = 0; task < tasks_; ++task)
    if (refused_[static_cast<std::size_t>(task)]) run_task(task, *own_, fault);
}

// Nothing runs before all have their memory, which goes back in reverse order.
void run_elements(std::span<const element_work> works, int* fault) {
  if (works.empty()) return;
  const element_work& first = works[0];
  if (core::element_count(first.launch->extents) == 0) return run_elements(works.subspan(1), fault);
  element_run mine(*first.code, *first.launch, first.rows);
  mine.take_memory();
  run_elements(works.subspan(1), fault);
  mine.run(fault);
}

}  // namespace sinter::cpu
