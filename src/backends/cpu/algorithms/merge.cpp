// Merging sorted runs: each thread writes a share of the result, whose ends in the runs a search finds.
#include <algorithm>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/shares.hpp"
#include "backends/cpu/algorithms/sort_keys.hpp"
#include "runtime/algorithms/merge_rounds.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

template <class T>
struct sorted_pair {
  const T *one, *two;
  std::int64_t ones, twos;
};

/// How many of the first `count` elements of the result are of the first run.
template <class T>
std::int64_t ones_of(const sorted_pair<T>& p, const ordering<T>& order, std::int64_t count) {
  std::int64_t low = std::max<std::int64_t>(0, count - p.twos), high = std::min(count, p.ones);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (order(p.two[count - 1 - middle]) < order(p.one[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// Elements [begin, end) of the result.
template <class T>
void merge_share(const sorted_pair<T>& p, const ordering<T>& order, std::int64_t begin, std::int64_t end, T* to) {
  const std::int64_t first = ones_of(p, order, begin), last = ones_of(p, order, end);
  const T *one = p.one + first, *const ones_end = p.one + last,
          *two = p.two + (begin - first), *const twos_end = p.two + (end - last);
  to += begin;
  while (one != ones_end && two != twos_end) {
    const bool second = order(*two) < order(*one);
    *to++ = second ? *two : *one;
    one += !second;
    two += second;
  }
  std::copy(two, twos_end, std::copy(one, ones_end, to));
}

}  // namespace

bool cpu_algorithms::merges_runs(dtype) const { return true; }

std::size_t cpu_algorithms::merge_scratch(dtype type, std::span<const std::int64_t> ends) {
  return runtime::merges_in_between(ends) ? static_cast<std::size_t>(ends.back()) * itemsize(type) : 0;
}

void cpu_algorithms::merge(dtype type, bool descending, std::span<const std::int64_t> ends, const void* from, void* to,
                           void* scratch) {
  constexpr double element_time = 3;  // nanoseconds
  with_sorted_type(type, [&]<class T>(T) {
    const ordering<T> order(type, descending);
    runtime::merge_by_twos(
        ends, from, to, scratch,
        [&](std::int64_t first, std::int64_t middle, std::int64_t end, const void* source, void* target) {
          const T* const all = static_cast<const T*>(source);
          const sorted_pair<T> pair{all + first, all + middle, middle - first, end - middle};
          const shares parts(end - first, runtime::thread_count(), 1 << 12);
          runtime::parallel_for(parts.count, element_time * static_cast<double>(end - first), [&](std::int64_t p) {
            merge_share(pair, order, parts.begin(p), parts.end(p), static_cast<T*>(target) + first);
          });
        });
  });
}

}  // namespace sinter::cpu
