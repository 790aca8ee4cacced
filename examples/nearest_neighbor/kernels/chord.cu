// The nearest of n points for each of m, all of them unit vectors: the smallest squared chord. Two kernels: the search
// finds the group of GROUP columns that holds the smallest chord, which takes 7 instructions a pair (6.5 with DPX: 3
// subtractions, 1 product, 2 fused products, 1 or 1/2 minimum); the finish reads that group again for the column,
// and takes the distance from the angles.
//
// Differences of coordinates keep distances of a few metres, which 1 - dot(p, q) loses: it is 1e-13 there.
//
// ROWS    rows that a thread owns: each column is loaded once for all of them
// BLOCK   threads of a block; a block owns ROWS * BLOCK rows
// GROUP   columns whose minimum is taken before the place of the smallest is noted: 8, 16, 32, 64 or 128
// UNROLL  how often the code for four columns is repeated, at most GROUP / 4: fewer branches, or less code
// TILE    columns that a block brings to shared memory at a time, a multiple of GROUP; 0: read through the cache
// DPX     1: the minimum of three by one integer instruction, since chords are not negative; 0: of two floats
#ifndef ROWS
#define ROWS 8
#endif
#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef GROUP
#define GROUP 32
#endif
#ifndef UNROLL
#define UNROLL 4
#endif
#ifndef TILE
#define TILE 1024
#endif
#ifndef DPX
#define DPX 1
#endif
#define LANES (GROUP / 4)  // lanes of the finish that share a row, four columns each

typedef unsigned long long packed;  // bits of a chord's square, then a column: the smaller wins, ties by the column

__device__ __forceinline__ float square_of_chord(float px, float py, float pz, float qx, float qy, float qz) {
  // Spelt out, so that both kernels get the same bits whatever the options say.
  const float x = __fsub_rn(px, qx), y = __fsub_rn(py, qy), z = __fsub_rn(pz, qz);
  return __fmaf_rn(z, z, __fmaf_rn(y, y, __fmul_rn(x, x)));
}

