// saxpy: z = a x + y, three times.

// Any grid does: each thread goes on in steps of the whole grid.
extern "C" __global__ void saxpy(float a, const float* __restrict__ x, const float* __restrict__ y,
                                 float* __restrict__ z, long long n) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) z[i] = a * x[i] + y[i];
}

// Each thread has four elements, in loads of 16 bytes, at which multiples new arrays begin.
extern "C" __global__ void saxpy_by_four(float a, const float* __restrict__ x, const float* __restrict__ y,
                                         float* __restrict__ z, long long n) {
  const long long i = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 <= n) {
    const float4 p = *reinterpret_cast<const float4*>(x + i), q = *reinterpret_cast<const float4*>(y + i);
    *reinterpret_cast<float4*>(z + i) = {a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w};
  } else {
#pragma unroll 1
    for (long long k = i; k < n; ++k) z[k] = a * x[k] + y[k];
  }
}

// Views bring their shapes and strides along.
extern "C" __global__ void saxpy_strided(float a, sinter::strided<const float, 1> x, sinter::strided<const float, 1> y,
                                         float* __restrict__ z) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < x.size()) z[i] = a * x(i) + y(i);
}
