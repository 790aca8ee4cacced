// Sparse systems solved by a library of the device that has them (ops/sparse/solve.cpp).
#pragma once
#include <optional>

#include "sinter/sparse_array.hpp"

namespace sinter::ops {

/// x of A x = b, of float32, float64, complex64 or complex128 for both and b of (n,) or (n, k), in b's shape. Nothing where the device
/// of A and b has no library for it, or that does not tell whether A is singular. Waits.
std::optional<ndarray> solved_on_device(const sparse::sparse_array& a, const ndarray& b);

}  // namespace sinter::ops
