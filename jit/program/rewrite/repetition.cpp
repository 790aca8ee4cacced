// The search for repetitions: periods are read off at a few places, and extended to both sides.
#include "jit/program/rewrite/repetition.hpp"

#include <algorithm>
#include <vector>

namespace sinter::jit {
namespace {

constexpr std::size_t longest_period = 256, fewest_steps = 4, least_saved = 24;

bool follows(const listed_operation& a, const listed_operation& b, std::size_t period) noexcept {
  if (a.what != b.what) return false;
  const auto shift = static_cast<std::int32_t>(period);
  for (int k = 0; k < 3; ++k) {
    const std::int32_t x = a.operands[k], y = b.operands[k];
    if (x != y && (x < 0 || y != x + shift)) return false;
  }
  return true;
}

/// The longest run around `middle` in which every operation follows the one a period before.
repetition run_around(std::span<const listed_operation> list, std::size_t middle, std::size_t period) {
  if (middle < period || !follows(list[middle - period], list[middle], period)) return {};
  std::size_t begin = middle, end = middle + 1;  // of the operations that follow others
  while (begin > period && follows(list[begin - 1 - period], list[begin - 1], period)) --begin;
  while (end < list.size() && follows(list[end - period], list[end], period)) ++end;
  return {begin - period, period, (end - begin) / period + 1};
}

/// The number of values that a boundary between steps separates from their readers, for each place of the boundary in the
/// step.
std::vector<int> carried_at(std::span<const listed_operation> list, const repetition& r) {
  std::vector<int> carried(r.period, 0);
  std::vector<std::size_t> last_use(r.period, 0);
  // Readers of the operations of the second step.
  const std::size_t from = r.first + r.period, to = from + r.period;
  for (std::size_t k = from; k < r.end(); ++k)
    for (const std::int32_t o : list[k].operands)
      if (o >= static_cast<std::int32_t>(from) && o < static_cast<std::int32_t>(to))
        last_use[static_cast<std::size_t>(o) - from] = k;
  for (std::size_t o = 0; o < r.period; ++o)
    for (std::size_t at = from + o + 1; at <= last_use[o]; ++at) ++carried[(at - r.first) % r.period];
  return carried;
}

/// Moves the beginning to where the fewest values are carried.
repetition best_beginning(std::span<const listed_operation> list, repetition r) {
  const std::vector<int> carried = carried_at(list, r);
  const auto best = static_cast<std::size_t>(std::min_element(carried.begin(), carried.end()) - carried.begin());
  if (best == 0) return r;
  return {r.first + best, r.period, r.count - 1};
}

}  // namespace

std::optional<repetition> find_repetition(std::span<const listed_operation> list) {
  repetition best;
  for (const std::size_t part : {2u, 1u, 3u}) {
    const std::size_t middle = list.size() * part / 4;
    if (best.contains(middle)) continue;
    for (std::size_t period = 1; period <= std::min(longest_period, middle); ++period) {
      const repetition r = run_around(list, middle, period);
      if (r.count < fewest_steps + 1) continue;
      if (r.period * r.count > best.period * best.count) best = r;
      break;  // longer periods are multiples of it
    }
  }
  if (best.count == 0) return std::nullopt;
  best = best_beginning(list, best);
  if (best.count < fewest_steps || best.period * (best.count - 1) < least_saved) return std::nullopt;
  return best;
}

}  // namespace sinter::jit
