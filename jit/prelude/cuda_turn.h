// Squares of packs. Behind cuda_loop.h and cuda_bytes.h in kernels on tiles.
namespace sn {

// Rows of a square become its columns.
template <class S, int N>
__device__ __forceinline__ void turn(pack<S, N> (&rows)[N]) {
  if (N * sizeof(S) != 4) {
#pragma unroll
    for (int j = 0; j < N; ++j)
#pragma unroll
      for (int l = 0; l < j; ++l) {
        const S x = rows[j].v[l];
        rows[j].v[l] = (S)rows[l].v[j];
        rows[l].v[j] = x;
      }
    return;
  }
  unsigned w[4] = {}, pairs[4];
#pragma unroll
  for (int j = 0; j < N; ++j) memcpy(&w[j], &rows[j], sizeof rows[j] < 4 ? sizeof rows[j] : 4);
  if (N == 4) {
#pragma unroll
    for (int k = 0; k < 4; ++k) pairs[k] = __byte_perm(w[k & 2], w[(k & 2) + 1], k & 1 ? 0x7362 : 0x5140);
#pragma unroll
    for (int k = 0; k < 4; ++k) w[k] = __byte_perm(pairs[k / 2], pairs[k / 2 + 2], k & 1 ? 0x7632 : 0x5410);
  } else if (N == 2) {
    pairs[0] = __byte_perm(w[0], w[1], 0x5410);
    w[1] = __byte_perm(w[0], w[1], 0x7632);
    w[0] = pairs[0];
  }
#pragma unroll
  for (int j = 0; j < N; ++j) memcpy(&rows[j], &w[j], sizeof rows[j] < 4 ? sizeof rows[j] : 4);
}

}  // namespace sn
