// multiply_kernels.cuh and transpose_kernels.cuh as host functions.
#include "emulated/kernels/sparse.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/sparse/multiply_kernels.cuh"
#include "backends/cuda/sparse/transpose_kernels.cuh"

namespace emulated {

static_assert(csr_threads == csr::csr_threads && csr_tile == csr::csr_tile &&
              csr_matrix_threads == csr::csr_matrix_threads);

template <class T, class I>
constexpr csr_kernels<T, I> kernels_of = {csr::csr_times_vector<T, I>, csr::csr_join_tiles<T, I>,
                                          csr::csr_times_matrix<T, I>};
const transpose_kernels<int> transposes_narrow = {csr::csr_column_starts<int>, csr::csr_place<double, int>};
const transpose_kernels<std::int64_t> transposes_wide = {csr::csr_column_starts<std::int64_t>,
                                                         csr::csr_place<double, std::int64_t>};
const csr_kernels<double, int> csr_doubles = kernels_of<double, int>;
const csr_kernels<unsigned long long, std::int64_t> csr_integers = kernels_of<unsigned long long, std::int64_t>;
const csr_kernels<csr::complex_pair<float>, int> csr_complex = kernels_of<csr::complex_pair<float>, int>;

}  // namespace emulated
