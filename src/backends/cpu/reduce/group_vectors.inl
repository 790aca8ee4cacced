// Rows of sums and products of floating-point numbers, in the order of jit::addition_order, part by part. Four vectors of
// neighbouring elements become one of groups by joining neighbours twice; vectors of groups are joined to those of lanes.
// Included by loops.inl.

/// The products of the elements of two.
template <class T>
struct rows_of_products {
  plain_rows<T> a, b;

  SINTER_STEP void bound(int rows, int n) { a.bound(rows, n), b.bound(rows, n); }
  SINTER_STEP void move_to(int r) { a.move_to(r), b.move_to(r); }
  SINTER_STEP void skip(int r) { a.skip(r), b.skip(r); }
  template <class V>
  SINTER_STEP void load(V& v, index64 at) const {
    V factor;
    a.load(v, at), b.load(factor, at);
    v = v * factor;
  }
  SINTER_STEP T number(index64 at) const { return a.number(at) * b.number(at); }
  /// A row that is a factor of all others may lie in memory as often as a tile has rows.
  SINTER_STEP bool is_dense(int n, int rows) const {
    return a.is_dense(n, rows) && (b.is_dense(n, rows) || (b.stride == 0 && b.spare >= n * rows));
  }
  template <class V>
  SINTER_STEP void load_part(V& v, index64 at, int n) const {
    V factor;
    a.load_part(v, at, n), b.load_part(factor, at, n);
    v = v * factor;
  }
};

/// Every second one of the elements of p and then q, from the first or the second on.
template <int Unit, int Odd, class V, int... I>
SINTER_STEP void take_every_second(V& to, const V& p, const V& q, std::integer_sequence<int, I...>) {
  to = __builtin_shufflevector(p, q, ((I / Unit * 2 + Odd) * Unit + I % Unit)...);
}
/// Vectors of a reduction's numbers, and how they are joined.
template <class S, int Lanes = wide<typename S::number>::lanes>
struct group_vectors {
  using T = typename S::number;
  using vector = typename pack<T, Lanes>::type;
  static constexpr int lanes = Lanes, width = Lanes / S::unit;  // numbers, elements

  /// Element k becomes 2 k joined with 2 k + 1, of p and then q.
  SINTER_STEP static void join_neighbours(vector& to, const vector& p, const vector& q) {
    vector odd, even;
    take_every_second<S::unit, 0>(even, p, q, std::make_integer_sequence<int, Lanes>());
    take_every_second<S::unit, 1>(odd, p, q, std::make_integer_sequence<int, Lanes>());
    S::join(even, odd);
    to = even;
  }
  SINTER_STEP static void join_groups(vector& to, const vector* v) {
    vector p, q;
    join_neighbours(p, v[0], v[1]);
    join_neighbours(q, v[2], v[3]);
    join_neighbours(to, p, q);
  }
  SINTER_STEP static void nothing(vector& v) { fill_pack(v, S::identity()); }
  /// The first n numbers of a vector, the others joining nothing.
  SINTER_STEP static void keep_first(vector& v, int n) {
    using bits = decltype(v == v);
    bits lane;
    for (int l = 0; l < Lanes; ++l) lane[l] = l;
    vector none;
    nothing(none);
    v = lane < n ? v : none;
  }
  /// The n numbers from `at` on, which may be none.
  template <class Source>
  SINTER_STEP static void load_some(vector& v, const Source& x, index64 at, int n) {
    if (n >= Lanes) return x.load(v, at);
    if (n <= 0) return nothing(v);
    x.load_part(v, at, n);
    keep_first(v, n);
  }
  template <class Source>
  SINTER_STEP static void load_groups(vector& to, const Source& x, index64 at) {
    vector v[group_size];
#pragma GCC unroll 4
    for (int k = 0; k < group_size; ++k) x.load(v[k], at + k * Lanes);
    join_groups(to, v);
  }
  template <class Source>
  [[gnu::noinline]] static void load_some_groups(vector& to, const Source& x, index64 at, int n) {
    vector v[group_size];
#pragma GCC unroll 4
    for (int k = 0; k < group_size; ++k) load_some(v[k], x, at + k * Lanes, n - k * Lanes);
    join_groups(to, v);
  }
};

