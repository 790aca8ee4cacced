// Elementwise launches: blocks over the space, shared out to the threads.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>

#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/kernels/panel.hpp"
#include "backends/cpu/kernels/patterns.hpp"
#include "backends/cpu/kernels/repeated.hpp"
#include "backends/cpu/strides/strided_loops.hpp"
#include "jit/program/loop_runs.hpp"
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

/// Lanes of a block whose operands are all read and written where they lie; bytes of what is copied for one of others, so that it
/// stays in the first-level cache.
constexpr std::int64_t long_block = 8192, copied_bytes = 16 << 10;

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
                  (in.pattern.what == jit::lane_pattern::kind::apart && in.ahead_apart) ||
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

/// Lets lanes of 16-bit floats lie as in memory where the code that runs takes them so.
void keep_halves(const block_code& code, block_plan& plan, std::vector<output_plan>& outputs) {
  if (!code.takes_halves()) return;
  plan.keep_halves();
  for (output_plan& o : outputs) o.keep_halves();
}

/// Generated code takes more lanes than the interpreter: each block costs some 20 ns.
std::int64_t lanes_of_blocks(const block_code& code, const block_plan& plan, const std::vector<output_plan>& outputs,
                             bool across) {
  const bool in_blocks = across || !code.takes_any_length() || (code.has_patterns() && !plan.in_patterns);
  if (in_blocks || plan.block_count < 2 * jit::block_lanes) return jit::block_lanes;
  const std::int64_t bytes = copied_for_a_lane(plan, outputs);
  if (bytes < 0) return jit::block_lanes;
  if (bytes == 0) return long_block;
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(copied_bytes / bytes))), jit::block_lanes,
      repeating_block);
}

/// What a thread needs for a task. With it, the task cannot fail.
struct element_memory {
  element_memory(const block_code& code, const block_plan& plan, const std::vector<output_plan>& outputs,
                 bool kept = false)
      : memory(kept ? arena(kept_elements) : arena()),
        walker(plan, memory, static_cast<int>(outputs.size()), 0, fault.words),
        buffers(memory.take_array<void*>(outputs.size())),
        scratch(kept ? nullptr : memory.take(code.scratch_bytes())) {
    for (std::size_t k = 0; k < outputs.size(); ++k)
      buffers[k] = memory.take(static_cast<std::size_t>(plan.lanes * jit::lane_bytes(outputs[k].type)));
    code.make_ready();
  }
  arena memory;
  fault_record fault;
  block_walker walker;
  void** buffers;
  void* scratch;  // null where the memory is kept: the thread's is taken for each run
};

/// One launch with all memory that running it needs.
class element_run {
 public:
  element_run(const runtime::prepared& code, const jit::launch& l, const std::vector<row_read>* rows);
  /// Before it is run: this thread's memory.
  void take_memory() { own_.emplace(code_, plan_, outputs_); }
  bool is_one_task() const noexcept { return tasks_ == 1; }
  /// The one task, with memory of the thread for this time.
  void run_again(int* fault) const {
    element_memory now(code_, plan_, outputs_);
    run_task(0, now, fault);
  }
  /// An update in place must not be left incomplete where memory runs out: this thread has its memory before anything is
  /// written, and does the tasks for which other threads have none.
  void run(int* fault);

 private:
  void run_task(std::int64_t task, element_memory& mine, int* fault) const;
  void run_block(std::int64_t outer, std::int64_t start, int n, element_memory& mine, bool runs_on = false) const;
  bool is_followed(std::int64_t outer) const { return (outer + 1) % plan_.outer.back() != 0; }
  void store_records(const record_group& g, std::int64_t start, int n, element_memory& mine) const;

