// Whole rows at a time: the lanes of a row are joined down to a few while they are in the first-level cache, the last few of
// many rows at once. Included by loops.inl.

inline constexpr int shortest_row = 3;  // shorter ones are transposed as fast

/// Lanes that are left of each row of a tile, and rows of a tile.
inline constexpr int tile_lanes = 8, tile_rows = rows_at_once;

/// Joins `Lanes` lanes by halves down to `Least`, those of each step `Apart` times as many.
template <class Op, int Lanes, int Least>
SINTER_STEP void join_halves(void* const* acc, int each) {
  if constexpr (Lanes > Least) {
    void* upper[max_planes];
    for (int p = 0; p < Op::planes; ++p) upper[p] = static_cast<char*>(acc[p]) + Lanes / 2 * each * Op::bytes[p];
    Op::join(acc, upper, Lanes / 2 * each);
    join_halves<Op, Lanes / 2, Least>(acc, each);
  }
}

/// The lanes of row r of a tile, one below the other.
template <int Bytes>
SINTER_STEP void put_row(void* tile, const void* lanes, int rows, int r) {
  for (int l = 0; l < tile_lanes; ++l)
    __builtin_memcpy(static_cast<char*>(tile) + (l * rows + r) * Bytes, static_cast<const char*>(lanes) + l * Bytes,
                     Bytes);
}
template <class Op>
SINTER_STEP void put_partials(void* const* tile, void* const* acc, int rows, int r) {
  put_row<Op::bytes[0]>(tile[0], acc[0], rows, r);
  if constexpr (Op::partials > 1) put_row<Op::bytes[1]>(tile[1], acc[1], rows, r);
  if constexpr (Op::partials > 2) put_row<Op::bytes[2]>(tile[2], acc[2], rows, r);
  if constexpr (Op::partials > 3) put_row<Op::bytes[3]>(tile[3], acc[3], rows, r);
}

template <class Op, int Lanes>
struct row_memory {
  static constexpr int widest = 16;  // bytes of a lane
  alignas(64) char lanes[Op::planes][Lanes * widest];
  void* planes[max_planes];
  row_memory() {
    for (int p = 0; p < Op::planes; ++p) planes[p] = lanes[p];
  }
};

/// Steps of four times as many lanes do not wait for each other. They are joined behind it, where any order will do.
template <class Op>
[[gnu::flatten]] int long_row(void* const* acc, const void* lanes, int n) {
  constexpr int wide = 4 * row_lanes;
  row_memory<Op, wide> memory;
  Op::reset(memory.planes, wide);
  int done = 0;
  for (; done + wide <= n; done += wide) Op::template step<wide, 1>(memory.planes, 0, lanes, done, wide, done, 0);
  join_halves<Op, wide, row_lanes>(memory.planes, 1);
  Op::join(acc, memory.planes, row_lanes);
  return done;
}

template <class Op>
void row(void* const* acc, const void* lanes, int n, int first, int = 0) {
  int done = 0;
  const int lane = first % row_lanes;
  if (lane != 0) {
    done = row_lanes - lane < n ? row_lanes - lane : n;
    Op::template step<0, 1>(acc, lane, lanes, 0, done, first, first / row_lanes + 1);
  }
  if constexpr (Op::any_order && Op::planes == 1)
    if (done == 0 && n >= 16 * row_lanes) done = long_row<Op>(acc, lanes, n);
  for (; done + row_lanes <= n; done += row_lanes)
    Op::template step<row_lanes, 1>(acc, 0, lanes, done, row_lanes, first + done, (first + done) / row_lanes + 1);
  if (done < n) Op::template step<0, 1>(acc, 0, lanes, done, n - done, first + done, (first + done) / row_lanes + 1);
}

