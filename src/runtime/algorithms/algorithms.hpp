// src/runtime/algorithms: what a device computes besides kernels: sorts, scans, products, factorisations, transforms,
// as interfaces that the backends implement, and arithmetic that they share.
//
// Device-wide algorithms that are no straight-line programs: sorting, scans, selection, counting.
//
// Everything is enqueued like a launch and never synchronises. Addresses are memory of the backend; counts are
// elements. The caller provides scratch memory of at least as many bytes as the matching `*_scratch` returns. Results
// do not vary from run to run, nor with the number of threads. All counts may exceed 2^31.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "sinter/dtype.hpp"

namespace sinter::runtime {

/// `rows` sequences of `columns` elements each, one after the other.
struct row_layout {
  dtype type{};
  std::int64_t rows = 1, columns = 0;
};

enum class scan_op : std::uint8_t { sum, prod, max, min, logaddexp };

/// A scan along the middle axis of (outer, count, inner), C-contiguous. sum and prod wrap around for integers, and are
/// disjunction and conjunction of bools. max and min let the first NaN win and compare complex numbers by real part, then
/// imaginary part; of equal elements the first stays. logaddexp takes real floating types. float16 and bfloat16
/// accumulate in float32.
struct scan_layout {
  scan_op op{};
  dtype type{};
  std::int64_t outer = 1, count = 0, inner = 1;
};

/// Which of `count` elements are selected, in C order; at least one element. The first `packed` ones have a bit each: bit
/// b of words[32 * t + j] is that of element flags_of_tile * t + 32 * b + j. The others have bools.
struct selection {
  std::int64_t count = 0, packed = 0;  // packed: a multiple of flags_of_tile
  const std::uint32_t* words = nullptr;
  const bool* flags = nullptr;  // of the elements from `packed` on
};
inline constexpr std::int64_t flags_of_tile = 1024;

/// `count` bins of equal width over [low, high], the last one closed, as numpy.histogram has them: edge k is
/// k * (high - low) / count + low, the last one high, computed in float64, or, where `narrow`, in float32 from low and
/// high of that type; samples are float32 then. Float32 samples are compared with edges rounded to float32, all others
/// with float64 edges. Edges must ascend.
struct bin_range {
  double low = 0, high = 1;
  std::int64_t count = 1;
  bool narrow = false;
};

/// Numbers of bins, int32 or int64, and a weight, float32 or float64, for each where `weights` is not null.
struct bin_entries {
  std::int64_t count = 0;
  dtype bin_type = dtype::i64;
  const void* bins = nullptr;
  dtype weight_type = dtype::f64;
  const void* weights = nullptr;
};

/// `outer` slices of `count` pieces of `bytes` bytes each, one after the other.
struct piece_layout {
  std::int64_t outer = 1, count = 0;
  std::size_t bytes = 0;
};
/// What counts of pieces add up to; `exact` has wrapped around where `about` is more than an int64 holds.
struct piece_total {
  std::int64_t least = 0, exact = 0;  // least: of the counts and 0
  double about = 0;
};

/// Points and centers of float32 or float64, rows in C order.
struct means_layout {
  dtype type{};
  std::int64_t points = 0, dimensions = 0, clusters = 0;
};
/// What a step of k-means reads and writes: points x, centers, weights of the points (null: ones), labels to compare with (null:
/// none); labels, and, unless `sums` is null, sums of the weighted points and of the weights of each cluster, added in an order
/// that follows from the layout alone, and whether the labels are those of before.
struct means_arrays {
  const void* x = nullptr;
  const void* centers = nullptr;
  const void* weights = nullptr;
  const std::int64_t* before = nullptr;
  std::int64_t* labels = nullptr;
  void* sums = nullptr;    // (clusters, dimensions)
  void* totals = nullptr;  // (clusters,)
  bool* same = nullptr;
};

class algorithms {
 public:
  virtual ~algorithms() = default;

  /// Sorts each row of `from` into `to`, which may be `from`. Ascending order is NumPy's: false before true, -0 equal to +0, NaN last, complex by real
  /// part, then imaginary part, then those with a NaN: in the imaginary part alone (by real part), in the real part
  /// alone (by imaginary part), in both. Descending is the reverse of it, NaN first. Equal elements keep their order,
  /// also where descending; the order of a row's NaNs is unspecified. Elements keep their bits: -0 stays -0, NaNs their
  /// payload. Rows and columns may each exceed 2^31. Scratch: at most 1.2 times the bytes of `from` and 10 MiB.
  virtual std::size_t sort_scratch(const row_layout& l) = 0;
  virtual void sort(const row_layout& l, bool descending, const void* from, void* to, void* scratch) = 0;

