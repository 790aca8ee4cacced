// The text of searches in ordered arrays: for one element, and for the lanes of a block on the CPU.
#pragma once

namespace sinter::ops {

// The order of sort: NaN after every number, complex numbers by real part, then imaginary part.
// past: whether a search for x goes on behind an element s. For a number that is one comparison.
inline constexpr const char* real_order = R"(
template <class V> __device__ bool before(V a, V b) { return bool(int(a < b) | (int(b != b) & int(a == a))); }
template <class V> __device__ bool is_number(V x) { return x == x; }
template <class V> __device__ bool past(V s, V x, bool right) { return right ? s <= x : s < x; }
)";
inline constexpr const char* complex_order = R"(
template <class V> __device__ bool before(V a, V b) {
  auto ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
  if (ar < br) return ai == ai || bi != bi;
  if (ar > br) return bi != bi && ai == ai;
  if (ar == br || (ar != ar && br != br)) return ai < bi || (bi != bi && ai == ai);
  return br != br;
}
template <class V> __device__ bool is_number(V) { return true; }
template <class V> __device__ bool past(V s, V x, bool right) { return right ? !before(x, s) : before(s, x); }
)";

// Searches for one element. The number of steps depends on the length alone, and a step selects instead of branching.
inline constexpr const char* search_body = R"(
  long long low = 0, rest = sorted.size();
  if (!is_number(x)) {  // behind every number
    while (rest > 0 && !right) {
      long long half = (rest + 1) / 2;
      low += is_number(sorted[low + half - 1]) ? half : 0;
      rest -= half;
    }
    return low + rest;
  }
  // Two loops, so that a step is a comparison and an addition.
  unsigned long long at = low, left = rest;
  if (right) {
    while (left > 0) {
      const unsigned long long half = (left + 1) >> 1;
      at += past(sorted[(long long)(at + half - 1)], x, true) ? half : 0;
      left -= half;
    }
  } else {
    while (left > 0) {
      const unsigned long long half = (left + 1) >> 1;
      at += past(sorted[(long long)(at + half - 1)], x, false) ? half : 0;
      left -= half;
    }
  }
  return (long long)(at);)";
inline constexpr const char* digitize_body = R"(
  long long n = bins.size(), low = 0, rest = n;
  bool descending = n > 1 && before(bins[n - 1], bins[0]), number = is_number(x);
  while (rest > 0) {
    long long half = (rest + 1) / 2, middle = low + half - 1;
    auto s = bins[descending ? n - 1 - middle : middle];
    low += (number ? past(s, x, !right) : (!right || is_number(s))) ? half : 0;
    rest -= half;
  }
  return descending ? n - low : low;)";

// Searches for the lanes of a block, a multiple of 16, in a table of which `table(k)` is element k: as many comparisons of
// many lanes at a time as a short table has elements; lanes in order from the place of those before them; any others by halves,
// a step of 16 lanes at a time, whose reads wait for memory together.
inline constexpr const char* lane_searches = R"(
#ifndef __CUDACC__
enum { sn_lanes_at_once = 16, sn_short_table = 32, sn_steps_in_order = 48 };
template <bool wide> struct sn_tally { typedef long long type; };
template <> struct sn_tally<false> { typedef int type; };

template <class V, class X, class Table, class Right>
static inline void sn_count_past(const X* x, const Table& table, long long n, Right right, long long* __restrict out) {
  typename sn_tally<(sizeof(V) > 4)>::type past_it[sn_lanes_at_once] = {};
  long long k = 0;
  for (; k + 4 <= n; k += 4) {
    const V a = table(k), b = table(k + 1), c = table(k + 2), d = table(k + 3);
    for (int l = 0; l < sn_lanes_at_once; ++l)
      past_it[l] += int(past(a, V(x[l]), right())) + int(past(b, V(x[l]), right())) + int(past(c, V(x[l]), right())) +
                    int(past(d, V(x[l]), right()));
  }
  for (; k < n; ++k) {
    const V s = table(k);
    for (int l = 0; l < sn_lanes_at_once; ++l) past_it[l] += int(past(s, V(x[l]), right()));
  }
  for (int l = 0; l < sn_lanes_at_once; ++l) out[l] = past_it[l];
}

template <class V, class X, class Table, class Right>
static inline void sn_halve(const X* x, const Table& table, long long low, long long n, Right right,
                            long long* __restrict out) {
  unsigned long long at[sn_lanes_at_once];
  for (int l = 0; l < sn_lanes_at_once; ++l) at[l] = low;
  for (unsigned long long left = n; left > 0;) {
    const unsigned long long half = (left + 1) >> 1;
    for (int l = 0; l < sn_lanes_at_once; ++l)
      at[l] += past(table((long long)(at[l] + half - 1)), V(x[l]), right()) ? half : 0;
    left -= half;
  }
  for (int l = 0; l < sn_lanes_at_once; ++l) out[l] = (long long)(at[l]);
}