template <class Op, int Lanes>
[[gnu::flatten]] void rows_by_tiles(void* const* acc, const void* from, std::int64_t stride, int rows, int columns) {
  row_memory<Op, Lanes> row_lanes_of;
  row_memory<Op, tile_lanes * tile_rows> tile;
  void* const* row_acc = row_lanes_of.planes;
  for (int at = 0; at < rows; at += tile_rows) {
    const int count = rows - at < tile_rows ? rows - at : tile_rows;
    for (int r = 0; r < count; ++r) {
      const void* x = static_cast<const char*>(from) + (at + r) * stride;
      Op::reset(row_acc, Lanes);
      if constexpr (Lanes == row_lanes) row<Op>(row_acc, x, columns, 0);
      else Op::template step<0, 1>(row_acc, 0, x, 0, columns, 0, 1);
      Op::close(row_acc, Lanes, true, columns, 0);
      join_halves<Op, Lanes, tile_lanes>(row_acc, 1);
      put_partials<Op>(tile.planes, row_acc, count, r);
    }
    join_halves<Op, tile_lanes, 1>(tile.planes, count);
    for (int p = 0; p < Op::partials; ++p)
      __builtin_memcpy(static_cast<char*>(acc[p]) + at * Op::bytes[p], tile.planes[p],
                       static_cast<unsigned long>(count * Op::bytes[p]));
  }
}

template <class Op>
void whole_rows(void* const* acc, const void* from, std::int64_t stride, int rows, int columns, const lane_tree&) {
  if (columns <= 16) rows_by_tiles<Op, 16>(acc, from, stride, rows, columns);
  else if (columns <= 32) rows_by_tiles<Op, 32>(acc, from, stride, rows, columns);
  else rows_by_tiles<Op, row_lanes>(acc, from, stride, rows, columns);
}

/// A vector register of the instruction set.
template <class T>
struct wide {
  static constexpr int bytes = 16 << SINTER_ISA_LEVEL, lanes = bytes / static_cast<int>(sizeof(T));
  typedef T type __attribute__((vector_size(bytes)));
};
// No function returns one: without AVX-512 that is another calling convention, of which GCC warns.
template <class T>
SINTER_STEP void load_wide(typename wide<T>::type& v, const T* x) {
  __builtin_memcpy(&v, x, sizeof v);
}
template <class Mask>
SINTER_STEP bool is_any(const Mask& hits) {
  unsigned long long parts[sizeof hits / 8], all = 0;
  __builtin_memcpy(parts, &hits, sizeof parts);
  for (unsigned long long p : parts) all |= p;
  return all != 0;
}

/// The best of the lanes, none of which is NaN.
template <class T, bool Min>
SINTER_STEP T best_lane(const typename wide<T>::type& v) {
  T lanes[wide<T>::lanes];
  __builtin_memcpy(lanes, &v, sizeof lanes);
  for (int w = wide<T>::lanes / 2; w > 0; w /= 2)
    for (int l = 0; l < w; ++l) {
      const T x = lanes[l + w], mine = lanes[l];
      lanes[l] = (Min ? x < mine : x > mine) ? x : mine;
    }
  return lanes[0];
}

template <class T>
using mask_of = decltype(typename wide<T>::type() == typename wide<T>::type());
/// Marks the lanes that equal those of `value`, or are NaN.
template <bool Nan, class T>
SINTER_STEP void mark(mask_of<T>& hits, const T* from, const typename wide<T>::type& value) {
  typename wide<T>::type v;
  load_wide(v, from);
  if constexpr (Nan) hits |= v != v;
  else hits |= v == value;
}
/// The place of the first of the elements that is marked; one of them is.
template <bool Nan, class T>
SINTER_STEP int first_marked(const T* x, int n, const typename wide<T>::type& value) {
  constexpr int lanes = wide<T>::lanes;
  int at = 0;
  for (; at + 4 * lanes <= n; at += 4 * lanes) {
    mask_of<T> some = {};
    for (int k = 0; k < 4; ++k) mark<Nan>(some, x + at + k * lanes, value);
    if (is_any(some)) break;
  }
  for (;; at += lanes) {
    if (at + lanes > n) at = n - lanes;
    mask_of<T> hits = {};
    mark<Nan>(hits, x + at, value);
    if (!is_any(hits)) continue;
    int places[lanes];
    for (int l = 0; l < lanes; ++l) places[l] = hits[l] != 0 ? l : lanes;
    for (int w = lanes / 2; w > 0; w /= 2)
      for (int l = 0; l < w; ++l) places[l] = places[l + w] < places[l] ? places[l + w] : places[l];
    return at + places[0];
  }
}

