// Reductions: what a task does with its rows or columns, and how tasks make up a launch.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/transpose.hpp"
#include "backends/cpu/reduce/job.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

struct opaque_lane {
  unsigned char bytes[jit::opaque_bytes];
};
/// Rows of so many columns, one after the other, to columns.
void transpose_lanes(void* to, const void* from, int rows, int columns, int bytes) {
  if (bytes <= 16) return transpose(to, rows, from, columns, columns, rows, static_cast<std::size_t>(bytes));
  for (int j = 0; j < columns; ++j)
    for (int r = 0; r < rows; ++r)
      static_cast<opaque_lane*>(to)[j * rows + r] = static_cast<const opaque_lane*>(from)[r * columns + j];
}

const void* further(const void* lanes, int n, int bytes) noexcept {
  return static_cast<const char*>(lanes) + n * bytes;
}

}  // namespace

reduce_task::reduce_task(const reduce_job& job, arena& memory, int* fault)
    : job_(job),
      memory_(memory),
      walker_(job.elements, memory, static_cast<int>(job.reducers.size()), 0, fault),
      result_walker_(job.results, memory, static_cast<int>(job.outputs.size()), static_cast<int>(job.reducers.size()),
                     fault) {
  const bool by_row = job.shape.rows && !job.shape.across;
  const int results = job.results_at_once();
  const int stacked = by_row && !job.shape.lengthwise ? 1 : results;
  const std::size_t count = job.reducers.size();
  accumulators_.resize(count);
  stacks_.reserve(count);
  done_ = memory.take_array<const void*>(count);
  stored_ = memory.take_array<const void*>(count);
  for (std::size_t k = 0; k < count; ++k) {
    accumulator& a = accumulators_[k];
    a.r = job.reducers[k];
    a.wide = job.wide_of(*a.r);
    const int lanes = by_row ? std::max(row_lanes, job.lanes()) : job.column_lanes_of(*a.r);
    const int width = !by_row ? results * lanes : job.shape.shared || job.whole_rows ? std::max(results, lanes) : lanes;
    for (int i = 0; i < a.r->planes; ++i) {
      const bool begun = a.r->by_groups && i == 1, few = by_row && !job.shape.shared;
      const int of_plane = !begun ? width : few ? jit::addition_group : 2 * results;
      a.planes[i] = memory.take(static_cast<std::size_t>(of_plane * a.r->bytes[i]));
    }
    const std::int64_t joined = job.shape.across ? std::max(row_lanes, job.lanes()) : 1;
    stacks_.emplace_back(*a.r, memory, stacked, std::max<std::int64_t>(job.split.segment_chunks, 2) * joined);
    buffers_.push_back(memory.take(static_cast<std::size_t>(job.buffer_lanes() * job.argument_bytes(k))));
    walker_.outputs()[k] = buffers_[k];
    done_[k] = memory.take(static_cast<std::size_t>(results * job.result_bytes(k)));
  }
  for (std::size_t k = 0; k < job.outputs.size(); ++k) {
    result_buffers_.push_back(
        memory.take(static_cast<std::size_t>(jit::block_lanes * jit::lane_bytes(job.outputs[k].type))));
    result_walker_.outputs()[k] = result_buffers_[k];
  }
  const auto& c = job.code;
  std::size_t bytes = std::max(c.main->scratch_bytes(), c.epilogue->scratch_bytes());
  if (job.by_groups) {
    bytes = std::max(bytes, c.groups->scratch_bytes());
    const std::size_t inputs = job.elements.inputs.size();
    later_steps_.reserve(jit::addition_group - 1);
    for (int s = 1; s < jit::addition_group; ++s) later_steps_.emplace_back(job.elements, memory, 0, 0, fault);
    group_inputs_ = memory.take_array<const void*>(jit::addition_group * inputs);
  }
  if (job.tail) {
    bytes = std::max({bytes, c.inner->scratch_bytes(), c.tail->scratch_bytes()});
    const std::size_t lanes = jit::block_lanes * itemsize(job.tail->type);
    inner_ = memory.take(lanes);
    tail_output_ = memory.take(lanes);
    bounds_ = memory.take(lanes);
    walker_.outputs()[0] = inner_;
    steps_ = &find_tail_steps(job.tail->type, job.tail->minimum);
    tail_args_ = walker_.args();
    tail_args_.inputs = &tail_input_;
    tail_args_.outputs = &tail_output_;
  }
  if (job.shape.rows && job.shape.shared) transposed_ = memory.take(jit::block_lanes * std::size_t{jit::opaque_bytes});
  code_scratch_ = memory.take(bytes);
  find_run_steps();
}

