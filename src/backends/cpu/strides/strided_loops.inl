// The loops of strided_loops.hpp. Included once for each instruction set, after its target has been opened.
#include "jit/cpu/lane_loops.inl"

namespace sinter::cpu::SINTER_ISA {
namespace {

struct pair_of_words {
  unsigned long long lo, hi;
};

/// With a stride that is known loads are those of whole vectors, and shuffles; pairs are moved as they are.
template <int Stride, class T>
[[gnu::always_inline]] inline void load_every(T* __restrict to, const T* __restrict from, int n) {
  if constexpr (sizeof(T) > sizeof(long long)) {
    SINTER_ONE_BY_ONE(l, n) to[l] = from[static_cast<long long>(l) * Stride];
  } else {
    SINTER_LANES(l, n) to[l] = from[static_cast<long long>(l) * Stride];
  }
}
template <class T>
void load(void* lanes, const void* memory, std::int64_t stride, int n) {
  T* __restrict to = static_cast<T*>(lanes);
  const T* __restrict from = static_cast<const T*>(memory);
  switch (stride) {
    case -1: return load_every<-1>(to, from, n);
    case 2: return load_every<2>(to, from, n);
    case 3: return load_every<3>(to, from, n);
    case 4: return load_every<4>(to, from, n);
    default: break;
  }
  SINTER_ONE_BY_ONE(l, n) to[l] = from[l * stride];
}

// What lies between the elements may be another thread's: stores of single elements, or masked ones, write nothing there.
#if SINTER_ISA_LEVEL == 2
/// Lanes for the vectors of memory that a vector of elements is spread over: the element of each, and whether there is one.
template <int Stride, class T>
struct spread_lanes {
  static constexpr int width = 64 / static_cast<int>(sizeof(T));
  alignas(64) T from[Stride][width] = {};
  unsigned short mask[Stride] = {};

  constexpr spread_lanes() {
    for (int l = 0; l < width; ++l) {
      const int at = l * Stride;
      from[at / width][at % width] = static_cast<T>(l);
      mask[at / width] = static_cast<unsigned short>(mask[at / width] | 1u << at % width);
    }
  }
};
[[gnu::always_inline]] inline void store_spread(unsigned* to, unsigned mask, __m512i x, const unsigned* lanes) {
  const auto on = static_cast<__mmask16>(mask);
  _mm512_mask_storeu_epi32(to, on, _mm512_maskz_permutexvar_epi32(on, _mm512_load_si512(lanes), x));
}
[[gnu::always_inline]] inline void store_spread(unsigned long long* to, unsigned mask, __m512i x,
                                                const unsigned long long* lanes) {
  const auto on = static_cast<__mmask8>(mask);
  _mm512_mask_storeu_epi64(to, on, _mm512_maskz_permutexvar_epi64(on, _mm512_load_si512(lanes), x));
}
#endif

template <int Stride, class T>
[[gnu::always_inline]] inline void store_every(T* __restrict to, const T* __restrict from, int n) {
  int l = 0;
#if SINTER_ISA_LEVEL == 2
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    static constexpr spread_lanes<Stride, T> lanes;
    constexpr int width = spread_lanes<Stride, T>::width;
    for (; l + width <= n; l += width, to += width * Stride) {
      const __m512i x = _mm512_loadu_si512(from + l);
#pragma GCC unroll 4
      for (int v = 0; v < Stride; ++v) store_spread(to + v * width, lanes.mask[v], x, lanes.from[v]);
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
    case 2: return store_every<2>(to, from, n);
    case 3: return store_every<3>(to, from, n);
    case 4: return store_every<4>(to, from, n);
    default: break;
  }
  SINTER_ONE_BY_ONE(l, n) to[l * stride] = from[l];
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
template <class T>
void repeat(void* lanes, const void* memory, std::int64_t stride, int run, int n) {
  T* __restrict to = static_cast<T*>(lanes);
  const T* __restrict from = static_cast<const T*>(memory);
  if constexpr (sizeof(T) <= sizeof(long long)) {
    if (stride == 1 && run == 2) return repeat_every<2>(to, from, n);
    if (stride == 1 && run == 3) return repeat_every<3>(to, from, n);
    if (stride == 1 && run == 4) return repeat_every<4>(to, from, n);
  }
  int l = 0;
  for (; l + run <= n; l += run, from += stride)
    for (int k = 0; k < run; ++k) to[l + k] = *from;
  for (; l < n; ++l) to[l] = *from;
}

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
          count};
}

}  // namespace sinter::cpu::SINTER_ISA
