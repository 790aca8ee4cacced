// The accumulator of a user's reduction, and how blocks merge it. What a user's expression does is not known here: it
// may branch, so lanes meet at barriers that do not ask for whole warps (see merge_column in cuda_reduce.h).
namespace sn {

// M has V identity() and V combine(V, V).
template <class V, class M>
struct acc_user {
  static_assert(sizeof(V) <= 32, "the value of a reduction has at most 32 bytes");
  V v;
  __device__ __forceinline__ void init() { v = M::identity(); }
  __device__ __forceinline__ void step(const V& x, i64) { v = M::combine(v, x); }
  __device__ __forceinline__ void step4(const V (&x)[4], i64) {
    v = M::combine(v, M::combine(M::combine(x[0], x[1]), M::combine(x[2], x[3])));
  }
  __device__ __forceinline__ void merge(const acc_user& o) { v = M::combine(v, o.v); }
  __device__ __forceinline__ V result() const { return v; }
};

__device__ __forceinline__ void meet() { asm volatile("barrier.sync 0;" ::: "memory"); }

template <class V, class M>
__device__ __forceinline__ void merge_row(acc_user<V, M>& x, unsigned char* shared) {
  typedef acc_user<V, M> A;
  const int width = blockDim.x;
  merge_lanes(x, width < 32 ? width : 32);
  if (width <= 32) return;
  A* parts = reinterpret_cast<A*>(shared) + threadIdx.y * (width / 32);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  meet();
  if (threadIdx.x == 0)
    for (int w = 1; w < width / 32; ++w) x.merge(parts[w]);
  meet();
}
template <class V, class M>
__device__ __forceinline__ void merge_column(acc_user<V, M>& x, unsigned char* shared) {
  typedef acc_user<V, M> A;
  A* parts = reinterpret_cast<A*>(shared);
  const int at = threadIdx.y * blockDim.x + threadIdx.x;
  for (int half = blockDim.y / 2; half > 0; half /= 2) {
    if ((int)threadIdx.y >= half) parts[at] = x;
    meet();
    if ((int)threadIdx.y < half) x.merge(parts[at + half * blockDim.x]);
    meet();
  }
}

}  // namespace sn