int reduce_task::row_lanes_of(const accumulator& a) const noexcept { return a.r->by_groups ? job_.lanes() : row_lanes; }

bool reduce_task::takes_at_once(const accumulator& a) const noexcept { return a.r->by_groups && a.r->whole_rows; }

void* const* reduce_task::shifted(accumulator& a, int lanes) noexcept {
  for (int p = 0; p < a.r->planes; ++p) a.moved[p] = static_cast<char*>(a.planes[p]) + lanes * a.r->bytes[p];
  return a.moved;
}

const void* reduce_task::lanes_of(std::size_t k) const {
  return job_.only_loads ? const_cast<block_walker&>(walker_).inputs()[job_.loaded[k].first] : buffers_[k];
}

/// What the lanes are multiplied by, or null.
const void* reduce_task::factors_of(std::size_t k) const {
  const int factor = job_.only_loads ? job_.loaded[k].factor : -1;
  return factor < 0 ? nullptr : const_cast<block_walker&>(walker_).inputs()[factor];
}

/// Adds n lanes, which are elements `first` and following of a chunk, or all of it.
void reduce_task::add_row(std::size_t k, const void* x, const void* factors, int n, int first, bool all) {
  const accumulator& a = accumulators_[k];
  const std::int64_t bytes = std::int64_t{n} * job_.argument_bytes(k);
  if (all && takes_at_once(a)) {
    if (factors) a.r->product_rows(a.planes, {x, bytes, factors, bytes}, 1, n, job_.tree());
    else a.r->whole_rows(a.planes, x, bytes, 1, n, job_.tree());
  } else if (factors) {
    a.r->product_row(a.planes, x, factors, n, first, job_.lanes());
  } else {
    a.r->row(a.planes, x, n, first, job_.lanes());
  }
}

void reduce_task::join_rows(std::size_t k, const row_pair& from, int rows, int columns) {
  const accumulator& a = accumulators_[k];
  if (from.b) a.r->product_rows(a.planes, from, rows, columns, job_.tree());
  else a.r->whole_rows(a.planes, from.a, from.stride_a, rows, columns, job_.tree());
}

void reduce_task::close(int lanes, bool rows, std::int64_t begin, std::int64_t end) {
  for (auto& a : accumulators_) a.r->close(a.planes, lanes, rows, static_cast<int>(end - begin), begin);
}

/// `at_once`: of which whole_rows has left none.
void reduce_task::join_row_lanes(std::int64_t begin, std::int64_t end, bool at_once) {
  for (auto& a : accumulators_) {
    if (at_once && takes_at_once(a)) continue;
    const auto join = job_.shape.lengthwise && a.r->by_groups ? a.r->join_halves : a.r->join_lanes;
    if (join) join(a.planes, job_.lanes(), static_cast<int>(end - begin));
    else
      for (int w = row_lanes / 2; w > 0; w /= 2) a.r->join(a.planes, shifted(a, w), w);
  }
}

// ---- rows

void reduce_task::rows(std::int64_t group, std::int64_t segment, char* scratch) {
  const std::int64_t first = group * job_.split.group;
  const int n = static_cast<int>(std::min(job_.split.group, job_.shape.results - first));
  const std::int64_t reduced = job_.shape.reduced;
  if (!job_.rows_in_memory.empty()) return rows_in_memory(first, n, segment, scratch);
  if (job_.shape.shared || job_.whole_rows) {
    const int most = job_.whole_rows ? job_.together : static_cast<int>(jit::block_lanes / reduced);
    for (int at = 0; at < n; at += most) {
      const int rows = std::min(most, n - at);
      job_.whole_rows ? whole_rows(first + at, rows) : transposed_rows(first + at, rows);
      for (std::size_t k = 0; k < accumulators_.size(); ++k) finish(k, accumulators_[k].planes, at, rows);
    }
    return;
  }
  const reduce_split& s = job_.split;
  for (int at = 0; at < n; ++at) {
    for (auto& stack : stacks_) stack.clear();
    if (job_.tail) steps_->loosen(bounds_, 1);
    const std::int64_t last = std::min(s.chunks, (segment + 1) * s.segment_chunks);
    for (std::int64_t c = segment * s.segment_chunks; c < last; ++c) {
      row_chunk(first + at, c * s.chunk, std::min(reduced, (c + 1) * s.chunk));
      for (std::size_t k = 0; k < stacks_.size(); ++k) stacks_[k].push(accumulators_[k].planes, 1);
    }
    leave(first + at, segment, at, 1, scratch);
  }
}