/// Takes the better lanes of a vector, and marks those that are NaN.
template <class T, bool Min>
SINTER_STEP void take_better(typename wide<T>::type& best, mask_of<T>& nan, const T* from) {
  typename wide<T>::type v;
  load_wide(v, from);
  best = (Min ? v < best : v > best) ? v : best;
  nan |= v != v;
}

/// Elements of a row up to which places are carried along: where the extremum is decides no branch then.
template <class T>
inline constexpr int most_carried = sizeof(T) == 1 ? 127 : 32 * wide<T>::lanes;

/// The lanes W further, and the first W again.
template <int W, class V, int... I>
SINTER_STEP void turn_lanes(V& to, const V& v, std::integer_sequence<int, I...>) {
  to = __builtin_shufflevector(v, v, ((I + W) % static_cast<int>(sizeof...(I)))...);
}
/// The best of the lanes and its place, the first of several, to lane 0.
template <bool Min, int W, class V, class P>
SINTER_STEP void fold_places(V& best, P& place) {
  if constexpr (W > 0) {
    constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(best[0]));
    V other;
    P further;
    turn_lanes<W>(other, best, std::make_integer_sequence<int, lanes>());
    turn_lanes<W>(further, place, std::make_integer_sequence<int, lanes>());
    const P taken = (Min ? other < best : other > best) | ((other == best) & (further < place));
    best = taken ? other : best;
    place = taken ? further : place;
    fold_places<Min, W / 2>(best, place);
  }
}
/// Of lanes <= n <= most_carried elements. The last vector overlaps the one before it.
template <class T, bool Min>
SINTER_STEP int carried_place(const T* x, int n) {
  using vector = typename wide<T>::type;
  using places = mask_of<T>;
  constexpr int lanes = wide<T>::lanes;
  vector best, v;
  places place, next;
  load_wide(best, x);
  for (int l = 0; l < lanes; ++l) place[l] = next[l] = static_cast<decltype(place[0] + 0)>(l);
  places nan = best != best;
  for (int at = lanes; at < n; at += lanes) {
    const int step = at + lanes <= n ? lanes : n - at;
    next += places{} + static_cast<std::remove_reference_t<decltype(place[0])>>(step);
    load_wide(v, x + at + step - lanes);
    const places better = Min ? v < best : v > best;
    best = better ? v : best;
    place = better ? next : place;
    nan |= v != v;
  }
  if (is_any(nan)) return first_marked<true>(x, n, best);
  fold_places<Min, lanes / 2>(best, place);
  return static_cast<int>(place[0]);
}

/// The best of n > lanes elements in each lane, of whatever is not NaN, and whether something is. The last vector overlaps the
/// one before it.
template <class T, bool Min>
SINTER_STEP bool best_lanes(typename wide<T>::type& found, const T* x, int n) {
  typename wide<T>::type best[4];
  constexpr int lanes = wide<T>::lanes;
  for (auto& b : best) load_wide(b, x);
  mask_of<T> nan = best[0] != best[0];
  int at = lanes;
  for (; at + 4 * lanes <= n; at += 4 * lanes)
    for (int k = 0; k < 4; ++k) take_better<T, Min>(best[k], nan, x + at + k * lanes);
  for (; at + lanes <= n; at += lanes) take_better<T, Min>(best[0], nan, x + at);
  take_better<T, Min>(best[1], nan, x + n - lanes);
  for (int k = 1; k < 4; ++k) best[0] = (Min ? best[k] < best[0] : best[k] > best[0]) ? best[k] : best[0];
  found = best[0];
  return is_any(nan);
}
/// The place of the first NaN, or else of the first of the elements that are `found`.
template <class T>
SINTER_STEP int place_among(const T* x, int n, bool nan, T found) {
  const typename wide<T>::type all = typename wide<T>::type{} + found;
  return nan ? first_marked<true>(x, n, all) : first_marked<false>(x, n, all);
}

