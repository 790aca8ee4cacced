// The positions of the first few elements of rows, in order. A long row is divided into parts that blocks hold; the first
// ones of all its parts are a shorter row of candidates.
#include "backends/cuda/algorithms/first/first_kernels.cuh"
#include "backends/cuda/algorithms/sort_keys.cuh"
#include "backends/cuda/algorithms/sort_parts.cuh"

namespace sinter::cuda::device {
namespace {

template <class Bits>
using key_of = std::conditional_t<sizeof(Bits) == 8, u64, u32>;

/// The most and the fewer keys that a thread holds.
template <class Bits>
constexpr int most_held = sizeof(Bits) == 8 ? 16 : 32;
template <class Bits>
constexpr int fewer_held = most_held<Bits> / 4;

/// Tied keys of elements, or of those at `positions`.
template <class Bits, bool is_real>
struct typed_keys {
  const Bits* base;
  const i64* positions;
  key_of<Bits> sign, infinity, flipped;  // flipped: bits of a key that change for the order
};
template <class Bits, bool is_real>
__device__ __forceinline__ key_of<Bits> key_at(const typed_keys<Bits, is_real>& k, i64 index) {
  using U = key_of<Bits>;
  const U bits = k.base[k.positions ? k.positions[index] : index];
  if constexpr (!is_real) return bits ^ k.flipped;
  // The magnitude, added to the middle of the keys or taken from it; NaNs are the last.
  constexpr int width = 8 * sizeof(Bits);
  const U magnitude = bits & (k.sign - 1), minus = U{0} - (bits >> (width - 1));
  const U key = magnitude > k.infinity ? static_cast<U>(~U{0}) : k.sign + ((magnitude ^ minus) - minus);
  return key ^ k.flipped;
}

/// Positions, through those before this step where there are any.
struct first_positions {
  const i64* before;
  i64* result;
};
template <class U>
__device__ __forceinline__ void put_at(const first_positions& to, unsigned place, i64 index, U) {
  to.result[place] = to.before ? to.before[index] : index;
}

/// A part per block. `stride`: elements of a row of keys.
template <class Bits, bool is_real, int held>
__global__ void __launch_bounds__(first_threads, held == most_held<Bits> ? 2 : 3)
    first_of_parts(typed_keys<Bits, is_real> from, i64* result, const first_job j, i64 stride) {
  const i64 row = blockIdx.x / j.parts, part = blockIdx.x % j.parts;
  from.base += row * stride;
  if (from.positions) from.positions += row * j.columns;
  const first_positions to{from.positions, result + static_cast<i64>(blockIdx.x) * j.k};
  first_of_part<held, key_of<Bits>>(from, to, j, begin_of_part(j, part), begin_of_part(j, part + 1));
}

i64 longest_part(element t) { return first_threads * (bytes_of(t) == 8 ? most_held<u64> : most_held<u32>); }
i64 parts_of(const row_job& j) { return ceil_div(j.columns, longest_part(j.type)); }

template <class Bits, bool is_real>
cudaError_t launch_first(const context& c, const typed_keys<Bits, is_real>& from, i64* result, i64 rows,
                         const first_job& j, i64 stride) {
  constexpr int most = most_held<Bits>, fewer = fewer_held<Bits>;
  const i64 blocks = rows * j.parts;
  if (ceil_div(j.columns, j.parts) > fewer * first_threads)
    return launch(c, first_of_parts<Bits, is_real, most>, blocks, first_threads, 0, from, result, j, stride);
  return launch(c, first_of_parts<Bits, is_real, fewer>, blocks, first_threads, 0, from, result, j, stride);
}

/// Candidates of each step, alternately.
struct first_layout {
  i64* candidates[2] = {nullptr, nullptr};
  first_layout(const row_job& j, i64 k, pieces& p) {
    row_job step = j;
    for (int n = 0; parts_of(step) > 1; ++n) {
      const i64 count = step.rows * parts_of(step) * k;
      if (n < 2) candidates[n] = p.take<i64>(count);  // later steps have fewer
      step.columns = parts_of(step) * k;
    }
  }
};

template <class Bits, bool is_real>
cudaError_t find_first(const context& c, const row_job& r, i64 k, const void* keys, i64* result,
                       const first_layout& l) {
  const key_rule rule = rule_of(r.type, r.descending);
  using U = key_of<Bits>;
  typed_keys<Bits, is_real> from{static_cast<const Bits*>(keys), nullptr, static_cast<U>(rule.sign),
                                 static_cast<U>(rule.infinity), r.descending ? static_cast<U>(~U{0}) : U{0}};
  if (rule.kind == key_class::signed_integer) from.flipped ^= static_cast<U>(rule.sign);
  row_job step = r;
  for (int n = 0;; ++n) {
    const i64 parts = parts_of(step);
    i64* const to = parts > 1 ? l.candidates[n % 2] : result;
    SINTER_TRY(launch_first(c, from, to, r.rows, {step.columns, parts, static_cast<int>(k)}, r.columns));
    if (parts == 1) return cudaSuccess;
    from.positions = to;
    step.columns = parts * k;
  }
}

}  // namespace

bool orders_first(const row_job& j, std::int64_t k) {
  return can_partition(j) && k <= most_first && k <= j.columns / 4;
}

cudaError_t select_first_scratch(const row_job& j, std::int64_t k, std::size_t& bytes) {
  if (!orders_first(j, k)) return partition_scratch(j, 1, true, bytes);
  pieces p(nullptr);
  const first_layout l(j, k, p);
  bytes = p.used();
  return cudaSuccess;
}

cudaError_t select_first(const context& c, const row_job& j, std::int64_t k, const void* keys, std::int64_t* result,
                         void* scratch) {
  if (!orders_first(j, k)) return select_first_by_rank(c, j, k, keys, result, scratch);
  pieces p(scratch);
  const first_layout l(j, k, p);
  const bool real = is_float(j.type);
  switch (bytes_of(j.type)) {
    case 2:
      return real ? find_first<u16, true>(c, j, k, keys, result, l) : find_first<u16, false>(c, j, k, keys, result, l);
    case 4:
      return real ? find_first<u32, true>(c, j, k, keys, result, l) : find_first<u32, false>(c, j, k, keys, result, l);
    default:
      return real ? find_first<u64, true>(c, j, k, keys, result, l) : find_first<u64, false>(c, j, k, keys, result, l);
  }
}

}  // namespace sinter::cuda::device
