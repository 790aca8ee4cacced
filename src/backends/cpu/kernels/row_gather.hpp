// Gathers that copy whole rows: elements that lie side by side in the source and in the result have one index, so that a
// row is one copy of memory and needs no code for its elements.
#pragma once
#include <optional>

#include "backends/cpu/kernels/lanes.hpp"
#include "jit/program/launch.hpp"

namespace sinter::cpu {

/// What a launch that copies rows reads and writes. The rows are the points of the outer axes.
struct row_gather {
  const char *source, *indices;
  char* result;
  std::int64_t row_bytes, size, gather_stride, rows;  // bytes of a row and of an element; elements
  lane_map source_map, index_map, result_map;         // over the rows, in elements
  bool checked = false;                               // an index may be negative, and is a fault out of range
  std::int64_t extent = 0, axis = 0;                  // for the check
};

/// Nothing where the launch does anything else, or its rows are too short to pay.
std::optional<row_gather> row_gather_of(const jit::launch& l);
void run_row_gather(const row_gather& g, int* fault);

}  // namespace sinter::cpu