void reduce_task::rows_in_memory(std::int64_t first, int rows, std::int64_t segment, char* scratch) {
  const std::int64_t begin = segment * job_.split.chunk, left = job_.shape.reduced - begin;
  const auto columns = static_cast<int>(job_.split.segments > 1 ? std::min(job_.split.chunk, left) : left);
  for (std::size_t k = 0; k < accumulators_.size(); ++k) {
    const std::int64_t skipped = begin * job_.argument_bytes(k);
    row_pair from = job_.rows_in_memory[k];
    from.a = static_cast<const char*>(from.a) + first * from.stride_a + skipped;
    if (from.b) from.b = static_cast<const char*>(from.b) + first * from.stride_b + skipped;
    join_rows(k, from, rows, columns);
    if (job_.split.segments == 1) finish(k, accumulators_[k].planes, 0, rows);
  }
  if (job_.split.segments == 1) return;
  for (std::size_t k = 0; k < accumulators_.size(); ++k) {
    stacks_[k].clear();
    stacks_[k].put(accumulators_[k].planes, rows);
  }
  put_partial(scratch, segment, first, rows);
}

// Very short rows are transposed: lane j of every row lies in one run, so that the row tree runs over many rows at once.
void reduce_task::transposed_rows(std::int64_t first, int rows) {
  const int columns = static_cast<int>(job_.shape.reduced), n = rows * columns;
  walker_.move_to(0);
  if (job_.only_loads) walker_.bind(first * columns, n);
  else compute(first * columns, n, 0);
  for (std::size_t k = 0; k < accumulators_.size(); ++k) {
    accumulator& a = accumulators_[k];
    const int bytes = job_.argument_bytes(k);
    const void* lanes = lanes_of(k);
    if (a.r->by_groups && a.r->whole_rows) {
      join_rows(k, {lanes, std::int64_t{columns} * bytes, factors_of(k), std::int64_t{columns} * bytes}, rows, columns);
      continue;
    }
    if (columns > 1) {
      transpose_lanes(transposed_, lanes, rows, columns, bytes);
      lanes = transposed_;
    }
    if (a.r->by_groups) {
      transposed_groups(a, lanes, rows);
      continue;
    }
    a.r->reset(a.planes, n);
    for (int j = 0; j < columns; ++j) a.r->column(shifted(a, j * rows), further(lanes, j * rows, bytes), rows, j, 1);
    a.r->close(a.planes, n, false, 1, 0);
    for (int w = row_lanes / 2; w > 0; w /= 2)
      if (columns > w) a.r->join(a.planes, shifted(a, w * rows), std::min(w, columns - w) * rows);
  }
}

/// The elements of rows as columns, whose lanes are joined as those of rows are.
void reduce_task::transposed_groups(accumulator& a, const void* x, int rows) {
  const int columns = static_cast<int>(job_.shape.reduced), lanes = job_.lanes();
  a.r->reset(a.planes, lanes * rows);
  a.r->columns(a.planes, x, std::int64_t{rows} * a.r->bytes[0], columns, rows, {0, lanes, rows});
  a.r->close_columns(a.planes, rows, {columns, lanes, rows});
  const auto join = [&](int to, int from) {
    void* first[max_planes];
    std::copy_n(shifted(a, to * rows), a.r->planes, first);
    a.r->join(first, shifted(a, from * rows), rows);
  };
  const auto run = static_cast<int>(jit::addition_run);
  for (int d = 1; d < lanes && d < run; d *= 2)
    for (int l = 0; l < lanes; l += 2 * d) join(l, l + d);
  for (int l = run; l < lanes; l += run) join(0, l);
}

