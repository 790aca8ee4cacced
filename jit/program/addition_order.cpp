// Numbers of lanes and splits. They suit a GPU, which needs more of both to be busy than a CPU does: lanes are threads of
// a block, splits are blocks. They must not depend on a device.
#include "jit/program/addition_order.hpp"

#include <algorithm>
#include <bit>

namespace sinter::jit {
namespace {

constexpr std::int64_t most_lanes = 256;
/// Enough splits of all results to occupy any GPU for several waves.
constexpr std::int64_t many_splits = 4096;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t power_of_two_above(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}
constexpr std::int64_t power_of_two_below(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

/// At most `most` splits of a multiple of `step` groups each.
void divide(addition_order& o, std::int64_t results, std::int64_t groups, std::int64_t most, std::int64_t step) {
  o.chunk = ceil_div(ceil_div(std::max<std::int64_t>(groups, 1), std::max<std::int64_t>(most, 1)), step) * step;
  o.splits = std::max<std::int64_t>(1, ceil_div(groups, o.chunk));
  const std::int64_t wide = std::min<std::int64_t>(power_of_two_above(results), 32);
  if (o.splits > 1) o.split_lanes = std::min(most_lanes / wide, power_of_two_below(o.splits));
}

}  // namespace

addition_order row_order(std::int64_t results, std::int64_t elements) noexcept {
  addition_order o;
  const std::int64_t groups = ceil_div(elements, addition_group);
  o.lanes = most_lanes;
  if (groups < 1024 && (results >= 1024 || groups < 64))
    o.lanes = std::min<std::int64_t>(addition_run, power_of_two_below(groups / 2));
  std::int64_t most = 1;
  if (o.lanes == most_lanes && results < many_splits / 4)
    most = std::min(ceil_div(many_splits, std::max<std::int64_t>(results, 1)), groups / (most_lanes * 8));
  divide(o, results, groups, most, most > 1 ? most_lanes * 4 : 1);
  return o;
}

addition_order column_order(std::int64_t results, std::int64_t elements) noexcept {
  addition_order o;
  o.rows = false;
  const std::int64_t groups = ceil_div(elements, addition_group);
  o.lanes = results >= 32 ? 8 : most_lanes / power_of_two_above(results);
  o.lanes = std::min(o.lanes, power_of_two_above(groups));
  const std::int64_t most =
      std::min(many_splits / std::max<std::int64_t>(ceil_div(results, 128), 1), groups / (o.lanes * 8));
  divide(o, results, groups, most, most > 1 ? o.lanes * 8 : 1);
  return o;
}

addition_order order_of_additions(bool rows, std::int64_t results, std::int64_t elements) noexcept {
  return rows || results == 1 ? row_order(results, elements) : column_order(results, elements);
}

}  // namespace sinter::jit
