// src/backends/cpu/reduce: reductions over blocks, in an order that the extents alone decide.
//
// What all tasks of one reduction launch share, and the state of one task.
#pragma once
#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/reduce/user_reducer.hpp"
#include "jit/program/addition_order.hpp"

namespace sinter::cpu {

/// Elements of a row that are computed before they are reduced, more than a block: the accumulators stay in registers
/// meanwhile.
inline constexpr int row_part = 2048;

/// Most results of a column reduction that are reduced together.
inline constexpr int column_lanes = 1024;

/// The partition of the reduced space. Where any order gives the same, segments are runs of 2^n chunks.
struct reduce_split {
  std::int64_t chunk = 1;           // reduced elements
  std::int64_t chunks = 1;          // in all
  std::int64_t segment_chunks = 1;  // chunks of a segment
  std::int64_t segments = 1;
  std::int64_t group = 1;  // results that are reduced and stored together
  std::int64_t groups = 1;
  std::int64_t task_units = 1;  // groups of one segment that make a task
  /// Whether the order of some reduction matters. Its splits are the chunks, and each of them is a segment.
  bool ordered = false;
  jit::addition_order order;
};

class reduce_job {
 public:
  reduce_job(const runtime::prepared& code, const jit::launch& l, const reduce_options& o);

  const jit::launch& launch;
  const runtime::prepared& code;
  const tail_bounds* tail;
  reduce_shape shape;
  reduce_split split;
  std::vector<const reducer*> reducers;
  /// The input that a reduction reads as it is, or the two whose products it adds; -1: none.
  struct read_inputs {
    int first = -1, factor = -1;
  };
  std::vector<read_inputs> loaded;  // per reduction
  bool only_loads = false;          // no code runs: every reduction reads inputs as they are
  bool whole_rows = false;          // by reducer::whole_rows, where a row's lanes lie in one piece
  bool in_memory = false;           // with only_loads: every reduction reads lanes where they lie, however many
  bool across_in_memory = false;    // the same where lanes are results of rows
  bool by_groups = false;           // columns: code.groups computes whole groups
  int together = 0;                 // with whole_rows: rows that are read or computed together
  std::int64_t pitch = 0;           // lanes between their beginnings
  /// With whole_rows and only_loads, per reduction: the rows of its inputs, where they are read in memory.
  std::vector<row_pair> rows_in_memory;
  param_block params;
  block_plan elements;
  walk_axes result_axes;
  block_plan results;
  std::vector<output_plan> outputs;
  bool plain_results = false;  // every output is a finished reduction as it is

