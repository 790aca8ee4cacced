// Reductions of numbers in any order (of others: group_rows.inl): the accumulators of a row stay in
// registers, and the vectors of several rows are joined by halves together, so that the sums of neighbouring rows become
// neighbouring lanes of one vector. Which element meets which is as in loops.inl. Included by it.

/// How vectors of numbers are joined; an element is `unit` of them.
template <class Op>
struct vector_steps {
  static constexpr bool any = false;
};
template <class T, bool Product>
struct vector_steps<total<T, Product>> {
  static constexpr bool any = sizeof(T) >= 4 && !is_complex_v<T>;
  using number = T;
  static constexpr int unit = 1;
  SINTER_STEP static T identity() { return Product ? T(1) : sum_identity<T>(); }
  template <class V>
  SINTER_STEP static void join(V& a, const V& x) {
    if constexpr (Product) a = a * x;
    else a = a + x;
  }
};
template <class T>
struct vector_steps<sum_of<T>> : vector_steps<total<T, false>> {};
template <class R>
struct vector_steps<sum_of<complex_value<R>>> : vector_steps<total<R, false>> {
  static constexpr int unit = 2;
};
template <class T, bool Min>
struct vector_steps<extremum<T, Min>> {
  static constexpr bool any = sizeof(T) >= 4 && !is_complex_v<T>;
  using number = T;
  static constexpr int unit = 1;
  SINTER_STEP static T identity() { return Min ? highest<T>() : lowest<T>(); }
  /// As extreme() does: NaN stays, and -0 counts as less than +0.
  template <class V>
  SINTER_STEP static void join(V& a, const V& x) {
    const V other = (Min ? x >= a : x <= a) ? a : x;
    if constexpr (is_float_v<T>) {
      using bits = decltype(a == x);
      const V kept = a == a ? other : a;
      const V zero = Min ? V(bits(a) | bits(x)) : V(bits(a) & bits(x));
      a = x == a ? zero : kept;
    } else {
      a = other;
    }
  }
};

template <class T, int Lanes>
struct pack {
  typedef T type __attribute__((vector_size(Lanes * sizeof(T))));
};
template <class V, class T>
SINTER_STEP void load_pack(V& v, const T* x) {
  __builtin_memcpy(&v, x, sizeof v);
}
/// The difference keeps the sign of -0, which is what sums begin with.
template <class V, class T>
SINTER_STEP void fill_pack(V& v, T x) {
  v = x - V{};
}

/// One half of each of the runs of 2 W lanes, of p and q in turn.
template <int W, bool Upper, class V, int... I>
SINTER_STEP void take_halves(V& to, const V& p, const V& q, std::integer_sequence<int, I...>) {
  constexpr int lanes = sizeof...(I);
  to = __builtin_shufflevector(p, q, (I / W % 2 * lanes + I / W / 2 * 2 * W + (Upper ? W : 0) + I % W)...);
}
/// Joins the lanes of many rows by halves, runs of 2 W each so far; in the end lane r of the first vector belongs to row r.
template <class S, int W, int Lanes, class V>
SINTER_STEP void join_tile(V* rows) {
  if constexpr (W >= S::unit) {
    constexpr int pairs = W / S::unit;
    for (int r = 0; r < pairs; ++r) {
      V lower, upper;
      take_halves<W, false>(lower, rows[r], rows[r + pairs], std::make_integer_sequence<int, Lanes>());
      take_halves<W, true>(upper, rows[r], rows[r + pairs], std::make_integer_sequence<int, Lanes>());
      S::join(lower, upper);
      rows[r] = lower;
    }
    join_tile<S, W / 2, Lanes>(rows);
  }
}

/// Rows in memory. After the last one of them `spare` numbers may be read.
template <class T>
struct plain_rows {
  const void* first;
  std::int64_t stride;
  int spare = 0;
  const T* end = nullptr;
  const T* x = nullptr;

