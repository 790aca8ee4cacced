// Accumulators of minima and maxima, and the merging of all. `step4` takes four consecutive elements; `merge` takes an accumulator of later elements.
namespace sn {

template <class T>
__device__ __forceinline__ bool unordered(T) {
  return false;
}
__device__ __forceinline__ bool unordered(float x) { return x != x; }
__device__ __forceinline__ bool unordered(double x) { return x != x; }

template <class T>
struct bounds {  // integers and bool
  static __device__ __forceinline__ T highest() {
    return T(-1) < T(0) ? T(((1ull << (8 * sizeof(T) - 1)) - 1)) : T(~0ull);
  }
  static __device__ __forceinline__ T lowest() { return T(-1) < T(0) ? T(1ull << (8 * sizeof(T) - 1)) : T(0); }
};
template <>
struct bounds<float> {
  static __device__ __forceinline__ float highest() { return __int_as_float(0x7f800000); }
  static __device__ __forceinline__ float lowest() { return __int_as_float(0xff800000); }
};
template <>
struct bounds<double> {
  static __device__ __forceinline__ double highest() { return __longlong_as_double(0x7ff0000000000000ll); }
  static __device__ __forceinline__ double lowest() { return __longlong_as_double(0xfff0000000000000ll); }
};

template <class T>
__device__ __forceinline__ bool precedes(T a, T b) {
  return a < b;
}
template <class T>
__device__ __forceinline__ bool not_below(T a, T b) {
  return a >= b;
}  // false for NaN

// Which of two values wins a minimum (low) or maximum: NaN wins, and -0 lies below +0, so that order does not matter.
template <bool low, class T>
__device__ __forceinline__ T better(T a, T b) {
  return (low ? precedes(b, a) : precedes(a, b)) ? b : a;
}
template <bool low>
__device__ __forceinline__ float better(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float r;
  if (low)
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  else
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  float r = low ? fminf(a, b) : fmaxf(a, b);
  return a == a && b == b ? r : __int_as_float(0x7fffffff);
#endif
}
template <bool low>
__device__ __forceinline__ double better(double a, double b) {
  double r = low ? fmin(a, b) : fmax(a, b);
  return a == a && b == b ? r : __longlong_as_double(0x7fffffffffffffffll);
}

// A group of N elements as groups of four.
template <int N, class A, class T, class I>
__device__ __forceinline__ void step_fours(A& acc, const T (&x)[N], I at) {
#pragma unroll
  for (int k = 0; k < N; k += 4) {
    const T four[4] = {x[k], x[k + 1], x[k + 2], x[k + 3]};
    acc.step4(four, I(at + k));
  }
}

// Whether a later element takes the place of an earlier one.
template <bool low, class T>
__device__ __forceinline__ bool beats(T x, T over) {
  return (unordered(x) && !unordered(over)) || (low ? precedes(x, over) : precedes(over, x));
}

// Steps of minima and maxima say whether the element is the best so far.
template <bool low, class T>
struct acc_extreme {
  T v;
  __device__ __forceinline__ void init() { v = low ? bounds<T>::highest() : bounds<T>::lowest(); }
  __device__ __forceinline__ bool step(T x, i64) {
    const bool won = beats<low>(x, v);
    v = better<low>(v, x);
    return won;
  }
  __device__ __forceinline__ void step4(const T (&x)[4], i64) {
    v = better<low>(v, better<low>(better<low>(x[0], x[1]), better<low>(x[2], x[3])));
  }
  template <int N>
  __device__ __forceinline__ void step_group(const T (&x)[N], i64 at) {
    step_fours<N>(*this, x, at);
  }
  __device__ __forceinline__ void merge(const acc_extreme& o) { v = better<low>(v, o.v); }
  __device__ __forceinline__ T result() const { return v; }
};
// Index -1 marks an accumulator that has seen nothing. Steps come in ascending order of index.
template <bool low, class T, class I>
struct acc_arg {
  T v;
  I i;
  __device__ __forceinline__ void init() {
    v = low ? bounds<T>::highest() : bounds<T>::lowest();
    i = I(-1);
  }
  static __device__ __forceinline__ bool outside(T x, T over) {
    return low ? !not_below(x, over) : !not_below(over, x);
  }
  __device__ __forceinline__ bool step(T x, I at) {
    const bool won = i < 0 || beats<low>(x, v);
    if (won) {
      v = x;
      i = at;
    }
    return won;
  }
  __device__ __forceinline__ void step4(const T (&x)[4], I at) { step_group<4>(x, at); }
  template <int N>
  __device__ __forceinline__ void step_group(const T (&x)[N], I at) {
    if (i < 0) i = at;
    bool any = false;  // beats() or v is NaN: one comparison an element, and few groups get past it
#pragma unroll
    for (int l = 0; l < N; ++l) any = any | outside(x[l], v);
    if (!any) return;
#pragma unroll
    for (int l = 0; l < N; ++l) {
      bool w = beats<low>(x[l], v);
      v = w ? x[l] : v;
      i = w ? I(at + l) : i;
    }
  }
  __device__ __forceinline__ void merge(const acc_arg& o) {
    bool mine = beats<low>(v, o.v), theirs = beats<low>(o.v, v);
    bool take = (o.i >= 0) & ((i < 0) | theirs | (!mine & (o.i < i)));
    v = take ? o.v : v;
    i = take ? o.i : i;
  }
  __device__ __forceinline__ i64 result() const { return i < 0 ? 0 : i; }
};
template <class A>
__device__ __forceinline__ A shuffled(const A& x, int distance) {
  enum { words = (sizeof(A) + 3) / 4 };
  unsigned raw[words];
  raw[words - 1] = 0;
  memcpy(raw, &x, sizeof x);
#pragma unroll
  for (int i = 0; i < words; ++i) raw[i] = __shfl_xor_sync(0xffffffffu, raw[i], distance);
  A y;
  memcpy(&y, raw, sizeof y);
  return y;
}
// Lane 0 of each `width` (a power of two up to 32) lanes gets the whole; later lanes hold later elements.
template <class A>
__device__ __forceinline__ void merge_lanes(A& x, int width) {
  for (int d = 1; d < width; d += d) {
    A o = shuffled(x, d);
    x.merge(o);
  }
}

// Thread (0, y) gets the whole of row y of the block: blockDim.x is a power of two, threadIdx.x the order. Several
// accumulators are merged as one struct of them. The loop over warps is not unrolled: it runs once, and its copies took
// half of the compiler's time for kernels with several results.
template <class A>
__device__ __forceinline__ void merge_row(A& x, unsigned char* shared) {
  const int width = blockDim.x;
  merge_lanes(x, width < 32 ? width : 32);
  if (width <= 32) return;
  A* parts = reinterpret_cast<A*>(shared) + threadIdx.y * (width / 32);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (int w = 1; w < width / 32; ++w) x.merge(parts[w]);
  }
  __syncthreads();
}
// The same, but all threads of the row get it, and `shared` is for this call only.
template <class A>
__device__ __forceinline__ A from_lane(const A& x, int lane) {
  enum { words = (sizeof(A) + 3) / 4 };
  unsigned raw[words];
  raw[words - 1] = 0;
  memcpy(raw, &x, sizeof x);
#pragma unroll
  for (int i = 0; i < words; ++i) raw[i] = __shfl_sync(0xffffffffu, raw[i], lane);
  A y;
  memcpy(&y, raw, sizeof y);
  return y;
}
template <class A>
__device__ __forceinline__ void share_row(A& x, unsigned char* shared) {
  const int width = blockDim.x;
  merge_lanes(x, width < 32 ? width : 32);
  if (width <= 32) {
    x = from_lane(x, (int)((threadIdx.y * width + threadIdx.x) % 32 & ~(width - 1)));
    return;
  }
  A* parts = reinterpret_cast<A*>(shared) + threadIdx.y * (width / 32);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  x = parts[0];
  for (int w = 1; w < width / 32; ++w) x.merge(parts[w]);
}
// Thread (x, 0) gets the whole of column x of the block: blockDim.y is a power of two. merge() must not branch: lanes
// that part ways between these barriers need not meet again before the next one (seen on sm_90: wrong results where a
// warp held columns beyond the last).
template <class A>
__device__ __forceinline__ void merge_column(A& x, unsigned char* shared) {
  A* parts = reinterpret_cast<A*>(shared);
  const int at = threadIdx.y * blockDim.x + threadIdx.x;
  for (int half = blockDim.y / 2; half > 0; half /= 2) {
    __syncwarp();
    if ((int)threadIdx.y >= half) parts[at] = x;
    __syncthreads();
    if ((int)threadIdx.y < half) x.merge(parts[at + half * blockDim.x]);
    __syncwarp();
    __syncthreads();
  }
}

