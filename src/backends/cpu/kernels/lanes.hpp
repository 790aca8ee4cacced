// Moving elements between user memory and the lane arrays of a block.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/dims.hpp"
#include "sinter/dtype.hpp"

namespace sinter::cpu {

/// Where the elements of a range of a C-ordered index space lie in memory: extents and strides (in elements) with
/// neighbouring axes merged wherever this operand allows it.
struct lane_map {
  core::dims extents, strides;
  bool contiguous = false;  // one run of stride 1
  bool constant = false;    // every stride is 0

  void assign(const core::dims& space, const core::dims& steps);
};

/// Copies elements [start, start + n) of the space to `to`, in register format (float16 and bfloat16 widened). Then
/// repeats the last lane up to `padded`.
void load_lanes(void* to, const char* base, dtype type, const lane_map& map, std::int64_t start, int n, int padded);
/// Copies n lanes to elements [start, start + n) of the space, narrowing float16 and bfloat16.
void store_lanes(char* base, dtype type, const lane_map& map, std::int64_t start, int n, const void* from);
/// to[l] = base + sum of strides * coordinates of element start + l; padded as above.
void fill_offsets(std::int64_t* to, std::int64_t base, const lane_map& map, std::int64_t start, int n, int padded);

/// Copies a row, short or long, to memory that it does not overlap: bytes at its end may be copied twice.
inline void copy_row(char* to, const char* from, std::size_t bytes) noexcept {
  if (bytes > 256) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= 16) {
    for (std::size_t k = 0; k + 16 <= bytes; k += 16) std::memcpy(to + k, from + k, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + bytes - 8, from + bytes - 8, 8);
  } else if (bytes >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + bytes - 4, from + bytes - 4, 4);
  } else {
    for (std::size_t k = 0; k < bytes; ++k) to[k] = from[k];
  }
}

constexpr bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }
constexpr int pad_lanes(int n) noexcept { return (n + 15) & ~15; }

}  // namespace sinter::cpu