void reduce_task::row_chunk(std::int64_t row, std::int64_t begin, std::int64_t end) {
  for (auto& a : accumulators_) a.r->reset(a.planes, row_lanes_of(a));
  const std::int64_t run = job_.elements.block_count, runs = job_.shape.reduced / run;
  const std::int64_t most = job_.tail ? jit::block_lanes : job_.part();
  std::int64_t outer = row * runs + begin / run, start = begin % run;
  const bool at_once = end - begin <= std::min(job_.in_memory ? end - begin : most, run - start);
  for (std::int64_t e = begin; e < end;) {
    const int n = static_cast<int>(std::min({job_.in_memory ? end - e : most, end - e, run - start}));
    const int at = static_cast<int>(e - begin);
    walker_.move_to(outer);
    if (const std::int64_t whole = n == run ? (end - e) / run : 0; whole > 1 && takes_runs()) {
      const std::int64_t count = std::min(whole, walker_.left_of_last_axis());
      add_runs(count, run, at);
      e += count * run;
      outer += count;
      continue;
    }
    if (job_.in_memory) {
      for (std::size_t k = 0; k < accumulators_.size(); ++k) {
        const int factor = job_.loaded[k].factor;
        const void* const factors = factor < 0 ? nullptr : walker_.in_place(static_cast<std::size_t>(factor), start);
        add_row(k, in_place(k, start), factors, n, at, at_once);
      }
    } else {
      if (const std::int64_t count =
              n == run && !job_.tail ? runs_from(std::min<std::int64_t>(end - e, job_.part()) / run) : 1;
          count > 1) {
        compute_runs(count, 0, run);
        for (std::size_t k = 0; k < accumulators_.size(); ++k)
          add_row(k, buffers_[k], nullptr, static_cast<int>(count * run), at, false);
        e += count * run;
        outer += count;
        continue;
      }
      if (job_.tail || job_.only_loads) walker_.bind(start, n);
      else compute(start, n, 0);
      if (job_.tail) skipping_row_block(n, at);
      else
        for (std::size_t k = 0; k < accumulators_.size(); ++k) add_row(k, lanes_of(k), factors_of(k), n, at, at_once);
    }
    e += n;
    start += n;
    if (start == run) start = 0, ++outer;
  }
  close(row_lanes, true, begin, end);
  join_row_lanes(begin, end, at_once);
}

void reduce_task::evaluate_tail(const void* inner, int n) {
  tail_input_ = inner;
  tail_args_.n = pad_lanes(n);
  tail_args_.lanes = n;
  job_.code.tail->run(tail_args_, nullptr, code_scratch_);
}

void reduce_task::skipping_row_block(int n, int first) {
  const tail_bounds& t = *job_.tail;
  const double limit = t.minimum ? t.high : t.low;
  job_.code.inner->run(walker_.args(), nullptr, code_scratch_);
  if (!steps_->candidates(inner_, n, bounds_, limit)) return;
  for (int at = 0; at < n; at += row_lanes) {
    const int m = std::min(row_lanes, n - at);
    const void* x = further(inner_, at, jit::lane_bytes(t.type));
    if (!steps_->candidates(x, m, bounds_, limit)) continue;
    evaluate_tail(x, m);
    for (auto& a : accumulators_) a.r->row(a.planes, tail_output_, m, first + at, job_.lanes());
    steps_->tighten(x, m, bounds_, t.low, t.high, t.margin, t.floor);
  }
}

// ---- columns