// Partial results on their way to shared memory: a thread copies some ahead, waits for all of its own, and joins them. Loads
// into registers are put off by the compiler until few are in flight.
template <class A>
__device__ __forceinline__ void copy_ahead(A* to, const A* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (sizeof(A) % 4 == 0 && alignof(A) % 4 == 0) {
    constexpr int unit = alignof(A) % 8 == 0 ? 8 : 4;
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
#pragma unroll
    for (int k = 0; k < (int)sizeof(A); k += unit) {
      const char* const word = reinterpret_cast<const char*>(from) + k;
      if (unit == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at + k), "l"(word) : "memory");
      else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at + k), "l"(word) : "memory");
    }
    return;
  }
#endif
  *to = *from;
}
__device__ __forceinline__ void copied() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// The trees of merge_row and merge_column where the threads of a block lie the other way round: thread (x, 0) gets the
// whole of the lanes threadIdx.y, thread (0, y) that of the lanes threadIdx.x.
template <class A>
__device__ __forceinline__ void merge_with(A& x, unsigned char* shared, int distance) {
  A* parts = reinterpret_cast<A*>(shared);
  const int at = threadIdx.y * blockDim.x + threadIdx.x;
  parts[at] = x;
  __syncthreads();
  x.merge(parts[at ^ distance]);
  __syncthreads();
}
template <class A>
__device__ __forceinline__ void merge_crossed_row(A& x, unsigned char* shared) {
  const int lanes = blockDim.y, results = blockDim.x;
  for (int d = 1; d < lanes && d < 32; d += d) merge_with(x, shared, d * results);
  if (lanes <= 32) return;
  A* parts = reinterpret_cast<A*>(shared);
  parts[threadIdx.y * results + threadIdx.x] = x;
  __syncthreads();
  if (threadIdx.y == 0)
    for (int w = 32; w < lanes; w += 32) x.merge(parts[w * results + threadIdx.x]);
  __syncthreads();
}
template <class A>
__device__ __forceinline__ void merge_crossed_column(A& x, unsigned char* shared) {
  for (int half = blockDim.x / 2; half > 0; half /= 2) merge_with(x, shared, half);
}

}  // namespace sn
