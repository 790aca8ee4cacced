// src/ops/shape: creation, views, joins, edits, padding.
//
// Orders in memory: NumPy's `order=`.
#pragma once
#include <vector>

#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// Whether elements are read with the first axis fastest, by the keyword's letter: 'C', 'F' or 'A'; value_error for others.
bool by_columns(const ndarray& x, char order, const char* function);
/// The axes as memory has them for an order, the slowest first: of an array's 'C', 'F', 'A' or 'K', of a new array's 'C' or 'F'.
std::vector<int> axes_in_memory(const ndarray& x, char order, const char* function);
std::vector<int> axes_in_memory(int rank, char order, const char* function);
/// The array that `in_memory` is with its axes permuted so; a view.
ndarray seen_from_memory(const ndarray& in_memory, const std::vector<int>& axes);
/// The array itself for 'C', a copy for 'F'; value_error for others.
ndarray laid_out(const ndarray& x, char order, const char* function);
/// The axes permuted so that C order of the result is the order of `x` that a letter names, 'K' among them; a view.
ndarray in_memory_order(const ndarray& x, char order, const char* function);

}  // namespace sinter::ops
