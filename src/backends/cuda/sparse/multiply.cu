// Launches of the kernels for sparse matrices: instances, tiles, scratch memory.
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/sparse/device_sparse.hpp"
#include "backends/cuda/sparse/multiply_kernels.cuh"

#include <type_traits>

namespace sinter::cuda::device {
namespace {

template <class T>
T number_of(const double* z) {
  return static_cast<T>(z[0]);
}
template <>
complex_pair<float> number_of(const double* z) {
  return {static_cast<float>(z[0]), static_cast<float>(z[1])};
}
template <>
complex_pair<double> number_of(const double* z) {
  return {z[0], z[1]};
}
bool is_one(const double* z) { return z[0] == 1 && z[1] == 0; }

/// A thread's part of a tile: 64 bytes of elements or of indices. Of short rows fewer entries, in groups: their x are neighbours.
/// As measured on an H200 (docs/performance.md).
template <class T, class I>
using long_rows = csr_tiling<128, 64 / (sizeof(T) > sizeof(I) ? sizeof(T) : sizeof(I)), 1>;
template <class T, class I>
using short_rows = std::conditional_t<sizeof(T) == 4 && sizeof(I) == 4, csr_tiling<128, 8, 4>, long_rows<T, I>>;

template <class P>
i64 tiles_of(const sparse_job& j) {
  return j.entries == 0 ? 1 : ceil_div(j.entries, P::tile);
}

template <class T>
csr_tiles<T> tiles_in(pieces& scratch, i64 count) {
  csr_tiles<T> t;
  t.count = count;
  t.heads = scratch.take<T>(count);
  t.carries = scratch.take<T>(count);
  t.head_rows = scratch.take<i64>(count);
  return t;
}

/// With as many blocks as run at a time: more would begin when the others have ended.
template <class P, class T, class I>
cudaError_t times_vector(const context& c, const sparse_job& s, const csr_job<T, I>& j, void* scratch) {
  static const int at_once = [] {
    int blocks = 0;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, csr_times_vector<T, I, P>, P::threads, 0) ==
                       cudaSuccess &&
                   blocks > 0
               ? blocks
               : 4;
  }();
  pieces memory(scratch);
  const csr_tiles<T> parts = tiles_in<T>(memory, tiles_of<P>(s));
  const i64 most = static_cast<i64>(c.multiprocessors) * at_once, blocks = parts.count < most ? parts.count : most;
  SINTER_TRY(launch(c, csr_times_vector<T, I, P>, blocks, P::threads, 0, j, parts));
  return launch(c, csr_join_tiles<T, I, P>, ceil_div(parts.count, csr_join_threads), csr_join_threads, 0, j, parts);
}

template <class T, class I>
cudaError_t multiply(const context& c, const sparse_job& s, void* result, void* scratch) {
  csr_job<T, I> j;
  j.rows = s.rows;
  j.entries = s.entries;
  j.width = s.width;
  j.data = static_cast<const T*>(s.data);
  j.indices = static_cast<const I*>(s.indices);
  j.indptr = static_cast<const I*>(s.indptr);
  j.x = static_cast<const T*>(s.x);
  j.y = static_cast<const T*>(s.y);
  j.result = static_cast<T*>(result);
  j.alpha = number_of<T>(s.alpha);
  j.beta = number_of<T>(s.beta);
  j.scaled = !is_one(s.alpha);
  j.weighted = !is_one(s.beta);
  j.aligned = (reinterpret_cast<std::uintptr_t>(s.data) | reinterpret_cast<std::uintptr_t>(s.indices)) % 16 == 0;
  if (s.rows == 0 || s.width == 0) return cudaSuccess;
  if (s.width == 1)
    return s.entries / 32 < s.rows ? times_vector<short_rows<T, I>>(c, s, j, scratch)
                                   : times_vector<long_rows<T, I>>(c, s, j, scratch);
  int lanes = 2;
  while (lanes < 32 && lanes < s.width) lanes *= 2;
  constexpr i64 most = 65535;  // blocks along y
  const i64 across = ceil_div(s.width, lanes), down = ceil_div(s.rows, csr_matrix_threads / lanes);
  const dim3 blocks(static_cast<unsigned>(down), static_cast<unsigned>(across < most ? across : most));
  return launch(c, csr_times_matrix<T, I>, blocks, csr_matrix_threads, 0, j, lanes);
}

template <class T>
cudaError_t multiply(const context& c, const sparse_job& j, void* result, void* scratch) {
  return j.wide ? multiply<T, i64>(c, j, result, scratch) : multiply<T, int>(c, j, result, scratch);
}

}  // namespace

std::size_t sparse_multiply_scratch(const sparse_job& j) {
  if (j.width != 1) return 0;
  pieces memory(nullptr);
  const i64 tiles = tiles_of<csr_tiling<128, 4, 1>>(j), bytes = bytes_of(j.type);  // the most that any takes
  memory.take<char>(tiles * bytes);
  memory.take<char>(tiles * bytes);
  memory.take<i64>(tiles);
  return memory.used();
}

// int64 wraps around, so it is computed unsigned.
cudaError_t sparse_multiply(const context& c, const sparse_job& j, void* result, void* scratch) {
  switch (j.type) {
    case element::f32: return multiply<float>(c, j, result, scratch);
    case element::f64: return multiply<double>(c, j, result, scratch);
    case element::c64: return multiply<complex_pair<float>>(c, j, result, scratch);
    case element::c128: return multiply<complex_pair<double>>(c, j, result, scratch);
    default: return multiply<unsigned long long>(c, j, result, scratch);
  }
}

}  // namespace sinter::cuda::device
