// What is known of the value of a whole number.
#pragma once
#include <cstdint>

namespace sinter::jit {

/// Both ends belong to it.
struct number_range {
  std::int64_t low = INT64_MIN, high = INT64_MAX;
};

}  // namespace sinter::jit
