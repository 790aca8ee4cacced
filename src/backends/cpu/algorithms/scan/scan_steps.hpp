// The steps of scans over lanes, for each operation and type.
#pragma once
#include <cstdint>

#include "runtime/algorithms/algorithms.hpp"

namespace sinter::cpu {

inline constexpr int scan_row_lanes = 8, scan_column_lanes = 64;

/// Lanes are scanned in parallel. A step does `length` elements of each: `from` and `to` are where the first lane
/// begins, the same memory or disjoint. With null `to` it only finds the totals; with `carry`, what comes before in
/// each lane, it joins this to all results but not to the totals. Totals and carries are elements, of float16 and
/// bfloat16 floats.
struct scan_steps {
  int element_bytes = 0, total_bytes = 0;
  /// scan_row_lanes rows, or one; `pitch` elements apart.
  void (*rows)(const void* from, void* to, std::int64_t pitch, std::int64_t length, const void* carry, void* totals);
  void (*row)(const void* from, void* to, std::int64_t pitch, std::int64_t length, const void* carry, void* totals);
  /// `width` adjacent columns, at most scan_column_lanes, of rows `pitch` elements apart.
  void (*columns)(const void* from, void* to, std::int64_t pitch, int width, std::int64_t length, const void* carry,
                  void* totals);
  /// totals[c] = before[c] joined with totals[c], c < n.
  void (*join)(const void* before, void* totals, std::int64_t n);
};

/// Throws dtype_error where the operation does not take the type.
scan_steps find_scan_steps(runtime::scan_op op, dtype type);

}  // namespace sinter::cpu
