// Whole rows of sums and products of floating-point numbers, in the order of jit::addition_order. The lanes of a row, or of as
// many rows as a vector has elements, are joined as groups are (group_vectors.inl), by joining neighbours. The identity of what
// is joined (-0, 1) fills up what there is not. Included by loops.inl.

/// Joins the vectors of as many rows as one has elements; the tree of neighbours of row r becomes element r of the first.
template <class S, class V>
SINTER_STEP void join_tile_of_rows(V* rows, int count) {
#pragma GCC unroll 4
  for (; count > 1; count /= 2)
#pragma GCC unroll 8
    for (int r = 0; r < count / 2; ++r) group_vectors<S>::join_neighbours(rows[r], rows[2 * r], rows[2 * r + 1]);
}
/// The lanes of each run of `Lanes` in the order of their numbers read backwards, bit by bit: neighbours are then joined as
/// halves are.
constexpr int mirrored_bits(int k, int of) {
  int m = 0;
  for (int bit = 1; bit < of; bit *= 2) m = m * 2 + (k / bit & 1);
  return m;
}
template <int Lanes, int Unit, class V, int... I>
SINTER_STEP void mirror_lanes(V& v, std::integer_sequence<int, I...>) {
  v = __builtin_shufflevector(
      v, v, ((I / Unit / Lanes * Lanes + mirrored_bits(I / Unit % Lanes, Lanes)) * Unit + I % Unit)...);
}

template <class S, class V>
SINTER_STEP void store_results(typename S::number* to, const V& results, int rows) {
  if (rows >= group_vectors<S>::width) return void(__builtin_memcpy(to, &results, sizeof results));
  for (int l = 0; l < rows * S::unit; ++l) to[l] = results[l];
}

/// Rows whose lanes, at most a run, are one or more vectors, which are registers meanwhile.
template <class S, class Source, int Lanes, bool Halves = false>
struct held_group_rows {
  using vectors = group_vectors<S>;
  using vector = typename vectors::vector;
  static constexpr int width = vectors::width, held = Lanes / width;
  static constexpr int each = group_size * vectors::lanes, round = held * each;  // numbers

  /// Of a row of n numbers, those from `begin` on whose rounds are `stride` apart.
  SINTER_STEP static void add(vector* sum, const Source& x, int begin, int n, int stride) {
    vector v;
    int at = begin;
    if (at + round <= n) {
#pragma GCC unroll 4
      for (int s = 0; s < held; ++s) vectors::load_groups(sum[s], x, at + s * each);
      at += stride;
    } else {
      for (int s = 0; s < held; ++s) vectors::nothing(sum[s]);
    }
    for (; at + round <= n; at += stride)
#pragma GCC unroll 4
      for (int s = 0; s < held; ++s) {
        vectors::load_groups(v, x, at + s * each);
        S::join(sum[s], v);
      }
#pragma GCC unroll 4
    for (int s = 0; s < held; ++s, at += each) {
      if (at >= n) break;
      if (n - at >= each) vectors::load_groups(v, x, at);
      else vectors::load_some_groups(v, x, at, n - at);
      S::join(sum[s], v);
    }
  }
  SINTER_STEP static void join(vector& to, const Source& x, int begin, int n, int stride) {
    vector sum[held];
    add(sum, x, begin, n, stride);
    if constexpr (Halves) join_halves(sum);
    else join_tile_of_rows<S>(sum, held);
    to = sum[0];
  }
  SINTER_STEP static void join_halves(vector* sum) {
#pragma GCC unroll 4
    for (int half = held / 2; half > 0; half /= 2)
#pragma GCC unroll 4
      for (int s = 0; s < half; ++s) S::join(sum[s], sum[s + half]);
    mirror_lanes<width, S::unit>(sum[0], std::make_integer_sequence<int, vectors::lanes>());
  }
  SINTER_STEP static void single(void* const* acc, Source& x, int n) {
    vector v, none;
    vectors::nothing(none);
    x.move_to(0);
    join(v, x, 0, n, round);
    for (int left = width; left > 1; left /= 2) vectors::join_neighbours(v, v, none);
    store_results<S>(static_cast<typename S::number*>(acc[0]), v, 1);
  }
  [[gnu::flatten]] static void steps(void* const* acc, Source x, int count, int columns) {
    using T = typename S::number;
    const int n = columns * S::unit;
    if (count == 1) return single(acc, x, n);
    T* to = static_cast<T*>(acc[0]);
    for (int at = 0; at < count; at += width, to += vectors::lanes) {
      vector tile[width];
      const int some = count - at < width ? count - at : width;
      for (int r = 0; r < some; ++r) {
        x.move_to(at + r);
        join(tile[r], x, 0, n, round);
      }
      for (int r = some; r < width; ++r) vectors::nothing(tile[r]);
      join_tile_of_rows<S>(tile, width);
      store_results<S>(to, tile[0], some);
    }
  }
};

