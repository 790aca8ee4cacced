// Kernels that recur together are launched as one graph, with what has changed since.
#include <doctest/doctest.h>
#ifdef SINTER_HAS_CUDA

#include <cstring>
#include <string>
#include <vector>

#include "backends/cuda/kernel_list.hpp"
#include "gpu/gpu.hpp"

namespace sn = sinter;
using sn::ndarray;

namespace {

using namespace sinter;

std::uint64_t graph_launches() { return cuda::kernel_list::graph_launches(); }

ndarray steps(const ndarray& x, double by) {
  ndarray y = x;
  for (int k = 0; k < 5; ++k) y = y - by * (y - sn::roll(y, 1, 0) * sn::mean(y)) / sn::sum(y, 0);
  return y - sn::max(y);
}
/// Kernels alone, each of which needs the one before.
ndarray chain(const ndarray& x, double by) {
  ndarray y = x;
  for (int k = 0; k < 6; ++k) y = y * by + sn::sum(y * y, {.keepdims = true}) / sn::max(y);
  return y;
}
std::string bytes_of(const ndarray& x) {
  const auto v = x.to_vector<double>();
  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(double)};
}

}  // namespace

TEST_CASE("gpu: kernels that recur together are one graph, whose parameters follow the arrays") {
  if (gpu_test::no_gpu()) return;
  for (auto* const program : {&steps, &chain}) {
    const auto before = graph_launches();
    std::vector<ndarray> inputs, results;
    for (int k = 0; k < 12; ++k) {
      inputs.push_back(sn::arange(1, 1000 + 1).astype(sn::float64) * (0.5 + k));
      sn::eval(inputs.back());
    }
    for (int k = 0; k < 12; ++k) {
      results.push_back((*program)(inputs[static_cast<std::size_t>(k)], 0.1 + 0.01 * k));
      sn::eval(results.back());
      if (k % 3 == 2) results[static_cast<std::size_t>(k - 1)].to_vector<double>();
    }
    CHECK(graph_launches() > before);
    for (int k = 0; k < 12; ++k) {
      sn::ndarray x;
      std::string expected;
      {
        const sn::device_guard on(sn::device("cpu"));
        x = sn::arange(1, 1000 + 1).astype(sn::float64) * (0.5 + k);
        expected = bytes_of((*program)(x, 0.1 + 0.01 * k));
      }
      CHECK(bytes_of(results[static_cast<std::size_t>(k)]) == expected);
    }
  }
}

TEST_CASE("gpu: a graph of kernels is left behind while it runs, and others take its place") {
  if (gpu_test::no_gpu()) return;
  // More graphs than there may be.
  for (int n = 0; n < 160; ++n) {
    const ndarray x = sn::ones({100 + n}, sn::float64);
    sn::eval(x);
    ndarray y;
    for (int k = 0; k < 4; ++k) {
      y = chain(x, 0.25);
      sn::eval(y);
    }
    const auto got = y.to_vector<double>();
    REQUIRE(got.front() == got.back());
  }
}

#endif
