// From accumulators to memory: finished lanes, partial results of segments, the epilogue, and the tasks of a launch.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "backends/cpu/kernels/repeated.hpp"
#include "backends/cpu/reduce/job.hpp"
#include "backends/cpu/reduce/turned_rows.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {

void reduce_task::run(std::int64_t group, std::int64_t segment, char* scratch) {
  const std::int64_t first = group * job_.split.group;
  const int n = static_cast<int>(std::min(job_.split.group, job_.shape.results - first));
  if (job_.shape.reduced == 0) {
    nothing(n);
    store(first, n);
  } else if (job_.shape.across) {
    across(group, segment, scratch);
  } else if (job_.shape.rows) {
    rows(group, segment, scratch);
    if (job_.split.segments == 1) store(first, n);
  } else {
    columns(group, segment, scratch);
  }
}

void reduce_task::take(void* const* sums) {
  const auto n = static_cast<int>(job_.shape.results);
  finish(0, sums, 0, n);
  store(0, n);
}

// The reduction of no elements: the identities.
void reduce_task::nothing(int n) {
  for (auto& a : accumulators_) a.r->reset(a.planes, n);
  close(n, false, 0, 0);
  for (std::size_t k = 0; k < accumulators_.size(); ++k) finish(k, accumulators_[k].planes, 0, n);
}

// A group has been reduced, for rows one of its rows: finished, or left for gather().
void reduce_task::leave(std::int64_t first, std::int64_t segment, std::int64_t at, int n, char* scratch) {
  for (auto& stack : stacks_) stack.fold(n);
  if (job_.split.segments > 1) return put_partial(scratch, segment, first, n);
  for (std::size_t k = 0; k < stacks_.size(); ++k) finish(k, stacks_[k].planes(), at, n);
  if (!job_.shape.rows) store(first, n);
}

void reduce_task::finish(std::size_t k, void* const* planes, std::int64_t at, int n) {
  const dtype type = job_.register_type(k);
  const int bytes = job_.result_bytes(k);
  char* to = static_cast<char*>(const_cast<void*>(done_[k])) + at * bytes;
  job_.reducers[k]->finish(planes, to, n);
  // The lanes of a sum begin with -0, which adds nothing; the sum of nothing is +0.
  if (job_.shape.reduced == 0 && job_.launch.code->reductions[k].op == jit::reduce_op::sum)
    std::memset(to, 0, static_cast<std::size_t>(n * bytes));
  if (!is_half(type)) return;
  alignas(64) std::uint16_t bits[jit::block_lanes];
  for (int l = 0; l < n; l += jit::block_lanes) {
    auto* lanes = reinterpret_cast<float*>(to) + l;
    const int some = std::min(jit::block_lanes, n - l);
    (type == dtype::f16 ? jit::narrow_f16 : jit::narrow_bf16)(bits, lanes, some);
    (type == dtype::f16 ? jit::widen_f16 : jit::widen_bf16)(lanes, bits, some);
  }
}

void reduce_task::put_partial(char* scratch, std::int64_t segment, std::int64_t result, int n) {
  char* to = scratch + static_cast<std::size_t>(segment) * segment_bytes(job_.launch, job_.shape);
  for (std::size_t k = 0; k < stacks_.size(); ++k) {
    const reducer& r = *job_.reducers[k];
    for (int p = 0; p < r.partials; ++p) {
      std::memcpy(to + result * r.bytes[p], stacks_[k].planes()[p], static_cast<std::size_t>(n * r.bytes[p]));
      to += plane_bytes(r, p, job_.shape.results);
    }
  }
}

/// Joins the partial results [first, first + n) of all segments, which lie `bytes` apart, and leaves them finished.
void reduce_task::join_splits(std::size_t k, const char* partials, std::size_t bytes, std::int64_t first, int n) {
  const reducer& r = *job_.reducers[k];
  const auto lanes = static_cast<int>(job_.split.order.split_lanes);
  void* joined[max_planes] = {};
  for (int p = 0; p < r.partials; ++p) joined[p] = memory_.take(static_cast<std::size_t>(lanes * n * r.bytes[p]));
  void *to[max_planes] = {}, *from[max_planes] = {};
  for (std::int64_t s = 0; s < job_.split.segments; ++s) {
    const char* plane = partials + static_cast<std::size_t>(s) * bytes;
    for (int p = 0; p < r.partials; ++p) {
      from[p] = const_cast<char*>(plane) + first * r.bytes[p];
      to[p] = static_cast<char*>(joined[p]) + s % lanes * n * r.bytes[p];
      if (s < lanes) std::memcpy(to[p], from[p], static_cast<std::size_t>(n * r.bytes[p]));
      plane += plane_bytes(r, p, job_.shape.results);
    }
    if (s >= lanes) r.join(to, from, n);
  }
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int p = 0; p < r.partials; ++p) to[p] = static_cast<char*>(joined[p]) + half * n * r.bytes[p];
    r.join(joined, to, half * n);
  }
  finish(k, joined, 0, n);
}

// Results in groups of a block, whatever the groups of the first pass were.
void reduce_task::gather(std::int64_t group, const char* scratch) {
  const std::int64_t first = group * jit::block_lanes;
  const int n = static_cast<int>(std::min<std::int64_t>(jit::block_lanes, job_.shape.results - first));
  const std::size_t bytes = segment_bytes(job_.launch, job_.shape);
  for (std::size_t k = 0; k < job_.reducers.size(); ++k) {
    join_splits(k, scratch, bytes, first, n);
    for (int p = 0; p < job_.reducers[k]->partials; ++p)
      scratch += plane_bytes(*job_.reducers[k], p, job_.shape.results);
  }
  store(first, n);
}