// The end of a range that holds the places of lanes in order, found by steps that double.
template <class V, class Table, class Right>
static inline long long sn_end_of(const V last, const Table& table, long long low, long long n, Right right) {
  for (long long step = 64; low + step < n; step *= 2)
    if (!past(table(low + step), last, right())) return low + step;
  return n;
}

template <class V, class X, class Table, class Right>
static inline void sn_follow(const X* x, const Table& table, long long n, Right right, long long* __restrict out,
                             int lanes) {
  long long at = 0;
  for (unsigned long long left = n; left > 0;) {  // where the first one is
    const unsigned long long half = (left + 1) >> 1;
    at += past(table(at + (long long)(half)-1), V(x[0]), right()) ? half : 0;
    left -= half;
  }
  for (int l = 0; l < lanes; l += sn_lanes_at_once) {
    const V last = V(x[l + sn_lanes_at_once - 1]);
    typename sn_tally<(sizeof(V) > 4)>::type past_it[sn_lanes_at_once] = {};
    long long step = 0;
    for (; step < sn_steps_in_order && at + step < n; ++step) {
      const V s = table(at + step);
      if (!past(s, last, right())) break;
      for (int k = 0; k < sn_lanes_at_once; ++k) past_it[k] += int(past(s, V(x[l + k]), right()));
    }
    if (step < sn_steps_in_order) {
      for (int k = 0; k < sn_lanes_at_once; ++k) out[l + k] = at + past_it[k];
    } else {
      sn_halve<V>(x + l, table, at, sn_end_of(last, table, at, n, right) - at, right, out + l);
    }
    at = out[l + sn_lanes_at_once - 1];
  }
}

template <class V, class X, class Table, class Right>
static inline void sn_search(const X* x, const Table& table, long long n, Right right, long long* __restrict out,
                             int lanes) {
  int falls = 0, others = 0;
  for (int l = 1; l < lanes; ++l) falls |= int(before(V(x[l]), V(x[l - 1])));
  for (int l = 0; l < lanes; ++l) others |= int(!is_number(V(x[l])));
  if (n > sn_short_table && !falls && !others) return sn_follow<V>(x, table, n, right, out, lanes);
  for (int l = 0; l < lanes; l += sn_lanes_at_once)
    if (n <= sn_short_table) sn_count_past<V>(x + l, table, n, right, out + l);
    else sn_halve<V>(x + l, table, 0, n, right, out + l);
  if (!others) return;
  long long numbers = right() ? n : 0;  // NaN is behind every number
  for (long long left = right() ? 0 : n; left > 0;) {
    const long long half = (left + 1) / 2;
    numbers += is_number(table(numbers + half - 1)) ? half : 0;
    left -= half;
  }
  for (int l = 0; l < lanes; ++l)
    if (!is_number(V(x[l]))) out[l] = numbers;
}
struct sn_right { bool operator()() const { return true; } };
struct sn_left { bool operator()() const { return false; } };

template <class V, class X, class Table>
static void sn_search_lanes(const X* x, const Table& table, long long n, bool right, long long* __restrict out, int lanes) {
  if (right) sn_search<V>(x, table, n, sn_right(), out, lanes);
  else sn_search<V>(x, table, n, sn_left(), out, lanes);
}
#endif
)";
inline constexpr const char* search_lanes = R"(
#ifndef __CUDACC__
template <class X, class Table>
static void sn_lanes_of_searchsorted(const X* x, const Table& sorted, bool right, long long* out, int lanes) {
  sn_search_lanes<typename Table::value>(x, [&](long long k) { return sorted[k]; }, sorted.size(), right, out, lanes);
}
#endif
)";
inline constexpr const char* digitize_lanes = R"(
#ifndef __CUDACC__
template <class X, class Table>
static void sn_lanes_of_digitize(const X* x, const Table& bins, bool right, long long* out, int lanes) {
  typedef typename Table::value V;
  const long long n = bins.size();
  if (n > 1 && before(bins[n - 1], bins[0])) {
    sn_search_lanes<V>(x, [&](long long k) { return bins[n - 1 - k]; }, n, !right, out, lanes);
    for (int l = 0; l < lanes; ++l) out[l] = n - out[l];
  } else {
    sn_search_lanes<V>(x, [&](long long k) { return bins[k]; }, n, !right, out, lanes);
  }
}
#endif
)";

}  // namespace sinter::ops
