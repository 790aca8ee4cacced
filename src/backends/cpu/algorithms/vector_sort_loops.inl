// A quicksort of keys in vector registers. Included once for each instruction set, after its target has been opened.
//
// A partition reads vectors one after the other, compresses each twice, by the lanes that stay and by those that go, and
// stores both whole: what stays moves to the front of where it was read, what goes is appended elsewhere, so no store can
// reach what has not been read. Lanes are compressed by an instruction of AVX-512 or by a permutation from a table. The
// scheme is that of S. Gueron and V. Krasnov, "Fast quicksort implementation using AVX instructions" (2016), without their
// buffers; B. Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512 on Intel Skylake" (2017), and M. Blacher
// et al., "Vectorized and performance-portable quicksort" (2022), have the compressions, the blocks that are sorted in
// registers, and the samples.
//
// A block of 16 vectors is sorted as a matrix: its columns first, by a network of whole vectors, then 2, 4, ... columns
// side by side, until all of them are in the order of memory. Rows r and R - 1 - r are compared, one of them with its lanes
// reversed within each pair of sorted groups of columns, which leaves the smaller half of each pair in the upper rows; then
// these halves the same way, and single rows lane by lane.
#if SINTER_ISA_LEVEL > 0
namespace sinter::cpu::SINTER_ISA {
namespace {

#include "backends/cpu/algorithms/sort_lanes.inl"

using index_type = long long;
constexpr int most_rows = 16;
template <class Key>
constexpr int lane_count = lanes_of<Key>::count;
template <class Key>
constexpr int block_keys = most_rows* lane_count<Key>;

/// A vector anywhere in memory.
template <class Key>
struct anywhere {
  typedef Key type __attribute__((vector_size(lanes_of<Key>::bytes), aligned(sizeof(Key)), may_alias));
};
template <class V, class Key>
SINTER_STEP void load(V& v, const Key* from) {
  v = *reinterpret_cast<const typename anywhere<Key>::type*>(from);
}
template <class V, class Key>
SINTER_STEP void store(Key* to, const V& v) {
  *reinterpret_cast<typename anywhere<Key>::type*>(to) = v;
}

template <class Key>
constexpr Key last_key() {
  if constexpr (static_cast<Key>(0.5) != 0) return static_cast<Key>(__builtin_inf());
  else return static_cast<Key>((1ull << (8 * sizeof(Key) - 1)) - 1);
}

// ---- Blocks.

/// The comparisons of Batcher's odd-even merge sort of `Rows` elements.
template <int Rows>
struct row_network {
  int count = 0;
  unsigned char low[64] = {}, high[64] = {};
  constexpr row_network() {
    for (int p = 1; p < Rows; p *= 2)
      for (int k = p; k > 0; k /= 2)
        for (int j = k % p; j + k < Rows; j += 2 * k)
          for (int i = j; i < j + k && i + k < Rows; ++i)
            if (i / (2 * p) == (i + k) / (2 * p)) {
              low[count] = static_cast<unsigned char>(i);
              high[count++] = static_cast<unsigned char>(i + k);
            }
  }
};
template <int Rows>
constexpr row_network<Rows> network_of;

template <int Rows, int Step = 0, class V>
SINTER_STEP void sort_columns_of(V* v) {
  if constexpr (Step < network_of<Rows>.count) {
    order_lanes(v[network_of<Rows>.low[Step]], v[network_of<Rows>.high[Step]]);
    sort_columns_of<Rows, Step + 1>(v);
  }
}

/// Compares rows r and Rows - 1 - r, from Row on.
template <int Rows, int Columns, int Row = 0, class V>
SINTER_STEP void halve_rows(V* v) {
  if constexpr (Row < Rows / 2) {
    V reversed;
    reorder<2 * Columns - 1>(reversed, v[Rows - 1 - Row]);
    order_lanes(v[Row], reversed);
    v[Rows - 1 - Row] = reversed;
    halve_rows<Rows, Columns, Row + 1>(v);
  }
}
/// Groups of `Columns` columns, each in order, become groups of twice as many.
template <int Rows, int Columns, class V>
SINTER_STEP void merge_columns(V* v) {
  if constexpr (Rows > 1) {
    halve_rows<Rows, Columns>(v);
    merge_columns<Rows / 2, Columns>(v);
    merge_columns<Rows / 2, Columns>(v + Rows / 2);
  } else {
    compare<2 * Columns - 1>(*v);
    merge_lanes<Columns>(*v);
  }
}
template <int Rows, int Columns, class V>
SINTER_STEP void merge_all_columns(V* v) {
  if constexpr (Columns < SINTER_LANES_IN(*v)) {
    merge_columns<Rows, Columns>(v);
    merge_all_columns<Rows, 2 * Columns>(v);
  }
}

template <int Rows, int Row = 0, class V, class Key>
SINTER_STEP void load_rows(V* v, const Key* from) {
  if constexpr (Row < Rows) {
    load(v[Row], from + Row * lane_count<Key>);
    load_rows<Rows, Row + 1>(v, from);
  }
}
template <int Rows, int Row = 0, class V, class Key>
SINTER_STEP void store_rows(Key* to, const V* v) {
  if constexpr (Row < Rows) {
    store(to + Row * lane_count<Key>, v[Row]);
    store_rows<Rows, Row + 1>(to, v);
  }
}

template <int Rows, class Key>
[[gnu::noinline]] void sort_rows(Key* keys) {
  vector_of<Key> v[Rows];
  load_rows<Rows>(v, keys);
  sort_columns_of<Rows>(v);
  merge_all_columns<Rows, 1>(v);
  store_rows<Rows>(keys, v);
}
/// Sorts `rows` vectors of keys, a power of two.
template <class Key>
void sort_block_of(Key* keys, int rows) {
  if (rows == 16) return sort_rows<16>(keys);
  if (rows == 8) return sort_rows<8>(keys);
  if (rows == 4) return sort_rows<4>(keys);
  if (rows == 2) return sort_rows<2>(keys);
  sort_rows<1>(keys);
}

/// Sorts n <= block_keys keys.
template <class Key>
void sort_block(const Key* from, Key* to, index_type n) {
  constexpr int lanes = lane_count<Key>;
  alignas(64) Key keys[block_keys<Key>];
  int rows = 1;
  while (rows * lanes < n) rows *= 2;
  vector_of<Key> fill = {};
  fill += last_key<Key>();
  const index_type whole = n / lanes * lanes;
  for (index_type i = 0; i < whole; i += lanes) {
    vector_of<Key> v;
    load(v, from + i);
    store(keys + i, v);
  }
  for (index_type i = whole; i < rows * lanes; i += lanes) store(keys + i, fill);
  for (index_type i = whole; i < n; ++i) keys[i] = from[i];
  sort_block_of(keys, rows);
  for (index_type i = 0; i < whole; i += lanes) {
    vector_of<Key> v;
    load(v, keys + i);
    store(to + i, v);
  }
  for (index_type i = whole; i < n; ++i) to[i] = keys[i];
}

// ---- Partitions.

/// The lanes of v that are less than those of the pivot or, with `Equal`, not greater, as bits.
template <bool Equal, class V>
SINTER_STEP unsigned lanes_below(const V& v, const V& pivot) {
  using key = __typeof__(v[0] + 0);
#if SINTER_ISA_LEVEL == 2
  if constexpr (__is_same(key, float))
    return _mm512_cmp_ps_mask((__m512)v, (__m512)pivot, Equal ? _CMP_LE_OQ : _CMP_LT_OQ);
  else if constexpr (__is_same(key, double))
    return _mm512_cmp_pd_mask((__m512d)v, (__m512d)pivot, Equal ? _CMP_LE_OQ : _CMP_LT_OQ);
  else if constexpr (sizeof(key) == 4)
    return _mm512_cmp_epi32_mask((__m512i)v, (__m512i)pivot, Equal ? _MM_CMPINT_LE : _MM_CMPINT_LT);
  else return _mm512_cmp_epi64_mask((__m512i)v, (__m512i)pivot, Equal ? _MM_CMPINT_LE : _MM_CMPINT_LT);
#else
  constexpr unsigned all = (1u << SINTER_LANES_IN(v)) - 1;
  if constexpr (__is_same(key, float))
    return static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_cmp_ps((__m256)v, (__m256)pivot, Equal ? _CMP_LE_OQ : _CMP_LT_OQ)));
  else if constexpr (__is_same(key, double))
    return static_cast<unsigned>(
        _mm256_movemask_pd(_mm256_cmp_pd((__m256d)v, (__m256d)pivot, Equal ? _CMP_LE_OQ : _CMP_LT_OQ)));
  else if constexpr (sizeof(key) == 4) {
    const __m256i more =
        Equal ? _mm256_cmpgt_epi32((__m256i)v, (__m256i)pivot) : _mm256_cmpgt_epi32((__m256i)pivot, (__m256i)v);
    return (Equal ? all : 0u) ^ static_cast<unsigned>(_mm256_movemask_ps((__m256)more));
  } else {
    const __m256i more =
        Equal ? _mm256_cmpgt_epi64((__m256i)v, (__m256i)pivot) : _mm256_cmpgt_epi64((__m256i)pivot, (__m256i)v);
    return (Equal ? all : 0u) ^ static_cast<unsigned>(_mm256_movemask_pd((__m256d)more));
  }
#endif
}

