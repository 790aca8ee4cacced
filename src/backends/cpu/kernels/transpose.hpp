// Transposing a block of elements in memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sinter::cpu {

/// to[r * pitch + l] = from[r + l * stride] for r < rows, l < lanes, in elements of `size` bytes (1, 2, 4, 8 or 16). The two
/// do not overlap.
void transpose(void* to, std::int64_t pitch, const void* from, std::int64_t stride, int rows, int lanes,
               std::size_t size) noexcept;

}  // namespace sinter::cpu
