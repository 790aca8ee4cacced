// One launch of operations on elements: what follows from its operands and extents, and how its blocks run.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/kernels/records.hpp"
#include "backends/cpu/kernels/repeated.hpp"

namespace sinter::cpu {

/// How blocks are shared out.
struct partition {
  std::int64_t lanes = jit::block_lanes;  // most of a block
  std::int64_t run = 0;                   // blocks of an outer position
  std::int64_t blocks = 0;
  std::int64_t per_task = 1;  // blocks
};
partition share_out(const jit::launch& l, const block_plan& plan, std::int64_t lanes);

/// Whether an operand's neighbours along the last outer axis lie closer than those along a block: a transposed one. Blocks
/// below each other then share cache lines, and are run one after the other.
bool runs_across(const block_plan& plan, const std::vector<output_plan>& outputs);
/// Lets lanes of 16-bit floats lie as in memory where the code that runs takes them so.
void keep_halves(const block_code& code, block_plan& plan, std::vector<output_plan>& outputs);
/// Generated code takes more lanes than the interpreter: each block costs some 20 ns.
std::int64_t lanes_of_blocks(const block_code& code, const block_plan& plan, const std::vector<output_plan>& outputs,
                             bool across);

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
  bool lie_in_rows() const;
  std::int64_t rows_from(std::int64_t outer, std::int64_t end) const;
  void run_rows(std::int64_t outer, std::int64_t rows, element_memory& mine) const;
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
  bool in_rows_ = false;                 // several rows are computed at once
  std::vector<std::int64_t> row_steps_;  // per input, then per output: bytes
  bool runs_on_ = false;                 // rows may be computed beyond their ends
  bool overlaps_ = false;                // lanes may be computed twice, so that those which are left fill a vector
  std::int64_t tasks_;
  std::vector<char> refused_;  // tasks that had no memory
  std::optional<element_memory> own_;
};

}  // namespace sinter::cpu