#if SINTER_ISA_LEVEL == 1
/// For each set of lanes the indices of its lanes, then anything, in words of 32 bits.
template <int Lanes>
struct lane_table {
  unsigned char words[1 << Lanes][8] = {};
  constexpr lane_table() {
    constexpr int each = 8 / Lanes;
    for (int set = 0; set < 1 << Lanes; ++set)
      for (int lane = 0, at = 0; lane < Lanes; ++lane)
        if (set >> lane & 1)
          for (int w = 0; w < each; ++w) words[set][at++] = static_cast<unsigned char>(lane * each + w);
  }
};
template <int Lanes>
alignas(64) constexpr lane_table<Lanes> lane_words;
#endif

/// The lanes of a set at the front, then anything.
template <class V>
SINTER_STEP void compress(V& to, const V& v, unsigned set) {
#if SINTER_ISA_LEVEL == 2
  if constexpr (sizeof(v[0]) == 4) to = (V)_mm512_maskz_compress_epi32(static_cast<__mmask16>(set), (__m512i)v);
  else to = (V)_mm512_maskz_compress_epi64(static_cast<__mmask8>(set), (__m512i)v);
#else
  const auto* const words = reinterpret_cast<const __m128i*>(lane_words<SINTER_LANES_IN(v)>.words[set]);
  to = (V)_mm256_permutevar8x32_epi32((__m256i)v, _mm256_cvtepu8_epi32(_mm_loadl_epi64(words)));
#endif
}

