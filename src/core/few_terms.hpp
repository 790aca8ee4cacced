// Products of matrices that are short sums.
#pragma once
#include <cstdint>

namespace sinter::core {

/// Whether the elements of a product are so few, or of so few columns, and have so few terms, that hosts compute it in loops of
/// their own for float32 and float64: with the bits of a recorded sum of products, whose terms are joined as those of any
/// reduction of so few elements.
constexpr bool has_few_terms(std::int64_t rows, std::int64_t columns, std::int64_t inner) noexcept {
  return inner <= 8 && (columns <= 4 || rows * columns <= 64);
}

}  // namespace sinter::core
