// The pairs of rows whose distances pdist gives.
#pragma once
#include <cstdint>

#include "sinter/ndarray.hpp"

namespace sinter::ops {

class pair_metric;

/// Rows and columns of the pairs i < j < n in the order of pdist; int64, recorded.
struct pair_numbers {
  ndarray first, second;
};
pair_numbers pairs_below(std::int64_t n, const device& where_to);

/// Distances of all pairs i < j of rows (n, d) of the host, in the order of pdist, for metrics that are sums (or the largest) of terms of
/// at most sixteen coordinates; undefined for others, with the bits of what is recorded. `turned`: the rows as columns (d, n). Both evaluated.
ndarray pairs_by_terms(const pair_metric& of, const ndarray& rows, const ndarray& turned);
/// The same of each row of a (m, d) to each column of `turned` (d, n): (m, n).
ndarray matrix_by_terms(const pair_metric& of, const ndarray& a, const ndarray& turned);

}  // namespace sinter::ops
