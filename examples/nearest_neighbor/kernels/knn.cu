// The k nearest of n points for each of m, by squared Euclidean distance in any number of dimensions. A block owns 64
// rows. It walks over the columns, 64 at a time: its threads compute a tile of 64 x 64 squares, 4 x 4 each, from
// coordinates in shared memory; then each warp looks through 8 rows of the tile for what belongs into their sorted
// lists.
//
// Squares that are infinite or NaN are never chosen; places that stay empty get index -1.
//
// LIST    places of a list, at least k: 8, 16, 32 or 64
// CHUNK   coordinates brought to shared memory at a time: 4 or 16
#ifndef LIST
#define LIST 64
#endif
#ifndef CHUNK
#define CHUNK 16
#endif
#define SIDE 64           // rows and columns of a tile
#define PITCH (SIDE + 4)  // of coordinates, so that a warp's transposing stores spread over the banks
#define THREADS 256

union workspace {
  struct {
    float p[CHUNK][PITCH], q[CHUNK][PITCH];  // coordinates, transposed
  } in;
  float squares[SIDE][SIDE];
};

/// The sorted list of one row, spread over a warp: places `lane` and, in long lists, `lane` + 32.
struct row_list {
  float low, high;
  int low_index, high_index;
};

/// Inserts (square, column) after all entries that are not larger; the last entry is dropped.
__device__ __forceinline__ void insert(row_list& l, float square, int column, int lane) {
  const unsigned all = 0xffffffffu;
  int place = __popc(__ballot_sync(all, l.low <= square));
  if (LIST > 32) place += __popc(__ballot_sync(all, l.high <= square));
  const float below = __shfl_up_sync(all, l.low, 1);
  const int below_index = __shfl_up_sync(all, l.low_index, 1);
  if (LIST > 32) {
    float beneath = __shfl_up_sync(all, l.high, 1);
    int beneath_index = __shfl_up_sync(all, l.high_index, 1);
    const float last = __shfl_sync(all, l.low, 31);
    const int last_index = __shfl_sync(all, l.low_index, 31);
    if (lane == 0) beneath = last, beneath_index = last_index;
    if (lane + 32 > place) l.high = beneath, l.high_index = beneath_index;
    if (lane + 32 == place) l.high = square, l.high_index = column;
  }
  if (lane > place) l.low = below, l.low_index = below_index;
  if (lane == place) l.low = square, l.low_index = column;
}