  const jit::launch& launch_;
  const block_code& code_;
  walk_axes axes_;
  param_block params_;
  block_plan plan_;
  std::vector<output_plan> outputs_;
  std::vector<record_group> records_;  // of outputs
  std::vector<char> in_record_;        // by output
  partition share_;
  bool across_;
  bool runs_on_ = false;   // rows may be computed beyond their ends
  bool overlaps_ = false;  // lanes may be computed twice, so that those which are left fill a vector
  std::int64_t tasks_;
  std::vector<char> refused_;  // tasks that had no memory
  std::optional<element_memory> own_;
};

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
    const std::int64_t step = is_dense(o.pattern) ? 1 : o.pattern.number;
    walker.outputs()[k] =
        in_place ? o.at(walker.coordinates()) + start * step * static_cast<std::int64_t>(itemsize(o.type)) : buffers[k];
  }
  code_.run(walker.args(), nullptr, mine.scratch);
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const output_plan& o = outputs_[k];
    if (!is_dense(o.pattern)) {
      char* const to =
          o.at(walker.coordinates()) + start * o.pattern.number * static_cast<std::int64_t>(itemsize(o.type));
      if (walker.outputs()[k] == buffers[k]) o.store_apart(to, buffers[k], n);
      continue;
    }
    if (walker.outputs()[k] == buffers[k] && !in_record_[k])
      store_lanes(o.at(walker.coordinates()), o.type, o.map, start, n, buffers[k]);
  }
  for (const record_group& g : records_) store_records(g, start, n, mine);
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
    std::int64_t start = (across_ ? block / plan_.outer_count : block - outer * share_.run) * share_.lanes;
    int n = static_cast<int>(std::min<std::int64_t>(share_.lanes, plan_.block_count - start));
    // What is more than a block has no padding, for which there is no room.
    const int whole = n & -jit::lane_multiple;
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

/// A block of a launch that is run again and again: where its lanes lie in memory of its own is worked out once, as are
/// coordinates and offsets of gathers, which depend on no elements.
class kept_block {
 public:
  kept_block(const block_code& code, const block_plan& plan, const std::vector<output_plan>& outputs,
             std::int64_t outer, std::int64_t start, int n)
      : code_(code),
        plan_(plan),
        outputs_(outputs),
        outer_(outer),
        start_(start),
        n_(n),
        mine_(code, plan, outputs, true) {}

  void run(int* fault) {
    if (is_bound_) {
      for (const copy& c : inputs_) copy_row(c.to, c.from, c.bytes);
      for (const std::size_t k : others_) mine_.walker.bind_again(k, start_, n_);
    } else {
      mine_.walker.forget();
      mine_.walker.move_to(outer_);
      mine_.walker.bind(start_, n_);
      const bool whole = n_ == mine_.walker.args().n;
      for (std::size_t k = 0; k < outputs_.size(); ++k)
        mine_.walker.outputs()[k] = outputs_[k].in_place && whole ? place_of(k) : mine_.buffers[k];
    }
    compute();
    if (!is_bound_ && can_bind_) bind();
    for (const std::size_t k : stored_) {
      const output_plan& o = outputs_[k];
      if (o.map.contiguous && !is_half(o.type))
        copy_row(place_of(k), static_cast<const char*>(mine_.buffers[k]),
                 static_cast<std::size_t>(n_) * itemsize(o.type));
      else store_lanes(base_of(k), o.type, o.map, start_, n_, mine_.buffers[k]);
    }
    if (!is_bound_)
      for (std::size_t k = 0; k < outputs_.size(); ++k)
        if (mine_.walker.outputs()[k] == mine_.buffers[k])
          store_lanes(base_of(k), outputs_[k].type, outputs_[k].map, start_, n_, mine_.buffers[k]);
    merge_fault(fault, mine_.fault);
    mine_.fault.words[0] = 0;
  }

 private:
  struct copy {
    char* to;
    const char* from;
    std::size_t bytes;
  };

  char* base_of(std::size_t k) const { return outputs_[k].at(mine_.walker.coordinates()); }
  char* place_of(std::size_t k) const {
    return base_of(k) + start_ * static_cast<std::int64_t>(itemsize(outputs_[k].type));
  }

