// Sorting by keys that carry positions: radix sorts of 16- or 32-bit words, least significant word first, so that two
// instances of CUB's sort serve every element type and every layout of long rows.
#include <cub/device/device_radix_sort.cuh>

#include "backends/cuda/algorithms/random_order_kernels.cuh"
#include "backends/cuda/algorithms/sort_keys.cuh"
#include "backends/cuda/algorithms/sort_parts.cuh"

namespace sinter::cuda::device {
namespace {

constexpr int threads = 256;

/// The source of the sorted word.
struct word_job {
  key_rule rule;
  const void* keys;
  int shift;      // bits of the key below the word
  i64 columns;    // of a row, where the word is part of the row's number
  i64 bin_count;  // of bins
};

/// The key of the element at `index`, in the lowest bits; `shift` is less than the key's width.
__device__ __forceinline__ u64 key_word(const word_job& j, i64 index) {
  if (j.rule.kind != key_class::complex) {
    if (j.rule.bytes == 8) return tied_key(static_cast<const u64*>(j.keys)[index], j.rule) >> j.shift;
    return tied_key(load_part<u32>(j.keys, index, j.rule.bytes), j.rule) >> j.shift;
  }
  if (j.rule.bytes == 4) {
    const u32* parts = static_cast<const u32*>(j.keys) + 2 * index;
    const key_pair<u32> k = tied_complex(parts[0], parts[1], j.rule);
    return (static_cast<u64>(k.high) << 32 | k.low) >> j.shift;
  }
  const u64* parts = static_cast<const u64*>(j.keys) + 2 * index;
  const key_pair<u64> k = tied_complex(parts[0], parts[1], j.rule);
  return j.shift < 64 ? k.low >> j.shift : k.high >> (j.shift - 64);
}

struct element_word {
  word_job j;
  __device__ u64 operator()(i64 index) const { return key_word(j, index); }
};
struct row_word {
  word_job j;
  __device__ u64 operator()(i64 index) const {
    return static_cast<u64>(static_cast<u32>(index) / static_cast<u32>(j.columns)) >> j.shift;
  }
};
struct bin_word {
  word_job j;
  __device__ u64 operator()(i64 index) const {
    const i64 bin =
        j.rule.bytes == 4 ? static_cast<const std::int32_t*>(j.keys)[index] : static_cast<const i64*>(j.keys)[index];
    return static_cast<u64>(bin < 0 || bin > j.bin_count ? j.bin_count : bin) >> j.shift;
  }
};

/// keys[k] = the word of position k; positions[k] = k, or what is carried instead.
template <class Word, class Key, class Index>
__global__ void first_words(const Word word, const Index* carried, Key* keys, Index* positions, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step) {
    keys[k] = static_cast<Key>(word(k));
    positions[k] = carried ? carried[k] : static_cast<Index>(k);
  }
}
/// keys[k] = the word of positions[k].
template <class Word, class Key, class Index>
__global__ void next_words(const Word word, Key* keys, const Index* positions, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step)
    keys[k] = static_cast<Key>(word(positions[k]));
}

/// Positions become numbers within their row.
__global__ void widen(const u32* positions, i64* result, i64 n, u32 columns) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step)
    result[k] = positions[k] % columns;
}

/// A multi-pass sort by several words, lowest first; tracks which buffers are in use.
template <class Key, class Index>
class word_sort {
  // CUB's kernels are faster with 32-bit offsets.
  using offset = std::conditional_t<sizeof(Index) == 4, u32, i64>;

 public:
  word_sort(const context& c, i64 n, Key* keys0, Key* keys1, Index* positions0, Index* positions1, void* temporary,
            std::size_t temporary_bytes)
      : c_(c),
        n_(n),
        keys_(keys0, keys1),
        positions_(positions0, positions1),
        temporary_(temporary),
        temporary_bytes_(temporary_bytes) {}

  /// Sorts by `bits` bits of the words. `carried`: what goes with them instead of positions; then this is the only pass.
  template <class Word>
  cudaError_t pass(const Word& word, int bits, const Index* carried = nullptr) {
    const i64 blocks = looping_blocks(c_, n_, threads);
    if (first_)
      SINTER_TRY(launch(c_, first_words<Word, Key, Index>, blocks, threads, 0, word, carried, keys_.Current(),
                        positions_.Current(), n_));
    else
      SINTER_TRY(launch(c_, next_words<Word, Key, Index>, blocks, threads, 0, word, keys_.Current(),
                        positions_.Current(), n_));
    first_ = false;
    return cub::DeviceRadixSort::SortPairs(temporary_, temporary_bytes_, keys_, positions_, static_cast<offset>(n_), 0,
                                           bits, c_.stream);
  }
  Index* positions() { return positions_.Current(); }
  /// The words of the last pass, in order.
  Key* keys() { return keys_.Current(); }

