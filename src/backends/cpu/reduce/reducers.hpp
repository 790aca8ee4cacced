// The steps of reductions over lane arrays, compiled once for each instruction set.
//
// Sums and products of floating-point numbers and users' reductions follow jit::addition_order. Of other reductions whose order
// matters, element e of a split of a row belongs to lane e mod row_lanes, and the lanes are joined by halves; in a split of a
// column elements are joined one after the other; splits are those of the order.
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <utility>

#include "backends/cpu/kernels/transpose.hpp"
#include "jit/cpu/block.hpp"
#include "jit/program/addition_order.hpp"

namespace sinter::cpu {

using jit::row_lanes;
inline constexpr int max_planes = 4;
/// Rows of up to this many elements are transposed where whole_rows does not take them.
inline constexpr int transposed_columns = 8;

/// The rows of two operands, or their elements of columns, and how many bytes they are apart.
struct row_pair {
  const void* a;
  std::int64_t stride_a;
  const void* b;
  std::int64_t stride_b;
};

/// Where elements of columns go: `index` is that of the first of them in its split, and the accumulators of a lane are
/// `pitch` after those of the one before it.
struct column_place {
  int index;
  int lanes = 1;  // a power of two
  int pitch = 0;

  [[gnu::always_inline]] int lane() const { return index / jit::addition_group & (lanes - 1); }
};

/// How the lanes of elements that lie in memory one after the other are joined: as those of rows, or by halves, as those of
/// columns.
struct lane_tree {
  int lanes;
  bool halves = false;
};
/// Most lanes that whole_rows joins by halves.
inline constexpr int most_halved_lanes = 8;

/// Accumulators are arrays of lanes, one for each plane; the first `partials` planes are the partial result of a split.
struct reducer {
  int planes = 1, partials = 1;
  int bytes[max_planes] = {};  // of a lane, per plane
  /// Whether the result is the same in any order, so that chunks may be of any size.
  bool any_order = true;
  /// Whether groups of four elements are joined first, as jit::addition_order says. The second plane then has what has
  /// been seen of a group: four elements of a row, or for each column the joined halves of the group.
  bool by_groups = false;
  void (*reset)(void* const* acc, int n) = nullptr;
  /// Elements `first` and following of a split; by groups they go to `lanes` lanes, else to row_lanes.
  void (*row)(void* const* acc, const void* x, int n, int first, int lanes) = nullptr;
  /// May be missing: row of `runs` times n elements, of which those of a run lie side by side, and the runs `stride` bytes apart.
  void (*runs)(void* const* acc, const row_pair& from, int runs, int n, int first, int lanes) = nullptr;
  /// Element `index` of the chunk, the nth that the lanes take: lane l to accumulator l. Not by groups.
  void (*column)(void* const* acc, const void* x, int n, int index, int nth) = nullptr;
  /// Elements that lie in memory `stride` bytes apart, of n columns: `index` and following of a split. By groups those of lane k
  /// are joined to the accumulators from k * pitch on.
  void (*columns)(void* const* acc, const void* from, std::int64_t stride, int steps, int n,
                  const column_place& place) = nullptr;
  /// Ends a split of `length` elements that starts at element `base`; after it the first planes hold partial results.
  void (*close)(void* const* acc, int n, bool rows, int length, std::int64_t base) = nullptr;
  /// Where the order does not matter: ends a chunk of `width` columns, neighbouring elements of which went to lanes side by side.
  /// Lane l of n took the element l / width of every n / width, which have one index; afterwards each lane has its partial result.
  void (*close_wide)(void* const* acc, int n, int width, std::int64_t base) = nullptr;
  /// By groups: joins what is left of the last group of a split of `place.index` elements to its lane.
  void (*close_columns)(void* const* acc, int n, const column_place& place) = nullptr;
  /// a[l] = a[l] joined with b[l], which comes later.
  void (*join)(void* const* a, void* const* b, int n) = nullptr;
  /// Lanes of the result's register (of float32 for float16 and bfloat16, not rounded yet).
  void (*finish)(void* const* acc, void* to, int n) = nullptr;
  // What may be missing (of a user's reduction) is done by the steps above.
  /// Joins the lanes of a split of a row of `length` elements.
  void (*join_lanes)(void* const* acc, int lanes, int length) = nullptr;
  /// By groups: the same by halves, where rows are columns of the reduction.
  void (*join_halves)(void* const* acc, int lanes, int length) = nullptr;
  /// Rows of at least `least_columns` elements, at most a split, `stride` bytes apart: lane r of `acc` gets the partial
  /// result of row r, as reset, row, close and the joining of its lanes give it. What lies between the first and the last
  /// element of all rows may be read.
  void (*whole_rows)(void* const* acc, const void* from, std::int64_t stride, int rows, int columns,
                     const lane_tree& tree) = nullptr;
  int least_columns = transposed_columns + 1;
  /// row, runs and whole_rows of the products of two operands, which need no lanes of their own: sums of float32 and float64 only.
  void (*product_row)(void* const* acc, const void* a, const void* b, int n, int first, int lanes) = nullptr;
  void (*product_runs)(void* const* acc, const row_pair& from, int runs, int n, int first, int lanes) = nullptr;
  void (*product_rows)(void* const* acc, const row_pair& rows, int count, int columns, const lane_tree& tree) = nullptr;
  /// columns where all lanes of a step of `a` are multiplied by one number of `b`.
  void (*product_columns)(void* const* acc, const row_pair& x, int steps, int n, const column_place& place) = nullptr;
};
/// Rows that whole_rows joins together: fewer take as long.
inline constexpr int rows_at_once = 32;

/// Follows from the operation and its argument; float16 and bfloat16 results are rounded by the caller.
const reducer& find_reducer(jit::reduce_op op, dtype arg);

/// Tails of minima and maxima, in the type of the inner value (float32 or float64).
struct tail_steps {
  /// Whether some lane may not be skipped: beyond `bound` (one value, or one for each lane) and within `limit` is safe.
  bool (*candidates)(const void* x, int n, const void* bound, double limit) = nullptr;
  bool (*candidates_by_lane)(const void* x, int n, const void* bounds, double limit) = nullptr;
  /// Tightens the bound by the values within [low, high] that have been evaluated.
  void (*tighten)(const void* x, int n, void* bound, double low, double high, double margin, double floor) = nullptr;
  void (*tighten_by_lane)(const void* x, int n, void* bounds, double low, double high, double margin,
                          double floor) = nullptr;
  void (*loosen)(void* bounds, int n) = nullptr;  // nothing has been evaluated yet
};
const tail_steps& find_tail_steps(dtype type, bool minimum);

#define SINTER_REDUCE_DECLARE(isa)                      \
  namespace isa {                                       \
  reducer make_reducer(jit::reduce_op op, dtype arg);   \
  tail_steps make_tail_steps(dtype type, bool minimum); \
  }
SINTER_REDUCE_DECLARE(baseline)
#if defined(__x86_64__)
SINTER_REDUCE_DECLARE(avx2)
SINTER_REDUCE_DECLARE(avx512)
#endif
#undef SINTER_REDUCE_DECLARE

}  // namespace sinter::cpu
