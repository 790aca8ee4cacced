// The kernels for a step of k-means as functions of the host.
#pragma once
#include <cstdint>

namespace emulated {

template <class T>
struct means_arguments {
  std::int64_t n = 0;
  int d = 0, k = 0;
  const T *x = nullptr, *centers = nullptr, *weights = nullptr;
  const std::int64_t* before = nullptr;
  std::int64_t* labels = nullptr;
  double* tables = nullptr;
  std::int64_t per_warp = 0, blocks = 0;  // points of a warp; 0: those of sizes
};
/// How points are divided: no warps where there is no kernel. Blocks of `warps` times `per_warp` points.
struct means_sizes {
  int width = 0, warps = 0;
  std::int64_t blocks = 0, per_warp = 0;
  std::size_t shared = 0;
};
template <class T>
struct means_kernels {
  void (*step)(const means_arguments<T>&);  // with sums where there are tables
  void (*join)(const means_arguments<T>&, T* sums, T* totals, bool* same);
  means_sizes (*sizes)(std::int64_t n, std::int64_t d, std::int64_t k, bool sums);
};
extern const means_kernels<float> means_of_singles;
extern const means_kernels<double> means_of_doubles;
extern const int means_join_bins, means_join_threads;

}  // namespace emulated
