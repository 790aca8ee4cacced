// The scheme of GPU workshops: a grid of blocks walks over all pairs, 16 rows and 32 columns of threads at a time. A
// warp is the 32 threads of a row; it exchanges its minima by shuffles and leaves one a row and column of blocks,
// (m, 32) in all. A second kernel takes the smallest of each 32.

__device__ __forceinline__ float haversine(float lat1, float lon1, float lat2, float lon2, float diameter) {
  const float u = sinf((lat2 - lat1) / 2), v = sinf((lon2 - lon1) / 2);
  return diameter * asinf(sqrtf(fminf(u * u + cosf(lat1) * cosf(lat2) * v * v, 1.0f)));
}

struct candidate {
  float distance;
  int index;
};

/// The nearer one, and of two equally near ones the first.
__device__ __forceinline__ candidate nearer(candidate a, candidate b) {
  return b.distance < a.distance || (b.distance == a.distance && b.index < a.index) ? b : a;
}

__device__ __forceinline__ candidate nearest_of_warp(candidate c) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const float distance = __shfl_xor_sync(0xffffffffu, c.distance, step);
    const int index = __shfl_xor_sync(0xffffffffu, c.index, step);
    c = nearer(c, {distance, index});
  }
  return c;
}

/// p (m, 2), q (n, 2): latitude and longitude in radians. distance, index (m, 32): the nearest in each column of
/// blocks. Blocks of 32 x 16 threads, 32 blocks along x.
extern "C" __global__ void nearest_of_blocks(const float* __restrict__ p, long long m, const float* __restrict__ q,
                                             int n, float diameter, float* __restrict__ distance,
                                             int* __restrict__ index) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  // A whole warp works on one row, so that all its lanes meet in the shuffles.
  for (long long i = (long long)blockIdx.y * blockDim.y + threadIdx.y; i < m; i += (long long)gridDim.y * blockDim.y) {
    const float lat = p[2 * i], lon = p[2 * i + 1];
    candidate best = {__int_as_float(0x7f800000), 0x7fffffff};
    for (int j = first; j < n; j += step) {
      const float d = haversine(lat, lon, q[2 * j], q[2 * j + 1], diameter);
      if (d < best.distance) best = {d, j};
    }
    best = nearest_of_warp(best);
    if (threadIdx.x == 0) {
      distance[i * 32 + blockIdx.x] = best.distance;
      index[i * 32 + blockIdx.x] = best.index;
    }
  }
}

/// The nearest of each row of the intermediate arrays (m, 32), a warp a row. Blocks of 32 x 16 threads.
extern "C" __global__ void nearest_of_rows(const float* __restrict__ distances, const int* __restrict__ indices,
                                           long long m, long long* __restrict__ index, float* __restrict__ distance) {
  for (long long i = (long long)blockIdx.x * blockDim.y + threadIdx.y; i < m; i += (long long)gridDim.x * blockDim.y) {
    const candidate own = {distances[i * 32 + threadIdx.x], indices[i * 32 + threadIdx.x]};
    const candidate best = nearest_of_warp(own);
    if (threadIdx.x == 0) {
      index[i] = best.index;
      distance[i] = best.distance;
    }
  }
}
