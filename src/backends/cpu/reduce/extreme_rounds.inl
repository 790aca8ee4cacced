// Minima and maxima of floating-point numbers along a row: one comparison an element. NaN, and which of two zeros it is, are rare;
// they take another pass over a block, which lies in the first-level cache then. Included by loops.inl.

template <class Op>
inline constexpr bool is_float_extreme = false;
template <class T, bool Min>
inline constexpr bool is_float_extreme<extremum<T, Min>> = is_float_v<T>;

template <class T, bool Min, int Vectors>
struct extreme_rounds {
  using vector = typename wide<T>::type;
  using bits = mask_of<T>;
  static constexpr int lanes = wide<T>::lanes;

  /// Whether some element is NaN, which `best` leaves out.
  SINTER_STEP static bool find(vector* best, const T* x, int rounds) {
    vector v;
    bits nan = {};
    for (; rounds > 0; --rounds, x += row_lanes)
#pragma GCC unroll 8
      for (int s = 0; s < Vectors; ++s) {
        load_wide(v, x + s * lanes);
        best[s] = (Min ? v < best[s] : v > best[s]) ? v : best[s];
        nan |= v != v;
      }
    return is_any(nan);
  }
  /// A least element that is a zero is -0 if any element has a sign, as only other zeros can; a greatest one is +0 if any
  /// has none. Vectors that hold something beyond zero as well say so of their lanes' zeros, too, which lose to it.
  [[gnu::noinline]] static void settle_zeros(vector* best, const T* x, int rounds) {
    vector negative;
    fill_pack(negative, T(-0.0));
    const bits sign = bits(negative);
    bits signs = Min ? bits{} : sign;
    vector v;
    for (; rounds > 0; --rounds, x += row_lanes)
      for (int s = 0; s < Vectors; ++s) {
        load_wide(v, x + s * lanes);
        signs = Min ? signs | bits(v) : signs & bits(v);
      }
    const vector zero = vector(signs & sign);
    for (int s = 0; s < Vectors; ++s) best[s] = best[s] == 0 ? zero : best[s];
  }
  [[gnu::noinline]] static void find_with_nan(vector* best, const T* x, int rounds) {
    vector v;
    for (; rounds > 0; --rounds, x += row_lanes)
      for (int s = 0; s < Vectors; ++s) {
        load_wide(v, x + s * lanes);
        vector_steps<extremum<T, Min>>::join(best[s], v);
      }
  }
  SINTER_STEP static void find_block(vector* best, const T* x, int rounds) {
    vector identity;
    fill_pack(identity, vector_steps<extremum<T, Min>>::identity());
#pragma GCC unroll 8
    for (int s = 0; s < Vectors; ++s) best[s] = identity;
    if (find(best, x, rounds)) return find_with_nan(best, x, rounds);
    bits zero = {};
#pragma GCC unroll 8
    for (int s = 0; s < Vectors; ++s) zero |= best[s] == 0;
    if (is_any(zero)) settle_zeros(best, x, rounds);
  }
  /// Adds `rounds` times row_lanes elements to the accumulators, `Vectors` vectors of which are found at a time.
  SINTER_STEP static void add(T* a, const T* x, int rounds) {
    constexpr int most = 2048 / row_lanes;
    vector best[Vectors], sum;
    for (; rounds > 0; rounds -= most, x += most * row_lanes)
      for (int at = 0; at < row_lanes; at += Vectors * lanes) {
        find_block(best, x + at, rounds < most ? rounds : most);
        for (int s = 0; s < Vectors; ++s) {
          load_wide(sum, a + at + s * lanes);
          vector_steps<extremum<T, Min>>::join(sum, best[s]);
          __builtin_memcpy(a + at + s * lanes, &sum, sizeof sum);
        }
      }
  }
};
template <class T, bool Min>
SINTER_STEP void add_rounds_of_extreme(extremum<T, Min>, T* a, const T* x, int rounds) {
  constexpr int all = row_lanes / wide<T>::lanes;
  extreme_rounds<T, Min, all < 8 ? all : 8>::add(a, x, rounds);
}
