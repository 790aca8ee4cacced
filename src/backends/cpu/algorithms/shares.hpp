// Even shares of a range of elements, for work whose result does not depend on the shares.
#pragma once
#include <algorithm>
#include <cstdint>

namespace sinter::cpu {

/// As many shares of [0, n) as keep `threads` busy, but none shorter than `shortest`.
struct shares {
  std::int64_t n, count;
  shares(std::int64_t n, int threads, std::int64_t shortest = 1 << 14)
      : n(n), count(threads <= 1 ? 1 : std::clamp<std::int64_t>(n / shortest, 1, 4 * std::int64_t{threads})) {}
  std::int64_t begin(std::int64_t k) const noexcept { return n / count * k + std::min(k, n % count); }
  std::int64_t end(std::int64_t k) const noexcept { return begin(k + 1); }
};

}  // namespace sinter::cpu
