// multiply_kernels.cuh and transpose_kernels.cuh as host functions.
#include "emulated/kernels/sparse.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/sparse/multiply_kernels.cuh"
#include "backends/cuda/sparse/transpose_kernels.cuh"

namespace emulated {

static_assert(csr_join_threads == csr::csr_join_threads && csr_matrix_threads == csr::csr_matrix_threads);

template <class T, class I, class P>
constexpr csr_kernels<T, I> kernels_of = {P::threads, P::tile, csr::csr_times_vector<T, I, P>,
                                          csr::csr_join_tiles<T, I, P>, csr::csr_times_matrix<T, I>};
using csr_tiling = csr::csr_tiling<128, 8, 1>;
const transpose_kernels<int> transposes_narrow = {csr::csr_column_starts<int>, csr::csr_place<double, int>};
const transpose_kernels<std::int64_t> transposes_wide = {csr::csr_column_starts<std::int64_t>,
                                                         csr::csr_place<double, std::int64_t>};
const csr_kernels<double, int> csr_doubles = kernels_of<double, int, csr_tiling>;
const csr_kernels<double, int> csr_doubles_by_two = kernels_of<double, int, csr::csr_tiling<64, 16, 2>>;
const csr_kernels<float, int> csr_singles_by_four = kernels_of<float, int, csr::csr_tiling<128, 8, 4>>;
const csr_kernels<float, int> csr_singles = kernels_of<float, int, csr::csr_tiling<128, 16, 1>>;
const csr_kernels<unsigned long long, std::int64_t> csr_integers =
    kernels_of<unsigned long long, std::int64_t, csr_tiling>;
const csr_kernels<csr::complex_pair<float>, int> csr_complex = kernels_of<csr::complex_pair<float>, int, csr_tiling>;

}  // namespace emulated
