// Building blocks of the product functions: matrix products by the device's BLAS, and recorded sums of products.
#pragma once
#include <vector>

#include "ops/base/elementwise_values.hpp"
#include "sinter/products.hpp"

namespace sinter::ops {

/// The dtype of a product: the keyword's, else the promoted dtype of the operands.
dtype product_dtype(const ndarray& x, const ndarray& y, const product_kw& kw);

/// activation(scale * x y + bias) as a new array, with the device's fused epilogue where it has one; else the product
/// is evaluated and the epilogue recorded. x and y as for multiply_matrices.
ndarray multiply_with_epilogue(const ndarray& x, const ndarray& y, dtype type, const matmul_kw& kw);
/// The epilogue of an existing product; recorded.
ndarray with_epilogue(const ndarray& product, const matmul_kw& kw);

/// The matrix product of x (..., rows, inner) and y (..., inner, columns), whose extents fit, in `type`, evaluated by
/// the device. The result is a new array or `out`, which has its shape.
ndarray multiply_matrices(const ndarray& x, const ndarray& y, dtype type, const product_kw& kw);

/// The broadcast product of x and y in `type`, logical_and for bools; recorded.
value product_of_values(const value& x, const value& y, dtype type);
/// The sum over axes in v's dtype (float16 and bfloat16 in float32), logical_or for bools; recorded.
value sum_over(const value& v, const std::vector<int>& axes);
/// The sum over axes of the broadcast product of x and y, in `type`: 16-bit floats are multiplied and summed in float32
/// and rounded once; recorded.
value sum_of_products(const value& x, const value& y, dtype type, const std::vector<int>& axes);
/// The product of matrices x (..., rows, inner) and vectors y (..., inner), whose extents fit, in `type`; recorded. The
/// sum runs in x's memory order.
ndarray multiply_vectors(const ndarray& x, const ndarray& y, dtype type);

/// Axes of extent 1 that a product drops from the result, since its operand was a vector.
struct dropped_axes {
  bool row = false, column = false;
};
/// A product of any extents that fit: (..., rows, inner) times (..., inner, columns). Recorded if rows or columns is 1
/// or the sum is empty.
ndarray product_of(const ndarray& x, const ndarray& y, const dropped_axes& drop, dtype type, const product_kw& kw);

/// The result as returned to the caller: converted into kw.out, or unchanged.
ndarray delivered(const ndarray& result, const product_kw& kw, const char* function);
/// Throws unless kw.out is undefined or has this shape and a dtype that `type` casts to.
void check_out(const product_kw& kw, const dims& shape, dtype type, const char* function);

}  // namespace sinter::ops