  static cudaError_t temporary_bytes(i64 n, std::size_t& bytes) {
    cub::DoubleBuffer<Key> keys;
    cub::DoubleBuffer<Index> positions;
    bytes = 0;
    return cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, positions, static_cast<offset>(n), 0,
                                           static_cast<int>(8 * sizeof(Key)));
  }

 private:
  context c_;
  i64 n_;
  cub::DoubleBuffer<Key> keys_;
  cub::DoubleBuffer<Index> positions_;
  void* temporary_;
  std::size_t temporary_bytes_;
  bool first_ = true;
};

/// Passes over the words of the keys, then over those of the row numbers.
template <class Sort>
cudaError_t sort_words(Sort& s, const row_job& j, const void* keys, int word_bits) {
  const int key_bits = 8 * bytes_of(j.type);
  for (int shift = 0; shift < key_bits; shift += word_bits) {
    const int bits = key_bits - shift < word_bits ? key_bits - shift : word_bits;
    SINTER_TRY(s.pass(element_word{{rule_of(j.type, j.descending), keys, shift, j.columns, 0}}, bits));
  }
  const int row_bits = bits_below(j.rows);
  for (int shift = 0; shift < row_bits; shift += word_bits) {
    const int bits = row_bits - shift < word_bits ? row_bits - shift : word_bits;
    SINTER_TRY(s.pass(row_word{{{}, nullptr, shift, j.columns, 0}}, bits));
  }
  return cudaSuccess;
}

template <class Key>
cudaError_t sort_positions_with(const context& c, const position_sort& s, const position_buffers& b, u32*& sorted) {
  word_sort<Key, u32> sort(c, s.job.rows * s.job.columns, static_cast<Key*>(b.keys[0]), static_cast<Key*>(b.keys[1]),
                           b.positions[0], b.positions[1], b.temporary, b.temporary_bytes);
  SINTER_TRY(sort_words(sort, s.job, s.keys, 8 * sizeof(Key)));
  sorted = sort.positions();
  return cudaSuccess;
}

// --- argsort of long rows

/// Rows are sorted together while their positions stay below this.
constexpr i64 most_together = i64{1} << 31;
/// Rows of this length and more have 64-bit positions.
constexpr i64 longest_narrow = (i64{1} << 32) - 1;

row_job batch_of(const row_job& j) {
  row_job b = j;
  const i64 most = j.columns < most_together ? most_together / j.columns : 1;
  b.rows = j.rows < most ? j.rows : most;
  return b;
}

/// The buffers in scratch memory, for rows that are sorted together.
struct narrow_layout {
  position_buffers buffers{};
  std::size_t scratch = 0;
};
cudaError_t narrow_layout_of(const context& c, const row_job& batch, void* scratch, narrow_layout& l) {
  const i64 n = batch.rows * batch.columns;
  SINTER_TRY(position_sort_temporary(c, batch, l.buffers.temporary_bytes));
  pieces p(scratch);
  l.buffers.positions[0] = p.take<u32>(n);
  if (carried_key_bytes(batch.type) == 4) l.buffers.keys[0] = p.take<u32>(n);
  l.buffers.temporary = p.take<char>(static_cast<i64>(l.buffers.temporary_bytes));
  l.scratch = p.used();
  return cudaSuccess;
}
/// The result's memory, 8 bytes per element, holds one buffer of positions and as many keys as fit.
void use_result(row_job batch, i64* result, position_buffers& b) {
  const i64 n = batch.rows * batch.columns;
  char* const own = reinterpret_cast<char*>(result);
  b.positions[1] = reinterpret_cast<u32*>(own);
  if (carried_key_bytes(batch.type) == 2) {
    b.keys[0] = own + 4 * n;
    b.keys[1] = own + 6 * n;
  } else {
    b.keys[1] = own + 4 * n;
  }
}

