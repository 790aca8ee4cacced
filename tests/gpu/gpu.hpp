// Shared by the GPU tests: whether there is a GPU, the CUDA source of a plan, bit-for-bit comparisons.
#pragma once
#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/values/limits.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "ops/base/access.hpp"
#include "sinter/sinter.hpp"

namespace gpu_test {

/// Whether a case must be skipped, since the selected device is not a GPU; prints the reason.
inline bool no_gpu() {
  if (sinter::device_count(sinter::device_kind::cuda) == 0) {
    MESSAGE("left out: no CUDA device was found");
    return true;
  }
  const sinter::device d = sinter::default_device();
  if (d.kind == sinter::device_kind::cuda) return false;
  MESSAGE("left out: the selected device is " << sinter::to_string(d));
  return true;
}

/// Whether NVRTC is missing; prints a message.
inline bool no_nvrtc() {
  std::string why_not;
  if (sinter::jit::nvrtc_available(&why_not)) return false;
  MESSAGE("left out: " << why_not);
  return true;
}

/// The CUDA sources of the kernels that would evaluate `x`, on any device.
std::vector<std::string> cuda_sources(const sinter::graph::value& x);
inline std::vector<std::string> cuda_sources(const sinter::ndarray& x) {
  return cuda_sources(sinter::ops::value_of(x));
}

/// During its lifetime every operation is a separate kernel.
struct unfused {
  sinter::graph::planner_limits before = sinter::graph::limits();
  unfused() { sinter::graph::limits().fuse = false; }
  ~unfused() { sinter::graph::limits() = before; }
  unfused(const unfused&) = delete;
  unfused& operator=(const unfused&) = delete;
};

/// Whether a measurement succeeds in one of several attempts, since another program may use the device, or this
/// thread's core, during one.
template <class F>
bool in_some_try(F&& holds) {
  for (int k = 0; k < 20; ++k)
    if (holds()) return true;
  return false;
}

template <class T>
auto bits_of(T x) {
  if constexpr (sizeof(T) == 1) return std::bit_cast<std::uint8_t>(x);
  else if constexpr (sizeof(T) == 2) return std::bit_cast<std::uint16_t>(x);
  else if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(x);
  else return std::bit_cast<std::uint64_t>(x);
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return x != x;
  else if constexpr (std::is_integral_v<T>) return false;
  else return static_cast<float>(x) != static_cast<float>(x);
}

/// The first position at which two lists of elements differ in their bits (NaN equals NaN), or -1.
template <class T>
std::int64_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (bits_of(a[k]) != bits_of(b[k]) && !(is_nan(a[k]) && is_nan(b[k]))) return static_cast<std::int64_t>(k);
  return -1;
}

/// Uniform numbers from [low, high), the same in every run.
template <class T>
std::vector<T> uniform(std::int64_t count, double low, double high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& v : x) v = static_cast<T>(low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53));
  return x;
}

}  // namespace gpu_test
