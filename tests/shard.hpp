// One part of the suite out of several: SINTER_TEST_SHARD=i/n with 0 <= i < n, so that processes can run side by side.
#pragma once
#include <cstdlib>

namespace sinter::test {

struct shard {
  int index = 0, count = 1;
  bool takes(long long number) const noexcept { return number % count == index; }
};

/// The whole suite where the variable is not set or makes no sense.
inline shard this_shard() noexcept {
  static const shard chosen = [] {
    const char* text = std::getenv("SINTER_TEST_SHARD");
    if (!text) return shard{};
    char* end = nullptr;
    const long index = std::strtol(text, &end, 10);
    const long count = *end == '/' ? std::strtol(end + 1, nullptr, 10) : 0;
    return count > 0 && index >= 0 && index < count ? shard{static_cast<int>(index), static_cast<int>(count)} : shard{};
  }();
  return chosen;
}

/// The doctest suite of the cases that run in every shard, each time with their own part of the data.
inline constexpr const char* sharded_suite = "sharded";

}  // namespace sinter::test
