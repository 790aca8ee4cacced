// src/backends/cpu/kernels: launches on the host: from operands to blocks of lanes, through the compiled or the
// interpreted program, and back.
//
// What the backend needs to run a launch, and the two drivers that run it.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/kernels/block_plan.hpp"
#include "backends/cpu/kernels/tail.hpp"
#include "runtime/backend.hpp"

namespace sinter::cpu {
struct stage_steps;  // backends/cpu/reduce/stages.hpp
}

namespace sinter::runtime {

/// Code for one launch geometry of a program. Never destroyed.
class prepared {
 public:
  cpu::block_code* main = nullptr;                // the elements
  cpu::block_code* inner = nullptr;               // the elements up to a monotone tail
  cpu::block_code* tail = nullptr;                // the tail
  cpu::block_code* epilogue = nullptr;            // the results of a reduction
  cpu::block_code* groups = nullptr;              // of columns: four elements of each, joined (reduce/groups.hpp)
  std::shared_ptr<const cpu::stage_steps> steps;  // of a staged program, which has nothing else
};

}  // namespace sinter::runtime

namespace sinter::cpu {

/// Lanes of a block some of whose operands repeat: what has been copied of them stays in the first-level cache.
inline constexpr std::int64_t repeating_block = 1024;

/// How a launch is walked; everything here follows from extents and strides.
/// `row_reads`: some inputs are rows found by indices, which are read in place where blocks run along them.
walk_axes element_axes(const jit::launch& l, bool row_reads = false);
walk_axes epilogue_axes(const jit::launch& l);

/// Row reductions (the last axis is reduced) and column reductions differ in the shape of blocks.
struct reduce_shape {
  std::int64_t results = 1, reduced = 1;  // extents
  bool rows = false;                      // row class
  bool shared = false;                    // a block holds several rows, or several steps of neighbouring columns
  std::int64_t width = 1;                 // the columns that share a block
  bool across = false;                    // rows: the lanes of a block are results, for one reduced element
  /// Columns whose elements lie in memory one after the other: they are read as rows are, and joined as columns.
  bool lengthwise = false;
  walk_axes axes;
};
/// Rows that share blocks could not follow wraps.
reduce_shape shape_of(const jit::launch& l);

/// An elementwise launch, or a part of one, and its code.
struct element_work {
  const runtime::prepared* code;
  const jit::launch* launch;
  const std::vector<row_read>* rows = nullptr;  // inputs whose rows are found by indices
};
/// Runs them one after the other, the last one first. Where memory runs out, nothing has been written.
void run_elements(std::span<const element_work> works, int* fault);
std::size_t reduce_scratch(const jit::launch& l);
/// How a reduction is run other than by default.
struct reduce_options {
  const tail_bounds* tail = nullptr;
};
/// `scratch`: reduce_scratch bytes.
void run_reduce(const runtime::prepared& code, const jit::launch& l, const reduce_options& o, void* scratch,
                int* fault);

/// Lanes that justify a task.
std::int64_t task_lanes(const jit::program& p) noexcept;
/// About how many nanoseconds a lane takes, with so many runs of the program's loop; any_time where that is unknown.
double lane_time(const jit::program& p, std::int64_t runs = 1) noexcept;
/// The value of an int64 parameter of a launch.
std::int64_t number_of(const jit::launch& l, std::uint16_t param);
struct fault_record {
  int words[jit::fault_words] = {};
};
/// Each task reports its faults; this keeps one of them.
void merge_fault(int* shared, const fault_record& mine) noexcept;

}  // namespace sinter::cpu
