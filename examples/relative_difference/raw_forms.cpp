// The relative difference as kernels written in CUDA C++: a grid-stride loop, vector loads, arrays with strides.
#include <algorithm>
#include <cstdint>

#include "common/blocks.hpp"
#include "relative_difference/forms.hpp"
#include "sinter/sinter.hpp"

namespace relative_difference {
namespace {

using examples::blocks_of;
constexpr std::int64_t threads = 256;

/// The kernels of difference.cu share one module, compiled at the first launch.
sn::raw_kernel kernel_of(std::string_view name) {
  static const sn::raw_module module(difference_cuda);
  return module.get(name);
}

}  // namespace

work raw_grid_stride(const ndarray& x, const ndarray& y) {
  const std::int64_t n = x.size(), blocks = std::min<std::int64_t>(blocks_of(threads, n), 4096);
  return [=, kernel = kernel_of("difference"), d = sn::empty_like(x)] {
    kernel({.grid = {blocks}, .block = {threads}}, sn::in(x), sn::in(y), d, n);
    return d;
  };
}

work raw_by_four(const ndarray& x, const ndarray& y) {
  const std::int64_t n = x.size(), blocks = blocks_of(threads, (n + 3) / 4);
  return [=, kernel = kernel_of("difference_by_four"), d = sn::empty_like(x)] {
    kernel({.grid = {blocks}, .block = {threads}}, sn::in(x), sn::in(y), d, n);
    return d;
  };
}

work raw_strided(const ndarray& x, const ndarray& y) {
  const std::int64_t blocks = blocks_of(threads, x.size());
  return [=, kernel = kernel_of("difference_strided"), x = examples::spread(x), y = examples::spread(y),
          d = sn::empty_like(x)] {
    kernel({.grid = {blocks}, .block = {threads}}, sn::strided(sn::in(x)), sn::strided(sn::in(y)), d);
    return d;
  };
}

}  // namespace relative_difference
