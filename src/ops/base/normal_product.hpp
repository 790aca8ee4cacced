// Products of a sparse array with a vector divided by its length, for iterations that go from one to the next (ops/sparse/products.cpp).
#pragma once
#include "sinter/sparse_array.hpp"

namespace sinter::ops {

/// A x / |x| - (|x| / other) y and |x|, of vectors of A's dtype and a float64 number, as runtime::normal_product says; evaluated.
struct normal_product_result {
  ndarray product, length;
};
/// Whether the device has kernels for them. May wait.
bool multiplies_normal(const sparse::sparse_array& a, dtype vectors);
normal_product_result times_normal(const sparse::sparse_array& a, const ndarray& x, const ndarray& y,
                                   const ndarray& other);

}  // namespace sinter::ops
