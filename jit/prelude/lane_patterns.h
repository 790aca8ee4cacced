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
// The most lanes of vectors that make up C, which is a power of two, or three times one.
template <class T, int C> struct lanes_of_vector {
  static constexpr int width_of(int w) { return w * int(sizeof(T)) <= 64 && C % w == 0 ? w : width_of(w / 2); }
  static const int width = width_of(64);
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
// Some bytes, and zeros. Compilers make a part of a vector a whole one by way of memory, which waits for what is stored in parts.
typedef char bytes_of_lanes __attribute__((vector_size(64)));
struct any_vector {
  const void* at;
  template <class T> inline __attribute__((always_inline)) operator const T*() const { return (const T*)at; }
};
template <int B> static inline __attribute__((always_inline)) bytes_of_lanes load_bytes(const void* from) {
  return __builtin_ia32_loaddquqi512_mask(any_vector{from}, bytes_of_lanes{}, ~0ull >> (64 - B));
}
// More numbers than a word has are a vector, which one shuffle makes longer.
template <int R, int W, class T, int... I>
static inline __attribute__((always_inline)) void load_long_run(T* to, const T* from, lane_list<I...>) {
  typedef typename vector_of<T, W / R>::type part;
  typedef typename vector_of<T, W>::type vec;
  if constexpr (sizeof(vec) == 64) {
    const vec x = (vec)load_bytes<sizeof(part)>(from);
    *(vec*)to = __builtin_shufflevector(x, x, (I / R)...);
  } else {
    part x;
    __builtin_memcpy(&x, from, sizeof x);
    *(vec*)to = __builtin_shufflevector(x, x, (I / R)...);
  }
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

// Rows of R lanes, which are N elements apart, and the rows F: as the channels of pixels. C is a multiple of R. Each vector of lanes is
// put together from the vectors of memory that it lies in, none of which goes beyond the C elements.
template <int R, int N, int F, int C, class T> struct lanes_in_rows {
  static const int W = lanes_of_vector<T, C>::width;
  typedef typename vector_of<T, W>::type vec;
  static constexpr int at(int l) { return l / R * F + l % R * N; }
  static constexpr int first(int begin, int end) {
    int least = at(begin);
    for (int l = begin; l < end; ++l) least = at(l) < least ? at(l) : least;
    return least;
  }
  static constexpr int last(int begin, int end) {
    int most = at(begin);
    for (int l = begin; l < end; ++l) most = at(l) > most ? at(l) : most;
    return most;
  }
  static const int least = first(0, C), most = last(0, C);
  // Vectors of memory for the lanes from K on, and where they begin.
  template <int K> struct lanes {
    static const int from = first(K, K + W), vectors = (last(K, K + W) - from) / W + 1;
    static constexpr int begin(int v) { return from + (v + 1) * W - 1 > most ? most + 1 - W : from + v * W; }
    static constexpr int vector_with(int l) { return (at(K + l) - from) / W; }
    static constexpr int place(int l) { return at(K + l) - begin(vector_with(l)); }
    static constexpr int pick(int l, int v) { return vector_with(l) == v ? W + place(l) : l; }
    static constexpr int pick_first(int l) {
      return vector_with(l) == 0 ? place(l) : vector_with(l) == 1 ? W + place(l) : 0;
    }
    template <int v, int... I> static inline __attribute__((always_inline)) vec add(vec x, const T* m, lane_list<I...> all) {
      if constexpr (v < vectors) {
        const vec y = *(const vec*)(m + begin(v));
        return add<v + 1>(__builtin_shufflevector(x, y, pick(I, v)...), m, all);
      } else {
        return x;
      }
    }
    template <int... I> static inline __attribute__((always_inline)) vec load(const T* m, lane_list<I...> all) {
      const vec x = *(const vec*)(m + begin(0));
      if constexpr (vectors == 1) {
        return __builtin_shufflevector(x, x, place(I)...);
      } else {
        const vec y = *(const vec*)(m + begin(1));
        return add<2>(__builtin_shufflevector(x, y, pick_first(I)...), m, all);
      }
    }
  };
  template <int K> static inline __attribute__((always_inline)) void load(T* to, const T* m) {
    if constexpr (K < C) {
      *(vec*)(to + K) = lanes<K>::load(m, typename count_lanes<W>::type());
      load<K + W>(to, m);
    }
  }
  // Fewer elements than a vector has: all of them, and the lanes by one shuffle each.
  template <int K, int... I> static inline __attribute__((always_inline)) void spread(T* to, vec x, lane_list<I...> all) {
    if constexpr (K < C) {
      *(vec*)(to + K) = __builtin_shufflevector(x, x, (at(K + I) - least)...);
      spread<K + W>(to, x, all);
    }
  }
};
template <int R, int N, int F, int C, class T> static inline __attribute__((always_inline)) void load_rows(T* to, const T* from) {
  typedef lanes_in_rows<R, N, F, C, T> how;
  const int elements = how::most - how::least + 1;
  if constexpr (elements >= how::W) {
    how::template load<0>(to, from);
  } else if constexpr (how::W * sizeof(T) == 64) {
    const bytes_of_lanes x = load_bytes<elements * int(sizeof(T))>(from + how::least);
    how::template spread<0>(to, (typename how::vec)x, typename count_lanes<how::W>::type());
  } else {
    for (int l = 0; l < C; ++l) to[l] = from[how::at(l)];
  }
}

// Records of S elements, which is a power of two, that follow each other: S vectors of them to a vector for each place in a record.
template <class T, int S> struct records {
  static const int W = 64 / int(sizeof(T)), R = 8 / S;  // words of a run
  typedef typename vector_of<T, W>::type vec;
  typedef typename vector_of<unsigned long long, 8>::type words;
  typedef typename count_lanes<W>::type all;
  typedef typename count_lanes<8>::type all_words;
  template <int H, int... I> static inline __attribute__((always_inline)) void exchange(words& a, words& b, lane_list<I...>) {
    const words x = a, y = b;
    a = __builtin_shufflevector(x, y, (I / R & H ? 8 + I - H * R : I)...);
    b = __builtin_shufflevector(x, y, (I / R & H ? 8 + I : I + H * R)...);
  }
  template <int H> static inline __attribute__((always_inline)) void exchange_all(words* x) {
    if constexpr (H < S) {
#pragma GCC unroll 8
      for (int v = 0; v < S; ++v)
        if (!(v & H)) exchange<H>(x[v], x[v + H], all_words());
      exchange_all<2 * H>(x);
    }
  }
  // Shuffles of bytes and of 16 bits take two vectors in two to three times the time of one: those of a place come side by side, then words
  // change places.
  template <int... I> static inline __attribute__((always_inline)) void by_runs(vec* x, lane_list<I...>) {
    words y[S];
#pragma GCC unroll 8
    for (int v = 0; v < S; ++v) y[v] = (words)__builtin_shufflevector(x[v], x[v], (I % (W / S) * S + I / (W / S))...);
    exchange_all<1>(y);
#pragma GCC unroll 8
    for (int v = 0; v < S; ++v) x[v] = (vec)y[v];
  }
  template <int... I> static inline __attribute__((always_inline)) vec every_other(vec a, vec b, int, lane_list<I...>) {
    return __builtin_shufflevector(a, b, (2 * I)...);
  }
  template <int... I> static inline __attribute__((always_inline)) vec every_other(vec a, vec b, char, lane_list<I...>) {
    return __builtin_shufflevector(a, b, (2 * I + 1)...);
  }
  // N vectors of the places from P on, S / N apart, to those places.
  template <int N, int P> static inline __attribute__((always_inline)) void by_halves(vec* to, const vec* x) {
    if constexpr (N == 1) {
      to[P] = x[0];
    } else {
      vec even[N / 2], odd[N / 2];
#pragma GCC unroll 4
      for (int k = 0; k < N / 2; ++k) {
        even[k] = every_other(x[2 * k], x[2 * k + 1], 0, all());
        odd[k] = every_other(x[2 * k], x[2 * k + 1], '\0', all());
      }
      by_halves<N / 2, P>(to, even);
      by_halves<N / 2, P + S / N>(to, odd);
    }
  }
  static inline __attribute__((always_inline)) void take_apart(vec* x) {
    if constexpr (sizeof(T) < 4) {
      by_runs(x, all());
    } else {
      vec y[S];
      by_halves<S, 0>(y, x);
#pragma GCC unroll 8
      for (int v = 0; v < S; ++v) x[v] = y[v];
    }
  }
};
// The elements of C records, those of place p to to[p] where that is wanted; the last place of a record that is read is M.
template <int S, int M, int C, class T> static inline __attribute__((always_inline)) void load_records(T* const (&to)[S], const T* from) {
  typedef records<T, S> how;
  if constexpr (C % how::W == 0) {
#pragma GCC unroll 8
    for (int k = 0; k < C; k += how::W) {
      typename how::vec x[S];
#pragma GCC unroll 8
      for (int v = 0; v < S - 1; ++v) x[v] = *(const typename how::vec*)(from + k * S + v * how::W);
      const T* const last = from + k * S + (S - 1) * how::W;
      if (k + how::W < C) x[S - 1] = *(const typename how::vec*)last;
      else x[S - 1] = (typename how::vec)load_bytes<64 - (S - 1 - M) * int(sizeof(T))>(last);
      how::take_apart(x);
#pragma GCC unroll 8
      for (int p = 0; p < S; ++p)
        if (to[p]) *(typename how::vec*)(to[p] + k) = x[p];
    }
  } else {
#pragma GCC unroll 8
    for (int p = 0; p < S; ++p)
      if (to[p]) load_apart<S, C>(to[p], from + p);
  }
}

#else
template <int R, int N, int F, int C, class T> static inline __attribute__((always_inline)) void load_rows(T* to, const T* from) {
  for (int r = 0; r < C / R; ++r)
#pragma GCC unroll 16
    for (int l = 0; l < R; ++l) to[r * R + l] = from[r * F + l * N];
}
template <int S, int C, class T> static inline __attribute__((always_inline)) void load_apart(T* to, const T* from) {
  for (int l = 0; l < C; ++l) to[l] = from[l * S];
}
template <int S, int M, int C, class T> static inline __attribute__((always_inline)) void load_records(T* const (&to)[S], const T* from) {
#pragma GCC unroll 8
  for (int p = 0; p < S; ++p)
    if (to[p])
      for (int l = 0; l < C; ++l) to[p][l] = from[l * S + p];
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
// Rows of R lanes side by side, F elements apart: each vector of memory is put together from two vectors of lanes at most.
template <int R, int F, int C, class T> struct stores_in_rows {
  static const int W = 64 / int(sizeof(T)), span = C / R * F;
  typedef typename masked_store<sizeof(T)>::vec vec;
  static constexpr int lane(int m) { return m < span && m % F < R ? m / F * R + m % F : -1; }
  static constexpr int first(int v) {
    int m = v * W;
    while (m < span && lane(m) < 0) ++m;
    return m < span ? lane(m) / W : 0;
  }
  static constexpr int place(int v, int at) { return lane(v * W + at) < 0 ? -1 : lane(v * W + at) - first(v) * W; }
  static constexpr unsigned long long mask(int v) {
    unsigned long long m = 0;
    for (int at = 0; at < W; ++at) m |= (unsigned long long)(lane(v * W + at) >= 0) << at;
    return m;
  }
  template <int v, int... I> static inline __attribute__((always_inline)) void store(T* to, const T* from, lane_list<I...> all) {
    if constexpr (v * W < span) {
      const int next = (first(v) + 1) * W < C ? first(v) + 1 : first(v);
      vec x, y;
      __builtin_memcpy(&x, from + first(v) * W, 64);
      __builtin_memcpy(&y, from + next * W, 64);
      masked_store<sizeof(T)>::to(to + v * W, __builtin_shufflevector(x, y, place(v, I)...), mask(v));
      store<v + 1>(to, from, all);
    }
  }
};
#else
#define SN_MASKED_STORES 0
#endif
template <int R, int F, int C, class T> static inline __attribute__((always_inline)) void store_rows(T* to, const T* from) {
#if SN_MASKED_STORES
  if constexpr (C * sizeof(T) % 64 == 0) {
    typedef stores_in_rows<R, F, C, T> how;
    how::template store<0>(to, from, typename count_lanes<how::W>::type());
    return;
  }
#endif
  for (int r = 0; r < C / R; ++r)
#pragma GCC unroll 16
    for (int l = 0; l < R; ++l) to[r * F + l] = from[r * R + l];
}
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