  SINTER_STEP const T* row(int r) const {
    return reinterpret_cast<const T*>(static_cast<const char*>(first) + r * stride);
  }
  SINTER_STEP void bound(int rows, int n) { end = row(stride < 0 ? 0 : rows - 1) + n + spare; }
  SINTER_STEP void move_to(int r) { x = row(r); }
  /// The rows without the first r.
  SINTER_STEP void skip(int r) { first = row(r); }
  template <class V>
  SINTER_STEP void load(V& v, index64 at) const {
    load_pack(v, x + at);
  }
  SINTER_STEP T number(index64 at) const { return x[at]; }
  /// Whether all rows of n numbers are one run of as many as a tile has.
  SINTER_STEP bool is_dense(int n, int) const { return stride == static_cast<std::int64_t>(sizeof(T)) * n; }
  /// Numbers of which the first n are those of the row.
  template <class V>
  SINTER_STEP void load_part(V& v, index64 at, int n) const {
    if (end - x - at >= static_cast<std::int64_t>(sizeof v / sizeof(T))) return load(v, at);
    T some[sizeof v / sizeof(T)] = {};
    for (int l = 0; l < n; ++l) some[l] = x[at + l];
    load_pack(v, some);
  }
};
/// Rows of more than half as many numbers as `Slots` vectors of `Lanes` have, or with `Longer` of more than row_lanes
/// elements, which they hold.
template <class S, class Source, int Lanes, int Slots, bool Longer = false>
struct row_packs {
  using T = typename S::number;
  using vector = typename pack<T, Lanes>::type;
  static constexpr int rows = Lanes / S::unit;  // of a tile

  /// The n numbers from `at` on, which may be none.
  SINTER_STEP static void load_some(vector& v, const Source& x, int at, int n) {
    if (n >= Lanes) return x.load(v, at);
    vector none;
    fill_pack(none, S::identity());
    if (n > 0) {
      using bits = decltype(v == v);
      bits lane;
      for (int l = 0; l < Lanes; ++l) lane[l] = l;
      x.load_part(v, at, n);
      v = lane < n ? v : none;
    } else {
      v = none;
    }
  }
  SINTER_STEP static void join_row(vector& row, const Source& x, int n) {
    vector slot[Slots], v;
    constexpr int full = Longer ? Slots : Slots / 2;
#pragma GCC unroll 16
    for (int s = 0; s < full; ++s) x.load(slot[s], s * Lanes);
#pragma GCC unroll 16
    for (int s = full; s < Slots; ++s) load_some(slot[s], x, s * Lanes, n - s * Lanes);
    if constexpr (Longer) {
      int k = Slots;
      for (; (k + Slots) * Lanes <= n; k += Slots)
#pragma GCC unroll 16
        for (int s = 0; s < Slots; ++s) {
          x.load(v, (k + s) * Lanes);
          S::join(slot[s], v);
        }
      const int left = n - k * Lanes;
#pragma GCC unroll 16
      for (int s = 0; s < Slots; ++s)
        if (left > s * Lanes) {
          load_some(v, x, (k + s) * Lanes, left - s * Lanes);
          S::join(slot[s], v);
        }
    }
#pragma GCC unroll 4
    for (int w = Slots / 2; w > 0; w /= 2)
#pragma GCC unroll 8
      for (int s = 0; s < w; ++s) S::join(slot[s], slot[s + w]);
    row = slot[0];
  }
  [[gnu::flatten]] static void steps(void* const* acc, Source x, int count, int columns) {
    const int n = columns * S::unit;
    x.bound(count, n);
    T* to = static_cast<T*>(acc[0]);
    for (int at = 0; at < count; at += rows, to += Lanes) {
      vector tile[rows];
      const int some = count - at < rows ? count - at : rows;
      for (int r = 0; r < some; ++r) {
        x.move_to(at + r);
        join_row(tile[r], x, n);
      }
      for (int r = some; r < rows; ++r) fill_pack(tile[r], S::identity());
      join_tile<S, Lanes / 2, Lanes>(tile);
      if (some == rows) __builtin_memcpy(to, &tile[0], sizeof tile[0]);
      else
        for (int l = 0; l < some * S::unit; ++l) to[l] = tile[0][l];
    }
  }
};

/// Rows of N numbers one after the other, several in a vector: those of as many as a vector has lanes are joined at once, in the steps
/// of join_tile, which leave row j of vector v in lane j N + v.
template <class S, int N, int Lanes, class Source>
struct dense_packs {
  using T = typename S::number;
  using vector = typename pack<T, Lanes>::type;

  template <int... I>
  SINTER_STEP static void order_rows(vector& v, std::integer_sequence<int, I...>) {
    constexpr int together = Lanes / N;
    v = __builtin_shufflevector(v, v, (I % together * N + I / together)...);
  }
  /// Returns how many rows it has joined: whole tiles.
  [[gnu::flatten]] static int steps(T* to, Source x, int rows) {
    x.move_to(0);
    int at = 0;
    for (; at + Lanes <= rows; at += Lanes) {
      vector tile[N];
#pragma GCC unroll 16
      for (int v = 0; v < N; ++v) x.load(tile[v], at * N + v * Lanes);
      join_tile<S, N / 2, Lanes>(tile);
      order_rows(tile[0], std::make_integer_sequence<int, Lanes>());
      __builtin_memcpy(to + at, &tile[0], sizeof tile[0]);
    }
    return at;
  }
};
/// The rows at the beginning that are joined so, of 2, 4, ... numbers.
template <class S, int N, class Source>
SINTER_STEP int dense_rows(void* const* acc, const Source& x, int rows, int columns) {
  using T = typename S::number;
  constexpr int lanes = wide<T>::lanes;
  if constexpr (N < lanes) {
    if (columns != N) return dense_rows<S, 2 * N>(acc, x, rows, columns);
    return dense_packs<S, N, lanes, Source>::steps(static_cast<T*>(acc[0]), x, rows);
  }
  return 0;
}

