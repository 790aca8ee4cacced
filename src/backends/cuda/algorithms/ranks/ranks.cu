// src/backends/cuda/algorithms/ranks: elements of given ranks of rows, found by counting digits of their keys.
#include "backends/cuda/algorithms/ranks/bracket_kernels.cuh"
#include "backends/cuda/algorithms/sort_keys.cuh"

namespace sinter::cuda::device {
namespace {

template <class Bits>
using key_of = std::conditional_t<sizeof(Bits) == 8, u64, u32>;

/// Exact keys of elements: of reals those of exact_key(), with fewer instructions.
template <class Bits, bool is_real>
struct exact_keys {
  const Bits* base;
  key_of<Bits> sign, mask, negative_nans;  // sign: what changes in integers
};
template <class Bits, bool is_real>
__device__ __forceinline__ exact_keys<Bits, is_real> row_at(exact_keys<Bits, is_real> k, i64 row, const ranks_job& j) {
  k.base += row * j.columns;
  return k;
}
template <class Bits, bool is_real>
__device__ __forceinline__ key_of<Bits> key_at(const exact_keys<Bits, is_real>& k, i64 index) {
  using U = key_of<Bits>;
  const U bits = k.base[index];
  if constexpr (!is_real) return bits ^ k.sign;
  const U minus = U{0} - (bits >> (8 * sizeof(Bits) - 1));
  const U key = (bits ^ (minus | k.sign)) - k.negative_nans;
  return sizeof(Bits) < sizeof(U) ? key & k.mask : key;
}

/// The elements of the ranks, `stride` of each row.
template <class Bits>
struct rank_elements {
  key_rule rule;
  Bits* base;
  i64 stride;
};
template <class Bits>
__device__ __forceinline__ void put_rank(const rank_elements<Bits>& to, i64 row, int rank, key_of<Bits> key) {
  to.base[row * to.stride + rank] = static_cast<Bits>(element_of(key, to.rule));
}

template <class Bits, bool is_real>
__global__ void __launch_bounds__(rank_threads)
    find_held_ranks(const exact_keys<Bits, is_real> from, const rank_elements<Bits> to, const ranks_job j) {
  extern __shared__ u64 shared[];
  auto* const keys = reinterpret_cast<key_of<Bits>*>(shared);
  const i64 padded = (j.columns + rank_threads - 1) / rank_threads * rank_threads;
  find_ranks_of_row(from, to, j, 8 * static_cast<int>(sizeof(Bits)), keys, reinterpret_cast<unsigned*>(keys + padded));
}

template <class Bits, bool is_real>
__global__ void __launch_bounds__(rank_threads)
    count_ranks(const exact_keys<Bits, is_real> from, const ranks_job j, i64 blocks_of_row, const digit_place d,
                ranks_search<key_of<Bits>>* searches, key_of<Bits>* packed, unsigned long long* counts) {
  extern __shared__ u64 shared[];
  count_rank_digits(from, j, blocks_of_row, d, searches, packed, counts, reinterpret_cast<unsigned*>(shared));
}

template <class Bits, bool is_real>
__global__ void __launch_bounds__(rank_threads)
    find_brackets(const exact_keys<Bits, is_real> from, i64 columns, const ranks_job sample, const bracket_job b,
                  rank_brackets<key_of<Bits>>* brackets) {
  __shared__ key_of<Bits> keys[sample_keys];
  __shared__ unsigned counts[2 * most_brackets * row_digits];
  find_brackets_of_row(from, columns, sample, b, 8 * static_cast<int>(sizeof(Bits)), brackets, keys, counts);
}

template <int brackets, class Bits, bool is_real>
__global__ void __launch_bounds__(rank_threads)
    pack_brackets(const exact_keys<Bits, is_real> from, const ranks_job j, i64 blocks_of_row,
                  ranks_search<key_of<Bits>>* searches, rank_brackets<key_of<Bits>>* rows, key_of<Bits>* packed) {
  count_brackets<brackets>(from, j, blocks_of_row, searches, rows, packed);
}

constexpr int short_digit_bits = 8;
constexpr i64 shortest_sampled = i64{1} << 16;
constexpr i64 shortest_of_long_digits = i64{1} << 18;
constexpr i64 most_counts = i64{1} << 22;  // of the rows of a batch
constexpr int packed_part = 4;             // this part of a row's keys is packed, or less

i64 key_bytes(const row_job& j) { return bytes_of(j.type) == 8 ? 8 : 4; }
int at_once(int count) { return count < ranks_at_once ? count : ranks_at_once; }

i64 held_bytes(const row_job& j, int ranks) {
  return ceil_div(j.columns, rank_threads) * rank_threads * key_bytes(j) + (i64{ranks} << short_digit_bits) * 4;
}
/// Whether one block holds a row and its counts: at most 72 KiB, and what the device has beside the kernel's own
/// variables.
cudaError_t find_held(const row_job& j, int ranks, bool& held) {
  constexpr i64 most = 72 * 1024, own = 2 * 1024;
  int device = 0, bytes = 0;
  SINTER_TRY(cudaGetDevice(&device));
  SINTER_TRY(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  held = held_bytes(j, ranks) <= most && held_bytes(j, ranks) + own <= bytes;
  return cudaSuccess;
}

/// Scratch memory for a batch of long rows; none for rows that are held.
struct ranks_layout {
  bool held;
  ranks_job job;  // of the first ranks
  i64 rows = 0;
  void* searches = nullptr;
  unsigned long long* counts = nullptr;
  void* packed = nullptr;
  void* brackets = nullptr;

  ranks_layout(const row_job& j, int count, bool is_held, pieces& p) : held(is_held), job{j.columns, 0, 0, 0, {}} {
    job.ranks = at_once(count);
    job.digit_bits = held || j.columns < shortest_of_long_digits ? short_digit_bits : long_digit_bits;
    job.capacity = held ? 0 : j.columns / packed_part;
    if (held) return;
    const i64 most = most_counts / counts_of_row();
    rows = j.rows < most ? j.rows : most;
    searches = p.take<ranks_search<u64>>(rows);
    counts = p.take<unsigned long long>(rows * counts_of_row());
    brackets = p.take<rank_brackets<u64>>(rows);
    packed = p.take<char>(rows * job.capacity * key_bytes(j));
  }
  i64 counts_of_row() const { return i64{job.ranks} << job.digit_bits; }
};

template <class Kernel>
cudaError_t allow_shared(Kernel* kernel, i64 bytes) {
  if (bytes <= 15 * 1024) return cudaSuccess;  // of 48; the kernels have up to 33 KiB of their own
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

/// Up to ranks_at_once ranks of rows that blocks hold.
template <class Bits, bool is_real>
cudaError_t find_in_held(const context& c, const row_job& r, exact_keys<Bits, is_real> from, rank_elements<Bits> to,
                         const ranks_job& j) {
  constexpr i64 most_blocks = i64{1} << 30;
  const i64 shared = held_bytes(r, j.ranks);
  SINTER_TRY(allow_shared(find_held_ranks<Bits, is_real>, shared));
  for (i64 row = 0; row < r.rows; row += most_blocks) {
    const i64 rows = most_blocks < r.rows - row ? most_blocks : r.rows - row;
    SINTER_TRY(
        launch(c, find_held_ranks<Bits, is_real>, rows, rank_threads, static_cast<std::size_t>(shared), from, to, j));
    from.base += rows * r.columns;
    to.base += rows * to.stride;
  }
  return cudaSuccess;
}

template <class Bits, bool is_real>
cudaError_t pack_between(const context& c, const exact_keys<Bits, is_real>& from, const ranks_job& j,
                         const bracket_job& b, i64 rows, i64 blocks_of_row, const ranks_layout& l) {
  using U = key_of<Bits>;
  auto* const searches = static_cast<ranks_search<U>*>(l.searches);
  auto* const brackets = static_cast<rank_brackets<U>*>(l.brackets);
  auto* const packed = static_cast<U*>(l.packed);
  SINTER_TRY(launch(c, find_brackets<Bits, is_real>, rows, rank_threads, 0, from, j.columns,
                    sample_job(b, short_digit_bits), b, brackets));
  const auto pack = [&](auto* kernel) {
    return launch(c, kernel, rows * blocks_of_row, rank_threads, 0, from, j, blocks_of_row, searches, brackets, packed);
  };
  switch (b.brackets) {
    case 1: SINTER_TRY(pack(pack_brackets<1, Bits, is_real>)); break;
    case 2: SINTER_TRY(pack(pack_brackets<2, Bits, is_real>)); break;
    case 3: SINTER_TRY(pack(pack_brackets<3, Bits, is_real>)); break;
    default: SINTER_TRY(pack(pack_brackets<4, Bits, is_real>)); break;
  }
  return launch(c, conclude_brackets<U>, ceil_div(rows, 256), 256, 0, searches, brackets, rows, j, b);
}

/// The same of a batch of longer rows.
template <class Bits, bool is_real>
cudaError_t find_in_long(const context& c, const exact_keys<Bits, is_real>& from, const rank_elements<Bits>& to,
                         const ranks_job& j, i64 rows, const ranks_layout& l) {
  using U = key_of<Bits>;
  auto* const searches = static_cast<ranks_search<U>*>(l.searches);
  const i64 wanted = ceil_div(j.columns, keys_ahead<U> * rank_threads),
            most = ceil_div(i64{4} * c.multiprocessors, rows);
  const i64 blocks_of_row = wanted < most ? wanted : most;
  const i64 shared = (i64{j.ranks} << j.digit_bits) * 4;
  SINTER_TRY(allow_shared(count_ranks<Bits, is_real>, shared));
  SINTER_TRY(launch(c, start_rank_searches<U>, ceil_div(rows, 256), 256, 0, searches, rows, j));
  SINTER_TRY(
      cudaMemsetAsync(l.counts, 0, static_cast<std::size_t>(rows * l.counts_of_row()) * sizeof *l.counts, c.stream));
  bracket_job brackets;
  if (j.columns >= shortest_sampled && bracket_ranks(j, brackets))
    SINTER_TRY(pack_between(c, from, j, brackets, rows, blocks_of_row, l));
  for (int top = 8 * static_cast<int>(sizeof(Bits)); top > 0;) {
    const int bits = top < j.digit_bits ? top : j.digit_bits;
    const digit_place d{top - bits, bits};
    top = d.shift;
    SINTER_TRY(launch(c, count_ranks<Bits, is_real>, rows * blocks_of_row, rank_threads,
                      static_cast<std::size_t>(shared), from, j, blocks_of_row, d, searches, static_cast<U*>(l.packed),
                      l.counts));
    SINTER_TRY(
        launch(c, choose_rank_digits<U, rank_elements<Bits>>, rows, rank_threads, 0, j, d, l.counts, searches, to));
  }
  return cudaSuccess;
}

template <class Bits, bool is_real>
cudaError_t find_typed(const context& c, const row_job& r, const std::int64_t* kth, int count, const void* from,
                       void* to, const ranks_layout& l) {
  using U = key_of<Bits>;
  const key_rule rule = rule_of(r.type, false);
  const bool flips = is_real || rule.kind == key_class::signed_integer;
  const exact_keys<Bits, is_real> keys{static_cast<const Bits*>(from), flips ? static_cast<U>(rule.sign) : U{0},
                                       static_cast<U>(rule.mask), static_cast<U>(rule.negative_nans)};
  for (int first = 0; first < count; first += ranks_at_once) {
    ranks_job j = l.job;
    j.ranks = at_once(count - first);
    for (int k = 0; k < j.ranks; ++k) j.at[k] = kth[first + k];
    const rank_elements<Bits> elements{rule, static_cast<Bits*>(to) + first, count};
    if (l.held) {
      SINTER_TRY(find_in_held(c, r, keys, elements, j));
      continue;
    }
    for (i64 row = 0; row < r.rows; row += l.rows) {
      exact_keys<Bits, is_real> batch = keys;
      rank_elements<Bits> results = elements;
      batch.base += row * r.columns;
      results.base += row * elements.stride;
      SINTER_TRY(find_in_long(c, batch, results, j, l.rows < r.rows - row ? l.rows : r.rows - row, l));
    }
  }
  return cudaSuccess;
}

}  // namespace

std::int64_t most_ranks(const row_job& j) {
  constexpr i64 longest_rather_sorted = 4096, long_row = i64{1} << 16;
  if (j.columns <= longest_rather_sorted || is_complex(j.type)) return 0;
  return j.columns < long_row ? 2 * ranks_at_once : 4 * ranks_at_once;
}

cudaError_t find_ranks_scratch(const row_job& j, int count, std::size_t& bytes) {
  bool held = false;
  SINTER_TRY(find_held(j, at_once(count), held));
  pieces p(nullptr);
  const ranks_layout l(j, count, held, p);
  bytes = p.used();
  return cudaSuccess;
}

cudaError_t find_ranks(const context& c, const row_job& j, const std::int64_t* kth, int count, const void* from,
                       void* to, void* scratch) {
  bool held = false;
  SINTER_TRY(find_held(j, at_once(count), held));
  pieces p(scratch);
  const ranks_layout l(j, count, held, p);
  const bool real = is_float(j.type);
  switch (bytes_of(j.type)) {
    case 1: return find_typed<u8, false>(c, j, kth, count, from, to, l);
    case 2:
      return real ? find_typed<u16, true>(c, j, kth, count, from, to, l)
                  : find_typed<u16, false>(c, j, kth, count, from, to, l);
    case 4:
      return real ? find_typed<u32, true>(c, j, kth, count, from, to, l)
                  : find_typed<u32, false>(c, j, kth, count, from, to, l);
    default:
      return real ? find_typed<u64, true>(c, j, kth, count, from, to, l)
                  : find_typed<u64, false>(c, j, kth, count, from, to, l);
  }
}

}  // namespace sinter::cuda::device
