// sinter prelude: lanes of a block that lie in memory by a pattern which the text knows: elements a stride apart, numbers of which
// each is for several lanes. A few vectors at a time are loaded whole and shuffled; of what lies behind the last element nothing is read.
namespace sn {

template <class T, int W> struct vector_of {
  typedef T type __attribute__((vector_size(W * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <int... I> struct lane_list {};
template <int N, int... I> struct count_lanes : count_lanes<N - 1, N - 1, I...> {};
template <int... I> struct count_lanes<0, I...> { typedef lane_list<I...> type; };

#if defined(__AVX512F__) && defined(__AVX512BW__)
// W elements, S apart; `from` is the first. A negative stride: it is the last one in memory.
template <class T, int W, int S> struct lanes_apart {
  typedef typename vector_of<T, W>::type vec;
  static const int step = S < 0 ? -S : S;
  // Where vector v of the memory begins: the last one ends with the last element.
  static constexpr int begin(int v) { return v == step - 1 ? step * (W - 1) + 1 - W : v * W; }
  static constexpr int place(int l) { return S < 0 ? step * (W - 1 - l) : step * l; }
  static constexpr int vector_with(int l) { return place(l) / W; }
  // The lane of (x, vector v) that becomes lane l: what x has where the element lies elsewhere.
  static constexpr int pick(int l, int v) { return vector_with(l) == v ? W + place(l) - begin(v) : l; }
  static constexpr int pick_first(int l) {
    return vector_with(l) == 0 ? place(l) : vector_with(l) == 1 ? W + place(l) - begin(1) : 0;
  }

  template <int v, int... I> static inline __attribute__((always_inline)) vec add(vec x, const T* m, lane_list<I...> all) {
    if constexpr (v < step) {
      const vec y = *(const vec*)(m + begin(v));
      return add<v + 1>(__builtin_shufflevector(x, y, pick(I, v)...), m, all);
    } else {
      return x;
    }
  }
  template <int... I> static inline __attribute__((always_inline)) vec load(const T* from, lane_list<I...> all) {
    const T* const m = S < 0 ? from + S * (W - 1) : from;
    const vec x = *(const vec*)(m + begin(0));
    if constexpr (step == 1) {
      return __builtin_shufflevector(x, x, place(I)...);
    } else {
      const vec y = *(const vec*)(m + begin(1));
      return add<2>(__builtin_shufflevector(x, y, pick_first(I)...), m, all);
    }
  }
};
template <class T, int C> struct lanes_of_vector {
  static const int width = C * sizeof(T) < 64 ? C : 64 / int(sizeof(T));
};
template <int S, int C, class T> static inline __attribute__((always_inline)) void load_apart(T* to, const T* from) {
  const int W = lanes_of_vector<T, C>::width;
  typedef typename vector_of<T, W>::type vec;
#pragma GCC unroll 8
  for (int k = 0; k < C; k += W)
    *(vec*)(to + k) = lanes_apart<T, W, S>::load(from + k * S, typename count_lanes<W>::type());
}

// C lanes, of which R neighbours are one number. C is a multiple of R, which is a power of two. A word of numbers is copied all over a
// vector, and shuffled.
template <int B> struct word_of;
template <> struct word_of<1> { typedef unsigned char type __attribute__((may_alias, aligned(1))); };
template <> struct word_of<2> { typedef unsigned short type __attribute__((may_alias, aligned(1))); };
template <> struct word_of<4> { typedef unsigned type __attribute__((may_alias, aligned(1))); };
template <> struct word_of<8> { typedef unsigned long long type __attribute__((may_alias, aligned(1))); };
template <int R, int W, class T, int... I>
static inline __attribute__((always_inline)) void load_run(T* to, const T* from, lane_list<I...>) {
  typedef typename vector_of<T, W>::type vec;
  const int bytes = W / R * int(sizeof(T)), part = bytes < 8 ? bytes : 8;
  typedef typename word_of<part>::type word;
  typedef unsigned char bytes_of __attribute__((vector_size(W * sizeof(T))));
  static_assert(bytes == part, "one word");
  typename vector_of<typename word_of<part>::type, int(W * sizeof(T)) / part>::type words = {};
  words = words + *(const word*)from;
  const vec x = (vec)(bytes_of)words;
  *(vec*)to = __builtin_shufflevector(x, x, (I / R)...);
}
// More numbers than a word has are a vector, which one shuffle makes longer: a vector that is stored in parts waits for them.
template <int R, int W, class T, int... I>
static inline __attribute__((always_inline)) void load_long_run(T* to, const T* from, lane_list<I...>) {
  typedef typename vector_of<T, W / R>::type part;
  typedef typename vector_of<T, W>::type vec;
  part x;
  __builtin_memcpy(&x, from, sizeof x);
  *(vec*)to = __builtin_shufflevector(x, x, (I / R)...);
}
template <int R, int C, class T> static inline __attribute__((always_inline)) void load_runs(T* to, const T* from) {
  const int most = lanes_of_vector<T, C>::width, of_word = 8 * R / int(sizeof(T)), W = most < of_word ? most : of_word;
  if constexpr (most > of_word && R < most) {
#pragma GCC unroll 8
    for (int k = 0; k < C; k += most)
      load_long_run<R, most>(to + k, from + k / R, typename count_lanes<most>::type());
  } else if constexpr (W < R) {  // a number fills vectors
#pragma GCC unroll 8
    for (int k = 0; k < C; k += W)
      for (int l = 0; l < W; ++l) to[k + l] = from[k / R];
  } else {
#pragma GCC unroll 8
    for (int k = 0; k < C; k += W) load_run<R, W>(to + k, from + k / R, typename count_lanes<W>::type());
  }
}

#else
template <int S, int C, class T> static inline __attribute__((always_inline)) void load_apart(T* to, const T* from) {
  for (int l = 0; l < C; ++l) to[l] = from[l * S];
}
template <int R, int C, class T> static inline __attribute__((always_inline)) void load_runs(T* to, const T* from) {
  for (int r = 0; r < C / R; ++r)
#pragma GCC unroll 16
    for (int l = 0; l < R; ++l) to[r * R + l] = from[r];
}
#endif

// What lies between the elements may be another thread's: masked stores write nothing there.
#if defined(__AVX512F__) && defined(__AVX512BW__)
#define SN_MASKED_STORES 1
// Compilers differ in what they want the memory to be.
struct any_memory {
  void* at;
  template <class T> inline __attribute__((always_inline)) operator T*() const { return (T*)at; }
};
template <int B> struct masked_store;
template <> struct masked_store<1> {
  typedef char vec __attribute__((vector_size(64)));
  static inline __attribute__((always_inline)) void to(void* m, vec x, unsigned long long mask) {
    __builtin_ia32_storedquqi512_mask(any_memory{m}, x, mask);
  }
};
template <> struct masked_store<2> {
  typedef short vec __attribute__((vector_size(64)));
  static inline __attribute__((always_inline)) void to(void* m, vec x, unsigned mask) {
    __builtin_ia32_storedquhi512_mask(any_memory{m}, x, mask);
  }
};
template <> struct masked_store<4> {
  typedef int vec __attribute__((vector_size(64)));
  static inline __attribute__((always_inline)) void to(void* m, vec x, unsigned short mask) {
    __builtin_ia32_storedqusi512_mask(any_memory{m}, x, mask);
  }
};
template <> struct masked_store<8> {
  typedef long long vec __attribute__((vector_size(64)));
  static inline __attribute__((always_inline)) void to(void* m, vec x, unsigned char mask) {
    __builtin_ia32_storedqudi512_mask(any_memory{m}, x, mask);
  }
};
template <class T, int S> struct stores_apart {
  static const int W = 64 / int(sizeof(T));
  typedef typename masked_store<sizeof(T)>::vec vec;
  // The element that lies at place `at` of vector v of the memory, or -1.
  static constexpr int element(int v, int at) { return (v * W + at) % S == 0 ? (v * W + at) / S : -1; }
  static constexpr unsigned long long mask(int v) {
    unsigned long long m = 0;
    for (int at = 0; at < W; ++at) m |= (unsigned long long)(element(v, at) >= 0) << at;
    return m;
  }
  template <int v, int... I> static inline __attribute__((always_inline)) void store(T* to, vec x, lane_list<I...> all) {
    masked_store<sizeof(T)>::to(to + v * W, __builtin_shufflevector(x, x, element(v, I)...), mask(v));
    if constexpr (v + 1 < S) store<v + 1>(to, x, all);
  }
};
#else
#define SN_MASKED_STORES 0
#endif
template <int S, int C, class T> static inline __attribute__((always_inline)) void store_apart(T* to, const T* from) {
#if SN_MASKED_STORES
  if constexpr (S > 0 && C * sizeof(T) >= 64) {
    typedef stores_apart<T, S> how;
#pragma GCC unroll 8
    for (int k = 0; k < C; k += how::W) {
      typename how::vec x;
      __builtin_memcpy(&x, from + k, 64);
      how::template store<0>(to + k * S, x, typename count_lanes<how::W>::type());
    }
    return;
  }
#endif
#pragma GCC unroll 64
  for (int l = 0; l < C; ++l) to[l * S] = from[l];
}

// C bytes shifted by one count: as words, of which the bits are taken away that come from the other byte.
template <int C> struct shifted_bytes {
  typedef typename vector_of<unsigned short, C / 2>::type words;
  typedef typename vector_of<unsigned char, C>::type bytes;
};
template <int C> static inline __attribute__((always_inline)) void shift_bytes_right(unsigned char* to, const unsigned char* x, unsigned char by) {
  typedef shifted_bytes<C> how;
  const int n = by < 8 ? by : 0;
  const unsigned char kept = by < 8 ? (unsigned char)(255 >> n) : 0;
  typename how::bytes y = (typename how::bytes)(*(const typename how::words*)x >> n);
  *(typename how::bytes*)to = y & (typename how::bytes{} + kept);
}
template <int C> static inline __attribute__((always_inline)) void shift_bytes_left(unsigned char* to, const unsigned char* x, unsigned char by) {
  typedef shifted_bytes<C> how;
  const int n = by < 8 ? by : 0;
  const unsigned char kept = by < 8 ? (unsigned char)(255 << n) : 0;
  typename how::bytes y = (typename how::bytes)(*(const typename how::words*)x << n);
  *(typename how::bytes*)to = y & (typename how::bytes{} + kept);
}

}  // namespace sn
