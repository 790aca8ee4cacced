// The loops of strided_loops.hpp. Included once for each instruction set, after its target has been opened.
#include "jit/cpu/lane_loops.inl"

namespace sinter::cpu::SINTER_ISA {
namespace {

struct pair_of_words {
  unsigned long long lo, hi;
};

#if SINTER_ISA_LEVEL == 2
/// The lanes of vectors, for elements of a size.
template <class T>
struct vector_lanes;
template <>
struct vector_lanes<unsigned short> {
  static __m512i pick(__m512i x, unsigned mask, const unsigned short* lanes, __m512i from) {
    return _mm512_mask_permutexvar_epi16(x, mask, _mm512_load_si512(lanes), from);
  }
  static __m512i load(unsigned mask, const unsigned short* from) { return _mm512_maskz_loadu_epi16(mask, from); }
};
template <>
struct vector_lanes<unsigned> {
  static __m512i pick(__m512i x, unsigned mask, const unsigned* lanes, __m512i from) {
    return _mm512_mask_permutexvar_epi32(x, static_cast<__mmask16>(mask), _mm512_load_si512(lanes), from);
  }
  static __m512i load(unsigned mask, const unsigned* from) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
  }
  static __m512i of_two(__m512i x, const unsigned* lanes, __m512i y) {
    return _mm512_maskz_permutex2var_epi32(0xffff, x, _mm512_load_si512(lanes), y);
  }
  static void store(unsigned* to, unsigned mask, __m512i x) {
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask), x);
  }
};
template <>
struct vector_lanes<unsigned long long> {
  static __m512i pick(__m512i x, unsigned mask, const unsigned long long* lanes, __m512i from) {
    return _mm512_mask_permutexvar_epi64(x, static_cast<__mmask8>(mask), _mm512_load_si512(lanes), from);
  }
  static __m512i load(unsigned mask, const unsigned long long* from) {
    return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), from);
  }
  static __m512i of_two(__m512i x, const unsigned long long* lanes, __m512i y) {
    return _mm512_maskz_permutex2var_epi64(0xff, x, _mm512_load_si512(lanes), y);
  }
  static void store(unsigned long long* to, unsigned mask, __m512i x) {
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask), x);
  }
};

/// Which elements of a vector lie in which vectors of the memory that they are spread over, a stride apart, and where there.
/// A negative stride: the last element is the first in memory.
template <int Stride, class T>
struct spread_lanes {
  static constexpr int width = 64 / static_cast<int>(sizeof(T)), step = Stride < 0 ? -Stride : Stride;
  alignas(64) T place[step][width] = {};    // by element: its lane in vector v
  alignas(64) T element[step][width] = {};  // by lane of vector v: its element
  unsigned elements[step] = {}, lanes[step] = {};
  unsigned reached = 0;  // lanes of the last vector, up to the last element

  constexpr spread_lanes() {
    for (int k = 0; k < width; ++k) {
      const int v = k * step / width, at = k * step % width, l = Stride < 0 ? width - 1 - k : k;
      place[v][l] = static_cast<T>(at);
      element[v][at] = static_cast<T>(l);
      elements[v] |= 1u << l;
      lanes[v] |= 1u << at;
      if (k == width - 1) reached = (2u << at) - 1;
    }
  }
  /// The memory of a vector whose first element is at `first`.
  template <class P>
  static P* begin(P* first) {
    return Stride < 0 ? first + (width - 1) * Stride : first;
  }
};

/// Whole vectors of memory, of which each gives some elements; what lies behind the last one is not read.
template <int Stride, class T>
[[gnu::always_inline]] inline int load_spread(T* __restrict to, const T* __restrict from, int n) {
  static constexpr spread_lanes<Stride, T> at;
  constexpr int width = spread_lanes<Stride, T>::width;
  constexpr int vectors = spread_lanes<Stride, T>::step;
  using vector = vector_lanes<T>;
  int l = 0;
  for (; l + width <= n; l += width, from += width * Stride) {
    const T* const begin = at.begin(from);
    __m512i x = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const __m512i memory =
          v < vectors - 1 ? _mm512_loadu_si512(begin + v * width) : vector::load(at.reached, begin + v * width);
      x = vector::pick(x, at.elements[v], at.place[v], memory);
    }
    _mm512_storeu_si512(to + l, x);
  }
  return l;
}
#endif

