// Launches of the kernels for a step of k-means.
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/algorithms/means/means_kernels.cuh"
#include "backends/cuda/driver/shared_room.cuh"

namespace sinter::cuda::device {
namespace {

means_plan plan_of(const means_layout& l, bool sums) {
  return means_plan_of(l.points, l.dimensions, l.clusters, static_cast<std::size_t>(bytes_of(l.type)), sums);
}

template <class T, int Width, bool Sums>
cudaError_t step(const context& c, const means_plan& p, const means_job<T>& j) {
  SINTER_TRY(cudaFuncSetAttribute(means_step<T, Width, Sums>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  shared_room(means_shared_bytes)));
  return launch(c, means_step<T, Width, Sums>, p.blocks, 32 * p.warps, p.shared, j);
}
template <class T, bool Sums>
cudaError_t step(const context& c, const means_plan& p, const means_job<T>& j) {
  switch (p.width) {
    case 4: return step<T, 4, Sums>(c, p, j);
    case 8: return step<T, 8, Sums>(c, p, j);
    case 16: return step<T, 16, Sums>(c, p, j);
    default: return step<T, 32, Sums>(c, p, j);
  }
}

template <class T>
cudaError_t assign(const context& c, const means_layout& l, const means_arrays& a, void* scratch) {
  const means_plan p = plan_of(l, a.sums != nullptr);
  means_job<T> j;
  j.n = l.points;
  j.per_warp = p.per_warp;
  j.d = static_cast<int>(l.dimensions);
  j.k = static_cast<int>(l.clusters);
  j.x = static_cast<const T*>(a.x);
  j.centers = static_cast<const T*>(a.centers);
  j.weights = static_cast<const T*>(a.weights);
  j.before = a.before;
  j.labels = a.labels;
  if (!a.sums) return step<T, false>(c, p, j);
  j.tables = static_cast<double*>(scratch);
  SINTER_TRY((step<T, true>(c, p, j)));
  return launch(c, means_join<T>, ceil_div(l.clusters * (l.dimensions + 1) + 1, means_bins), means_bins * means_parts,
                0, j, p.blocks, static_cast<T*>(a.sums), static_cast<T*>(a.totals), a.same);
}

}  // namespace

bool assigns_points(const means_layout& l, bool sums) {
  const means_plan p = plan_of(l, sums);
  return p.warps > 0 && p.shared <= static_cast<std::size_t>(shared_room(means_shared_bytes));
}

std::size_t assign_points_scratch(const means_layout& l) {
  return static_cast<std::size_t>(plan_of(l, true).blocks * (l.clusters * (l.dimensions + 1) + 1)) * sizeof(double);
}

cudaError_t assign_points(const context& c, const means_layout& l, const means_arrays& a, void* scratch) {
  return l.type == element::f32 ? assign<float>(c, l, a, scratch) : assign<double>(c, l, a, scratch);
}

}  // namespace sinter::cuda::device