/// Rows of several runs of lanes whose elements fit the first-level cache: the runs of all rows one after the other.
template <class S, class Source, int Lanes>
struct run_group_rows {
  using T = typename S::number;
  using run = held_group_rows<S, Source, Lanes>;
  using vectors = typename run::vectors;
  static constexpr int width = run::width, most_runs = 8;
  static constexpr int most_elements = 4096;

  SINTER_STEP static void join_runs(T* to, const T* sums, int rows, int runs) {
    for (int r = 0; r < rows; ++r, to += S::unit, sums += runs * S::unit)
      for (int u = 0; u < S::unit; ++u) {
        T sum = sums[u];
        for (int k = 1; k < runs; ++k) sum = both<S>(sum, sums[k * S::unit + u]);
        to[u] = sum;
      }
  }
  [[gnu::flatten]] static void steps(void* const* acc, Source x, int count, int columns, int lanes) {
    const int n = columns * S::unit, seen = (n + run::round - 1) / run::round, all = lanes / Lanes;
    const int runs = seen < all ? seen : all;
    T* to = static_cast<T*>(acc[0]);
    for (int at = 0; at < count; at += width, to += vectors::lanes) {
      T sums[most_runs * vectors::lanes];
      const int rows = count - at < width ? count - at : width;
      int row = 0, k = 0;
      for (int done = 0; done < rows * runs; done += width) {
        typename vectors::vector tile[width];
        for (int t = 0; t < width; ++t) {
          if (done + t >= rows * runs) {
            vectors::nothing(tile[t]);
            continue;
          }
          x.move_to(at + row);
          run::join(tile[t], x, k * run::round, n, all * run::round);
          if (++k == runs) k = 0, ++row;
        }
        join_tile_of_rows<S>(tile, width);
        __builtin_memcpy(sums + done * S::unit, &tile[0], sizeof tile[0]);
      }
      join_runs(to, sums, rows, runs);
    }
  }
};

/// Rows with more lanes than that.
template <class S, class Source>
struct long_group_rows {
  using vectors = group_vectors<S>;
  using T = typename S::number;
  using vector = typename vectors::vector;
  static constexpr int width = vectors::width, most_lanes = 256;