// Finished lanes to memory, through the epilogue unless that only stores the reductions.
void reduce_task::store(std::int64_t first, int n) {
  std::copy_n(done_, job_.reducers.size(), stored_);
  for (int at = 0; at < n; at += jit::block_lanes) {
    store_block(first + at, std::min(jit::block_lanes, n - at));
    for (std::size_t k = 0; k < job_.reducers.size(); ++k)
      stored_[k] = static_cast<const char*>(stored_[k]) + jit::block_lanes * job_.result_bytes(k);
  }
}

void reduce_task::store_block(std::int64_t first, int n) {
  const jit::program& p = *job_.launch.code;
  if (!job_.plain_results) {
    result_walker_.move_to(0);
    result_walker_.bind(first, n);
    for (std::size_t k = 0; k < job_.reducers.size(); ++k) {
      const auto bytes = static_cast<std::size_t>(job_.result_bytes(k));
      char* lanes = static_cast<char*>(const_cast<void*>(stored_[k]));
      for (int l = n; l < pad_lanes(n); ++l)
        std::memcpy(lanes + static_cast<std::size_t>(l) * bytes, lanes + static_cast<std::size_t>(n - 1) * bytes,
                    bytes);
      result_walker_.inputs()[p.inputs.size() + k] = lanes;
    }
    job_.code.epilogue->run(result_walker_.args(), stored_, code_scratch_);
  }
  for (std::size_t k = 0; k < job_.outputs.size(); ++k) {
    const output_plan& o = job_.outputs[k];
    const void* lanes = job_.plain_results ? stored_[p.code[p.outputs[k].reg].a] : result_buffers_[k];
    store_lanes(o.base, o.type, o.map, first, n, lanes);
  }
}

std::size_t reduce_scratch(const jit::launch& l) {
  const reduce_shape shape = shape_of(l);
  const reduce_split split = split_of(l, shape);
  return split.segments > 1 ? static_cast<std::size_t>(split.segments) * segment_bytes(l, shape) : 0;
}

void run_reduce(const runtime::prepared& code, const jit::launch& l, const reduce_options& o, void* scratch,
                int* fault) {
  for (int a = 0; a < l.kept; ++a)
    if (l.extents[a] == 0) return;
  const reduce_job job(code, l, o);
  auto* partials = static_cast<char*>(scratch);
  const std::int64_t groups = job.split.groups, units = groups * job.split.segments, each = job.split.task_units;
  const double time = lane_time(*l.code, loop_count(l)) * static_cast<double>(core::element_count(l.extents));
  runtime::parallel_for((units + each - 1) / each, time, [&](std::int64_t t) {
    arena memory;
    fault_record mine;
    reduce_task task(job, memory, mine.words);
    for (std::int64_t u = t * each; u < std::min(units, (t + 1) * each); ++u)
      task.run(u % groups, u / groups, partials);
    merge_fault(fault, mine);
  });
  if (job.split.segments == 1) return;
  const std::int64_t gathers = (job.shape.results + jit::block_lanes - 1) / jit::block_lanes;
  const double gathering =
      static_cast<double>(job.shape.results) * static_cast<double>(job.split.segments);  // 1 ns each
  runtime::parallel_for(gathers, gathering, [&](std::int64_t group) {
    arena memory;
    fault_record mine;
    reduce_task(job, memory, mine.words).gather(group, partials);
    merge_fault(fault, mine);
  });
}

namespace {

/// A reduction of one task, without splits.
class repeated_reduce final : public repeated_launch {
 public:
  repeated_reduce(const runtime::prepared& code, const jit::launch& l, void* scratch, bool keeps_memory)
      : job_(code, l, {}),
        scratch_(static_cast<char*>(scratch)),
        keeps_(keeps_memory && core::element_count(l.extents) <= few_reduced) {}
  void settle(std::span<const unchanged_memory> unchanged) override {
    if (keeps_) turned_ = turned_rows::make(job_, unchanged);
  }
  bool is_one_task() const noexcept { return job_.split.segments == 1 && job_.split.groups <= job_.split.task_units; }
  void run(int* fault) override {
    if (!keeps_) {
      memory now{arena()};
      now.begin(job_);
      return run(now, fault);
    }
    if (!kept_) kept_.reset(new memory{arena(kept_slab)});
    if (kept_->task) kept_->task->forget();
    else kept_->begin(job_);
    run(*kept_, fault);
  }

 private:
  struct memory {
    arena space;
    fault_record fault{};
    std::optional<reduce_task> task{};
    void begin(const reduce_job& job) { task.emplace(job, space, fault.words); }
  };
  void run(memory& mine, int* fault) {
    if (turned_) mine.task->take(turned_->sums());
    for (std::int64_t group = 0; group < job_.split.groups && !turned_; ++group) mine.task->run(group, 0, scratch_);
    merge_fault(fault, mine.fault);
    mine.fault.words[0] = 0;
  }

  const reduce_job job_;
  char* const scratch_;
  const bool keeps_;
  std::unique_ptr<memory> kept_;
  std::unique_ptr<turned_rows> turned_;
};

}  // namespace

std::unique_ptr<repeated_launch> repeated_reduction(const runtime::prepared& code, const jit::launch& l, void* scratch,
                                                    bool keeps_memory) {
  for (int a = 0; a < l.kept; ++a)
    if (l.extents[a] == 0) return nullptr;
  auto made = std::make_unique<repeated_reduce>(code, l, scratch, keeps_memory);
  return made->is_one_task() ? std::move(made) : nullptr;
}

}  // namespace sinter::cpu
