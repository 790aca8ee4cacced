// The CUDA backend's kernels for sparse matrices as functions of the host.
#pragma once
#include <cstdint>

#include "backends/cuda/sparse/sparse_job.hpp"

namespace emulated {

namespace csr = sinter::cuda::device;

inline constexpr unsigned csr_matrix_threads = 256;

/// The kernels that give rows to a number of lanes, and those that divide the longest.
template <class T, class I>
struct csr_kernels {
  unsigned lanes, row_threads;
  void (*times_vector)(csr::csr_job<T, I>);
  void (*times_near_vector)(csr::csr_job<T, I>);  // of 32 lanes
  /// Null where T is not real; of entries at multiples of 16 bytes, and of others.
  void (*times_normal_vector)(csr::csr_job<T, I>, csr::csr_lengths);
  void (*times_normal_vector_apart)(csr::csr_job<T, I>, csr::csr_lengths);
  void (*giant_rows)(csr::csr_job<T, I>, csr::csr_tiles<T>);
  void (*join_giants)(csr::csr_job<T, I>, csr::csr_tiles<T>);
  void (*times_matrix)(csr::csr_job<T, I>, int);
};
struct csr_sizes {
  unsigned resident_threads, normal_threads, giant_threads, join_threads;
  int patience, giant, giant_tile;
};
extern const csr_sizes sizes_of_csr;
template <class I>
struct transpose_kernels {
  void (*column_starts)(const std::uint32_t*, std::int64_t, std::int64_t, I*);
  void (*place)(csr::csr_entries<double, I>, const std::uint32_t*, I*, double*);
};
template <class I>
using row_sort_kernel = void (*)(csr::csr_entries<double, I>, const I*, I*, double*);
inline constexpr unsigned csr_sort_threads = 128;
extern const row_sort_kernel<int> row_sort_narrow;
extern const row_sort_kernel<std::int64_t> row_sort_wide;
extern const transpose_kernels<int> transposes_narrow;
extern const transpose_kernels<std::int64_t> transposes_wide;
extern const csr_kernels<double, int> csr_doubles_by_one, csr_doubles_by_four;
extern const csr_kernels<float, int> csr_singles_by_eight, csr_singles_by_warps;
extern const csr_kernels<unsigned long long, std::int64_t> csr_integers;
extern const csr_kernels<csr::complex_pair<float>, int> csr_complex;

}  // namespace emulated