  void compute() {
    if (code_.is_compiled()) return code_.run(mine_.walker.args(), nullptr, nullptr);
    if (program_) return program_->run(mine_.fault.words);
    arena now;
    code_.run(mine_.walker.args(), nullptr, now.take(code_.scratch_bytes()));
  }

  /// After a run: padding lanes keep what they had in it, which is as good.
  void bind() {
    for (std::size_t k = 0; k < plan_.inputs.size(); ++k) {
      const input_plan& in = plan_.inputs[k];
      using how = input_plan::how;
      if (in.access == how::unused || in.access == how::gathered || in.access == how::whole) continue;
      if (in.access == how::uniform) {
        if (is_half(in.type)) {
          can_bind_ = false;
          inputs_.clear(), others_.clear();
          return;
        }
        continue;
      }
      if (!in.in_place || in.period || in.panel_rows || in.rows || in.wrapped) {
        others_.push_back(k);
        continue;
      }
      const auto* const lanes = static_cast<const char*>(mine_.walker.inputs()[k]);
      const auto* const from = static_cast<const char*>(mine_.walker.in_place(k, start_));
      if (lanes != from)
        inputs_.push_back({const_cast<char*>(lanes), from, static_cast<std::size_t>(n_) * itemsize(in.type)});
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      if (mine_.walker.outputs()[k] == mine_.buffers[k]) stored_.push_back(k);
    program_ = code_.bind(mine_.walker.args());
    is_bound_ = true;
  }

  const block_code& code_;
  const block_plan& plan_;
  const std::vector<output_plan>& outputs_;
  const std::int64_t outer_, start_;
  const int n_;
  element_memory mine_;
  bool is_bound_ = false, can_bind_ = true;
  std::vector<copy> inputs_;
  std::vector<std::size_t> others_;  // inputs that are put together in another way than by one copy
  std::vector<std::size_t> stored_;  // outputs
  std::unique_ptr<jit::bound_program> program_;
};

/// Lanes of a launch whose blocks are kept, and its blocks, at most.
constexpr std::int64_t most_kept_lanes = 4096, most_kept_blocks = 16;

/// A launch of a few blocks, whose memory is kept, or, of one block, that of the thread.
class repeated_element_run final : public repeated_launch {
 public:
  repeated_element_run(const runtime::prepared& code, const jit::launch& l, bool keeps_memory)
      : axes_(element_axes(l)),
        params_(l),
        plan_(l, axes_, 0, l.code->code.size(), params_),
        code_(*code.main),
        was_compiled_(code_.is_compiled()) {
    outputs_.reserve(l.outputs.size());
    for (std::size_t k = 0; k < l.outputs.size(); ++k) outputs_.emplace_back(l, k, axes_);
    if (was_compiled_) keep_halves(code_, plan_, outputs_);
    plan_.read_through_panels();
    share_ = share_out(l, plan_, jit::block_lanes);
    is_one_block_ = share_.blocks == 1 && plan_.block_count <= jit::block_lanes;
    const std::int64_t lanes = plan_.block_count * plan_.outer_count;
    keeps_ = keeps_memory && lanes <= (is_one_block_ ? few_lanes : most_kept_lanes);
    if (is_one_block_) plan_.lanes = pad_lanes(static_cast<int>(plan_.block_count));
    else if (keeps_) take_few_blocks(l);
  }
  bool is_one_block() const noexcept { return is_one_block_; }
  /// Whether there are a few blocks, of which all memory is kept.
  bool is_kept() const noexcept { return keeps_; }

  void run(int* fault) override {
    if (!keeps_) {
      element_memory now(code_, plan_, outputs_);
      return run(now, fault);
    }
    if (blocks_.empty()) make_blocks();
    for (const auto& b : blocks_) b->run(fault);
  }