  /// Whether runs of such elements are merged for less than it takes to sort them. If not, callers sort.
  virtual bool merges_runs(dtype /*type*/) const { return false; }
  /// Run k of `from` is [ends[k - 1], ends[k]), the first one begins at 0, and each is in sort()'s order. `to`, other memory, gets
  /// all their elements in that order; equal elements follow each other as in `from`. Scratch: at most the bytes of `from` and
  /// a hundredth.
  virtual std::size_t merge_scratch(dtype /*type*/, std::span<const std::int64_t> /*ends*/) { return 0; }
  virtual void merge(dtype /*type*/, bool /*descending*/, std::span<const std::int64_t> /*ends*/, const void* /*from*/,
                     void* /*to*/, void* /*scratch*/) {}

  /// The permutation (indices within the row) that sorts each row; stable, also where descending: equal elements, all
  /// NaNs and both zeros among them, keep their order, so there is one result. `keys` stay as they are. Scratch: at most
  /// 1.2 times the bytes of `keys`, one 32-bit index an element (64-bit where a row is longer than 2^32 - 1; keys of one
  /// byte then take 2.1 times their bytes) and 10 MiB.
  virtual std::size_t argsort_scratch(const row_layout& l) = 0;
  virtual void argsort(const row_layout& l, bool descending, const void* keys, std::int64_t* result, void* scratch) = 0;

  /// What argsort() of `n` uint64 keys gives, for keys that were drawn at random: it may take long where many agree in
  /// their highest bits. Scratch as argsort().
  virtual std::size_t random_order_scratch(std::int64_t n) = 0;
  virtual void random_order(std::int64_t n, const std::uint64_t* keys, std::int64_t* result, void* scratch) = 0;
  /// The same, of which only the first `count` elements are looked at.
  virtual void random_order_first(std::int64_t n, std::int64_t /*count*/, const std::uint64_t* keys,
                                  std::int64_t* result, void* scratch) {
    random_order(n, keys, result, scratch);
  }

  /// Whether rows can be partitioned, and their first elements selected, for less than it takes to sort them. If not,
  /// callers sort.
  virtual bool can_partition(const row_layout& l) const = 0;
  /// Each row of `from`, reordered in `to`, other memory, so that each element `kth` (ascending, each in [0, columns)
  /// once, at least one) is the one that sort() would put there, up to equal ones, that none before it comes after it in
  /// sort()'s ascending order, and none behind it before it. The result follows from the rows and `kth` alone.
  virtual std::size_t partition_scratch(const row_layout& l, std::int64_t kth_count, bool positions) = 0;
  virtual void partition(const row_layout& l, std::span<const std::int64_t> kth, const void* from, void* to,
                         void* scratch) = 0;
  /// The positions (within the row) of the elements that such a partition has; equal elements may have other places.
  virtual void argpartition(const row_layout& l, std::span<const std::int64_t> kth, const void* keys,
                            std::int64_t* result, void* scratch) = 0;
  /// How many ranks find_ranks() takes, for rows like these, for less than it takes to sort or partition them; 0: callers
  /// do that.
  virtual std::int64_t most_ranks(const row_layout& /*l*/) const { return 0; }
  /// to[row][k] = the element that sort() would put at kth[k] (ascending, each in [0, columns) once, at least one, at most
  /// most_ranks()) of the row, up to equal ones; -0 and +0, and NaNs, are equal. Scratch: at most the bytes of `from` and
  /// 40 MiB.
  virtual std::size_t find_ranks_scratch(const row_layout& /*l*/, std::int64_t /*kth_count*/) { return 0; }
  virtual void find_ranks(const row_layout& /*l*/, std::span<const std::int64_t> /*kth*/, const void* /*from*/,
                          void* /*to*/, void* /*scratch*/) {}
  /// to[row][k] = the element that sort() would put at ranks[row][k], of `count` ranks in any order, each in [0, columns). Of
  /// real floating-point rows, NaNs among them, where finds_own_ranks(); scratch: own_ranks_scratch() bytes.
  virtual bool finds_own_ranks(const row_layout& /*l*/) const { return false; }
  virtual std::size_t own_ranks_scratch(const row_layout& /*l*/) { return 0; }
  virtual void find_own_ranks(const row_layout& /*l*/, std::int64_t /*count*/, const std::int64_t* /*ranks*/,
                              const void* /*from*/, void* /*to*/, void* /*scratch*/) {}
  /// The positions (within the row) of the first k elements, 0 < k < columns, of each row in argsort()'s order: in this
  /// order where orders_first(), else sorted by position. Rows of `result` have k elements.
  virtual bool orders_first(const row_layout& l, std::int64_t k) const = 0;
  virtual std::size_t select_first_scratch(const row_layout& l, std::int64_t k) = 0;
  virtual void select_first(const row_layout& l, bool descending, std::int64_t k, const void* keys,
                            std::int64_t* result, void* scratch) = 0;

