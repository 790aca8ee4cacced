// Runs CUDA kernels on the CPU, thread by thread, so that the logic of hand-written kernels is tested where there is no
// GPU. A kernel's source is included after this header, in a separate translation unit:
//
//   #include "emulated/cuda_emulator.hpp"
//   #define ROWS 4
//   #define chord_search chord_search_4       // kernels are extern "C": names must differ between units
//   #include "examples/nearest_neighbor/kernels/chord.cu"
//   ...
//   cuda_emulator::launch({blocks}, {256}, [&] { chord_search_4(...); });
//
// Blocks run one after the other. The threads of a block are coroutines with separate stacks that yield at
// barriers and warp exchanges; an exchange or a barrier that some of the named threads can never reach is an error,
// where a GPU would hang or return garbage. Only what the kernels here use is defined.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#define __global__
#define __device__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static

namespace cuda_emulator {

struct index3 {
  unsigned x = 1, y = 1, z = 1;
};

/// Why a launch could not be completed (a thread waits for one that has exited, an access is misaligned); empty on
/// success.
const char* launch(index3 grid, index3 block, const std::function<void()>& kernel);
/// False in builds with a sanitizer that does not support switching stacks.
bool available();

// Called by the kernels.
struct position {
  index3 thread, block;
};
extern position here;
extern index3 grid_extent, block_extent;
void block_barrier();
/// All threads of the mask provide `bytes` at `own` and receive the address of those of lane `from`, valid until their
/// next exchange.
const void* exchange(unsigned mask, const void* own, std::size_t bytes, int from);
unsigned vote(unsigned mask, bool predicate);
int lane();
void fail(const char* what);

template <class T>
T from_lane(unsigned mask, T value, int from) {
  T out;
  std::memcpy(&out, exchange(mask, &value, sizeof value, from), sizeof out);
  return out;
}

template <class To, class From>
To bits(From v) {
  To out;
  std::memcpy(&out, &v, sizeof out);
  return out;
}

}  // namespace cuda_emulator

#define threadIdx cuda_emulator::here.thread
#define blockIdx cuda_emulator::here.block
#define blockDim cuda_emulator::block_extent
#define gridDim cuda_emulator::grid_extent

struct alignas(16) float4 {
  float x, y, z, w;
};

inline void __syncthreads() { cuda_emulator::block_barrier(); }
/// How many threads of the block have true.
inline int __syncthreads_count(bool p) {
  static int count;
  cuda_emulator::block_barrier();
  count = 0;
  cuda_emulator::block_barrier();
  count += p;
  cuda_emulator::block_barrier();
  return count;
}
inline void __syncwarp() { cuda_emulator::vote(0xffffffffu, true); }
inline unsigned __ballot_sync(unsigned mask, bool p) { return cuda_emulator::vote(mask, p); }
template <class T>
T __shfl_sync(unsigned mask, T v, int from) {
  return cuda_emulator::from_lane(mask, v, from % 32);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T v, int step) {
  return cuda_emulator::from_lane(mask, v, cuda_emulator::lane() ^ step);
}
template <class T>
T __shfl_up_sync(unsigned mask, T v, int step) {
  const int from = cuda_emulator::lane() - step;
  return cuda_emulator::from_lane(mask, v, from < 0 ? cuda_emulator::lane() : from);
}
inline bool __any_sync(unsigned mask, bool p) { return cuda_emulator::vote(mask, p) != 0; }
template <class T>
unsigned __match_any_sync(unsigned mask, T v) {
  unsigned same = 0;
  for (int k = 0; k < 32; ++k)
    if (mask >> k & 1) same |= static_cast<unsigned>(cuda_emulator::from_lane(mask, v, k) == v) << k;
  return same;
}
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __ffs(unsigned v) { return __builtin_ffs(static_cast<int>(v)); }
template <class T>
T atomicAdd(T* at, T more) {
  const T old = *at;
  *at = static_cast<T>(old + more);
  return old;
}
inline float __int_as_float(int v) { return cuda_emulator::bits<float>(v); }
inline int __float_as_int(float v) { return cuda_emulator::bits<int>(v); }
inline unsigned __float_as_uint(float v) { return cuda_emulator::bits<unsigned>(v); }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline int __vimin3_s32(int a, int b, int c) { return std::min({a, b, c}); }
template <class A, class B>
auto min(A a, B b) {
  return b < a ? std::common_type_t<A, B>(b) : std::common_type_t<A, B>(a);
}
