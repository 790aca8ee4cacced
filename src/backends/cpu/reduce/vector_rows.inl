// Reductions whose accumulator is one number, or one for each part of a complex number: the accumulators of a row stay in
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

/// Rows of more than half as many numbers as `Slots` vectors of `Lanes` have, or with `Longer` of more than row_lanes
/// elements, which they hold.
template <class S, int Lanes, int Slots, bool Longer = false>
struct row_packs {
  using T = typename S::number;
  using vector = typename pack<T, Lanes>::type;
  static constexpr int rows = Lanes / S::unit;  // of a tile

  SINTER_STEP static void load_part(vector& v, const T* x, int n, const T* end) {
    vector none;
    fill_pack(none, S::identity());
    if (end - x >= Lanes) {
      using bits = decltype(v == v);
      bits lane;
      for (int l = 0; l < Lanes; ++l) lane[l] = l;
      load_pack(v, x);
      v = lane < n ? v : none;
    } else {
      v = none;
      for (int l = 0; l < n; ++l) v[l] = x[l];
    }
  }
  /// The first `n` numbers, which may be none; what is after them may be read up to `end`.
  SINTER_STEP static void load_some(vector& v, const T* x, int n, const T* end) {
    if (n >= Lanes) load_pack(v, x);
    else if (n > 0) load_part(v, x, n, end);
    else fill_pack(v, S::identity());
  }
  SINTER_STEP static void join_row(vector& row, const T* x, int n, const T* end) {
    vector slot[Slots], v;
    constexpr int full = Longer ? Slots : Slots / 2;
#pragma GCC unroll 16
    for (int s = 0; s < full; ++s) load_pack(slot[s], x + s * Lanes);
#pragma GCC unroll 16
    for (int s = full; s < Slots; ++s) load_some(slot[s], x + s * Lanes, n - s * Lanes, end);
    if constexpr (Longer) {
      int k = Slots;
      for (; (k + Slots) * Lanes <= n; k += Slots)
#pragma GCC unroll 16
        for (int s = 0; s < Slots; ++s) {
          load_pack(v, x + (k + s) * Lanes);
          S::join(slot[s], v);
        }
      const int left = n - k * Lanes;
#pragma GCC unroll 16
      for (int s = 0; s < Slots; ++s)
        if (left > s * Lanes) {
          load_some(v, x + (k + s) * Lanes, left - s * Lanes, end);
          S::join(slot[s], v);
        }
    }
#pragma GCC unroll 4
    for (int w = Slots / 2; w > 0; w /= 2)
#pragma GCC unroll 8
      for (int s = 0; s < w; ++s) S::join(slot[s], slot[s + w]);
    row = slot[0];
  }
  [[gnu::flatten]] static void steps(void* const* acc, const void* from, std::int64_t stride, int count, int columns) {
    const auto row = [&](int r) { return reinterpret_cast<const T*>(static_cast<const char*>(from) + r * stride); };
    const int n = columns * S::unit;
    const T* const end = row(stride < 0 ? 0 : count - 1) + n;
    T* to = static_cast<T*>(acc[0]);
    for (int at = 0; at < count; at += rows, to += Lanes) {
      vector tile[rows];
      const int some = count - at < rows ? count - at : rows;
      for (int r = 0; r < some; ++r) join_row(tile[r], row(at + r), n, end);
      for (int r = some; r < rows; ++r) fill_pack(tile[r], S::identity());
      join_tile<S, Lanes / 2, Lanes>(tile);
      if (some == rows) __builtin_memcpy(to, &tile[0], sizeof tile[0]);
      else
        for (int l = 0; l < some * S::unit; ++l) to[l] = tile[0][l];
    }
  }
};

/// The vectors of a row, of which `Slots` hold at least all of its n numbers, or as many as there are lanes.
template <class S, int Lanes, int Slots>
SINTER_STEP void rows_in_slots(void* const* acc, const void* from, std::int64_t stride, int rows, int columns) {
  if (columns > row_lanes) return row_packs<S, Lanes, row_lanes * S::unit / Lanes, true>::steps(acc, from, stride, rows, columns);
  if constexpr (Slots * Lanes < row_lanes * S::unit)
    if (columns * S::unit > Slots * Lanes) return rows_in_slots<S, Lanes, 2 * Slots>(acc, from, stride, rows, columns);
  row_packs<S, Lanes, Slots>::steps(acc, from, stride, rows, columns);
}
template <class S>
void vector_rows(void* const* acc, const void* from, std::int64_t stride, int rows, int columns) {
  constexpr int lanes = wide<typename S::number>::lanes;
  const int n = columns * S::unit;
  if constexpr (lanes > 8)
    if (n <= 4) return row_packs<S, 4, 1>::steps(acc, from, stride, rows, columns);
  if constexpr (lanes > 4)
    if (n <= lanes / 2) return row_packs<S, lanes / 2, 1>::steps(acc, from, stride, rows, columns);
  rows_in_slots<S, lanes, 1>(acc, from, stride, rows, columns);
}

/// row() with the accumulators in registers, as many at a time as there are.
template <class Op>
void vector_row(void* const* acc, const void* lanes_of, int n, int first) {
  using S = vector_steps<Op>;
  using T = typename S::number;
  using vector = typename wide<T>::type;
  constexpr int lanes = wide<T>::lanes, round = row_lanes * S::unit, all = round / lanes, most = all < 8 ? all : 8;
  const int head = first % row_lanes == 0 ? 0 : row_lanes - first % row_lanes, rounds = (n - head) / row_lanes;
  if (n - head < row_lanes) return row<Op>(acc, lanes_of, n, first);
  if (head) row<Op>(acc, lanes_of, head, first);
  const T* const x = static_cast<const T*>(lanes_of) + head * S::unit;
  for (int group = 0; group < all; group += most) {
    T* const a = static_cast<T*>(acc[0]) + group * lanes;
    vector sum[most], v;
#pragma GCC unroll 8
    for (int s = 0; s < most; ++s) load_pack(sum[s], a + s * lanes);
    for (int r = 0; r < rounds; ++r)
#pragma GCC unroll 8
      for (int s = 0; s < most; ++s) {
        load_pack(v, x + r * round + (group + s) * lanes);
        S::join(sum[s], v);
      }
#pragma GCC unroll 8
    for (int s = 0; s < most; ++s) __builtin_memcpy(a + s * lanes, &sum[s], sizeof sum[s]);
  }
  const int done = head + rounds * row_lanes;
  if (done < n) row<Op>(acc, x + rounds * round, n - done, first + done);
}
