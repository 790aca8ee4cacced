// Shared device code: sizes, scratch memory in pieces, launches, loads that see other blocks' stores.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "backends/cuda/algorithms/device_algorithms.hpp"

namespace sinter::cuda::device {

using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 all_lanes = 0xffffffffu;

template <class A, class B>
constexpr __host__ __device__ A ceil_div(A a, B b) {
  return (a + static_cast<A>(b) - 1) / static_cast<A>(b);
}

constexpr __host__ __device__ int bytes_of(element t) {
  switch (t) {
    case element::b1:
    case element::i8:
    case element::u8: return 1;
    case element::i16:
    case element::u16:
    case element::f16:
    case element::bf16: return 2;
    case element::i32:
    case element::u32:
    case element::f32: return 4;
    case element::i64:
    case element::u64:
    case element::f64:
    case element::c64: return 8;
    case element::c128: return 16;
  }
  return 0;
}
constexpr bool is_float(element t) { return t >= element::f16 && t <= element::f64; }
constexpr bool is_complex(element t) { return t >= element::c64; }
constexpr bool is_signed(element t) { return t >= element::i8 && t <= element::i64; }

/// The smallest power of two that is at least n.
constexpr __host__ __device__ i64 power_of_two_from(i64 n) {
  i64 p = 1;
  while (p < n) p *= 2;
  return p;
}
/// Bits that numbers below n need.
constexpr int bits_below(i64 n) {
  int bits = 0;
  while (bits < 63 && (i64{1} << bits) < n) ++bits;
  return bits;
}

/// Divides scratch memory into aligned pieces; over a null base it only counts the bytes.
class pieces {
 public:
  explicit pieces(void* base) : base_(static_cast<char*>(base)) {}
  template <class T>
  T* take(i64 count) {
    char* p = base_ ? base_ + used_ : nullptr;
    used_ += ceil_div(static_cast<std::size_t>(count) * sizeof(T), 256) * 256;
    return reinterpret_cast<T*>(p);
  }
  std::size_t used() const { return used_; }

 private:
  char* base_;
  std::size_t used_ = 0;
};

template <class... P, class... A>
cudaError_t launch(const context& c, void (*kernel)(P...), dim3 blocks, int threads, std::size_t shared,
                   A... arguments) {
  kernel<<<blocks, static_cast<unsigned>(threads), shared, c.stream>>>(static_cast<P>(arguments)...);
  return cudaGetLastError();
}
template <class... P, class... A>
cudaError_t launch(const context& c, void (*kernel)(P...), i64 blocks, int threads, std::size_t shared,
                   A... arguments) {
  return launch(c, kernel, dim3(static_cast<unsigned>(blocks)), threads, shared, arguments...);
}

/// The number of blocks for n items, `per_block` each; grid-stride loops limit it to what fills the device.
inline i64 looping_blocks(const context& c, i64 n, int per_block) {
  const i64 most = static_cast<i64>(c.multiprocessors) * 32;
  const i64 wanted = ceil_div(n, per_block);
  return wanted < most ? wanted : most;
}

#define SINTER_TRY(call)                        \
  do {                                          \
    const cudaError_t status_ = (call);         \
    if (status_ != cudaSuccess) return status_; \
  } while (false)

}  // namespace sinter::cuda::device