/// With a stride that is known loads are those of whole vectors, and shuffles; pairs are moved as they are.
template <int Stride, class T>
[[gnu::always_inline]] inline void load_every(T* __restrict to, const T* __restrict from, int n) {
  if constexpr (sizeof(T) > sizeof(long long)) {
    SINTER_ONE_BY_ONE(l, n) to[l] = from[static_cast<long long>(l) * Stride];
  } else {
    SINTER_LANES(l, n) to[l] = from[static_cast<long long>(l) * Stride];
  }
}
/// The same of longer and of negative strides, which compilers make of single elements.
template <int Stride, class T>
[[gnu::always_inline]] inline void load_far(T* __restrict to, const T* __restrict from, int n) {
  int done = 0;
#if SINTER_ISA_LEVEL == 2
  if constexpr (sizeof(T) >= 2 && sizeof(T) <= 8) done = load_spread<Stride>(to, from, n);
#endif
  SINTER_ONE_BY_ONE(l, n - done) to[done + l] = from[static_cast<long long>(done + l) * Stride];
}
template <class T>
void load(void* lanes, const void* memory, std::int64_t stride, int n) {
  T* __restrict to = static_cast<T*>(lanes);
  const T* __restrict from = static_cast<const T*>(memory);
  switch (stride) {
    case -1: return load_every<-1>(to, from, n);
    case -2: return load_far<-2>(to, from, n);
    case -3: return load_far<-3>(to, from, n);
    case -4: return load_far<-4>(to, from, n);
    case 2: return load_every<2>(to, from, n);
    case 3: return load_every<3>(to, from, n);
    case 4: return load_every<4>(to, from, n);
    case 5: return load_far<5>(to, from, n);
    case 6: return load_far<6>(to, from, n);
    case 7: return load_far<7>(to, from, n);
    case 8: return load_far<8>(to, from, n);
    default: break;
  }
  SINTER_ONE_BY_ONE(l, n) to[l] = from[l * stride];
}

// What lies between the elements may be another thread's: stores of single elements, or masked ones, write nothing there.
template <int Stride, class T>
[[gnu::always_inline]] inline void store_every(T* __restrict to, const T* __restrict from, int n) {
  int l = 0;
#if SINTER_ISA_LEVEL == 2
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    static constexpr spread_lanes<Stride, T> at;
    constexpr int width = spread_lanes<Stride, T>::width, vectors = spread_lanes<Stride, T>::step;
    using vector = vector_lanes<T>;
    for (; l + width <= n; l += width, to += width * Stride) {
      const __m512i x = _mm512_loadu_si512(from + l);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v)
        vector::store(at.begin(to) + v * width, at.lanes[v], vector::pick(x, at.lanes[v], at.element[v], x));
    }
  }
#endif
  for (; l + 8 <= n; l += 8, to += 8 * Stride)
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) to[k * Stride] = from[l + k];
  for (; l < n; ++l, to += Stride) *to = from[l];
}
template <class T>
[[gnu::always_inline]] inline void store_reversed(T* __restrict to, const T* __restrict from, int n) {
  if constexpr (sizeof(T) > sizeof(long long)) {
    SINTER_ONE_BY_ONE(l, n) to[-l] = from[l];
  } else {
    SINTER_LANES(l, n) to[-l] = from[l];
  }
}
template <class T>
void store(void* memory, std::int64_t stride, const void* lanes, int n) {
  T* __restrict to = static_cast<T*>(memory);
  const T* __restrict from = static_cast<const T*>(lanes);
  switch (stride) {
    case -1: return store_reversed(to, from, n);
    case -2: return store_every<-2>(to, from, n);
    case -3: return store_every<-3>(to, from, n);
    case -4: return store_every<-4>(to, from, n);
    case 2: return store_every<2>(to, from, n);
    case 3: return store_every<3>(to, from, n);
    case 4: return store_every<4>(to, from, n);
    default: break;
  }
  SINTER_ONE_BY_ONE(l, n) to[l * stride] = from[l];
}

#if SINTER_ISA_LEVEL == 2
/// Which components of a vector of records lie in which vectors of memory, and where.
template <int Components, class T>
struct record_lanes {
  static constexpr int width = 64 / static_cast<int>(sizeof(T));
  alignas(64) T place[Components][Components][width] = {};   // of a component, by lane: where in vector v
  alignas(64) T record[Components][Components][width] = {};  // of vector v, by lane: which record's component
  unsigned of_component[Components][Components] = {}, of_vector[Components][Components] = {};

