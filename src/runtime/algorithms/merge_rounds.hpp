// Runs that are merged by twos, in rounds, between two pieces of memory.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime {

/// How often each element moves: once where there is one run.
inline int merge_rounds(std::span<const std::int64_t> ends) noexcept {
  int rounds = 1;
  for (std::size_t runs = 2; runs < ends.size(); runs *= 2) ++rounds;
  return rounds;
}
/// Whether there is a round that does not end in the result.
inline bool merges_in_between(std::span<const std::int64_t> ends) noexcept { return merge_rounds(ends) > 1; }

/// two(first, middle, end, from, to): merges [first, middle) and [middle, end), the second one of which may be empty. The last
/// round writes `to`, those before it `between` and `to` in turn.
template <class Two>
void merge_by_twos(std::span<const std::int64_t> ends, const void* from, void* to, void* between, Two&& two) {
  std::vector<std::int64_t> bounds{0};
  bounds.insert(bounds.end(), ends.begin(), ends.end());
  for (int left = merge_rounds(ends); left > 0; --left) {
    void* const target = left % 2 == 1 ? to : between;
    std::vector<std::int64_t> next{0};
    for (std::size_t k = 0; k + 1 < bounds.size(); k += 2) {
      const std::int64_t middle = bounds[k + 1], end = k + 2 < bounds.size() ? bounds[k + 2] : middle;
      two(bounds[k], middle, end, from, target);
      next.push_back(end);
    }
    bounds = next;
    from = target;
  }
}

}  // namespace sinter::runtime
