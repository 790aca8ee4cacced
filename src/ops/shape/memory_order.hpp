// src/ops/shape: creation, views, joins, edits, padding.
//
// Orders in memory: NumPy's `order=`.
#pragma once
#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// Whether elements are read with the first axis fastest, by the keyword's letter: 'C', 'F' or 'A'; value_error for others.
bool by_columns(const ndarray& x, char order, const char* function);
/// The axes permuted so that C order of the result is the order of `x` that a letter names, 'K' among them; a view.
ndarray in_memory_order(const ndarray& x, char order, const char* function);

}  // namespace sinter::ops