/// Joins `rounds` times `Vectors` vectors of groups to as many of lanes, which are registers meanwhile.
template <class S, int Vectors, class Source>
SINTER_STEP void add_rounds_of(typename S::number* a, const Source& x, index64 at, int rounds) {
  using vectors = group_vectors<S>;
  typename vectors::vector sum[Vectors], v;
#pragma GCC unroll 4
  for (int s = 0; s < Vectors; ++s) load_pack(sum[s], a + s * vectors::lanes);
  for (; rounds > 0; --rounds)
#pragma GCC unroll 4
    for (int s = 0; s < Vectors; ++s, at += group_size * vectors::lanes) {
      vectors::load_groups(v, x, at);
      S::join(sum[s], v);
    }
#pragma GCC unroll 4
  for (int s = 0; s < Vectors; ++s) __builtin_memcpy(a + s * vectors::lanes, &sum[s], sizeof sum[s]);
}
/// Joins whole rounds of groups to the lanes, which are at least as many as a vector has elements.
template <class S, class Source>
[[gnu::noinline]] void add_group_rounds(typename S::number* a, const Source& x, index64 at, int rounds, int lanes) {
  using vectors = group_vectors<S>;
  switch (lanes / vectors::width) {
    case 1: return add_rounds_of<S, 1>(a, x, at, rounds);
    case 2: return add_rounds_of<S, 2>(a, x, at, rounds);
    case 4: return add_rounds_of<S, 4>(a, x, at, rounds);
  }
  constexpr int each = 4 * vectors::lanes;  // numbers of the lanes that are registers at a time
  for (; rounds > 0; --rounds)
    for (int l = 0; l < lanes * S::unit; l += each, at += group_size * each) add_rounds_of<S, 4>(a + l, x, at, 1);
}

/// Joins neighbouring lanes until one is left, or one of each run, and then the runs from left to right.
template <class S>
SINTER_STEP void join_group_lanes(typename S::number* a, int lanes) {
  constexpr int unit = S::unit;
  int left = lanes;
  for (int joined = 1; joined < lanes && joined < jit::addition_run; joined *= 2) {
    left /= 2;
    if constexpr (unit == 1) {
      SINTER_LANES(l, left) a[l] = both<S>(a[2 * l], a[2 * l + 1]);
    } else {
      for (int l = 0; l < left; ++l)
        for (int u = 0; u < unit; ++u) a[l * unit + u] = both<S>(a[2 * l * unit + u], a[(2 * l + 1) * unit + u]);
    }
  }
  for (int l = 1; l < left; ++l)
    for (int u = 0; u < unit; ++u) a[u] = both<S>(a[u], a[l * unit + u]);
}

// ---- parts of a row

