// The scheme of GPU workshops as raw kernels (kernels/two_kernel.cu): minima of 32 blocks a row, then of the 32. It
// needs 256 bytes of intermediate results a row.
#include "cuda_sources.hpp"
#include "ladder.hpp"
#include "two_kernel_search.hpp"

namespace nearest_neighbor {

two_kernel_search::two_kernel_search(bool fast_math) {
  const sn::raw_module kernels(two_kernel_cuda, {.fast_math = fast_math});
  blocks_ = kernels.get("nearest_of_blocks");
  rows_ = kernels.get("nearest_of_rows");
}

neighbours two_kernel_search::operator()(const ndarray& p, const ndarray& q) const {
  const std::int64_t m = p.shape(0);
  const auto make = [&](const sn::shape_t& shape, sn::dtype type) {
    return sn::empty(shape, {.dtype = type, .device = p.device()});
  };
  const auto distances = make({m, 32}, sn::float32), indices = make({m, 32}, sn::int32);
  // 108 is the number of multiprocessors of the GPU that the scheme was written for.
  blocks_({.grid = {32, 108}, .block = {32, 16}}, sn::in(p), static_cast<long long>(m), sn::in(q),
          static_cast<int>(q.shape(0)), static_cast<float>(2 * earth_radius_km), distances, indices);
  neighbours out{make({m}, sn::int64), make({m}, sn::float32)};
  rows_({.grid = 32 * 108, .block = {32, 16}}, sn::in(distances), sn::in(indices), static_cast<long long>(m), out.index,
        out.distance);
  return out;
}

namespace {

rung rung_with(const options& o, bool fast_math) {
  return {"two_kernel",
          fast_math ? "fast math" : "precise",
          sn::to_string(gpu_of(o)),
          why_no_gpu(o),
          [fast_math](const task& t) { return search_arrays(t.cities, t, gpu_of(t.o), two_kernel_search(fast_math)); },
          !fast_math};
}

}  // namespace

std::vector<rung> two_kernel_rungs(const options& o) {
  if (o.fast_math) return {rung_with(o, true)};
  return {rung_with(o, false), rung_with(o, true)};
}

}  // namespace nearest_neighbor