 private:
  void take_few_blocks(const jit::launch& l) {
    plan_.compiled = was_compiled_;
    const bool across = runs_across(plan_, outputs_);
    const std::int64_t lanes = lanes_of_blocks(code_, plan_, outputs_, across);
    if (lanes <= repeating_block) plan_.lanes = static_cast<int>(lanes);
    share_ = share_out(l, plan_, lanes);
    const bool one_task = share_.blocks <= share_.per_task;
    keeps_ = one_task && share_.blocks <= most_kept_blocks && input_records(plan_.inputs).empty() &&
             output_records(l, outputs_).empty();
  }

  void make_blocks() {
    const auto add = [&](std::int64_t outer, std::int64_t start, std::int64_t n) {
      blocks_.push_back(std::make_unique<kept_block>(code_, plan_, outputs_, outer, start, static_cast<int>(n)));
    };
    for (std::int64_t block = 0; block < share_.blocks; ++block) {
      const std::int64_t outer = block / share_.run, start = (block - outer * share_.run) * share_.lanes;
      const std::int64_t n = std::min(share_.lanes, plan_.block_count - start);
      // What is more than a block has no padding, for which there is no room.
      const std::int64_t whole = n > jit::block_lanes ? n & -std::int64_t{jit::lane_multiple} : n;
      add(outer, start, whole);
      if (whole < n) add(outer, start + whole, n - whole);
    }
  }

  void run(element_memory& mine, int* fault) {
    const int n = static_cast<int>(plan_.block_count);
    mine.walker.move_to(0);
    mine.walker.bind(0, n);
    const bool whole = n == mine.walker.args().n;
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      mine.walker.outputs()[k] = outputs_[k].in_place && whole ? outputs_[k].base : mine.buffers[k];
    code_.run(mine.walker.args(), nullptr, mine.scratch);
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      if (mine.walker.outputs()[k] == mine.buffers[k])
        store_lanes(outputs_[k].base, outputs_[k].type, outputs_[k].map, 0, n, mine.buffers[k]);
    merge_fault(fault, mine.fault);
  }

  walk_axes axes_;
  param_block params_;
  block_plan plan_;
  std::vector<output_plan> outputs_;
  partition share_;
  const block_code& code_;
  bool was_compiled_, is_one_block_ = false, keeps_ = false;
  std::vector<std::unique_ptr<kept_block>> blocks_;
};

/// A launch of several blocks that make one task.
class repeated_blocks_run final : public repeated_launch {
 public:
  repeated_blocks_run(const runtime::prepared& code, const jit::launch& l, bool keeps_memory)
      : code_(code), launch_(l), keeps_memory_(keeps_memory) {
    make();
  }
  bool is_one_task() const noexcept { return kept_ || all_->is_one_task(); }
  void run(int* fault) override {
    if (code_.main->is_compiled() != was_compiled_) make();  // code of another kind takes other blocks
    if (kept_) kept_->run(fault);
    else all_->run_again(fault);
  }

 private:
  void make() {
    was_compiled_ = code_.main->is_compiled();
    kept_.reset();
    all_.reset();
    if (keeps_memory_) {
      kept_ = std::make_unique<repeated_element_run>(code_, launch_, true);
      if (kept_->is_kept()) return;
      kept_.reset();
    }
    all_.emplace(code_, launch_, nullptr);
  }
  const runtime::prepared& code_;
  const jit::launch& launch_;
  const bool keeps_memory_;
  bool was_compiled_ = false;
  std::unique_ptr<repeated_element_run> kept_;
  std::optional<element_run> all_;
};

}  // namespace

std::unique_ptr<repeated_launch> repeated_elements(const runtime::prepared& code, const jit::launch& l,
                                                   bool keeps_memory) {
  if (core::element_count(l.extents) == 0 || jit::stores_in_runs(*l.code)) return nullptr;
  auto made = std::make_unique<repeated_element_run>(code, l, keeps_memory);
  if (made->is_one_block()) return made;
  auto several = std::make_unique<repeated_blocks_run>(code, l, keeps_memory);
  return several->is_one_task() ? std::move(several) : nullptr;
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
