// How many blocks a launch needs.
#pragma once
#include <cstdint>

namespace examples {

/// Blocks of `size` that hold `count` elements.
inline std::int64_t blocks_of(std::int64_t size, std::int64_t count) { return (count + size - 1) / size; }

}  // namespace examples
