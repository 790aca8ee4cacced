// The order in which a reduction of floating-point numbers joins the elements of a result: one for all devices and
// schedules. It follows from the extents alone.
#pragma once
#include <cstdint>

namespace sinter::jit {

/// Consecutive elements that are joined before anything else, as (a + b) + (c + d). The last group of a result may be
/// shorter: a, a + b, (a + b) + c.
inline constexpr int addition_group = 4;
/// Neighbouring lanes of rows that a tree joins; more are joined in runs of so many, from left to right.
inline constexpr std::int64_t addition_run = 32;

/// Elements are numbered in C order of the reduced axes, and make groups of four. A split is a run of `chunk` groups, the
/// last one may be shorter. Group g of a split belongs to lane g mod `lanes`; a lane joins its groups one after the
/// other. Lanes are joined by a tree: of neighbours in rows (distances 1, 2, 4, 8, 16, then runs of 32 from left to
/// right), of halves in columns (lane k with k + lanes / 2, then with k + lanes / 4, ...). Split s belongs to split lane
/// s mod `split_lanes`, which joins its splits one after the other; split lanes are joined by a tree of halves. A lane
/// without elements joins nothing.
struct addition_order {
  bool rows = true;
  std::int64_t lanes = 1;  // a power of two
  std::int64_t chunk = 1;  // groups of a split
  std::int64_t splits = 1;
  std::int64_t split_lanes = 1;  // a power of two
};

/// `rows`: the last axis longer than 1 is reduced. One result counts as a row.
addition_order order_of_additions(bool rows, std::int64_t results, std::int64_t elements) noexcept;
addition_order row_order(std::int64_t results, std::int64_t elements) noexcept;
addition_order column_order(std::int64_t results, std::int64_t elements) noexcept;

}  // namespace sinter::jit
