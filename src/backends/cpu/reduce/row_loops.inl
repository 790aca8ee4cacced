// Whole rows at a time: the lanes of a row are joined down to a few while they are in the first-level cache, the last few of
// many rows at once. Included by loops.inl.

/// Lanes that are left of each row of a tile, and rows of a tile.
inline constexpr int tile_lanes = 8, tile_rows = 32;

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

/// The best value first, then its place: two passes over a row in the cache, each of which is vector code.
template <class T>
SINTER_STEP index64 first_place(const T* x, int n, T best) {
  const auto is_it = [best](T v) { return bool(int(v == best) | (int(is_nan(v)) & int(is_nan(best)))); };
  constexpr int step = 64;
  int at = 0;
  for (; at + step <= n; at += step) {
    const T* some = x + at;
    int found = 0;
    SINTER_LANES(l, step) found |= is_it(some[l]);
    if (found != 0) break;
  }
  for (; at < n; ++at)
    if (is_it(x[at])) break;
  return at;
}
template <class Op>
void whole_rows(void* const* acc, const void* from, std::int64_t stride, int rows, int columns) {
  if (columns <= 16) rows_by_tiles<Op, 16>(acc, from, stride, rows, columns);
  else if (columns <= 32) rows_by_tiles<Op, 32>(acc, from, stride, rows, columns);
  else rows_by_tiles<Op, row_lanes>(acc, from, stride, rows, columns);
}

template <class T, bool Min>
void place_rows(void* const* acc, const void* from, std::int64_t stride, int rows, int columns) {
  whole_rows<extremum<T, Min>>(acc, from, stride, rows, columns);
  const T* best = static_cast<const T*>(acc[0]);
  for (int r = 0; r < rows; ++r) {
    const T* x = reinterpret_cast<const T*>(static_cast<const char*>(from) + r * stride);
    static_cast<index64*>(acc[1])[r] = first_place(x, columns, best[r]);
  }
}
/// How a reduction takes whole rows.
template <class Op>
struct rows_of {
  static constexpr auto* steps = whole_rows<Op>;
};
template <class T, bool Min>
  requires(!is_complex_v<T>)
struct rows_of<position<T, Min>> {
  static constexpr auto* steps = place_rows<T, Min>;
};

template <class Op>
[[gnu::flatten]] void join_lanes(void* const* acc) {
  join_halves<Op, row_lanes, 1>(acc, 1);
}