void reduce_task::columns(std::int64_t group, std::int64_t segment, char* scratch) {
  const std::int64_t run = job_.shape.shared ? job_.shape.width : job_.elements.block_count;
  const reduce_split& s = job_.split;
  const std::int64_t groups = (run + s.group - 1) / s.group;
  const std::int64_t outer = group / groups, start = group % groups * s.group;
  const int n = static_cast<int>(std::min<std::int64_t>(s.group, run - start));
  for (auto& stack : stacks_) stack.clear();
  if (job_.tail) steps_->loosen(bounds_, n);
  const std::int64_t last = std::min(s.chunks, (segment + 1) * s.segment_chunks);
  for (std::int64_t c = segment * s.segment_chunks; c < last; ++c) {
    const std::int64_t begin = c * s.chunk, end = std::min(job_.shape.reduced, begin + s.chunk);
    for (auto& a : accumulators_) {
      a.pitch = n;
      a.r->reset(a.planes, n * a.wide * job_.column_lanes_of(*a.r));
    }
    job_.shape.shared ? shared_column_chunk(outer, begin, end) : column_chunk(outer, start, n, begin, end);
    join_column_lanes(n, begin, end);
    for (std::size_t k = 0; k < stacks_.size(); ++k) stacks_[k].push(accumulators_[k].planes, n);
  }
  leave(outer * run + start, segment, 0, n, scratch);
}

/// Elements `index` and following of a chunk, of the results [at, at + n) of the group.
void reduce_task::add_columns(std::size_t k, const void* from, std::int64_t stride, int steps, int at, int n,
                              int index) {
  accumulator& a = accumulators_[k];
  const column_place place{index, job_.column_lanes_of(*a.r), a.pitch};
  a.r->columns(shifted(a, at), from, stride, steps, n, place);
}

void reduce_task::join_column_lanes(int n, std::int64_t begin, std::int64_t end) {
  const auto length = static_cast<int>(end - begin);
  for (auto& a : accumulators_) {
    if (!a.r->by_groups) {
      if (a.wide == 1) a.r->close(a.planes, n, false, length, begin);
      else a.r->close_wide(a.planes, n * a.wide, n, begin);
      for (int w = a.wide / 2; w > 0; w /= 2) a.r->join(a.planes, shifted(a, w * n), w * n);
      continue;
    }
    a.r->close_columns(a.planes, n, {length, job_.lanes(), a.pitch});
    for (int w = job_.lanes() / 2; w > 0; w /= 2) a.r->join(a.planes, shifted(a, w * a.pitch), w * a.pitch);
  }
}

const void* reduce_task::in_place(std::size_t k, std::int64_t start) const {
  return walker_.in_place(static_cast<std::size_t>(job_.loaded[k].first), start);
}

/// Bytes from an input's elements at a step to those at the next one, of the innermost outer axis.
std::int64_t reduce_task::step_of(int input) const {
  const input_plan& in = job_.elements.inputs[static_cast<std::size_t>(input)];
  return in.outer[in.outer.size() - 1] * static_cast<std::int64_t>(itemsize(in.type));
}

/// Steps that are equally far apart: those of the innermost reduced axis.
void reduce_task::columns_in_memory(std::int64_t outer, std::int64_t start, int n, std::int64_t begin,
                                    std::int64_t end) {
  const std::int64_t run = job_.elements.outer[job_.elements.outer.size() - 1];
  for (std::int64_t r = begin; r < end;) {
    const std::int64_t at = outer * job_.shape.reduced + r;
    const auto steps = static_cast<int>(std::min(end - r, run - at % run));
    walker_.move_to(at);
    const auto index = static_cast<int>(r - begin);
    for (std::size_t k = 0; k < accumulators_.size(); ++k) {
      const auto [first, factor] = job_.loaded[k];
      if (factor < 0) {
        add_columns(k, in_place(k, start), step_of(first), steps, 0, n, index);
        continue;
      }
      const accumulator& a = accumulators_[k];
      const void* const weights = walker_.in_place(static_cast<std::size_t>(factor), 0);
      a.r->product_columns(a.planes, {in_place(k, start), step_of(first), weights, step_of(factor)}, steps, n,
                           {index, job_.column_lanes_of(*a.r), a.pitch});
    }
    r += steps;
  }
}

void reduce_task::column_chunk(std::int64_t outer, std::int64_t start, int n, std::int64_t begin, std::int64_t end) {
  if (job_.in_memory) return columns_in_memory(outer, start, n, begin, end);
  for (std::int64_t r = job_.by_groups ? column_groups(outer, start, n, begin, end) : begin; r < end; ++r) {
    walker_.move_to(outer * job_.shape.reduced + r);
    const int index = static_cast<int>(r - begin), most = job_.elements.lanes;
    for (int at = 0; at < n; at += most) column_block(start, at, std::min(most, n - at), index);
  }
}