/// The place of a row's extremum: the best value first, then where it is. Both passes find the row in the cache, and are
/// vector code.
template <class T, bool Min>
SINTER_STEP int place_of(const T* x, int n) {
  using vector = typename wide<T>::type;
  constexpr int lanes = wide<T>::lanes;
  if (n < lanes) {
    int at = 0;
    for (int l = 1; l < n; ++l) at = is_better<Min>(x[l], x[at]) ? l : at;
    return at;
  }
  if (n <= most_carried<T>) return carried_place<T, Min>(x, n);
  vector best;
  const bool nan = best_lanes<T, Min>(best, x, n);
  return place_among(x, n, nan, nan ? T() : best_lane<T, Min>(best));
}

/// A part of a longer row goes to one lane, block by block: where nothing of a block is better than what has been seen,
/// there is no second pass over it.
template <class T, bool Min>
[[gnu::flatten]] void place_row(void* const* acc, const void* elements, int n, int first, int) {
  constexpr int lanes = wide<T>::lanes, most = 4096;
  const T* const x = static_cast<const T*>(elements);
  T mine = *static_cast<T*>(acc[0]);
  int best = -1;
  for (int begin = 0; begin < n; begin += most) {
    const int some = n - begin < most ? n - begin : most;
    int at = 0;
    if (some < lanes) {
      at = place_of<T, Min>(x + begin, some);
    } else {
      typename wide<T>::type found;
      const bool nan = best_lanes<T, Min>(found, x + begin, some);
      const T value = nan ? T() : best_lane<T, Min>(found);
      if (nan ? is_nan(mine) : !is_better<Min>(value, mine)) continue;
      at = place_among(x + begin, some, nan, value);
    }
    if (!is_better<Min>(x[begin + at], mine)) continue;
    mine = x[begin + at];
    best = first + begin + at;
  }
  if (best < 0) return;
  *static_cast<T*>(acc[0]) = mine;
  *static_cast<typename position<T, Min>::index*>(acc[2]) = static_cast<typename position<T, Min>::index>(best);
}

#include "backends/cpu/reduce/place_rows.inl"

template <class T, bool Min>
[[gnu::flatten]] void place_rows(void* const* acc, const void* from, std::int64_t stride, int rows, int columns,
                                 const lane_tree&) {
  int r = 0;
#if SINTER_ISA_LEVEL == 2
  if constexpr (most_side_by_side<T> > 0)
    if (columns <= most_side_by_side<T>)
      r = place_side_by_side<T, Min>(static_cast<T*>(acc[0]), static_cast<index64*>(acc[1]), from, stride, rows, columns);
#endif
  for (; r < rows; ++r) {
    const T* x = reinterpret_cast<const T*>(static_cast<const char*>(from) + r * stride);
    const int at = place_of<T, Min>(x, columns);
    static_cast<T*>(acc[0])[r] = x[at];
    static_cast<index64*>(acc[1])[r] = at;
  }
}

/// How a reduction takes rows, one in parts and whole ones.
template <class Op>
struct rows_of {
  static constexpr auto* step = row<Op>;
  static constexpr auto* steps = whole_rows<Op>;
};
template <class T, bool Min>
  requires(!is_complex_v<T>)
struct rows_of<position<T, Min>> {
  static constexpr auto* step = place_row<T, Min>;
  static constexpr auto* steps = place_rows<T, Min>;
  static constexpr int least_columns = most_side_by_side<T> > 0 ? 2 : transposed_columns + 1;
};

// Moments of rows side by side: an element of all rows of a tile is a vector, so that the numbers of elements, by which means are
// joined, are the same in all lanes and their quotients are computed once.

template <class T>
struct moment_tile {
  static constexpr int rows = 16, bytes = 32 << 10;
  static constexpr int most_columns = bytes / (rows * static_cast<int>(sizeof(T)));
  alignas(64) T x[most_columns * rows];
  alignas(64) double mean[row_lanes * rows], sum[row_lanes * rows];

  /// Elements of lane l of a row.
  static int count_of(int l, int columns) { return l < columns ? (columns - l - 1) / row_lanes + 1 : 0; }

