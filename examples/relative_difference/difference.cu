// The relative difference d = 2 (x - y) / (x + y), three times.

__device__ float relative_difference(float x, float y) { return 2 * (x - y) / (x + y); }

// Any grid does: each thread goes on in steps of the whole grid.
extern "C" __global__ void difference(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ d,
                                      long long n) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    d[i] = relative_difference(x[i], y[i]);
}

// Each thread has four elements, in loads of 16 bytes, at which multiples new arrays begin.
extern "C" __global__ void difference_by_four(const float* __restrict__ x, const float* __restrict__ y,
                                              float* __restrict__ d, long long n) {
  const long long i = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 <= n) {
    const float4 p = *reinterpret_cast<const float4*>(x + i), q = *reinterpret_cast<const float4*>(y + i);
    *reinterpret_cast<float4*>(d + i) = {relative_difference(p.x, q.x), relative_difference(p.y, q.y),
                                         relative_difference(p.z, q.z), relative_difference(p.w, q.w)};
  } else {
#pragma unroll 1
    for (long long k = i; k < n; ++k) d[k] = relative_difference(x[k], y[k]);
  }
}

// Views bring their shapes and strides along.
extern "C" __global__ void difference_strided(sinter::strided<const float, 1> x, sinter::strided<const float, 1> y,
                                              float* __restrict__ d) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < x.size()) d[i] = relative_difference(x(i), y(i));
}