/// p (m, dimensions), q (n, dimensions); squares, indices (m, k), nearest first, of equally near ones the first column
/// first. k <= n.
extern "C" __global__ __launch_bounds__(THREADS) void knn_search(const float* __restrict__ p, long long m,
                                                                 const float* __restrict__ q, int n, int dimensions,
                                                                 int k, float* __restrict__ squares,
                                                                 int* __restrict__ indices) {
  __shared__ workspace work;
  __shared__ float list_square[SIDE][LIST];
  __shared__ int list_index[SIDE][LIST];
  const float infinity = __int_as_float(0x7f800000);
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int tx = tid % 16, ty = tid / 16;  // 4 x 4 squares of this thread: rows 4 * ty ..., columns 4 * tx ...
  const long long first = (long long)blockIdx.x * SIDE;
  for (int e = tid; e < SIDE * LIST; e += THREADS) {
    list_square[e / LIST][e % LIST] = infinity;
    list_index[e / LIST][e % LIST] = -1;
  }
  for (int base = 0; base < n; base += SIDE) {
    float sum[4][4] = {};
    for (int from = 0; from < dimensions; from += CHUNK) {
      __syncthreads();  // the lists are ready, and no thread reads the last tile any more
#pragma unroll
      for (int e = tid; e < SIDE * CHUNK; e += THREADS) {
        const int d = from + e % CHUNK, r = e / CHUNK;
        const long long row = min(first + r, m - 1);
        const int column = min(base + r, n - 1);
        work.in.p[e % CHUNK][r] = d < dimensions ? p[row * dimensions + d] : 0.0f;
        work.in.q[e % CHUNK][r] = d < dimensions ? q[(long long)column * dimensions + d] : 0.0f;
      }
      __syncthreads();
#pragma unroll
      for (int d = 0; d < CHUNK; ++d) {
        const float4 a = *(const float4*)&work.in.p[d][4 * ty], b = *(const float4*)&work.in.q[d][4 * tx];
        const float x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) sum[i][j] += (x[i] - y[j]) * (x[i] - y[j]);
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float4 four = {sum[i][0], sum[i][1], sum[i][2], sum[i][3]};
      *(float4*)&work.squares[4 * ty + i][4 * tx] = four;
    }
    __syncthreads();
    for (int r = warp; r < SIDE; r += THREADS / 32) {
      const float bound = list_square[r][k - 1];
      const float a = base + lane < n ? work.squares[r][lane] : infinity;
      const float b = base + 32 + lane < n ? work.squares[r][32 + lane] : infinity;
      unsigned wanted = __ballot_sync(0xffffffffu, a < bound), more = __ballot_sync(0xffffffffu, b < bound);
      if ((wanted | more) == 0) continue;
      row_list l;
      l.low = lane < LIST ? list_square[r][lane] : infinity;
      l.low_index = lane < LIST ? list_index[r][lane] : -1;
      l.high = LIST > 32 ? list_square[r][(lane + 32) % LIST] : infinity;
      l.high_index = LIST > 32 ? list_index[r][(lane + 32) % LIST] : -1;
      for (; wanted; wanted &= wanted - 1) {
        const int c = __ffs(wanted) - 1;
        insert(l, __shfl_sync(0xffffffffu, a, c), base + c, lane);
      }
      for (; more; more &= more - 1) {
        const int c = __ffs(more) - 1;
        insert(l, __shfl_sync(0xffffffffu, b, c), base + 32 + c, lane);
      }
      if (lane < LIST) list_square[r][lane] = l.low, list_index[r][lane] = l.low_index;
      if (LIST > 32) list_square[r][(lane + 32) % LIST] = l.high, list_index[r][(lane + 32) % LIST] = l.high_index;
      __syncwarp();
    }
  }
  __syncthreads();
  for (int r = warp; r < SIDE && first + r < m; r += THREADS / 32) {
    for (int place = lane; place < k; place += 32) {
      squares[(first + r) * k + place] = list_square[r][place];
      indices[(first + r) * k + place] = list_index[r][place];
    }
  }
}

/// Great-circle distances of the k found for each row, which are put in their order: squared chords of rounded unit
/// vectors give it up to a metre. p (m, 2), q (n, 2) in radians; indices, index, distance (m, k). A thread a row.
extern "C" __global__ void knn_great_circle(const float* __restrict__ p, long long m, const float* __restrict__ q,
                                            const int* __restrict__ indices, int k, float diameter,
                                            long long* __restrict__ index, float* __restrict__ distance) {
  const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m) return;
  const float lat1 = p[2 * row], lon1 = p[2 * row + 1], c = cosf(lat1);
  for (int place = 0; place < k; ++place) {
    const int j = indices[row * k + place];
    float d = __int_as_float(0x7f800000);
    if (j >= 0) {
      const float u = sinf((q[2 * j] - lat1) / 2), v = sinf((q[2 * j + 1] - lon1) / 2);
      d = diameter * asinf(sqrtf(fminf(u * u + c * cosf(q[2 * j]) * v * v, 1.0f)));
    }
    int at = place;
    for (; at > 0; --at) {
      const float before = distance[row * k + at - 1];
      const long long before_index = index[row * k + at - 1];
      if (before < d || (before == d && before_index < j)) break;
      distance[row * k + at] = before;
      index[row * k + at] = before_index;
    }
    distance[row * k + at] = d;
    index[row * k + at] = j;
  }
}
