// The kernels of backends/cuda/sparse as host functions.
#include "emulated/kernels/sparse.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/sparse/multiply_kernels.cuh"
#include "backends/cuda/sparse/normal_kernels.cuh"
#include "backends/cuda/sparse/row_kernels.cuh"
#include "backends/cuda/sparse/row_sort_kernels.cuh"
#include "backends/cuda/sparse/transpose_kernels.cuh"

namespace emulated {

static_assert(csr_matrix_threads == csr::csr_matrix_threads && csr_sort_threads == csr::csr_sort_threads);

template <class T, class I, bool Aligned>
constexpr auto normal_of() -> void (*)(csr::csr_job<T, I>, csr::csr_lengths) {
  if constexpr (std::is_floating_point_v<T>) return csr::csr_times_normal_vector<T, I, Aligned>;
  else return nullptr;
}
template <class T, class I, int Lanes, int Each>
constexpr csr_kernels<T, I> kernels_of = {Lanes,
                                          csr::csr_row_threads<Lanes>,
                                          csr::csr_times_vector<T, I, Lanes, Each>,
                                          csr::csr_times_near_vector<T, I, 8>,
                                          normal_of<T, I, true>(),
                                          normal_of<T, I, false>(),
                                          csr::csr_giant_rows<T, I>,
                                          csr::csr_join_giants<T, I>,
                                          csr::csr_times_matrix<T, I>};
const csr_sizes sizes_of_csr = {csr::csr_resident_threads, csr::csr_normal_threads, csr::csr_giant_threads,
                                csr::csr_join_threads,     csr::csr_patience,       csr::csr_giant,
                                csr::csr_giant_tile};
const row_sort_kernel<int> row_sort_narrow = csr::csr_sort_rows<double, int>;
const row_sort_kernel<std::int64_t> row_sort_wide = csr::csr_sort_rows<double, std::int64_t>;
const transpose_kernels<int> transposes_narrow = {csr::csr_column_starts<int>, csr::csr_place<double, int>};
const transpose_kernels<std::int64_t> transposes_wide = {csr::csr_column_starts<std::int64_t>,
                                                         csr::csr_place<double, std::int64_t>};
const csr_kernels<double, int> csr_doubles_by_one = kernels_of<double, int, 1, 8>;
const csr_kernels<double, int> csr_doubles_by_four = kernels_of<double, int, 4, 4>;
const csr_kernels<float, int> csr_singles_by_eight = kernels_of<float, int, 8, 4>;
const csr_kernels<float, int> csr_singles_by_warps = kernels_of<float, int, 32, 8>;
const csr_kernels<unsigned long long, std::int64_t> csr_integers = kernels_of<unsigned long long, std::int64_t, 4, 4>;
const csr_kernels<csr::complex_pair<float>, int> csr_complex = kernels_of<csr::complex_pair<float>, int, 32, 8>;

}  // namespace emulated