  /// Selections take two steps, so that the result can be allocated at its size. The first counts, and leaves in
  /// `scratch` what any number of second steps start from; it returns the address (memory of the backend) that will
  /// hold the number of selected elements.
  virtual std::size_t select_scratch(const selection& s) = 0;
  virtual const std::int64_t* count_selected(const selection& s, void* scratch) = 0;
  /// The selected elements of `data`, of `bytes` bytes each (1, 2, 4, 8 or 16), in order.
  virtual void select(const selection& s, int bytes, const void* data, void* result, const void* scratch) = 0;
  /// The positions of the selected elements, in order.
  virtual void select_positions(const selection& s, std::int64_t* result, const void* scratch) = 0;
  /// Whether selections may have words, which are then faster than bools.
  virtual bool takes_packed_flags() const = 0;

  /// Whether pieces of memory are repeated by the next two functions. If not, callers gather the elements.
  virtual bool repeats_pieces() const { return false; }
  /// ends[k] = counts[0] + ... + counts[k]; waits for the total.
  virtual piece_total count_pieces(const std::int64_t* /*counts*/, std::int64_t /*n*/, std::int64_t* /*ends*/) {
    return {};
  }
  /// Writes piece k of each slice ends[k] - ends[k - 1] times, one after the other.
  virtual void repeat_pieces(const piece_layout&, const std::int64_t* /*ends*/, const void* /*from*/, void* /*to*/) {}

  /// Inclusive scan; `to` may be `from`. The order in which values are joined follows from the layout alone. Scratch: at
  /// most a tenth of the bytes of `from`, or 4 MiB where that is more.
  virtual std::size_t scan_scratch(const scan_layout& l) = 0;
  virtual void scan(const scan_layout& l, const void* from, void* to, void* scratch) = 0;
  /// Whether running products of a dtype are 0 from a 0 on where all factors are finite, also if products before it overflow.
  virtual bool keeps_zeros(dtype) const { return false; }

  /// counts[b] = how many bins[i] equal b, for b in [0, bin_count); values outside are left out.
  virtual std::size_t count_bins_scratch(std::int64_t n, std::int64_t bin_count) = 0;
  virtual void count_bins(const bin_entries& e, std::int64_t bin_count, std::int64_t* counts, void* scratch) = 0;
  /// sums[b] = the sum of weights[i] where bins[i] equals b, in float64; values outside are left out. The order of the
  /// additions follows from the bins alone. Scratch: at most 26 bytes for each of up to 2^26 elements and 8 for each bin,
  /// or a byte for each element.
  virtual std::size_t sum_bins_scratch(std::int64_t n, std::int64_t bin_count) = 0;
  virtual void sum_bins(const bin_entries& e, std::int64_t bin_count, double* sums, void* scratch) = 0;
  /// Whether add_in_order() takes elements of this type. If not, callers sort the positions.
  virtual bool adds_in_order(dtype /*type*/) const { return false; }
  /// sums[at[i]] += values[i] for one i after the other, i < n. The positions have been checked.
  virtual void add_in_order(dtype /*type*/, std::int64_t /*n*/, const std::int64_t* /*at*/, const void* /*values*/,
                            void* /*sums*/) {}
  /// The same for positions that have been checked only where *skip, when its turn comes, is false; else nothing. Also in
  /// a capture.
  virtual void add_in_order_unless(const bool* /*skip*/, dtype /*type*/, std::int64_t /*n*/, const std::int64_t* /*at*/,
                                   const void* /*values*/, void* /*sums*/) {}
  /// Whether write_in_order() is faster than to find the last one of the values for each position and to write that.
  virtual bool writes_in_order() const { return false; }
  /// to[at[i]] = values[i] for one i after the other, i < n. The positions have been checked.
  virtual void write_in_order(dtype /*type*/, std::int64_t /*n*/, const std::int64_t* /*at*/, const void* /*values*/,
                              void* /*to*/) {}
  /// counts[b] = how many samples (int32, int64, uint8, uint16, float32 or float64; dtype_error for others) lie in bin
  /// b, in one pass: there is no array of bins in between. NaNs lie in no bin.
  virtual std::size_t histogram_scratch(dtype type, std::int64_t n, const bin_range& bins) = 0;
  virtual void histogram(dtype type, const void* samples, std::int64_t n, const bin_range& bins, std::int64_t* counts,
                         void* scratch) = 0;

  /// Whether assign_points() takes such points, with sums or labels alone. If not, callers compose it of other operations.
  virtual bool assigns_points(const means_layout& /*l*/, bool /*sums*/) const { return false; }
  /// The nearest center of each point, of equal ones the first. Scratch, where there are sums: at most 64 MiB.
  virtual std::size_t assign_points_scratch(const means_layout& /*l*/) { return 0; }
  virtual void assign_points(const means_layout& /*l*/, const means_arrays& /*a*/, void* /*scratch*/) {}
};

}  // namespace sinter::runtime
