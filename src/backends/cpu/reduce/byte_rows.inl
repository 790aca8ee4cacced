// Reductions of truth values, in any order: eight bytes of 0 or 1 at a time. Included by loops.inl.

using bytes8 = unsigned long long;
inline constexpr bytes8 all_ones = 0x0101010101010101u;

SINTER_STEP bytes8 load_bytes8(const unsigned char* x) {
  bytes8 v;
  __builtin_memcpy(&v, x, sizeof v);
  return v;
}
/// The last n < 8 bytes, the others as `rest` has them. What is before `end` may be read.
SINTER_STEP bytes8 last_bytes(const unsigned char* x, int n, const unsigned char* end, bytes8 rest) {
  const bytes8 others = ~bytes8{0} << (8 * n);
  bytes8 v = 0;
  if (end - x >= 8) v = load_bytes8(x) & ~others;
  else
    for (int l = 0; l < n; ++l) v |= bytes8{x[l]} << (8 * l);
  return v | (rest & others);
}

template <truth Kind>
SINTER_STEP bool joined_truths(const unsigned char* x, int n, const unsigned char* end) {
  bytes8 all = Kind == truth::all ? all_ones : 0;
  int at = 0;
  for (; at + 8 <= n; at += 8) {
    if constexpr (Kind == truth::any) all |= load_bytes8(x + at);
    else all &= load_bytes8(x + at);
  }
  const bytes8 last = last_bytes(x + at, n - at, end, Kind == truth::all ? all_ones : 0);
  return Kind == truth::any ? (all | last) != 0 : (all & last) == all_ones;
}
/// How many bytes of some words are 1, of which each byte has the sum of up to 255.
SINTER_STEP int sum_of_bytes(bytes8 sums) {
  constexpr bytes8 even = 0x00ff00ff00ff00ffu;
  const bytes8 pairs = (sums & even) + (sums >> 8 & even);
  return static_cast<int>(pairs * 0x0001000100010001u >> 48);
}
/// How many of the bytes are 1.
SINTER_STEP int counted(const unsigned char* x, int n, const unsigned char* end) {
  using vector = typename wide<bytes8>::type;
  constexpr int words = wide<bytes8>::lanes, bytes = 8 * words;
  int count = 0, at = 0;
  while (at + bytes <= n) {
    vector sums = {}, v;
    for (int k = 0; k < 255 && at + bytes <= n; ++k, at += bytes) {
      __builtin_memcpy(&v, x + at, sizeof v);
      sums += v;
    }
    for (int w = 0; w < words; ++w) count += sum_of_bytes(sums[w]);
  }
  bytes8 sums = last_bytes(x + n / 8 * 8, n % 8, end, 0);
  for (; at + 8 <= n; at += 8) sums += load_bytes8(x + at);
  return count + sum_of_bytes(sums);
}

/// What whole rows of truth values give, and what a part of one adds to its first lane.
template <class Op>
struct byte_steps {
  static constexpr bool any = false;
};
template <truth Kind>
struct byte_steps<predicate<Kind>> {
  static constexpr bool any = true;
  SINTER_STEP static void put(void* const* acc, int r, const unsigned char* x, int n, const unsigned char* end) {
    static_cast<unsigned char*>(acc[0])[r] = joined_truths<Kind>(x, n, end);
  }
  static void row(void* const* acc, const void* lanes, int n, int, int) {
    auto* a = static_cast<unsigned char*>(acc[0]);
    const auto* x = static_cast<const unsigned char*>(lanes);
    const bool mine = joined_truths<Kind>(x, n, x + n);
    *a = Kind == truth::any ? *a | mine : *a & mine;
  }
};
template <>
struct byte_steps<counter> {
  static constexpr bool any = true;
  SINTER_STEP static void put(void* const* acc, int r, const unsigned char* x, int n, const unsigned char* end) {
    static_cast<index64*>(acc[0])[r] = counted(x, n, end);
  }
  static void row(void* const* acc, const void* lanes, int n, int, int) {
    const auto* x = static_cast<const unsigned char*>(lanes);
    *static_cast<int*>(acc[1]) += counted(x, n, x + n);
  }
};

template <class Op>
void byte_rows(void* const* acc, const void* from, std::int64_t stride, int rows, int columns, const lane_tree&) {
  const auto* x = static_cast<const unsigned char*>(from);
  const auto* const end = x + (stride < 0 ? 0 : rows - 1) * stride + columns;
  for (int r = 0; r < rows; ++r) byte_steps<Op>::put(acc, r, x + r * stride, columns, end);
}