/// Divides n keys. Those that are below the pivot stay at the front of `data` if Stay, the others are appended to `other`, or
/// the other way round. Returns how many stay.
template <bool Equal, bool Stay, class Key>
[[gnu::noinline]] index_type divide(Key* data, Key* other, index_type n, Key pivot) {
  constexpr int lanes = lane_count<Key>;
  constexpr unsigned all = (1u << lanes) - 1;
  using vector = vector_of<Key>;
  vector pivots = {};
  pivots += pivot;
  index_type stay = 0, i = 0;
  const auto step = [&](const vector& v) __attribute__((always_inline)) {
    unsigned set = lanes_below<Equal>(v, pivots);
    if (!Stay) set ^= all;
    vector kept, gone;
    compress(kept, v, set);
    compress(gone, v, set ^ all);
    store(data + stay, kept);
    store(other + (i - stay), gone);
    stay += __builtin_popcount(set);
    i += lanes;
  };
  while (i + 4 * lanes <= n) {
    vector a, b, c, d;
    load(a, data + i);
    load(b, data + i + lanes);
    load(c, data + i + 2 * lanes);
    load(d, data + i + 3 * lanes);
    step(a);
    step(b);
    step(c);
    step(d);
  }
  while (i + lanes <= n) {
    vector a;
    load(a, data + i);
    step(a);
  }
  for (; i < n; ++i) {
    const Key k = data[i];
    const bool below = Equal ? k <= pivot : k < pivot, stays = below == Stay;
    data[stay] = k;
    other[i - stay] = k;
    stay += stays;
  }
  return stay;
}

// ---- The sort.

template <class Key>
void copy_keys(Key* to, const Key* from, index_type n) {
  if (to != from) __builtin_memcpy(to, from, static_cast<unsigned long>(n) * sizeof(Key));
}

/// Sorts keys without any assumption about them, where partitions fail.
template <class Key>
void sort_heap(Key* data, index_type n) {
  const auto sink = [=](index_type at, index_type end) {
    const Key k = data[at];
    for (index_type child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && data[child] < data[child + 1]) ++child;
      if (!(k < data[child])) break;
      data[at] = data[child];
    }
    data[at] = k;
  };
  for (index_type i = n / 2; i-- > 0;) sink(i, n);
  for (index_type end = n; end-- > 1;) {
    const Key k = data[0];
    data[0] = data[end];
    data[end] = k;
    sink(0, end);
  }
}