/// The whole groups of a chunk; returns the first element that belongs to none.
std::int64_t reduce_task::column_groups(std::int64_t outer, std::int64_t start, int n, std::int64_t begin,
                                        std::int64_t end) {
  constexpr std::int64_t group = jit::addition_group;
  const int most = job_.elements.lanes;
  const std::size_t inputs = job_.elements.inputs.size();
  jit::block_args args = walker_.args();
  args.inputs = group_inputs_;
  std::int64_t r = begin;
  for (; r + group <= end; r += group) {
    const auto step = [&](std::int64_t s) -> block_walker& {
      return s == 0 ? walker_ : later_steps_[static_cast<std::size_t>(s - 1)];
    };
    for (std::int64_t s = 0; s < group; ++s) step(s).move_to(outer * job_.shape.reduced + r + s);
    for (int at = 0; at < n; at += most) {
      const int some = std::min(most, n - at);
      for (std::int64_t s = 0; s < group; ++s) {
        step(s).bind(start + at, some);
        std::copy_n(step(s).inputs(), inputs, group_inputs_ + static_cast<std::size_t>(s) * inputs);
      }
      args.n = walker_.args().n;
      args.lanes = walker_.args().lanes;
      job_.code.groups->run(args, nullptr, code_scratch_);
      for (std::size_t k = 0; k < accumulators_.size(); ++k) {
        accumulator& a = accumulators_[k];
        const std::int64_t lane = (r - begin) / group % job_.column_lanes_of(*a.r);
        a.r->join(shifted(a, static_cast<int>(lane * a.pitch) + at), &buffers_[k], some);
      }
    }
  }
  return r;
}

/// Element `index` of the chunk for the results [at, at + n) of the group that begins at `start`.
void reduce_task::column_block(std::int64_t start, int at, int n, int index) {
  walker_.bind(start + at, n);
  if (job_.tail) return skipping_column_block(n, index);
  if (!job_.only_loads) job_.code.main->run(walker_.args(), nullptr, code_scratch_);
  for (std::size_t k = 0; k < accumulators_.size(); ++k) add_columns(k, lanes_of(k), 0, 1, at, n, index);
}

void reduce_task::skipping_column_block(int n, int index) {
  const tail_bounds& t = *job_.tail;
  job_.code.inner->run(walker_.args(), nullptr, code_scratch_);
  if (!steps_->candidates_by_lane(inner_, n, bounds_, t.minimum ? t.high : t.low)) return;
  evaluate_tail(inner_, n);
  for (auto& a : accumulators_) a.r->column(a.planes, tail_output_, n, index, index + 1);
  steps_->tighten_by_lane(inner_, n, bounds_, t.low, t.high, t.margin, t.floor);
}

void reduce_task::shared_column_chunk(std::int64_t outer, std::int64_t begin, std::int64_t end) {
  const int width = static_cast<int>(job_.shape.width), most = shared_steps();
  walker_.move_to(outer);
  for (std::int64_t r = begin; r < end; r += most) {
    const int steps = static_cast<int>(std::min<std::int64_t>(most, end - r)), first = static_cast<int>(r - begin);
    if (job_.only_loads) walker_.bind(r * width, steps * width);
    else compute(r * width, steps * width, 0);
    for (std::size_t k = 0; k < accumulators_.size(); ++k) {
      const int wide = accumulators_[k].wide, whole = steps / wide, rest = steps - whole * wide;
      const std::int64_t bytes = std::int64_t{width} * wide * job_.argument_bytes(k);
      add_columns(k, lanes_of(k), bytes, whole, 0, width * wide, first / wide);
      if (rest > 0) add_columns(k, further(lanes_of(k), whole, bytes), 0, 1, 0, width * rest, first / wide + whole);
    }
  }
}

/// Steps of a block: whole groups, and as many as go to lanes side by side.
int reduce_task::shared_steps() const {
  int together = jit::addition_group;
  for (const accumulator& a : accumulators_) together = std::max(together, a.wide);
  return row_part / static_cast<int>(job_.shape.width) / together * together;
}

}  // namespace sinter::cpu
