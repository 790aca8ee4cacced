// Launches of the kernels for products of sparse matrices: which take a matrix, instances, scratch memory.
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/driver/shared_room.cuh"
#include "backends/cuda/sparse/device_sparse.hpp"
#include "backends/cuda/sparse/multiply_kernels.cuh"
#include "backends/cuda/sparse/normal_kernels.cuh"
#include "backends/cuda/sparse/row_kernels.cuh"

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

constexpr std::size_t near_bytes = 112 * 1024;  // of x in shared memory: two blocks on a multiprocessor
constexpr std::size_t normal_bytes =
    200 * 1024;                             // the same of normal products, whose blocks are twice as large: one or two
constexpr i64 near_entries = i64{1} << 20;  // fewer do not pay for a copy of x in each block

template <class T>
csr_tiles<T> tiles_in(pieces& scratch, const sparse_job& s) {
  csr_tiles<T> t;
  if (s.longest >= 0 && s.longest <= csr_giant) return t;
  t.count = ceil_div(s.entries, csr_giant_tile);
  t.heads = scratch.take<T>(t.count);
  t.carries = scratch.take<T>(t.count);
  t.head_rows = scratch.take<i64>(t.count);
  return t;
}

template <int Lanes, int Each, class T, class I>
cudaError_t rows_by(const context& c, const csr_job<T, I>& j) {
  return launch(c, csr_times_vector<T, I, Lanes, Each>, ceil_div(j.rows, csr_row_threads<Lanes> / Lanes),
                csr_row_threads<Lanes>, 0, j);
}

/// Whether rows are long, and x is short enough to be read from shared memory.
template <class T>
bool is_near(const sparse_job& s, std::size_t most_bytes) {
  return s.rows > 0 && s.entries / s.rows >= 96 && s.x && s.entries >= near_entries &&
         static_cast<std::size_t>(s.columns) * sizeof(T) <= most_bytes;
}
int normal_room() { return shared_room(normal_bytes, sizeof(double) * (csr_normal_threads / 32)); }
/// As many blocks of a kernel as run at a time with x in their shared memory; false if there is no room for one.
template <class T, class Kernel, class... A>
bool launch_near(const context& c, Kernel kernel, int threads, int room, std::int64_t columns, cudaError_t& status,
                 const A&... arguments) {
  const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(T);
  int at_once = 0;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, room) !=
          cudaSuccess ||  // of this device
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel, threads, bytes) != cudaSuccess ||
      at_once == 0) {
    (void)cudaGetLastError();
    return false;
  }
  status = launch(c, kernel, i64{c.multiprocessors} * at_once, threads, bytes, arguments...);
  return true;
}

/// The sums of a row do not depend on where x lies, nor on how many entries a lane loads at a time.
template <class T, class I>
cudaError_t rows_times_vector(const context& c, const sparse_job& s, const csr_job<T, I>& j) {
  const i64 each = j.entries / j.rows;
  if (each < 8) return rows_by<1, 4>(c, j);
  if (each < 16) return rows_by<4, 4>(c, j);
  if (each < 40) return rows_by<8, 4>(c, j);
  if (each < 96) return rows_by<16, 4>(c, j);
  if constexpr (sizeof(T) == 4) {
    (void)s;  // what a warp loads at a time is little, so that as many warps as there can be hide how long it takes
    return rows_by<32, 4>(c, j);
  } else {
    cudaError_t status = cudaSuccess;
    if (is_near<T>(s, near_bytes) && launch_near<T>(c, csr_times_near_vector<T, I, 8>, csr_resident_threads,
                                                    static_cast<int>(near_bytes), j.columns, status, j))
      return status;
    return rows_by<32, 8>(c, j);
  }
}

template <class T, class I>
cudaError_t times_vector(const context& c, const sparse_job& s, const csr_job<T, I>& j, void* scratch) {
  SINTER_TRY(rows_times_vector(c, s, j));
  pieces memory(scratch);
  const csr_tiles<T> tiles = tiles_in<T>(memory, s);
  if (tiles.count == 0) return cudaSuccess;
  SINTER_TRY(launch(c, csr_giant_rows<T, I>, tiles.count, csr_giant_threads, 0, j, tiles));
  return launch(c, csr_join_giants<T, I>, ceil_div(tiles.count, csr_join_threads / 32), csr_join_threads, 0, j, tiles);
}

template <class T, class I>
csr_job<T, I> rows_of(const sparse_job& s, void* result) {
  csr_job<T, I> j;
  j.rows = s.rows;
  j.columns = s.columns;
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
  return j;
}

template <class T, class I>
cudaError_t multiply(const context& c, const sparse_job& s, void* result, void* scratch) {
  const csr_job<T, I> j = rows_of<T, I>(s, result);
  if (s.rows == 0 || s.width == 0) return cudaSuccess;
  if (s.width == 1) return times_vector(c, s, j, scratch);
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

template <class T, class I>
cudaError_t multiply_normal(const context& c, const sparse_job& s, const csr_lengths& l, void* result) {
  const csr_job<T, I> j = rows_of<T, I>(s, result);
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(s.data) | reinterpret_cast<std::uintptr_t>(s.indices)) % 16 == 0;
  cudaError_t status = cudaErrorInvalidConfiguration;  // no room, though can_multiply_normal() was asked
  (void)(aligned ? launch_near<T>(c, csr_times_normal_vector<T, I, true>, csr_normal_threads, normal_room(), j.columns,
                                  status, j, l)
                 : launch_near<T>(c, csr_times_normal_vector<T, I, false>, csr_normal_threads, normal_room(), j.columns,
                                  status, j, l));
  return status;
}
template <class T>
cudaError_t multiply_normal(const context& c, const sparse_job& j, const csr_lengths& l, void* result) {
  return j.wide ? multiply_normal<T, i64>(c, j, l, result) : multiply_normal<T, int>(c, j, l, result);
}

template <class T>
std::size_t scratch_for(const sparse_job& j) {
  pieces memory(nullptr);
  (void)tiles_in<T>(memory, j);
  return memory.used();
}

}  // namespace

std::size_t sparse_multiply_scratch(const sparse_job& j) {
  if (j.width != 1) return 0;
  return j.type == element::c128 ? scratch_for<complex_pair<double>>(j) : scratch_for<u64>(j);
}

bool can_multiply_normal(const sparse_job& j) {
  if (j.type != element::f32 && j.type != element::f64) return false;
  if (j.longest < 0 || j.longest > csr_giant) return false;
  const bool narrow = j.type == element::f32;
  if (!(narrow ? is_near<float>(j, normal_bytes) : is_near<double>(j, normal_bytes))) return false;
  return static_cast<std::size_t>(j.columns) * (narrow ? sizeof(float) : sizeof(double)) <=
         static_cast<std::size_t>(normal_room());
}

cudaError_t sparse_multiply_normal(const context& c, const sparse_job& j, const double* other, double* length,
                                   void* result) {
  const csr_lengths l{other, length};
  return j.type == element::f32 ? multiply_normal<float>(c, j, l, result) : multiply_normal<double>(c, j, l, result);
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