/// Vectors of keys from all over the data, sorted.
template <class Key>
struct sample {
  int count;
  alignas(64) Key keys[block_keys<Key>];
  void take(const Key* data, index_type n, unsigned long long& state) {
    constexpr int lanes = lane_count<Key>;
    const int rows = n >= 64 * block_keys<Key> ? 16 : n >= 8 * block_keys<Key> ? 8 : 4;
    const index_type apart = (n - lanes) / rows;
    for (int r = 0; r < rows; ++r) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      const auto at = static_cast<index_type>((state >> 32) % static_cast<unsigned long long>(apart));
      vector_of<Key> v;
      load(v, data + r * apart + at);
      store(keys + r * lanes, v);
    }
    count = rows * lanes;
    sort_block_of(keys, rows);
  }
};

/// The sort of a row. `other` is always as long as `data`, and what it holds is lost.
template <class Key>
class quick_sorter {
 public:
  /// The n keys of `data` come to lie in `other` if to_other, else in `data`. None is greater than `greatest`. After
  /// `uneven` more of its divisions that leave less than an eighth on a side the heap sort takes over.
  void sort(Key* data, Key* other, index_type n, bool to_other, Key greatest, int uneven) {
    while (n > block_keys<Key>) {
      if (uneven == 0) {
        sort_heap(data, n);
        return copy_keys(to_other ? other : data, data, n);
      }
      sample_.take(data, n, state_);
      const Key pivot = sample_.keys[sample_.count / 2 - 1];
      const bool is_greatest = pivot == greatest;
      const index_type lower = divide_keys(data, other, n, to_other, pivot, !is_greatest), upper = n - lower;
      uneven -= (lower < upper ? lower : upper) < n / 8;
      Key* const low = to_other ? other : data;
      Key* const high = to_other ? data : other;
      if (is_greatest) {
        for (index_type i = lower; i < n; ++i) low[i] = pivot;
        data = low, other = high + upper, n = lower, to_other = false;
      } else if (lower < upper) {
        sort(low, high + upper, lower, false, pivot, uneven);
        data = high, other = low + lower, n = upper, to_other = true;
      } else {
        sort(high, low + lower, upper, true, greatest, uneven);
        data = low, other = high + upper, n = lower, to_other = false, greatest = pivot;
      }
    }
    if (n > 0) sort_block(data, to_other ? other : data, n);
  }

 private:
  /// Lower keys to the front of where they are to lie in the end; returns how many they are.
  static index_type divide_keys(Key* data, Key* other, index_type n, bool to_other, Key pivot, bool equal_too) {
    if (!to_other)
      return equal_too ? divide<true, true>(data, other, n, pivot) : divide<false, true>(data, other, n, pivot);
    return n - (equal_too ? divide<true, false>(data, other, n, pivot) : divide<false, false>(data, other, n, pivot));
  }

  unsigned long long state_ = 1;
  sample<Key> sample_;
};

template <class Key>
[[gnu::noinline]] void sort_long(Key* data, Key* other, index_type n, bool to_other, int uneven) {
  quick_sorter<Key>().sort(data, other, n, to_other, last_key<Key>(), uneven);
}

/// With the processor's default modes: where subnormal operands count as zeros they would have no order.
template <class Key>
void sort_floats(Key* data, Key* other, index_type n, bool to_other, int uneven) {
  const unsigned modes = _mm_getcsr();
  _mm_setcsr(0x1f80);
  sort_long(data, other, n, to_other, uneven);
  _mm_setcsr(modes);
}

}  // namespace

void vector_sort_f32(float* data, float* other, long long n, bool to_other, int uneven) {
  sort_floats(data, other, n, to_other, uneven);
}
void vector_sort_f64(double* data, double* other, long long n, bool to_other, int uneven) {
  sort_floats(data, other, n, to_other, uneven);
}
void vector_sort_i32(int* data, int* other, long long n, bool to_other, int uneven) {
  sort_long(data, other, n, to_other, uneven);
}
void vector_sort_i64(long long* data, long long* other, long long n, bool to_other, int uneven) {
  sort_long(data, other, n, to_other, uneven);
}

#undef SINTER_STEP
#undef SINTER_LANES_IN

}  // namespace sinter::cpu::SINTER_ISA
#endif
