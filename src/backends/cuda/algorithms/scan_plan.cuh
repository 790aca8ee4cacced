// The distribution of a scan to threads. It depends on the extents and the size of the accumulator alone, and so does
// the order in which values are joined.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace sinter::cuda::device {

enum class scan_way : unsigned char {
  rows,     // inner is 1: a warp, or part of one, scans a row
  tiles,    // inner is 1: one block per multiprocessor goes from tile to tile, computing ahead of its stores
  columns,  // a thread scans a column, or a segment of it
  strips,   // inner is small: a block holds whole lines of it in shared memory
};

inline constexpr int scan_threads = 256;

/// Tiles, sized so that four of them fill a multiprocessor's shared memory.
struct tile_shape {
  int warps, chunks;  // warps that scan, and 16-byte pieces per lane
  constexpr __host__ __device__ int pieces() const { return warps * 32 * chunks; }
  constexpr __host__ __device__ std::int64_t length(std::size_t bytes) const {  // elements
    return pieces() * static_cast<std::int64_t>(16 / bytes);
  }
};
inline constexpr int tile_stages = 4, tile_group = 32;
inline constexpr tile_shape least_tile{8, 3};
/// By the architecture of the compiled code (90 for sm_90): 227 KiB, at least 99 KiB, 64 KiB of shared memory.
constexpr __host__ __device__ tile_shape tile_shape_of(int architecture) {
  if (architecture == 90 || (architecture >= 100 && architecture < 120)) return {16, 7};
  return architecture >= 80 ? tile_shape{8, 6} : least_tile;
}

/// Lines of a strip per thread.
constexpr __host__ __device__ int strip_run(std::size_t bytes) { return bytes <= 8 ? 16 : 8; }

struct scan_plan {
  scan_way way{};
  std::int64_t outer = 1, count = 0, inner = 1;
  int lanes = 32;                         // rows: of a row's thread group
  std::int64_t segments = 1, length = 0;  // columns and strips: pieces of the scanned axis, and their lengths
  std::size_t accumulator = 4;            // bytes
};

scan_plan plan_scan(std::int64_t outer, std::int64_t count, std::int64_t inner, std::size_t accumulator);
/// Bytes of scratch memory.
std::size_t scan_plan_scratch(const scan_plan& p);
/// The scan of the segments' totals.
scan_plan plan_totals(const scan_plan& p);

}  // namespace sinter::cuda::device