  /// Lanes [from, to), each of `nth` elements. As moment::part, which the first element of a lane needs little of.
  SINTER_STEP void add(int from, int to, int nth) {
    const int n = (to - from) * rows;
    double* __restrict m = mean + from * rows;
    double* __restrict s = sum + from * rows;
    const T* __restrict first = x + from * rows;
    SINTER_LANES(l, n) {
      const double v = first[l];
      m[l] = v + 0.0;
      s[l] = v - v;
    }
    for (int k = 1; k < nth; ++k) {
      const T* __restrict next = first + k * row_lanes * rows;
      const double share = 1.0 / (k + 1);
      SINTER_LANES(l, n) moment<T, T>::part(m + l, s + l, next[l], share);
    }
  }
  /// Joins lanes `apart` further to those of [from, to); as moment::join.
  SINTER_STEP void join(int from, int to, int apart, double count, double count_b) {
    const int n = (to - from) * rows;
    const double share = count_b / (count + count_b), weight = count * share;
    double* __restrict m = mean + from * rows;
    double* __restrict s = sum + from * rows;
    const double* __restrict mean_b = m + apart * rows;
    const double* __restrict sum_b = s + apart * rows;
    SINTER_LANES(l, n) {
      const double d = mean_b[l] - m[l];
      m[l] += d * share;
      s[l] = s[l] + sum_b[l] + d * d * weight;
    }
  }
  /// Leaves the moments of the rows in the first lane.
  void reduce(int columns) {
    const int used = columns < row_lanes ? columns : row_lanes, rest = columns % row_lanes;
    const int most = count_of(0, columns);
    // The first lanes have an element more.
    add(0, rest ? rest : used, most);
    if (rest && used > rest) add(rest, used, most - 1);
    double counts[row_lanes];
    for (int l = 0; l < used; ++l) counts[l] = count_of(l, columns);
    for (int half = row_lanes / 2; half > 0; half /= 2) {
      for (int from = 0, to = 0; from + half < used && from < half; from = to) {
        for (to = from; to < half && to + half < used && counts[to] == counts[from] &&
                        counts[to + half] == counts[from + half];)
          ++to;
        join(from, to, half, counts[from], counts[from + half]);
      }
      for (int l = 0; l < half && l + half < used; ++l) counts[l] += counts[l + half];
    }
  }
};

constexpr int least_moment_rows = 8;

/// As rows_by_tiles, with the same bits.
template <class T>
[[gnu::flatten]] void moment_rows(void* const* acc, const void* from, std::int64_t stride, int rows, int columns,
                                  const lane_tree& tree) {
  using tile_of = moment_tile<T>;
  if (rows < least_moment_rows || columns > tile_of::most_columns || stride % static_cast<int>(sizeof(T)) != 0)
    return whole_rows<moment<T, T>>(acc, from, stride, rows, columns, tree);
  tile_of tile;
  const auto pitch = stride / static_cast<int>(sizeof(T));
  for (int at = 0; at < rows; at += tile_of::rows) {
    const int count = rows - at < tile_of::rows ? rows - at : tile_of::rows;
    const T* const first = static_cast<const T*>(from) + at * pitch;
    transpose(tile.x, tile_of::rows, first, pitch, columns, count, sizeof(T));
    for (int j = 0; j < columns && count < tile_of::rows; ++j)
      for (int r = count; r < tile_of::rows; ++r) tile.x[j * tile_of::rows + r] = tile.x[j * tile_of::rows];
    tile.reduce(columns);
    for (int r = 0; r < count; ++r) {
      static_cast<double*>(acc[0])[at + r] = tile.mean[r];
      static_cast<double*>(acc[1])[at + r] = tile.sum[r];
      static_cast<double*>(acc[2])[at + r] = columns;
    }
  }
}

template <class T>
struct rows_of<moment<T, T>> {
  static constexpr auto* step = row<moment<T, T>>;
  static constexpr auto* steps = moment_rows<T>;
};

template <class Op>
[[gnu::flatten]] void join_lanes(void* const* acc, int, int) {
  join_halves<Op, row_lanes, 1>(acc, 1);
}
