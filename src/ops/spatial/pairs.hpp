// The pairs of rows whose distances pdist gives.
#pragma once
#include <cstdint>

#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// Rows and columns of the pairs i < j < n in the order of pdist; int64, recorded.
struct pair_numbers {
  ndarray first, second;
};
pair_numbers pairs_below(std::int64_t n, const device& where_to);

}  // namespace sinter::ops
