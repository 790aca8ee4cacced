// The CUDA backend's kernels for sparse matrices as functions of the host.
#pragma once
#include <cstdint>

#include "backends/cuda/sparse/sparse_job.hpp"

namespace emulated {

namespace csr = sinter::cuda::device;

inline constexpr unsigned csr_join_threads = 128, csr_matrix_threads = 256;

template <class T, class I>
struct csr_kernels {
  unsigned threads;
  std::int64_t tile;
  void (*times_vector)(csr::csr_job<T, I>, csr::csr_tiles<T>);
  void (*join_tiles)(csr::csr_job<T, I>, csr::csr_tiles<T>);
  void (*times_matrix)(csr::csr_job<T, I>, int);
};
template <class I>
struct transpose_kernels {
  void (*column_starts)(const std::uint32_t*, std::int64_t, std::int64_t, I*);
  void (*place)(csr::csr_entries<double, I>, const std::uint32_t*, I*, double*);
};
extern const transpose_kernels<int> transposes_narrow;
extern const transpose_kernels<std::int64_t> transposes_wide;
/// The same with other numbers of threads, of entries for each, and of neighbours that one loads.
extern const csr_kernels<double, int> csr_doubles, csr_doubles_by_two;
extern const csr_kernels<float, int> csr_singles_by_four, csr_singles;
extern const csr_kernels<unsigned long long, std::int64_t> csr_integers;
extern const csr_kernels<csr::complex_pair<float>, int> csr_complex;

}  // namespace emulated