  /// The first `filled` numbers of the lanes, which join the row's n; a multiple of a vector's.
  SINTER_STEP static int add_row(T* a, const Source& x, int n, int lanes) {
    const int numbers = lanes * S::unit, round = group_size * numbers, rounds = n / round;
    vector v;
    int filled = 0;
    if (rounds > 0) {
      for (; filled < numbers; filled += vectors::lanes) {
        vectors::load_groups(v, x, group_size * filled);
        __builtin_memcpy(a + filled, &v, sizeof v);
      }
      if (rounds > 1) add_group_rounds<S>(a, x, round, rounds - 1, lanes);
    }
    int l = 0;
    for (int at = rounds * round; at < n; at += group_size * vectors::lanes, l += vectors::lanes) {
      if (n - at >= group_size * vectors::lanes) vectors::load_groups(v, x, at);
      else vectors::load_some_groups(v, x, at, n - at);
      if (l < filled) {
        vector sum;
        load_pack(sum, a + l);
        S::join(sum, v);
        v = sum;
      } else {
        filled = l + vectors::lanes;
      }
      __builtin_memcpy(a + l, &v, sizeof v);
    }
    return filled;
  }
  /// Joins neighbours of the first `filled` numbers until one vector is left; the distance that has been joined.
  SINTER_STEP static int fold(T* a, int& filled, int lanes) {
    int joined = 1;
    for (; filled > vectors::lanes && joined < lanes && joined < jit::addition_run; joined *= 2) {
      int to = 0;
      for (int l = 0; l < filled; l += 2 * vectors::lanes, to += vectors::lanes) {
        vector p, q;
        load_pack(p, a + l);
        if (l + vectors::lanes < filled) load_pack(q, a + l + vectors::lanes);
        else vectors::nothing(q);
        vectors::join_neighbours(p, p, q);
        __builtin_memcpy(a + to, &p, sizeof p);
      }
      filled = to;
    }
    return joined;
  }
  /// Several runs of lanes.
  [[gnu::flatten]] static void steps(void* const* acc, Source x, int count, int columns, int lanes) {
    const int n = columns * S::unit;
    T* to = static_cast<T*>(acc[0]);
    for (int at = 0; at < count; ++at, to += S::unit) {
      alignas(64) T a[most_lanes * S::unit] = {};
      x.move_to(at);
      int filled = add_row(a, x, n, lanes);
      int joined = fold(a, filled, lanes);
      const int run = lanes < jit::addition_run ? lanes : jit::addition_run;
      if (joined < run) {
        vector none, v;
        vectors::nothing(none);
        load_pack(v, a);
        for (; joined < run; joined *= 2) vectors::join_neighbours(v, v, none);
        __builtin_memcpy(a, &v, sizeof v);
      }
      const int left = filled < lanes / joined * S::unit ? filled : lanes / joined * S::unit;
      for (int u = 0; u < S::unit; ++u) {
        T sum = a[u];
        for (int l = S::unit + u; l < left; l += S::unit) sum = both<S>(sum, a[l]);
        to[u] = sum;
      }
    }
  }
};

/// Two vectors as one, or four.
template <class V, class P, int... I>
SINTER_STEP void put_together(V& to, const P& a, const P& b, std::integer_sequence<int, I...>) {
  to = __builtin_shufflevector(a, b, I...);
}

/// Rows with fewer lanes than a vector has elements: the lanes of several rows are one vector.
template <class S, class Source, int Lanes, bool Halves = false>
struct short_group_rows {
  using vectors = group_vectors<S>;
  using T = typename S::number;
  using vector = typename vectors::vector;
  static constexpr int width = vectors::width, together = width / Lanes;  // rows of a vector of lanes
  static constexpr int round = group_size * Lanes;                        // elements of a row
  static constexpr int piece = round < width ? round : width;             // elements that are read at once
  static constexpr int pieces = width / piece;                            // of a vector
  using part = group_vectors<S, piece * S::unit>;

  template <bool Whole>
  SINTER_STEP static void load_piece(typename part::vector& v, Source& x, int number, int first, int last, int at,
                                     int n) {
    const int e = number * piece, row = first + e / round, begin = at + e % round * S::unit;
    x.move_to(row < last ? row : last);
    if constexpr (Whole) x.load(v, begin);
    else part::load_some(v, x, begin, n - begin);
  }
  template <bool Whole>
  SINTER_STEP static void load_vector(vector& v, Source& x, int number, int first, int last, int at, int n) {
    if constexpr (pieces == 1) {
      load_piece<Whole>(v, x, number, first, last, at, n);
    } else {
      typename part::vector some[pieces];
#pragma GCC unroll 4
      for (int k = 0; k < pieces; ++k) load_piece<Whole>(some[k], x, number * pieces + k, first, last, at, n);
      constexpr int numbers = piece * S::unit;
      if constexpr (pieces == 2) {
        put_together(v, some[0], some[1], std::make_integer_sequence<int, 2 * numbers>());
      } else {
        typename pack<T, 2 * numbers>::type low, high;
        put_together(low, some[0], some[1], std::make_integer_sequence<int, 2 * numbers>());
        put_together(high, some[2], some[3], std::make_integer_sequence<int, 2 * numbers>());
        put_together(v, low, high, std::make_integer_sequence<int, 4 * numbers>());
      }
    }
  }
  /// The groups of a round from the number `at` of the rows `first` and following on.
  template <bool Whole>
  SINTER_STEP static void load_round(vector& to, Source& x, int first, int last, int at, int n) {
    vector v[group_size];
#pragma GCC unroll 4
    for (int k = 0; k < group_size; ++k) load_vector<Whole>(v[k], x, k, first, last, at, n);
    vectors::join_groups(to, v);
  }
  [[gnu::flatten]] static void steps(void* const* acc, Source x, int count, int columns) {
    constexpr int numbers = round * S::unit;
    const int n = columns * S::unit, whole = n / numbers * numbers;
    T* to = static_cast<T*>(acc[0]);
    for (int at = 0; at < count; at += width, to += vectors::lanes) {
      vector tile[Lanes], v;
      for (int k = 0; k < Lanes; ++k) {
        const int first = at + k * together;
        vectors::nothing(tile[k]);
        if (first >= count) continue;
        for (int r = 0; r < whole; r += numbers) {
          load_round<true>(v, x, first, count - 1, r, n);
          S::join(tile[k], v);
        }
        if (whole == n) continue;
        load_round<false>(v, x, first, count - 1, whole, n);
        S::join(tile[k], v);
      }
      if constexpr (Halves)
        for (int k = 0; k < Lanes; ++k)
          mirror_lanes<Lanes, S::unit>(tile[k], std::make_integer_sequence<int, vectors::lanes>());
      join_tile_of_rows<S>(tile, Lanes);
      store_results<S>(to, tile[0], count - at);
    }
  }
};

