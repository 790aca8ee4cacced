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

/// What lies between the elements may be another thread's, so each is a store of its own.
template <int Stride, class T>
[[gnu::always_inline]] inline void store_every(T* __restrict to, const T* __restrict from, int n) {
  int l = 0;
  for (; l + 8 <= n; l += 8, to += 8 * Stride)
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) to[k * Stride] = from[l + k];
  for (; l < n; ++l, to += Stride) *to = from[l];
}
template <class T>
void store(void* memory, std::int64_t stride, const void* lanes, int n) {
  T* __restrict to = static_cast<T*>(memory);
  const T* __restrict from = static_cast<const T*>(lanes);
  switch (stride) {
    case -1: return store_every<-1>(to, from, n);
    case 2: return store_every<2>(to, from, n);
    case 3: return store_every<3>(to, from, n);
    case 4: return store_every<4>(to, from, n);
    default: break;
  }
  SINTER_ONE_BY_ONE(l, n) to[l * stride] = from[l];
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
          count};
}

}  // namespace sinter::cpu::SINTER_ISA