  /// Lanes of rows that are computed before they are reduced.
  std::int64_t buffer_lanes() const {
    if (shape.across) return jit::addition_group * jit::block_lanes;
    if (tail || (only_loads && shape.rows)) return jit::block_lanes;
    if (!shape.rows) return shape.shared ? row_part + jit::block_lanes : results_at_once();
    return jit::block_lanes + (whole_rows ? together * pitch : row_part);
  }
  read_inputs inputs_of(const jit::reduce_desc& r, bool products) const;
  void take_weighted_columns();
  void take_rows_whole();
  void take_patterns();
  /// Lanes of a row that are computed at once.
  int part() const { return row_part / elements.multiple * elements.multiple; }
  /// Results that are reduced or stored together.
  /// Lanes of a row, and those among which a reduction deals the elements of a column.
  int lanes() const { return static_cast<int>(split.order.lanes); }
  lane_tree tree() const { return {lanes(), shape.lengthwise}; }
  int column_lanes_of(const reducer& r) const { return r.by_groups && !shape.across ? lanes() : 1; }
  /// How many neighbouring elements of each column go to lanes side by side, so that few columns fill vectors: a power of two.
  int wide_of(const reducer& r) const {
    if (shape.rows || !shape.shared || !r.close_wide) return 1;
    int wide = 1;
    while (2 * wide * shape.width <= jit::block_lanes) wide *= 2;
    return wide;
  }
  int results_at_once() const { return static_cast<int>(std::max<std::int64_t>(split.group, jit::block_lanes)); }
  dtype register_type(std::size_t k) const { return launch.code->reductions[k].type; }
  /// Bytes of a lane of what reduction k reads, and of its result.
  int argument_bytes(std::size_t k) const { return jit::register_bytes(*launch.code, launch.code->reductions[k].reg); }
  int result_bytes(std::size_t k) const {
    const bool by_user = launch.code->reductions[k].op == jit::reduce_op::user;
    return by_user ? reducers[k]->bytes[0] : jit::lane_bytes(register_type(k));
  }
};

/// The axes of rows whose blocks are neighbouring results rather than elements of one: the operands are transposed, so that
/// results are neighbours in memory, or they are pairs, of which some operand is one number for a whole block and the
/// others are contiguous along the last kept axis or read through panels. No block axis where neither is so.
walk_axes axes_across(const jit::launch& l);
/// Reduced elements up to which panels hold all of them.
inline constexpr std::int64_t most_panel_elements = 128;
reduce_split split_of(const jit::launch& l, const reduce_shape& shape);
/// The patterns in which the operands of rows lie that are computed before they are reduced (kernels/patterns.hpp): lanes of which code
/// takes whole periods, so that they begin with one.
std::string row_patterns(const jit::launch& l, const reduce_shape& shape);
/// Whether what is reduced reads the input; an epilogue may read others.
bool is_loaded(const jit::program& p, std::size_t input) noexcept;
/// Bytes of the partial results of one segment.
std::size_t segment_bytes(const jit::launch& l, const reduce_shape& shape);
/// Bytes of one plane of partial results of one segment.
inline std::size_t plane_bytes(const reducer& r, int plane, std::int64_t results) noexcept {
  return (static_cast<std::size_t>(results * r.bytes[plane]) + 63) & ~std::size_t{63};
}

/// Partial results of chunks, joined pairwise as a binary counter: whatever the segments, the tree is the same.
class partial_stack {
 public:
  partial_stack(const reducer& r, arena& memory, int lanes, std::int64_t pushes);
  void clear() noexcept { top_ = 0, count_ = 0; }
  void push(void* const* acc, int n);
  /// The parts of push() for another tree: adds a partial result, joins the last two, takes the last one as pushed.
  void put(void* const* acc, int n);
  void join(int n);
  void settle(int n);
  /// Joins what is left, the latest first; the result is in planes().
  void fold(int n);
  void* const* planes() const noexcept { return slot(0); }

 private:
  void* const* slot(int k) const noexcept { return pointers_ + k * max_planes; }
  const reducer& reducer_;
  void** pointers_;
  int top_ = 0;
  std::int64_t count_ = 0;
};

/// One thread's work on groups of results: running it on one stores its results or leaves partial ones.
class reduce_task {
 public:
  reduce_task(const reduce_job& job, arena& memory, int* fault);
  void run(std::int64_t group, std::int64_t segment, char* scratch);
  /// Stores all results, which make one group, from accumulators whose lanes have been joined.
  void take(void* const* sums);
  /// Elements are read from memory again.
  void forget() noexcept { walker_.forget(), result_walker_.forget(); }
  /// Joins the partial results of all segments and stores the group's results.
  void gather(std::int64_t group, const char* scratch);

