// Linear algebra, with the names of numpy.linalg.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "sinter/linalg_factors.hpp"
#include "sinter/linalg_norms.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"

namespace sinter::inline v0 {
namespace linalg {

using v0::matmul;
using v0::matrix_transpose;
using v0::outer;
using v0::tensordot;
using v0::vecdot;

/// The product of two or more matrices, multiplied in the order that needs the fewest multiplications; the first may be a
/// row vector, the last a column vector. value_error: fewer than two; linalg_error: another rank; shape_error.
ndarray multi_dot(const std::vector<ndarray>& factors, const product_kw& kw = {});
inline ndarray multi_dot(std::initializer_list<ndarray> factors, const product_kw& kw = {}) {
  return multi_dot(std::vector<ndarray>(factors), kw);
}

/// Square matrices in the last two axes multiplied n times; the identity for n = 0, powers of the inverse for n < 0.
/// linalg_error: not square, rank below 2, or no inverse.
ndarray matrix_power(const ndarray& x, std::int64_t n);

}  // namespace linalg
}  // namespace sinter::inline v0