template <class S>
SINTER_STEP void add_single_group(typename S::number* a, const typename S::number* x) {
  constexpr int u = S::unit;
  for (int k = 0; k < u; ++k)
    a[k] = both<S>(a[k], both<S>(both<S>(x[k], x[u + k]), both<S>(x[2 * u + k], x[3 * u + k])));
}
/// `get(to, e, n)`: numbers of the elements e to e + n of the part. `x`: all of them, for vectors.
template <class S, class Source, class Get>
SINTER_STEP void group_row_of(void* const* acc, const Source& x, const Get& get, int n, int first, int lanes) {
  using T = typename S::number;
  constexpr int width = group_vectors<S>::width;
  T *const a = static_cast<T*>(acc[0]), *const begun = static_cast<T*>(acc[1]);
  int e = 0;
  if (const int seen = first % group_size; seen != 0) {
    e = group_size - seen < n ? group_size - seen : n;
    get(begun + seen * S::unit, 0, e);
    if (seen + e == group_size) add_single_group<S>(a + (first / group_size & (lanes - 1)) * S::unit, begun);
  }
  const auto single = [&] {
    T group[group_size * S::unit];
    get(group, e, group_size);
    add_single_group<S>(a + ((first + e) / group_size & (lanes - 1)) * S::unit, group);
    e += group_size;
  };
  const int round = group_size * lanes, step = group_size * width;
  while (n - e >= group_size) {
    const int lane = (first + e) / group_size & (lanes - 1);
    if (lane + width > lanes || n - e < step) {
      single();
    } else if (lane == 0 && n - e >= round) {
      const int rounds = (n - e) / round;
      add_group_rounds<S>(a, x, e * S::unit, rounds, lanes);
      e += rounds * round;
    } else {
      typename group_vectors<S>::vector sum, v;
      load_pack(sum, a + lane * S::unit);
      group_vectors<S>::load_groups(v, x, e * S::unit);
      S::join(sum, v);
      __builtin_memcpy(a + lane * S::unit, &sum, sizeof sum);
      e += step;
    }
  }
  if (e < n) get(begun + (first + e) % group_size * S::unit, e, n - e);
}
template <class S, class Source>
SINTER_STEP void group_row_from(void* const* acc, const Source& x, int n, int first, int lanes) {
  const auto get = [&x](typename S::number* to, int e, int count) {
    for (int k = 0; k < count * S::unit; ++k) to[k] = x.number(e * S::unit + k);
  };
  group_row_of<S>(acc, x, get, n, first, lanes);
}
template <class Op>
void group_row(void* const* acc, const void* from, int n, int first, int lanes) {
  using T = typename vector_steps<Op>::number;
  const T* const x = static_cast<const T*>(from);
  group_row_from<vector_steps<Op>>(acc, plain_rows<T>{x, 0, 0, nullptr, x}, n, first, lanes);
}
/// Runs of whole vectors of groups, each of which goes to a vector of lanes.
template <class S, class Source>
SINTER_STEP void add_vector_runs(typename S::number* a, Source& x, int runs, int n, int lane, int lanes) {
  using vectors = group_vectors<S>;
  constexpr int width = vectors::width;
  for (int r = 0; r < runs; ++r) {
    x.move_to(r);
    for (int e = 0; e < n; e += group_size * width, lane = (lane + width) & (lanes - 1)) {
      typename vectors::vector sum, v;
      load_pack(sum, a + lane * S::unit);
      vectors::load_groups(v, x, e * S::unit);
      S::join(sum, v);
      __builtin_memcpy(a + lane * S::unit, &sum, sizeof sum);
    }
  }
}
/// Whole groups, a vector of them at a time. Those of the last lanes and of the first ones are one vector: what follows the
/// lanes is joined to the first of them at once, and what a short run lacks of a vector is nothing.
template <class S, class Source>
SINTER_STEP void group_runs_from(void* const* acc, Source x, int runs, int n, int first, int lanes) {
  using T = typename S::number;
  using vectors = group_vectors<S>;
  constexpr int width = vectors::width, step = group_size * width, most_lanes = 256;
  x.bound(runs, n * S::unit);
  if (lanes < width || lanes > most_lanes || n % group_size != 0 || first % group_size != 0) {
    for (int r = 0; r < runs; ++r, first += n) {
      x.move_to(r);
      group_row_from<S>(acc, x, n, first, lanes);
    }
    return;
  }
  int lane = first / group_size & (lanes - 1);
  if (n % step == 0 && first % step == 0)
    return add_vector_runs<S>(static_cast<T*>(acc[0]), x, runs, n, lane, lanes);
  T a[(most_lanes + width) * S::unit];
  T* const behind = a + lanes * S::unit;
  const std::size_t bytes = static_cast<std::size_t>(lanes * S::unit) * sizeof(T);
  __builtin_memcpy(a, acc[0], bytes);
  typename vectors::vector sum, v, none;
  vectors::nothing(none);
  __builtin_memcpy(behind, &none, sizeof none);
  for (int r = 0; r < runs; ++r) {
    x.move_to(r);
    for (int e = 0; e < n; e += step) {
      const int left = n - e;
      if (left >= step) vectors::load_groups(v, x, e * S::unit);
      else vectors::load_some_groups(v, x, e * S::unit, left * S::unit);
      load_pack(sum, a + lane * S::unit);
      S::join(sum, v);
      __builtin_memcpy(a + lane * S::unit, &sum, sizeof sum);
      if (lane + width > lanes) {
        load_pack(sum, a);
        load_pack(v, behind);
        S::join(sum, v);
        __builtin_memcpy(a, &sum, sizeof sum);
        __builtin_memcpy(behind, &none, sizeof none);
      }
      lane = (lane + (left < step ? left : step) / group_size) & (lanes - 1);
    }
  }
  __builtin_memcpy(acc[0], a, bytes);
}
template <class Op>
void group_runs(void* const* acc, const row_pair& from, int runs, int n, int first, int lanes) {
  using S = vector_steps<Op>;
  group_runs_from<S>(acc, plain_rows<typename S::number>{from.a, from.stride_a}, runs, n, first, lanes);
}
template <class Op>
void product_runs(void* const* acc, const row_pair& from, int runs, int n, int first, int lanes) {
  using S = vector_steps<Op>;
  using T = typename S::number;
  group_runs_from<S>(acc, rows_of_products<T>{{from.a, from.stride_a}, {from.b, from.stride_b}}, runs, n, first, lanes);
}
template <class Op>
void product_row(void* const* acc, const void* from_a, const void* from_b, int n, int first, int lanes) {
  using T = typename vector_steps<Op>::number;
  const T *const a = static_cast<const T*>(from_a), *const b = static_cast<const T*>(from_b);
  group_row_from<vector_steps<Op>>(acc, rows_of_products<T>{{a, 0, 0, nullptr, a}, {b, 0, 0, nullptr, b}}, n, first,
                                   lanes);
}
/// Joins lane k with the one half as many lanes further, until one is left.
template <class S>
SINTER_STEP void join_group_halves(typename S::number* a, int lanes) {
  for (int half = lanes / 2; half > 0; half /= 2)
    SINTER_LANES(l, half * S::unit) a[l] = both<S>(a[l], a[l + half * S::unit]);
}
/// What has been seen of a last group goes to its lane.
template <class S>
SINTER_STEP void join_begun_group(void* const* acc, int lanes, int length) {
  using T = typename S::number;
  const T* const begun = static_cast<const T*>(acc[1]);
  const int seen = length % group_size;
  if (seen == 0) return;
  for (int u = 0; u < S::unit; ++u) {
    T some = begun[u];
    for (int k = 1; k < seen; ++k) some = both<S>(some, begun[k * S::unit + u]);
    T& lane = static_cast<T*>(acc[0])[(length / group_size & (lanes - 1)) * S::unit + u];
    lane = both<S>(lane, some);
  }
}
template <class Op, bool Halves>
void join_lanes_by_groups(void* const* acc, int lanes, int length) {
  using S = vector_steps<Op>;
  join_begun_group<S>(acc, lanes, length);
  auto* const a = static_cast<typename S::number*>(acc[0]);
  if constexpr (Halves) join_group_halves<S>(a, lanes);
  else join_group_lanes<S>(a, lanes);
}