cudaError_t argsort_narrow(const context& c, const row_job& j, const char* keys, i64* result, void* scratch) {
  row_job batch = batch_of(j);
  narrow_layout l;
  SINTER_TRY(narrow_layout_of(c, batch, scratch, l));
  for (i64 row = 0; row < j.rows; row += batch.rows) {
    if (batch.rows > j.rows - row) batch.rows = j.rows - row;
    const i64 n = batch.rows * batch.columns;
    i64* const to = result + row * j.columns;
    use_result(batch, to, l.buffers);
    u32* sorted = nullptr;
    SINTER_TRY(sort_positions(c, {batch, keys + row * j.columns * bytes_of(j.type)}, l.buffers, sorted));
    // Widening overwrites the result's memory, so the positions must not be there.
    if (sorted != l.buffers.positions[0])
      SINTER_TRY(cudaMemcpyAsync(l.buffers.positions[0], sorted, static_cast<std::size_t>(n) * sizeof(u32),
                                 cudaMemcpyDeviceToDevice, c.stream));
    SINTER_TRY(launch(c, widen, looping_blocks(c, n, threads), threads, 0, l.buffers.positions[0], to, n,
                      static_cast<u32>(j.columns)));
  }
  return cudaSuccess;
}

/// One row of more than 2^32 elements: keys are carried a byte at a time, which leaves room for 64-bit positions.
struct wide_layout {
  u8* keys[2];
  u64* positions;
  void* temporary;
  std::size_t temporary_bytes = 0, scratch = 0;
};
cudaError_t wide_layout_of(const row_job& j, void* scratch, wide_layout& l) {
  SINTER_TRY((word_sort<u8, u64>::temporary_bytes(j.columns, l.temporary_bytes)));
  pieces p(scratch);
  l.keys[0] = p.take<u8>(j.columns);
  l.keys[1] = p.take<u8>(j.columns);
  l.positions = p.take<u64>(j.columns);
  l.temporary = p.take<char>(static_cast<i64>(l.temporary_bytes));
  l.scratch = p.used();
  return cudaSuccess;
}

cudaError_t argsort_wide(const context& c, const row_job& j, const char* keys, i64* result, void* scratch) {
  row_job one = j;
  one.rows = 1;
  wide_layout l;
  SINTER_TRY(wide_layout_of(one, scratch, l));
  for (i64 row = 0; row < j.rows; ++row) {
    u64* const to = reinterpret_cast<u64*>(result + row * j.columns);
    word_sort<u8, u64> sort(c, j.columns, l.keys[0], l.keys[1], l.positions, to, l.temporary, l.temporary_bytes);
    SINTER_TRY(sort_words(sort, one, keys + row * j.columns * bytes_of(j.type), 8));
    if (sort.positions() != to)
      SINTER_TRY(cudaMemcpyAsync(to, sort.positions(), static_cast<std::size_t>(j.columns) * sizeof(u64),
                                 cudaMemcpyDeviceToDevice, c.stream));
  }
  return cudaSuccess;
}

// --- random keys

/// One pair of buffers is in scratch memory, the other in the result's. Random keys differ in as many bits as tell their
/// number; sorts by fewer passes leave less to sort than they cost.
struct random_layout {
  u32 *upper, *positions;
  void* temporary;
  std::size_t temporary_bytes = 0, scratch = 0;
};
cudaError_t random_layout_of(i64 n, void* scratch, random_layout& l) {
  SINTER_TRY((word_sort<u32, u32>::temporary_bytes(n, l.temporary_bytes)));
  pieces p(scratch);
  l.upper = p.take<u32>(n);
  l.positions = p.take<u32>(n);
  l.temporary = p.take<char>(static_cast<i64>(l.temporary_bytes));
  l.scratch = p.used();
  return cudaSuccess;
}

cudaError_t order_random(const context& c, i64 n, const u64* keys, i64* result, void* scratch) {
  constexpr int pass_bits = 8, key_bits = 32;
  random_layout l;
  SINTER_TRY(random_layout_of(n, scratch, l));
  const int passes = (bits_below(n) + pass_bits - 1) / pass_bits, shift = key_bits - pass_bits * passes;
  // An odd number of passes ends in the buffers in which it does not begin: in scratch memory, as an even one.
  u32* const other = reinterpret_cast<u32*>(result);
  const bool odd = passes % 2 == 1;
  cub::DoubleBuffer<u32> upper(odd ? other : l.upper, odd ? l.upper : other);
  cub::DoubleBuffer<u32> positions(odd ? other + n : l.positions, odd ? l.positions : other + n);
  SINTER_TRY(launch(c, split_random_keys, looping_blocks(c, n, threads), threads, 0, keys, upper.Current(),
                    positions.Current(), n));
  SINTER_TRY(cub::DeviceRadixSort::SortPairs(l.temporary, l.temporary_bytes, upper, positions, static_cast<u32>(n),
                                             shift, key_bits, c.stream));
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(u32);
  if (upper.Current() != l.upper)
    SINTER_TRY(cudaMemcpyAsync(l.upper, upper.Current(), bytes, cudaMemcpyDeviceToDevice, c.stream));
  if (positions.Current() != l.positions)
    SINTER_TRY(cudaMemcpyAsync(l.positions, positions.Current(), bytes, cudaMemcpyDeviceToDevice, c.stream));
  return launch(c, order_neighbours, ceil_div(n, threads), threads, 0, l.upper, l.positions, keys, result, n, shift);
}

