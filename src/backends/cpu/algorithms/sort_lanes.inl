// Comparisons of the lanes of vector registers with each other, for the sorting networks. Included inside the namespace of
// an instruction set, after its target has been opened. No function returns a vector: without AVX-512 that is another
// calling convention, of which GCC warns.

#define SINTER_STEP [[gnu::always_inline]] inline

template <class Key>
struct lanes_of {
  static constexpr int bytes = 16 << SINTER_ISA_LEVEL, count = bytes / static_cast<int>(sizeof(Key));
  typedef Key type __attribute__((vector_size(bytes)));
};
#define SINTER_LANES_IN(v) static_cast<int>(sizeof(v) / sizeof((v)[0]))
template <class Key>
using vector_of = typename lanes_of<Key>::type;

/// Sorts a before b, lane by lane.
template <class V>
SINTER_STEP void order_lanes(V& a, V& b) {
#if SINTER_ISA_LEVEL == 2 && !defined(__clang__)
  // GCC makes a comparison and a choice by a mask of what is one instruction.
  typedef float floats __attribute__((vector_size(64)));
  typedef double doubles __attribute__((vector_size(64)));
  using lane = decltype(a[0] + a[0]);
  constexpr int current_rounding = 4;
  if constexpr (static_cast<lane>(0.5) != 0 && sizeof(lane) == 4) {
    const floats x = (floats)a, y = (floats)b;
    a = (V)__builtin_ia32_minps512_mask(x, y, x, 0xffff, current_rounding);
    b = (V)__builtin_ia32_maxps512_mask(y, x, x, 0xffff, current_rounding);
    return;
  } else if constexpr (static_cast<lane>(0.5) != 0 && sizeof(lane) == 8) {
    const doubles x = (doubles)a, y = (doubles)b;
    a = (V)__builtin_ia32_minpd512_mask(x, y, x, 0xff, current_rounding);
    b = (V)__builtin_ia32_maxpd512_mask(y, x, x, 0xff, current_rounding);
    return;
  }
#endif
  const V less = a < b ? a : b;
  b = a < b ? b : a;
  a = less;
}

#define SINTER_TWO(F, k) F(k), F(k + 1)
#define SINTER_FOUR(F, k) SINTER_TWO(F, k), SINTER_TWO(F, k + 2)
#define SINTER_EIGHT(F, k) SINTER_FOUR(F, k), SINTER_FOUR(F, k + 4)
#define SINTER_LANES_OF(F, a, b)                                                     \
  if constexpr (n == 2) to = __builtin_shufflevector(a, b, SINTER_TWO(F, 0));        \
  else if constexpr (n == 4) to = __builtin_shufflevector(a, b, SINTER_FOUR(F, 0));  \
  else if constexpr (n == 8) to = __builtin_shufflevector(a, b, SINTER_EIGHT(F, 0)); \
  else to = __builtin_shufflevector(a, b, SINTER_EIGHT(F, 0), SINTER_EIGHT(F, 8));
#define SINTER_OTHER(l) ((l) ^ X)
#define SINTER_KEPT(l) ((l)&top ? (l) + n : (l))

/// v with lane l ^ X in lane l.
template <int X, class V>
SINTER_STEP void reorder(V& to, const V& v) {
  constexpr int n = SINTER_LANES_IN(to);
  SINTER_LANES_OF(SINTER_OTHER, v, v)
}

/// Compares the lanes l and l ^ X; the one without X's highest bit gets the smaller key.
template <int X, class V>
SINTER_STEP void compare(V& to) {
  constexpr int n = SINTER_LANES_IN(to), top = X >= 8 ? 8 : X >= 4 ? 4 : X >= 2 ? 2 : 1;
  V less = to, more;
  reorder<X>(more, to);
  order_lanes(less, more);
  SINTER_LANES_OF(SINTER_KEPT, less, more)
}

#undef SINTER_TWO
#undef SINTER_FOUR
#undef SINTER_EIGHT
#undef SINTER_LANES_OF
#undef SINTER_OTHER
#undef SINTER_KEPT

/// The last steps of a merge, whose distances are less than `Width` lanes.
template <int Width, class V>
SINTER_STEP void merge_lanes(V& v) {
  if constexpr (Width > 1) {
    compare<Width / 2>(v);
    merge_lanes<Width / 2>(v);
  }
}

/// Sorts each group of `Width` lanes.
template <int Width, class V>
SINTER_STEP void sort_lanes(V& v) {
  if constexpr (Width > 1) {
    sort_lanes<Width / 2>(v);
    compare<Width - 1>(v);
    merge_lanes<Width / 2>(v);
  }
}
