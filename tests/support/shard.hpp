// One part of the suite out of several: SINTER_TEST_SHARD=i/n with 0 <= i < n, so that processes can run concurrently.
// Processes that take their work from a queue (queue.hpp) have a part of one case at a time.
#pragma once
#include <cstdlib>

namespace sinter::test {

struct shard {
  int index = 0, count = 1;
  bool takes(long long number) const noexcept { return number % count == index; }
};

/// Parses "i/n"; the whole suite if the text is malformed.
inline shard parse_shard(const char* text) noexcept {
  if (!text) return {};
  char* end = nullptr;
  const long index = std::strtol(text, &end, 10);
  const long count = *end == '/' ? std::strtol(end + 1, nullptr, 10) : 0;
  return count > 0 && index >= 0 && index < count ? shard{static_cast<int>(index), static_cast<int>(count)} : shard{};
}

/// The value of this_shard(); only for set_this_shard().
inline shard& chosen_shard() noexcept {
  static shard chosen = parse_shard(std::getenv("SINTER_TEST_SHARD"));
  return chosen;
}

/// The whole suite if the variable is not set or malformed.
inline shard this_shard() noexcept { return chosen_shard(); }
/// Makes `part` the result of this_shard().
inline void set_this_shard(shard part) noexcept { chosen_shard() = part; }

/// The doctest suite of the cases that run in every shard, each time with a different part of their data.
inline constexpr const char* sharded_suite = "sharded";

}  // namespace sinter::test
