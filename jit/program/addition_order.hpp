// The order in which a reduction of floating-point numbers joins the elements of a result: one for all devices and
// schedules. It follows from the extents alone.
#pragma once
#include <algorithm>
#include <bit>
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

namespace detail {

// Numbers of lanes and splits suit a GPU, which needs more of both to be busy than a CPU does: lanes are threads of a block,
// splits are blocks. They must not depend on a device.
inline constexpr std::int64_t most_lanes = 256;
/// Enough splits of all results to occupy any GPU for several waves.
inline constexpr std::int64_t many_splits = 4096;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t power_of_two_above(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}
constexpr std::int64_t power_of_two_below(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

/// At most `most` splits of a multiple of `step` groups each.
inline void divide(addition_order& o, std::int64_t results, std::int64_t groups, std::int64_t most, std::int64_t step) {
  o.chunk = ceil_div(ceil_div(std::max<std::int64_t>(groups, 1), std::max<std::int64_t>(most, 1)), step) * step;
  o.splits = std::max<std::int64_t>(1, ceil_div(groups, o.chunk));
  const std::int64_t wide = std::min<std::int64_t>(power_of_two_above(results), 32);
  if (o.splits > 1) o.split_lanes = std::min(most_lanes / wide, power_of_two_below(o.splits));
}

}  // namespace detail

inline addition_order row_order(std::int64_t results, std::int64_t elements) noexcept {
  addition_order o;
  const std::int64_t groups = detail::ceil_div(elements, addition_group);
  o.lanes = detail::most_lanes;
  // Lanes of short rows have up to sixteen groups, which a thread can hold; those of more than one run wait for each other.
  if (results >= 1024 ? groups < 1024 : groups < 64)
    o.lanes = groups < 512 ? std::min<std::int64_t>(addition_run, detail::power_of_two_below(groups / 2)) : 128;
  std::int64_t most = 1;
  if (o.lanes == detail::most_lanes && results < detail::many_splits / 4)
    most = std::min(detail::ceil_div(detail::many_splits, std::max<std::int64_t>(results, 1)),
                    groups / (detail::most_lanes * 8));
  detail::divide(o, results, groups, most, most > 1 ? detail::most_lanes * 4 : 1);
  return o;
}

inline addition_order column_order(std::int64_t results, std::int64_t elements) noexcept {
  addition_order o;
  o.rows = false;
  const std::int64_t groups = detail::ceil_div(elements, addition_group);
  o.lanes = results >= 32 ? 8 : detail::most_lanes / detail::power_of_two_above(results);
  o.lanes = std::min(o.lanes, detail::power_of_two_above(groups));
  const std::int64_t most =
      std::min(detail::many_splits / std::max<std::int64_t>(detail::ceil_div(results, 128), 1), groups / (o.lanes * 8));
  detail::divide(o, results, groups, most, most > 1 ? o.lanes * 8 : 1);
  return o;
}

/// `rows`: the last axis longer than 1 is reduced. One result counts as a row.
inline addition_order order_of_additions(bool rows, std::int64_t results, std::int64_t elements) noexcept {
  return rows || results == 1 ? row_order(results, elements) : column_order(results, elements);
}

/// Of a reduction whose result is one split of so many lanes.
inline addition_order order_of_split(bool rows, std::int64_t lanes, std::int64_t elements) noexcept {
  addition_order o;
  o.rows = rows;
  o.lanes = lanes;
  o.chunk = std::max<std::int64_t>(detail::ceil_div(elements, addition_group), 1);
  return o;
}

}  // namespace sinter::jit
