// Gathered rows within a computation: elements that lie side by side in the source and in a block have one index. The walk
// over blocks finds the rows and copies them, and the program reads them like any other operand.
#pragma once
#include <optional>
#include <vector>

#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// Where the rows of one input begin.
struct row_read {
  std::size_t input = 0;
  const std::int64_t* indices = nullptr;  // the first one
  std::int64_t row_stride = 0;            // elements of the source between neighbouring indices
  core::dims outer;                       // strides of the indices along the outer axes of the walk
  std::int64_t width = 1;                 // lanes of a block that have one index
  std::int64_t index_step = 0, step = 0;  // from one such row of a block to the next: of the indices, of the source
  bool checked = false;                   // an index may be negative, and is a fault out of range
  std::int64_t extent = 0, axis = 0;      // for the check
};

/// A launch without the gathers of these reads.
struct row_reads {
  jit::launch plain;
  std::vector<row_read> reads;
};

/// Nothing where the launch gathers no rows, or blocks do not run along them. The operands of `plain` start at the row with
/// index 0; its walk is that of element_axes().
std::optional<row_reads> row_reads_of(const jit::launch& l);

}  // namespace sinter::cpu
