// A step of the five-point stencil. Each block brings a tile of the field, with a margin of one element, to shared memory.
//
// SIDE  a block has SIDE * SIDE elements and SIDE * SIDE / ROWS threads
// ROWS  elements of a thread, one below the other; SIDE / ROWS must be 4 or more

// Elements at the edges of the field. Inner ones next to a reflecting border write the border, too.
__device__ void write_at_edge(float* next, int n, int i, int j, float old, float result, bool reflecting) {
  const int last = n - 1;
  if (i > last || j > last) return;
  if (i == 0 || i == last || j == 0 || j == last) {
    if (!reflecting) next[i * n + j] = old;
    return;
  }
  next[i * n + j] = result;
  if (!reflecting) return;
  const bool above = i == 1, below = i == last - 1, left = j == 1, right = j == last - 1;
  if (above) next[j] = result;
  if (below) next[last * n + j] = result;
  if (left) next[i * n] = result;
  if (right) next[i * n + last] = result;
  if (above && left) next[0] = result;
  if (above && right) next[last] = result;
  if (below && left) next[last * n] = result;
  if (below && right) next[last * n + last] = result;
}

extern "C" __global__ void __launch_bounds__(SIDE* SIDE / ROWS)
    diffuse(const float* __restrict__ u, float* __restrict__ next, int n, float rate, bool reflecting) {
  __shared__ float tile[SIDE + 2][SIDE + 2];
  // The tile's corner lies above and to the left of the block's own elements. What lies outside of the field is not used.
  const int top = blockIdx.y * SIDE - 1, left = blockIdx.x * SIDE - 1, last = n - 1;
  const auto field = [=](int i, int j) { return u[min(max(i, 0), last) * n + min(max(j, 0), last)]; };
  const int r = 1 + threadIdx.y * ROWS, c = 1 + threadIdx.x, j = left + c;
#pragma unroll
  for (int k = 0; k < ROWS; ++k) tile[r + k][c] = field(top + r + k, j);
  // The margin: four rows of threads bring a side each. Nobody needs its corners.
  switch (threadIdx.y) {
    case 0: tile[0][c] = field(top, left + c); break;
    case 1: tile[SIDE + 1][c] = field(top + SIDE + 1, left + c); break;
    case 2: tile[c][0] = field(top + c, left); break;
    case 3: tile[c][SIDE + 1] = field(top + c, left + SIDE + 1); break;
  }
  __syncthreads();

  const bool inner = top >= 0 && left >= 0 && top + SIDE < last - 1 && left + SIDE < last - 1;
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const int at = r + k, i = top + at;
    const float old = tile[at][c];
    const float result = old + rate * (tile[at - 1][c] + tile[at + 1][c] + tile[at][c - 1] + tile[at][c + 1] - 4 * old);
    if (inner) next[i * n + j] = result;
    else write_at_edge(next, n, i, j, old, result, reflecting);
  }
}
