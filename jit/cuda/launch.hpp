// From a launch and a kernel variant to a grid and a parameter block. No CUDA calls: testable without a GPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "jit/cuda/parameters.hpp"
#include "jit/program/launch.hpp"

namespace sinter::cuda {

/// Extents of grid and block.
struct grid {
  unsigned x = 1, y = 1, z = 1;
  unsigned block_x = 1, block_y = 1;
};

/// How a reduction is distributed among threads. Depends on the numbers of results and elements only, and so does the
/// order in which floating-point values are combined.
struct reduce_geometry {
  std::int64_t results = 1, elements = 1;
  std::int64_t chunk = 1;   // groups of four elements in a split
  std::int64_t splits = 1;  // more than 1: merged by the second stage
  grid first, second;
};
reduce_geometry row_geometry(std::int64_t results, std::int64_t elements);
/// Of a launch, which may be a part of a larger one.
reduce_geometry row_geometry(const jit::launch& l);
reduce_geometry column_geometry(const jit::launch& l, int vector);
/// Groups of four elements that each thread of a row takes, rounded up by a quarter at most: of these numbers there are few, and
/// each has a kernel of its own.
std::int64_t groups_of_thread(const reduce_geometry& g);
/// Groups that each of a result's lanes takes at most.
std::int64_t rounds_of(std::int64_t elements, std::int64_t lanes) noexcept;
/// Of the rows and columns of a schedule.
reduce_geometry geometry_of(const jit::launch& l, const jit::cuda_variant& v);
/// Size of the thread group for a row of broadcast_rows.
int team_size(std::int64_t rows, std::int64_t columns, int multiprocessors);

/// Iterations of a launch.
std::int64_t kept_count(const jit::launch& l) noexcept;
std::int64_t reduced_count(const jit::launch& l) noexcept;

/// Capacity in bytes for the parameters of a launch.
inline constexpr std::size_t parameter_capacity = 32760;

/// Grid and parameters of the main kernel (and of the second stage if `splits` > 1).
struct call {
  grid first, second;
  bool second_stage = false;
};
call grids_of(const jit::launch& l, const jit::cuda_variant& v, int multiprocessors);
/// A parameter that is an address: of an input or output, of faults (`fault`) or of scratch memory (`partial`).
struct pointer_word {
  std::uint32_t word = 0;
  jit::cuda_field::role what = jit::cuda_field::role::input;
  std::uint32_t operand = 0;
};
/// The same, and writes the fields of the kernel's layout to `to`. `unroll`: jit::cuda_unroll() of the kernel; 0: it is
/// computed. `pointers`, if not null: the addresses among them.
call build_call(const jit::launch& l, const jit::cuda_variant& v, std::span<const jit::cuda_field> layout,
                int multiprocessors, int* fault, void* scratch, std::uint64_t* to, int unroll = 0,
                std::vector<pointer_word>* pointers = nullptr);
/// Bytes of partial results between the stages.
std::size_t scratch_bytes(const jit::launch& l, const jit::cuda_variant& v) noexcept;

}  // namespace sinter::cuda