  constexpr record_lanes() {
    for (int c = 0; c < Components; ++c)
      for (int l = 0; l < width; ++l) {
        const int v = (l * Components + c) / width, at = (l * Components + c) % width;
        place[c][v][l] = static_cast<T>(at);
        record[v][c][at] = static_cast<T>(l);
        of_component[c][v] |= 1u << l;
        of_vector[v][c] |= 1u << at;
      }
  }
};
#endif
/// Each vector of memory once, for all components; the last records one by one.
template <int Components, class T>
void take_records(T* const* to, const T* from, int n) {
  int l = 0;
#if SINTER_ISA_LEVEL == 2
  static constexpr record_lanes<Components, T> at;
  constexpr int width = record_lanes<Components, T>::width;
  for (; l + width < n; l += width) {
    __m512i memory[Components];
#pragma GCC unroll 4
    for (int v = 0; v < Components; ++v) memory[v] = _mm512_loadu_si512(from + l * Components + v * width);
#pragma GCC unroll 4
    for (int c = 0; c < Components; ++c) {
      if (!to[c]) continue;
      __m512i x = _mm512_setzero_si512();
#pragma GCC unroll 4
      for (int v = 0; v < Components; ++v)
        x = vector_lanes<T>::pick(x, at.of_component[c][v], at.place[c][v], memory[v]);
      _mm512_storeu_si512(to[c] + l, x);
    }
  }
#endif
  for (int c = 0; c < Components; ++c)
    if (to[c]) load_every<Components>(to[c] + l, from + l * Components + c, n - l);
}
template <int Components, class T>
void put_records(T* to, const T* const* from, int n) {
  int l = 0;
#if SINTER_ISA_LEVEL == 2
  static constexpr record_lanes<Components, T> at;
  constexpr int width = record_lanes<Components, T>::width;
  for (; l + width <= n; l += width) {
    __m512i lanes[Components];
#pragma GCC unroll 4
    for (int c = 0; c < Components; ++c) lanes[c] = _mm512_loadu_si512(from[c] + l);
#pragma GCC unroll 4
    for (int v = 0; v < Components; ++v) {
      __m512i x = _mm512_setzero_si512();
#pragma GCC unroll 4
      for (int c = 0; c < Components; ++c) x = vector_lanes<T>::pick(x, at.of_vector[v][c], at.record[v][c], lanes[c]);
      _mm512_storeu_si512(to + l * Components + v * width, x);
    }
  }
#endif
  for (; l < n; ++l)
    for (int c = 0; c < Components; ++c) to[l * Components + c] = from[c][l];
}
template <class T>
void take_apart(void* const* lanes, const void* memory, int components, int n) {
  T* to[4];
  for (int c = 0; c < components; ++c) to[c] = static_cast<T*>(lanes[c]);
  const T* const from = static_cast<const T*>(memory);
  if (components == 2) take_records<2>(to, from, n);
  else if (components == 3) take_records<3>(to, from, n);
  else take_records<4>(to, from, n);
}
template <class T>
void put_together(void* memory, const void* const* lanes, int components, int n) {
  const T* from[4];
  for (int c = 0; c < components; ++c) from[c] = static_cast<const T*>(lanes[c]);
  T* const to = static_cast<T*>(memory);
  if (components == 2) put_records<2>(to, from, n);
  else if (components == 3) put_records<3>(to, from, n);
  else put_records<4>(to, from, n);
}

