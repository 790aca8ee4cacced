// What evaluating an array on the CPU runs, and the planner's limits as they were.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/values/limits.hpp"
#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"

namespace sinter::test {

struct limits_guard {
  graph::planner_limits before = graph::limits();
  ~limits_guard() { graph::limits() = before; }
};

using numbers = std::vector<double>;
inline numbers values(const ndarray& x) { return astype(x, float64).to_vector<double>(); }

/// 0, 1, ..., n - 1 as float32, in memory.
inline ndarray ramp(std::int64_t n, const device& d = default_device()) {
  ndarray x = arange(n, {.dtype = float32, .device = d});
  eval(x);
  return x;
}

/// Kernels, and bytes copied outside of them.
struct work {
  std::uint64_t kernels = 0, copied = 0;
  friend bool operator==(const work&, const work&) = default;
};
inline work evaluate(const ndarray& x) {
  runtime::backend& device = runtime::get_backend({});
  const std::uint64_t launches = device.statistics().launches, copied = cpu::copied_bytes();
  eval(x);
  return {device.statistics().launches - launches, cpu::copied_bytes() - copied};
}

}  // namespace sinter::test
