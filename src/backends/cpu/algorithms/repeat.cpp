// Pieces of memory, each repeated as often as a count says.
#include <algorithm>
#include <cstring>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/shares.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::piece_layout;
using std::int64_t;

struct sixteen_bytes {
  std::uint64_t parts[2];
};

/// Elements that are written at once, beyond the end of a run where others follow: counts are mostly small, and a loop
/// over each would be left at a place that nothing predicts.
constexpr int64_t at_once = 8;

/// The places [begin, end) of a slice, in which run k ends before ends[k].
template <class T>
void repeat_elements(const T* from, const int64_t* ends, int64_t count, int64_t begin, int64_t end, T* to) {
  int64_t k = std::upper_bound(ends, ends + count, begin) - ends;
  for (int64_t at = begin; at < end; ++k) {
    const T x = from[k];
    const int64_t until = std::min(ends[k], end);
    if (at + at_once <= end) {
      for (int64_t l = 0; l < at_once; ++l) to[at + l] = x;
      at = std::min(at + at_once, until);
    }
    while (at < until) to[at++] = x;
  }
}

/// The same with pieces of any size.
void repeat_bytes(const char* from, std::size_t bytes, const int64_t* ends, int64_t count, int64_t begin, int64_t end,
                  char* to) {
  int64_t k = std::upper_bound(ends, ends + count, begin) - ends;
  for (int64_t at = begin; at < end; ++k) {
    const char* const piece = from + static_cast<std::size_t>(k) * bytes;
    for (const int64_t until = std::min(ends[k], end); at < until; ++at)
      std::memcpy(to + static_cast<std::size_t>(at) * bytes, piece, bytes);
  }
}

}  // namespace

bool cpu_algorithms::repeats_pieces() const { return true; }

runtime::piece_total cpu_algorithms::count_pieces(const int64_t* counts, int64_t n, int64_t* ends) {
  runtime::piece_total all;
  std::uint64_t sum = 0;  // wraps where the numbers add up to too much
  for (int64_t k = 0; k < n; ++k) {
    sum += static_cast<std::uint64_t>(counts[k]);
    all.least = std::min(all.least, counts[k]);
    all.about += static_cast<double>(counts[k]);
    ends[k] = static_cast<int64_t>(sum);
  }
  all.exact = static_cast<int64_t>(sum);
  return all;
}

void cpu_algorithms::repeat_pieces(const piece_layout& l, const int64_t* ends, const void* from, void* to) {
  const int64_t total = l.count == 0 ? 0 : ends[l.count - 1];
  const auto bytes = static_cast<int64_t>(l.bytes);
  const shares parts(total, 4 * runtime::thread_count(), std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, bytes)));
  const double time = static_cast<double>(l.outer * total) * (0.5 + 0.1 * static_cast<double>(bytes));
  runtime::parallel_for(l.outer * parts.count, time, [&](int64_t task) {
    const int64_t slice = task / parts.count, p = task % parts.count, begin = parts.begin(p), end = parts.end(p);
    const char* const source = static_cast<const char*>(from) + slice * l.count * bytes;
    char* const result = static_cast<char*>(to) + slice * total * bytes;
    const auto elements = [&]<class T>(T) {
      repeat_elements(reinterpret_cast<const T*>(source), ends, l.count, begin, end, reinterpret_cast<T*>(result));
    };
    switch (bytes) {
      case 1: return elements(std::uint8_t{});
      case 2: return elements(std::uint16_t{});
      case 4: return elements(std::uint32_t{});
      case 8: return elements(std::uint64_t{});
      case 16: return elements(sixteen_bytes{});
      default: return repeat_bytes(source, l.bytes, ends, l.count, begin, end, result);
    }
  });
}

}  // namespace sinter::cpu