/// A few neighbouring elements at a time, so that the loop is one of shuffles.
template <int Run, class T>
[[gnu::always_inline]] inline void repeat_every(T* __restrict to, const T* __restrict from, int n) {
  const int runs = n / Run;
  for (int r = 0; r < runs; ++r) {
    const T x = from[r];
#pragma GCC unroll 4
    for (int k = 0; k < Run; ++k) to[r * Run + k] = x;
  }
  for (int l = runs * Run; l < n; ++l) to[l] = from[runs];
}
/// Those that lie apart are put together before.
template <int Run, class T>
[[gnu::always_inline]] inline void repeat_apart(T* __restrict to, const T* __restrict from, std::int64_t stride,
                                                int n) {
  if (stride == 1) return repeat_every<Run>(to, from, n);
  constexpr int most = 64;
  T some[most];
  for (; n > 0; n -= most * Run, to += most * Run, from += most * stride) {
    const int lanes = n < most * Run ? n : most * Run;
    load<T>(some, from, stride, (lanes + Run - 1) / Run);
    repeat_every<Run>(to, some, lanes);
  }
}
#if SINTER_ISA_LEVEL == 2
__m512i everywhere(unsigned char x) { return _mm512_set1_epi8(static_cast<char>(x)); }
__m512i everywhere(unsigned short x) { return _mm512_set1_epi16(static_cast<short>(x)); }
__m512i everywhere(unsigned x) { return _mm512_set1_epi32(static_cast<int>(x)); }
__m512i everywhere(unsigned long long x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

/// A vector for each run, of which the next ones overwrite what is too much. Returns how many runs are done: behind the last one
/// there is room for what is.
template <class T>
[[gnu::always_inline]] inline int repeat_over(T* to, const T* from, std::int64_t stride, int run, int n) {
  constexpr int width = 64 / static_cast<int>(sizeof(T));
  const int vectors = (run + width - 1) / width;
  int r = 0;
  for (int l = 0; l + vectors * width <= n; l += run, ++r, from += stride) {
    const __m512i x = everywhere(*from);
    for (int v = 0; v < vectors; ++v) _mm512_storeu_si512(to + l + v * width, x);
  }
  return r;
}
#endif
#if SINTER_ISA_LEVEL == 2
/// Elements of short runs, of more than four, to their places in a vector of whole runs, and a part of one more that is overwritten.
template <class T>
struct run_lanes {
  static constexpr int width = 64 / static_cast<int>(sizeof(T));
  alignas(64) T at[width] = {};
  unsigned elements = 0;
  int runs = 0;

  constexpr run_lanes() = default;
  constexpr explicit run_lanes(int run) : elements(~0u >> (32 - width / run)), runs(width / run) {
    for (int k = 0; k < width; ++k) at[k] = static_cast<T>(k / run < runs ? k / run : 0);
  }
  /// Of bytes at most 16, which lie in each quarter of the vector.
  [[gnu::always_inline]] __m512i spread(const T* from) const {
    const __m512i places = _mm512_load_si512(at);
    if constexpr (sizeof(T) == 1)
      return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_maskz_loadu_epi8(static_cast<__mmask16>(elements), from)),
                                 places);
    else if constexpr (sizeof(T) == 2)
      return _mm512_maskz_permutexvar_epi16(~0u, places, _mm512_maskz_loadu_epi16(elements, from));
    else if constexpr (sizeof(T) == 4)
      return _mm512_maskz_permutexvar_epi32(0xffff, places,
                                            _mm512_maskz_loadu_epi32(static_cast<__mmask16>(elements), from));
    else
      return _mm512_maskz_permutexvar_epi64(0xff, places,
                                            _mm512_maskz_loadu_epi64(static_cast<__mmask8>(elements), from));
  }
};
/// Those of all lengths, of which at least two fill a vector.
template <class T>
struct runs_of_lanes {
  static constexpr int most = run_lanes<T>::width / 2;
  run_lanes<T> of[most + 1];
  constexpr runs_of_lanes() {
    for (int run = 2; run <= most; ++run) of[run] = run_lanes<T>(run);
  }
};
/// Returns how many runs are done.
template <class T>
[[gnu::always_inline]] inline int repeat_short(T* to, const T* from, int run, int n) {
  static constexpr runs_of_lanes<T> all;
  const run_lanes<T>& places = all.of[run];
  int r = 0;
  for (int l = 0; l + places.width <= n; l += places.runs * run, r += places.runs)
    _mm512_storeu_si512(to + l, places.spread(from + r));
  return r;
}
#endif
template <class T>
void repeat(void* lanes, const void* memory, std::int64_t stride, int run, int n) {
  T* __restrict to = static_cast<T*>(lanes);
  const T* __restrict from = static_cast<const T*>(memory);
  int l = 0;
  if constexpr (sizeof(T) <= sizeof(long long)) {
    if (run == 2) return repeat_apart<2>(to, from, stride, n);
    if (run == 3) return repeat_apart<3>(to, from, stride, n);
    if (run == 4) return repeat_apart<4>(to, from, stride, n);
#if SINTER_ISA_LEVEL == 2
    const bool is_short = stride == 1 && run > 4 && 2 * run * static_cast<int>(sizeof(T)) <= 64;
    const int done = is_short ? repeat_short(to, from, run, n) : repeat_over(to, from, stride, run, n);
    l = done * run;
    from += done * stride;
#endif
  }
  for (; l + run <= n; l += run, from += stride)
    for (int k = 0; k < run; ++k) to[l + k] = *from;
  for (; l < n; ++l) to[l] = *from;
}

#include "backends/cpu/strides/copied_rows.inl"
#include "backends/cpu/strides/planes.inl"

void count(std::int64_t* lanes, std::int64_t first, std::int64_t step, int n) {
  std::int64_t* __restrict to = lanes;
  SINTER_LANES(l, n) to[l] = first + l * step;
}

}  // namespace

strided_loops make_strided_loops() {
  using one = unsigned char;
  using two = unsigned short;
  using four = unsigned;
  using eight = unsigned long long;
  return {{load<one>, load<two>, load<four>, load<eight>, load<pair_of_words>},
          {store<one>, store<two>, store<four>, store<eight>, store<pair_of_words>},
          {repeat<one>, repeat<two>, repeat<four>, repeat<eight>, repeat<pair_of_words>},
          {take_apart<four>, take_apart<eight>},
          {put_together<four>, put_together<eight>},
          rows,
          {planes<one>, planes<two>, planes<four>, planes<eight>, planes<pair_of_words>},
          SINTER_ISA_LEVEL == 2,
          count};
}

}  // namespace sinter::cpu::SINTER_ISA
