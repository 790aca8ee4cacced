// The kernels for a step of k-means as host functions.
#include "emulated/kernels/means.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/algorithms/means/means_kernels.cuh"

namespace emulated {
namespace {

namespace device = sinter::cuda::device;
using std::int64_t;

template <class T>
means_sizes sizes(int64_t n, int64_t d, int64_t k, bool sums) {
  const device::means_plan p = device::means_plan_of(n, d, k, sizeof(T), sums);
  return {p.width, p.warps, p.blocks, p.per_warp, p.shared};
}
template <class T>
device::means_job<T> job_of(const means_arguments<T>& a) {
  device::means_job<T> j;
  j.n = a.n, j.d = a.d, j.k = a.k;
  j.per_warp = a.per_warp > 0 ? a.per_warp : sizes<T>(a.n, a.d, a.k, a.tables != nullptr).per_warp;
  j.x = a.x, j.centers = a.centers, j.weights = a.weights, j.before = a.before;
  j.labels = a.labels, j.tables = a.tables;
  return j;
}
template <class T, int Width>
void step(const means_arguments<T>& a) {
  a.tables ? device::means_step<T, Width, true>(job_of(a)) : device::means_step<T, Width, false>(job_of(a));
}
template <class T>
void any_step(const means_arguments<T>& a) {
  switch (device::means_width(a.d)) {
    case 4: return step<T, 4>(a);
    case 8: return step<T, 8>(a);
    case 16: return step<T, 16>(a);
    default: return step<T, 32>(a);
  }
}
template <class T>
void join(const means_arguments<T>& a, T* sums, T* totals, bool* same) {
  device::means_join<T>(job_of(a), a.blocks > 0 ? a.blocks : sizes<T>(a.n, a.d, a.k, true).blocks, sums, totals, same);
}

}  // namespace

const means_kernels<float> means_of_singles{any_step<float>, join<float>, sizes<float>};
const means_kernels<double> means_of_doubles{any_step<double>, join<double>, sizes<double>};
const int means_join_bins = device::means_bins, means_join_threads = device::means_bins * device::means_parts;

}  // namespace emulated
