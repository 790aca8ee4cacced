// The kernels of the raw kernel tests. Without a GPU they are still compiled (raw_compile_test.cpp).
#pragma once

namespace raw_test {

inline constexpr const char* axpy = R"cu(
extern "C" __global__ void axpy(float a, const float* __restrict__ x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
)cu";

inline constexpr const char* templates = R"cu(
template <class T, int N>
__global__ void scale(T* x, T a, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * a + T(N);
}
namespace my {
__global__ void shift(double* x, double by, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}
}
__global__ void overloaded(float* x) { x[0] = 1; }
__global__ void overloaded(int* x) { x[0] = 2; }
)cu";

inline constexpr const char* variables = R"cu(
namespace my { __constant__ float table[8]; }
struct point { float x, y; };
__constant__ point where;
__device__ int counter;
__device__ bool flags[3];
extern "C" __global__ void look_up(const int* at, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = my::table[at[i]] + where.x * where.y;
  if (i < n) atomicAdd(&counter, 1);
  if (i < 3) flags[i] = i != 1;
}
)cu";

// Each block reverses a stretch of as many floats as there is shared memory.
inline constexpr const char* shared = R"cu(
extern "C" __global__ void reverse(const float* x, float* y, int n) {
  extern __shared__ float block[];
  long long first = (long long)blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) block[i] = x[first + i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[first + i] = block[n - 1 - i];
}
)cu";

// Every block needs what all others have written before: wrong without a barrier of the whole grid.
inline constexpr const char* grid_sync = R"cu(
#include <cooperative_groups.h>
extern "C" __global__ void chain(unsigned* cells, unsigned* out, int rounds) {
  auto grid = cooperative_groups::this_grid();
  unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    unsigned value = cells[(i + 7919u) % n] + 1u;
    grid.sync();
    cells[i] = value;
    grid.sync();
  }
  out[i] = cells[i];
}
)cu";

// Each block reads the shared memory of the next one of its cluster.
inline constexpr const char* cluster = R"cu(
#include <cooperative_groups.h>
extern "C" __global__ void neighbors(int* out) {
  namespace cg = cooperative_groups;
  __shared__ int mine;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = blockIdx.x;
  cluster.sync();
  if (threadIdx.x == 0)
    out[blockIdx.x] = *cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
  cluster.sync();
}
)cu";

inline constexpr const char* strides = R"cu(
__global__ void add(sinter::strided<const float, 2> a, sinter::strided<float, 2> out, float c) {
  long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x, i = blockIdx.y;
  if (i < out.shape[0] && j < out.shape[1]) out(i, j) = a(i, j) + c;
}
__global__ void rank0(sinter::strided<float, 0> x) { x() = x() + 1; }
)cu";

inline constexpr const char* types = R"cu(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
struct params { float a; int n; };
extern "C" __global__ void halves(const __half* x, __half* y, __half a, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = __float2half(__half2float(x[i]) * __half2float(a));
}
extern "C" __global__ void bfloats(const __nv_bfloat16* x, __nv_bfloat16* y, __nv_bfloat16 a, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(__bfloat162float(x[i]) * __bfloat162float(a));
}
extern "C" __global__ void conjugate(const float2* x, float2* y, float2 a, uint32_t n) {
  unsigned i = threadIdx.x;
  if (i < n) y[i] = make_float2(x[i].x + a.x, -(x[i].y + a.y));
}
extern "C" __global__ void quads(const float4* x, float4* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = make_float4(x[i].w, x[i].z, x[i].y, x[i].x);
}
extern "C" __global__ void by_struct(params p, float* x) {
  if (threadIdx.x < p.n) x[threadIdx.x] *= p.a;
}
extern "C" __global__ void __launch_bounds__(64) bounded(bool on, int64_t* x) {
  if (on) x[threadIdx.x] = threadIdx.x;
}
)cu";

}  // namespace raw_test