/// Rows of one, two or four groups that lie one after the other, as vectors of all of them. Of four, the first two are joined with
/// the last two, as two lanes and as the halves of four do.
template <class S, class Source, int Groups>
struct dense_group_rows {
  using vectors = group_vectors<S>;
  using vector = typename vectors::vector;
  static constexpr int width = vectors::width, rows = width;  // of a tile

  SINTER_STEP static void join_halves_of_four(vector& to, const vector& p, const vector& q) {
    vector first, last;
    take_every_second<2 * S::unit, 0>(first, p, q, std::make_integer_sequence<int, vectors::lanes>());
    take_every_second<2 * S::unit, 1>(last, p, q, std::make_integer_sequence<int, vectors::lanes>());
    S::join(first, last);
    to = first;
  }
  /// Whole tiles of the rows; how many rows that are.
  [[gnu::flatten]] static int steps(void* const* acc, Source x, int count) {
    typename S::number* to = static_cast<typename S::number*>(acc[0]);
    int at = 0;
    for (; at + rows <= count; at += rows, to += vectors::lanes) {
      vector v[Groups];
      x.move_to(at);
#pragma GCC unroll 4
      for (int k = 0; k < Groups; ++k) vectors::load_groups(v[k], x, k * group_size * vectors::lanes);
      if constexpr (Groups == 4) {
        join_halves_of_four(v[0], v[0], v[1]);
        join_halves_of_four(v[1], v[2], v[3]);
      }
      if constexpr (Groups > 1) vectors::join_neighbours(v[0], v[0], v[1]);
      __builtin_memcpy(to, &v[0], sizeof v[0]);
    }
    return at;
  }
};
/// The rows that are done so, the first ones.
template <class S, class Source>
SINTER_STEP int rows_in_one_run(void* const* acc, const Source& x, int rows, int columns, const lane_tree& tree) {
  constexpr int width = group_vectors<S>::width;
  if constexpr (width >= group_size) {
    if (rows < width || !x.is_dense(columns * S::unit, width)) return 0;
    if (columns == group_size) return dense_group_rows<S, Source, 1>::steps(acc, x, rows);
    if (columns == 2 * group_size) return dense_group_rows<S, Source, 2>::steps(acc, x, rows);
    if (columns == 4 * group_size && (tree.lanes == 2 || (tree.halves && tree.lanes == 4)))
      return dense_group_rows<S, Source, 4>::steps(acc, x, rows);
  }
  return 0;
}

inline constexpr int most_held = 4;  // vectors