 private:
  struct accumulator {
    const reducer* r;
    void* planes[max_planes];
    void* moved[max_planes];  // scratch for shifted()
    int pitch = 0;            // columns: from lane to lane
    int wide = 1;             // columns: elements that go to lanes side by side
  };
  /// Lanes [start, start + n) of an outer position, and elements [begin, end) of their rows.
  struct across_part {
    std::int64_t outer, start;
    int n;
    std::int64_t begin = 0, end = 0;
  };
  void across(std::int64_t group, std::int64_t segment, char* scratch);
  void across_groups(int lane, int lanes, const across_part& part);
  void across_halves(int lane, int step, const across_part& part);
  void across_lane(int lane, int group, int lanes, const across_part& part);
  void across_elements(std::int64_t first, int count, int nth, const across_part& part);
  void across_memory(std::int64_t first, int count, int nth, const across_part& part);
  void across_step(std::size_t k, const void* from, std::int64_t stride, std::int64_t first, int count, int nth,
                   const across_part& part);
  void rows(std::int64_t group, std::int64_t segment, char* scratch);
  void transposed_rows(std::int64_t first, int rows);
  void whole_rows(std::int64_t first, int rows);
  void compute(std::int64_t start, int n, std::int64_t to);
  void find_run_steps();
  std::int64_t runs_from(std::int64_t most) const;
  void compute_runs(std::int64_t count, std::int64_t to, std::int64_t step);
  void rows_in_memory(std::int64_t first, int rows, std::int64_t segment, char* scratch);
  void row_chunk(std::int64_t row, std::int64_t begin, std::int64_t end);
  bool takes_runs() const noexcept;
  void add_runs(std::int64_t count, std::int64_t run, int first);
  void skipping_row_block(int n, int first);
  void columns(std::int64_t group, std::int64_t segment, char* scratch);
  const void* in_place(std::size_t k, std::int64_t start) const;
  std::int64_t step_of(int input) const;
  void add_columns(std::size_t k, const void* from, std::int64_t stride, int steps, int at, int n, int index);
  void join_column_lanes(int n, std::int64_t begin, std::int64_t end);
  void columns_in_memory(std::int64_t outer, std::int64_t start, int n, std::int64_t begin, std::int64_t end);
  void column_chunk(std::int64_t outer, std::int64_t start, int n, std::int64_t begin, std::int64_t end);
  std::int64_t column_groups(std::int64_t outer, std::int64_t start, int n, std::int64_t begin, std::int64_t end);
  void column_block(std::int64_t start, int at, int n, int index);

  void shared_column_chunk(std::int64_t outer, std::int64_t begin, std::int64_t end);
  int shared_steps() const;
  void skipping_column_block(int n, int index);
  void evaluate_tail(const void* inner, int n);
  static void* const* shifted(accumulator& a, int lanes) noexcept;
  const void* lanes_of(std::size_t k) const;
  const void* factors_of(std::size_t k) const;
  void add_row(std::size_t k, const void* x, const void* factors, int n, int first, bool all);
  int row_lanes_of(const accumulator& a) const noexcept;
  bool takes_at_once(const accumulator& a) const noexcept;
  void transposed_groups(accumulator& a, const void* x, int rows);
  void join_rows(std::size_t k, const row_pair& from, int rows, int columns);
  void join_row_lanes(std::int64_t begin, std::int64_t end, bool at_once);
  void finish(std::size_t k, void* const* planes, std::int64_t at, int n);
  void close(int lanes, bool rows, std::int64_t begin, std::int64_t end);
  void put_partial(char* scratch, std::int64_t segment, std::int64_t result, int n);
  void join_splits(std::size_t k, const char* partials, std::size_t bytes, std::int64_t first, int n);
  void nothing(int n);
  void leave(std::int64_t first, std::int64_t segment, std::int64_t at, int n, char* scratch);
  void store(std::int64_t first, int n);
  void store_block(std::int64_t first, int n);

  const reduce_job& job_;
  arena& memory_;
  block_walker walker_;
  std::vector<block_walker> later_steps_;  // by groups: walker_ is at the first step of one, these at the others
  const void** group_inputs_ = nullptr;
  block_walker result_walker_;
  std::vector<accumulator> accumulators_;
  std::vector<partial_stack> stacks_;
  std::vector<void*> buffers_, result_buffers_;
  void* code_scratch_;
  jit::block_args tail_args_{};
  const void* tail_input_ = nullptr;
  void* inner_ = nullptr;
  void* tail_output_ = nullptr;
  void* bounds_ = nullptr;
  const tail_steps* steps_ = nullptr;
  void* transposed_ = nullptr;
  std::int64_t* run_steps_ = nullptr;  // per input, then per reduction; null: runs are computed one by one
  const void** done_;                  // per reduction: finished lanes of the group
  const void** stored_;                // those of the block of it that is stored
};

}  // namespace sinter::cpu