row_job random_row(i64 n) { return {element::u64, false, 1, n}; }
/// Whether random keys are sorted like others.
bool like_others(i64 n) { return n <= longest_argsorted_row(element::u64) || n > longest_narrow; }

}  // namespace

int carried_key_bytes(element type) { return bytes_of(type) <= 2 ? 2 : 4; }

cudaError_t position_sort_temporary(const context&, const row_job& j, std::size_t& bytes) {
  const i64 n = j.rows * j.columns;
  return carried_key_bytes(j.type) == 2 ? word_sort<u16, u32>::temporary_bytes(n, bytes)
                                        : word_sort<u32, u32>::temporary_bytes(n, bytes);
}

cudaError_t sort_positions(const context& c, const position_sort& s, const position_buffers& b, u32*& sorted) {
  return carried_key_bytes(s.job.type) == 2 ? sort_positions_with<u16>(c, s, b, sorted)
                                            : sort_positions_with<u32>(c, s, b, sorted);
}

cudaError_t bin_sort_temporary(const context&, i64 n, i64, std::size_t& bytes) {
  return word_sort<u32, u32>::temporary_bytes(n, bytes);
}

cudaError_t sort_by_bin(const context& c, const void* bins, int bytes_of_bin, i64 n, i64 bin_count, const u32* weights,
                        const position_buffers& b, sorted_bins& sorted) {
  key_rule rule;
  rule.bytes = bytes_of_bin;
  word_sort<u32, u32> sort(c, n, static_cast<u32*>(b.keys[0]), static_cast<u32*>(b.keys[1]), b.positions[0],
                           b.positions[1], b.temporary, b.temporary_bytes);
  const int bin_bits = bits_below(bin_count + 1);
  const bool one_pass = bin_bits <= 32;
  for (int shift = 0; shift < bin_bits; shift += 32)
    SINTER_TRY(sort.pass(bin_word{{rule, bins, shift, 0, bin_count}}, bin_bits - shift < 32 ? bin_bits - shift : 32,
                         one_pass ? weights : nullptr));
  sorted.bins = one_pass ? sort.keys() : nullptr;
  (one_pass && weights ? sorted.weights : sorted.positions) = sort.positions();
  return cudaSuccess;
}

cudaError_t argsort_scratch(const context& c, const row_job& j, std::size_t& bytes) {
  bytes = 0;
  if (j.rows == 0 || j.columns <= longest_argsorted_row(j.type)) return cudaSuccess;
  if (j.columns > longest_narrow) {
    wide_layout l;
    SINTER_TRY(wide_layout_of(j, nullptr, l));
    bytes = l.scratch;
    return cudaSuccess;
  }
  narrow_layout l;
  SINTER_TRY(narrow_layout_of(c, batch_of(j), nullptr, l));
  bytes = l.scratch;
  return cudaSuccess;
}

cudaError_t argsort(const context& c, const row_job& j, const void* keys, std::int64_t* result, void* scratch) {
  if (j.rows == 0 || j.columns == 0) return cudaSuccess;
  if (j.columns <= longest_argsorted_row(j.type)) return argsort_rows(c, j, keys, result);
  const char* const from = static_cast<const char*>(keys);
  return j.columns > longest_narrow ? argsort_wide(c, j, from, result, scratch)
                                    : argsort_narrow(c, j, from, result, scratch);
}

cudaError_t random_order_scratch(const context& c, std::int64_t n, std::size_t& bytes) {
  if (like_others(n)) return argsort_scratch(c, random_row(n), bytes);
  random_layout l;
  SINTER_TRY(random_layout_of(n, nullptr, l));
  bytes = l.scratch;
  return cudaSuccess;
}

cudaError_t random_order(const context& c, std::int64_t n, const std::uint64_t* keys, std::int64_t* result,
                         void* scratch) {
  return like_others(n) ? argsort(c, random_row(n), keys, result, scratch) : order_random(c, n, keys, result, scratch);
}

}  // namespace sinter::cuda::device