template <class S, int Lanes, class Source>
SINTER_STEP void rows_of_lanes(void* const* acc, const Source& x, int rows, int columns, int lanes) {
  constexpr int width = group_vectors<S>::width;
  if constexpr (Lanes > jit::addition_run || Lanes > most_held * width) {
    if constexpr (jit::addition_run <= most_held * width) {
      using runs = run_group_rows<S, Source, static_cast<int>(jit::addition_run)>;
      if (columns <= runs::most_elements) return runs::steps(acc, x, rows, columns, lanes);
    }
    long_group_rows<S, Source>::steps(acc, x, rows, columns, lanes);
  } else {
    if (lanes != Lanes) return rows_of_lanes<S, 2 * Lanes>(acc, x, rows, columns, lanes);
    if constexpr (Lanes < width) short_group_rows<S, Source, Lanes>::steps(acc, x, rows, columns);
    else held_group_rows<S, Source, Lanes>::steps(acc, x, rows, columns);
  }
}
/// The same whose lanes are joined by halves.
template <class S, int Lanes, class Source>
SINTER_STEP void rows_of_halved_lanes(void* const* acc, const Source& x, int rows, int columns, int lanes) {
  if constexpr (Lanes < most_halved_lanes)
    if (lanes != Lanes) return rows_of_halved_lanes<S, 2 * Lanes>(acc, x, rows, columns, lanes);
  if constexpr (Lanes < group_vectors<S>::width)
    short_group_rows<S, Source, Lanes, true>::steps(acc, x, rows, columns);
  else held_group_rows<S, Source, Lanes, true>::steps(acc, x, rows, columns);
}
template <class S, class Source>
SINTER_STEP void rows_by_groups(void* const* acc, Source x, int rows, int columns, const lane_tree& tree) {
  x.bound(rows, columns * S::unit);
  const int done = rows_in_one_run<S>(acc, x, rows, columns, tree);
  if (done == rows) return;
  x.skip(done);
  void* const rest = static_cast<typename S::number*>(acc[0]) + done * S::unit;
  if (tree.halves) rows_of_halved_lanes<S, 1>(&rest, x, rows - done, columns, tree.lanes);
  else rows_of_lanes<S, 1>(&rest, x, rows - done, columns, tree.lanes);
}
template <class S>
void group_rows(void* const* acc, const void* from, std::int64_t stride, int rows, int columns, const lane_tree& tree) {
  rows_by_groups<S>(acc, plain_rows<typename S::number>{from, stride}, rows, columns, tree);
}
/// One row for all others, as that of a product with a vector, is copied, so that its last vector is whole.
template <class S>
void product_rows(void* const* acc, const row_pair& x, int rows, int columns, const lane_tree& tree) {
  using T = typename S::number;
  constexpr int spare = wide<T>::lanes, most = 2048;
  plain_rows<T> a{x.a, x.stride_a}, b{x.b, x.stride_b};
  if (a.stride == 0) a = {x.b, x.stride_b}, b = {x.a, x.stride_a};
  T copy[most + spare];
  if (b.stride == 0 && columns <= most) {
    __builtin_memcpy(copy, b.first, sizeof(T) * static_cast<unsigned long>(columns));
    for (int l = 0; l < spare; ++l) copy[columns + l] = 0;
    b = {copy, 0, spare};
    if (columns <= 4 * group_size && rows >= spare) {  // as often as a tile has rows
      for (int l = columns; l < spare * columns; ++l) copy[l] = copy[l - columns];
      b.spare = spare * columns;
    }
  }
  rows_by_groups<S>(acc, rows_of_products<T>{a, b}, rows, columns, tree);
}

/// Whether there are loops for sums of products.
template <class Op>
inline constexpr bool has_products = false;
template <>
inline constexpr bool has_products<sum_of<float>> = true;
template <>
inline constexpr bool has_products<sum_of<double>> = true;

template <class Op>
void set_group_loops(reducer& r) {
  static_assert(Op::planes == 1);
  r.by_groups = true;
  r.planes = 2;
  r.bytes[1] = Op::bytes[0];
  r.columns = group_columns<Op>;
  r.close_columns = close_group_columns<Op>;
  r.join_lanes = join_lanes_by_groups<Op, false>;
  r.join_halves = join_lanes_by_groups<Op, true>;
  r.row = group_row<Op>;
  r.runs = group_runs<Op>;
  r.whole_rows = group_rows<vector_steps<Op>>;
  r.least_columns = 1;
  if constexpr (has_products<Op>) {
    r.product_row = product_row<Op>;
    r.product_runs = product_runs<Op>;
    r.product_rows = product_rows<vector_steps<Op>>;
    r.product_columns = product_columns<Op>;
  }
}
