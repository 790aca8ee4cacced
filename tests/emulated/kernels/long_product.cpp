// long_product_kernel.cuh as host functions.
#include "emulated/kernels/long_product.hpp"

#include <vector>

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/linalg/long/long_product_kernel.cuh"

namespace emulated {
namespace {

using namespace sinter::cuda::device;

template <class T, int N>
const char* run(const long_product_case& s, const T* a, const T* b, T* c) {
  long_product_shape l{s.rows, s.columns, s.inner,  s.a_row, s.a_inner, s.b_inner, s.b_column,
                       0,      0,         s.groups, 0,       s.a_runs,  s.b_runs};
  l.row_tiles = static_cast<int>((s.rows + N - 1) / N);
  l.column_tiles = static_cast<int>((s.columns + N - 1) / N);
  l.chunk = (s.inner + s.blocks - 1) / s.blocks;
  const int tiles = l.row_tiles * l.column_tiles;
  std::vector<T> partial(static_cast<std::size_t>(s.blocks * tiles * N * N), T(77));
  const auto blocks = static_cast<unsigned>(s.blocks),
             threads = static_cast<unsigned>(tiles * s.groups * long_product_lanes);
  if (const char* const why =
          cuda_emulator::launch({blocks}, {threads}, [&] { long_product_kernel<T, N, N>(l, a, b, partial.data()); });
      *why)
    return why;
  const auto results = static_cast<unsigned>((s.rows * s.columns + long_product_warps - 1) / long_product_warps);
  return cuda_emulator::launch({results}, {long_product_warps * long_product_lanes}, [&] {
    long_product_sums<T, N, N>(l, s.blocks, partial.data(), c, s.c_row, s.c_column);
  });
}

}  // namespace

const char* long_product(const long_product_case& s, const float* a, const float* b, float* c) {
  return s.tile == 4 ? run<float, 4>(s, a, b, c) : run<float, 8>(s, a, b, c);
}
const char* long_product(const long_product_case& s, const double* a, const double* b, double* c) {
  return run<double, 4>(s, a, b, c);
}

}  // namespace emulated