__device__ __forceinline__ float smallest(float a, float b, float c) {
#if DPX
  return __int_as_float(__vimin3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
#else
  return fminf(fminf(a, b), c);
#endif
}

__device__ __forceinline__ packed smaller(packed a, packed b) { return a < b ? a : b; }

/// Block (x, y) searches rows x * ROWS * BLOCK ... in columns y * slice ... of n. n and slice are multiples of GROUP.
/// partial (gridDim.y, m): the smallest square and the first column of its group.
extern "C" __global__ __launch_bounds__(BLOCK) void chord_search(
    const float* __restrict__ px, const float* __restrict__ py, const float* __restrict__ pz, long long m,
    const float* __restrict__ qx, const float* __restrict__ qy, const float* __restrict__ qz, int n, int slice,
    unsigned long long* __restrict__ partial) {
#if TILE
  __shared__ float4 tile_x[TILE / 4], tile_y[TILE / 4], tile_z[TILE / 4];
#endif
  float x[ROWS], y[ROWS], z[ROWS], best[ROWS];
  int where[ROWS];
  constexpr int unroll = UNROLL;
  const long long first = (long long)blockIdx.x * (BLOCK * ROWS) + threadIdx.x;
  const int begin = blockIdx.y * slice, end = min(begin + slice, n);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const long long row = min(first + r * BLOCK, m - 1);  // rows beyond the last do its work again
    x[r] = px[row], y[r] = py[row], z[r] = pz[row];
    best[r] = __int_as_float(0x7f800000);
    where[r] = begin;
  }
  const float4 *all_x = (const float4*)qx, *all_y = (const float4*)qy, *all_z = (const float4*)qz;
#if TILE
  for (int base = begin; base < end; base += TILE) {
    const int columns = min(TILE, end - base);
    __syncthreads();
#pragma unroll 1
    for (int c = threadIdx.x; c < columns / 4; c += BLOCK) {
      tile_x[c] = all_x[base / 4 + c], tile_y[c] = all_y[base / 4 + c], tile_z[c] = all_z[base / 4 + c];
    }
    __syncthreads();
    const float4 *from_x = tile_x, *from_y = tile_y, *from_z = tile_z;
#else
  {
    const int base = begin, columns = end - begin;
    const float4 *from_x = all_x + base / 4, *from_y = all_y + base / 4, *from_z = all_z + base / 4;
#endif
#pragma unroll 1
    for (int g = 0; g < columns; g += GROUP) {
      float low[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) low[r] = __int_as_float(0x7f800000);
#pragma unroll unroll
      for (int c = 0; c < GROUP / 4; ++c) {
        const float4 a = from_x[g / 4 + c], b = from_y[g / 4 + c], d = from_z[g / 4 + c];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          low[r] = smallest(low[r], square_of_chord(x[r], y[r], z[r], a.x, b.x, d.x),
                            square_of_chord(x[r], y[r], z[r], a.y, b.y, d.y));
          low[r] = smallest(low[r], square_of_chord(x[r], y[r], z[r], a.z, b.z, d.z),
                            square_of_chord(x[r], y[r], z[r], a.w, b.w, d.w));
        }
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const bool better = low[r] < best[r];
        best[r] = better ? low[r] : best[r];
        where[r] = better ? base + g : where[r];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const long long row = first + r * BLOCK;
    if (row < m) partial[blockIdx.y * m + row] = (packed)__float_as_uint(best[r]) << 32 | (unsigned)where[r];
  }
}

/// The smallest of LANES neighbouring lanes, for all of them.
__device__ __forceinline__ packed smallest_of_lanes(packed v) {
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) v = smaller(v, __shfl_xor_sync(0xffffffffu, v, step));
  return v;
}

/// LANES lanes a row: the smallest of the row's `splits` partial results, the column within its group, the distance.
/// p (m, 2), q (columns, 2): latitude and longitude in radians. distance: diameter * asin(sqrt(haversine)).
extern "C" __global__ __launch_bounds__(256) void chord_finish(
    const float* __restrict__ px, const float* __restrict__ py, const float* __restrict__ pz, long long m,
    const float* __restrict__ qx, const float* __restrict__ qy, const float* __restrict__ qz, int splits,
    const unsigned long long* __restrict__ partial, const float* __restrict__ p, const float* __restrict__ q,
    int columns, float diameter, long long* __restrict__ index, float* __restrict__ distance) {
  const long long thread = (long long)blockIdx.x * 256 + threadIdx.x;
  const int lane = threadIdx.x % LANES;
  const long long row = min(thread / LANES, m - 1);  // all lanes take part in the exchanges
  packed found = ~0ull;
  for (int s = lane; s < splits; s += LANES) found = smaller(found, partial[s * m + row]);
  const int at = (int)(smallest_of_lanes(found) & 0xffffffffu) + 4 * lane;
  const float x = px[row], y = py[row], z = pz[row];
  const float4 a = *(const float4*)(qx + at), b = *(const float4*)(qy + at), c = *(const float4*)(qz + at);
  found = (packed)__float_as_uint(square_of_chord(x, y, z, a.x, b.x, c.x)) << 32 | (unsigned)at;
  found = smaller(found, (packed)__float_as_uint(square_of_chord(x, y, z, a.y, b.y, c.y)) << 32 | (unsigned)(at + 1));
  found = smaller(found, (packed)__float_as_uint(square_of_chord(x, y, z, a.z, b.z, c.z)) << 32 | (unsigned)(at + 2));
  found = smaller(found, (packed)__float_as_uint(square_of_chord(x, y, z, a.w, b.w, c.w)) << 32 | (unsigned)(at + 3));
  // Columns from `columns` on repeat the last one, which the tie rule prefers to them.
  const int j = min((int)(smallest_of_lanes(found) & 0xffffffffu), columns - 1);
  if (lane != 0 || thread / LANES >= m) return;
  const float lat1 = p[2 * row], lon1 = p[2 * row + 1], lat2 = q[2 * j], lon2 = q[2 * j + 1];
  const float u = sinf((lat2 - lat1) / 2), v = sinf((lon2 - lon1) / 2);
  index[row] = j;
  distance[row] = diameter * asinf(sqrtf(fminf(u * u + cosf(lat1) * cosf(lat2) * v * v, 1.0f)));
}
