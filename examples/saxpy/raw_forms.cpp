// saxpy as kernels written in CUDA C++: a grid-stride loop, vector loads, arrays with strides.
#include <algorithm>
#include <cstdint>

#include "common/blocks.hpp"
#include "saxpy/forms.hpp"
#include "sinter/sinter.hpp"

namespace saxpy {
namespace {

using examples::blocks_of;
constexpr std::int64_t threads = 256;

/// The kernels of saxpy.cu share one module, compiled at the first launch.
sn::raw_kernel kernel_of(std::string_view name) {
  static const sn::raw_module module(saxpy_cuda);
  return module.get(name);
}

}  // namespace

work raw_grid_stride(const ndarray& x, const ndarray& y) {
  const std::int64_t n = x.size(), blocks = std::min<std::int64_t>(blocks_of(threads, n), 4096);
  return [=, kernel = kernel_of("saxpy"), z = sn::empty_like(x)] {
    kernel({.grid = {blocks}, .block = {threads}}, a, sn::in(x), sn::in(y), z, n);
    return z;
  };
}

work raw_by_four(const ndarray& x, const ndarray& y) {
  const std::int64_t n = x.size(), blocks = blocks_of(threads, (n + 3) / 4);
  return [=, kernel = kernel_of("saxpy_by_four"), z = sn::empty_like(x)] {
    kernel({.grid = {blocks}, .block = {threads}}, a, sn::in(x), sn::in(y), z, n);
    return z;
  };
}

work raw_strided(const ndarray& x, const ndarray& y) {
  const std::int64_t blocks = blocks_of(threads, x.size());
  return [=, kernel = kernel_of("saxpy_strided"), x = examples::spread(x), y = examples::spread(y),
          z = sn::empty_like(x)] {
    kernel({.grid = {blocks}, .block = {threads}}, a, sn::strided(sn::in(x)), sn::strided(sn::in(y)), z);
    return z;
  };
}

}  // namespace saxpy
