// What the functions of products compose: matrix products by the device's BLAS, and recorded sums of products.
#pragma once
#include <vector>

#include "ops/base/elementwise_values.hpp"
#include "sinter/products.hpp"

namespace sinter::ops {

/// The dtype of a product: the keyword's, else what the operands promote to.
dtype product_dtype(const ndarray& x, const ndarray& y, const product_kw& kw);

/// activation(scale * x y + bias) as a new array, by the device in one call; where it has none, the product evaluated and the
/// rest recorded. x and y as for multiply_matrices.
ndarray multiply_with_epilogue(const ndarray& x, const ndarray& y, dtype type, const matmul_kw& kw);
/// The same of a product; recorded.
ndarray with_epilogue(const ndarray& product, const matmul_kw& kw);

/// Products of matrices x (..., rows, inner) and y (..., inner, columns) whose extents fit, in `type`, by the device:
/// evaluated. The result is a new array or `out`, which has its shape.
ndarray multiply_matrices(const ndarray& x, const ndarray& y, dtype type, const product_kw& kw);

/// The broadcast product of x and y in `type`, bools and-ed; recorded.
value product_of_values(const value& x, const value& y, dtype type);
/// Sum over axes in v's dtype (float16 and bfloat16 in float32), bools or-ed; recorded.
value sum_over(const value& v, const std::vector<int>& axes);
/// Sum over axes of the broadcast product of x and y, in `type`: 16-bit floats are multiplied and summed in float32 and
/// rounded once; recorded.
value sum_of_products(const value& x, const value& y, dtype type, const std::vector<int>& axes);
/// Matrices x (..., rows, inner) times vectors y (..., inner), whose extents fit, in `type`; recorded. The sum runs in the
/// order of x's memory.
ndarray multiply_vectors(const ndarray& x, const ndarray& y, dtype type);

/// Which axes of a product do not show in the result, being vectors': extents of 1.
struct dropped_axes {
  bool row = false, column = false;
};
/// A product of any extents that fit: (..., rows, inner) times (..., inner, columns). Recorded where one of rows and columns
/// is 1 or nothing is to be summed up.
ndarray product_of(const ndarray& x, const ndarray& y, const dropped_axes& drop, dtype type, const product_kw& kw);

/// The result as the caller wants it: converted into kw.out, or as it is.
ndarray delivered(const ndarray& result, const product_kw& kw, const char* function);
/// Throws unless kw.out is missing or has this shape and takes this dtype.
void check_out(const product_kw& kw, const dims& shape, dtype type, const char* function);

}  // namespace sinter::ops
