// How a kernel is launched: the grid of blocks, the threads of a block, dynamic shared memory, clusters.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sinter/keywords.hpp"
#include "sinter/shape.hpp"

namespace sinter::inline v0 {

/// Extents of a grid, a block or a cluster: `256`, `{32, 8}`, `{nx, ny, nz}`, from any integer types.
struct dims {
  std::int64_t x = 1, y = 1, z = 1;

  constexpr dims() = default;
  template <int_like X>
  constexpr dims(X nx) noexcept : x(extent(nx).value) {}
  template <int_like X, int_like Y>
  constexpr dims(X nx, Y ny) noexcept : x(extent(nx).value), y(extent(ny).value) {}
  template <int_like X, int_like Y, int_like Z>
  constexpr dims(X nx, Y ny, Z nz) noexcept : x(extent(nx).value), y(extent(ny).value), z(extent(nz).value) {}
  friend constexpr bool operator==(const dims&, const dims&) = default;
};

/// One launch: `{.grid = {blocks}, .block = {256}}`. Extents are checked against the device's limits when it is used: a
/// negative extent or a block of no threads is a value_error. A grid with an extent of 0 is allowed: the arguments are
/// checked, and nothing runs.
struct launch {
  kwonly _kw{};
  dims grid{};   ///< blocks
  dims block{};  ///< threads of a block
  /// Bytes of dynamic shared memory (`extern __shared__`) of each block. Where the device has more than the 48 KB that
  /// every kernel may use, the kernel's limit is raised as needed.
  std::size_t shared_mem = 0;
  /// All blocks are resident at once, so that cooperative_groups::this_grid().sync() may be used. value_error if the
  /// grid is larger than what fits.
  bool cooperative = false;
  /// Blocks of a thread block cluster (compute capability 9.0 or newer); the grid must be a multiple of it. All zero:
  /// no cluster, or the one that the kernel itself declares with __cluster_dims__.
  dims cluster{0, 0, 0};
};

}  // namespace sinter::inline v0