/// The vectors of a row, of which `Slots` hold at least all of its n numbers, or as many as there are lanes.
template <class S, int Lanes, int Slots, class Source>
SINTER_STEP void rows_in_slots(void* const* acc, const Source& x, int rows, int columns) {
  constexpr int all = row_lanes * S::unit / Lanes;
  if (columns > row_lanes) return row_packs<S, Source, Lanes, all, true>::steps(acc, x, rows, columns);
  if constexpr (Slots < all)
    if (columns * S::unit > Slots * Lanes) return rows_in_slots<S, Lanes, 2 * Slots>(acc, x, rows, columns);
  row_packs<S, Source, Lanes, Slots>::steps(acc, x, rows, columns);
}
template <class S, class Source>
SINTER_STEP void rows_in_vectors(void* const* all, Source x, int rows, int columns) {
  constexpr int lanes = wide<typename S::number>::lanes;
  const int n = columns * S::unit;
  void* const* acc = all;
  void* rest[1];
  if constexpr (S::unit == 1)
    if (n < lanes && rows >= lanes && x.is_dense(n, rows)) {
      const int done = dense_rows<S, 2>(all, x, rows, n);
      if (done == rows) return;
      rest[0] = static_cast<typename S::number*>(all[0]) + done;
      acc = rest;
      x.skip(done);
      rows -= done;
    }
  if constexpr (lanes > 8)
    if (n <= 4) return row_packs<S, Source, 4, 1>::steps(acc, x, rows, columns);
  if constexpr (lanes > 4)
    if (n <= lanes / 2) return row_packs<S, Source, lanes / 2, 1>::steps(acc, x, rows, columns);
  rows_in_slots<S, lanes, 1>(acc, x, rows, columns);
}
template <class S>
void vector_rows(void* const* acc, const void* from, std::int64_t stride, int rows, int columns, const lane_tree&) {
  rows_in_vectors<S>(acc, plain_rows<typename S::number>{from, stride}, rows, columns);
}
#include "backends/cpu/reduce/extreme_rounds.inl"

/// Adds `rounds` times row_lanes elements to the accumulators, as many of which are in registers as there are.
template <class S, class Source>
SINTER_STEP void add_rounds(void* const* acc, const Source& x, int at, int rounds) {
  using T = typename S::number;
  using vector = typename wide<T>::type;
  constexpr int lanes = wide<T>::lanes, round = row_lanes * S::unit, all = round / lanes, most = all < 8 ? all : 8;
  for (int group = 0; group < all; group += most) {
    T* const a = static_cast<T*>(acc[0]) + group * lanes;
    vector sum[most], v;
#pragma GCC unroll 8
    for (int s = 0; s < most; ++s) load_pack(sum[s], a + s * lanes);
    for (int r = 0; r < rounds; ++r)
#pragma GCC unroll 8
      for (int s = 0; s < most; ++s) {
        x.load(v, at + r * round + (group + s) * lanes);
        S::join(sum[s], v);
      }
#pragma GCC unroll 8
    for (int s = 0; s < most; ++s) __builtin_memcpy(a + s * lanes, &sum[s], sizeof sum[s]);
  }
}
/// The elements before the first whole round, and the rounds after it.
SINTER_STEP int head_of(int n, int first) {
  const int head = first % row_lanes == 0 ? 0 : row_lanes - first % row_lanes;
  return head < n ? head : n;
}

template <class Op>
void vector_row(void* const* acc, const void* from, int n, int first, int) {
  using S = vector_steps<Op>;
  using T = typename S::number;
  const int head = head_of(n, first), rounds = (n - head) / row_lanes, done = head + rounds * row_lanes;
  const T* const x = static_cast<const T*>(from);
  if (head) row<Op>(acc, x, head, first);
  if constexpr (is_float_extreme<Op>) add_rounds_of_extreme(Op(), static_cast<T*>(acc[0]), x + head, rounds);
  else if (rounds) add_rounds<S>(acc, plain_rows<T>{x, 0, 0, nullptr, x}, head * S::unit, rounds);
  if (done < n) row<Op>(acc, x + done * S::unit, n - done, first + done);
}
