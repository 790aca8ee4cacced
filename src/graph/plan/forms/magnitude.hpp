// What a plan may know of the value of an int64 scalar: its sign and how many bits it has. Plans are used again with other values of
// which that is the same.
#pragma once
#include <bit>
#include <cstdint>

#include "graph/values/node.hpp"
#include "jit/program/number_range.hpp"
#include "jit/program/scalar.hpp"

namespace sinter::graph {

/// Bits of the value, negative for a negative one; `unknown_magnitude` for what is no int64 or has no value.
inline constexpr int unknown_magnitude = 127;

inline int magnitude_of(const node& n) noexcept {
  if (n.type != dtype::i64 || n.scalar().unset) return unknown_magnitude;
  std::int64_t v = 0;
  jit::write_register(&v, dtype::i64, n.scalar().constant);
  if (v == INT64_MIN) return unknown_magnitude;
  const int bits = std::bit_width(static_cast<std::uint64_t>(v < 0 ? -v : v));
  return v < 0 ? -bits : bits;
}

inline jit::number_range range_of_magnitude(int magnitude) noexcept {
  if (magnitude == unknown_magnitude) return {};
  if (magnitude == 0) return {0, 0};
  const int bits = magnitude < 0 ? -magnitude : magnitude;
  const auto least = static_cast<std::int64_t>(std::uint64_t{1} << (bits - 1));
  const std::int64_t most = least - 1 + least;
  return magnitude < 0 ? jit::number_range{-most, -least} : jit::number_range{least, most};
}

}  // namespace sinter::graph
