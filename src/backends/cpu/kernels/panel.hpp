// Transposed operands: inputs whose elements lie closer together along the last outer axis than along a block. A panel
// holds some positions of that axis for the lanes of one block, transposed at once, so that whole cache lines are used.
#pragma once
#include <cstddef>
#include <cstdint>

#include "jit/cpu/block.hpp"

namespace sinter::cpu {

/// Positions that a panel of elements of `size` bytes holds at most: 256 bytes of each lane's memory.
constexpr int panel_rows(std::size_t size) noexcept {
  return size >= 16 ? 16 : size >= 4 ? static_cast<int>(256 / size) : 64;
}
/// Elements between the rows of a panel: not a multiple of the caches' sets.
constexpr int panel_pitch(std::size_t size) noexcept { return jit::block_lanes + static_cast<int>(64 / size); }

/// Whether an input with neighbours `stride` elements apart along a block, and `step` along the last outer axis of
/// `extent` elements, is read through panels.
constexpr bool suits_panel(std::int64_t stride, std::int64_t step, std::int64_t extent, std::size_t size) noexcept {
  const auto far = static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
  const auto near = static_cast<std::uint64_t>(step < 0 ? -step : step);
  return extent >= 4 && near != 0 && 2 * near <= far && far * size >= 32 && near * size <= 32;
}

/// to[r * pitch + l] = from[r * step + l * stride] for r < rows, l < lanes, in elements of `size` bytes. Lanes up to
/// `padded` repeat the last one.
void fill_panel(void* to, const void* from, int rows, int lanes, int padded, std::int64_t step, std::int64_t stride,
                std::size_t size) noexcept;

}  // namespace sinter::cpu
