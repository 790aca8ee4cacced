// Products of vectors, matrices and stacks of matrices, with NumPy's names, shapes and dtypes.
//
// Products of two matrices run on the device's BLAS (cuBLAS; OpenBLAS), which is opened on first use: device_error that
// names what was tried where it is missing. They evaluate their operands and enqueue the work at the call; nothing waits
// for it, and elementwise work on the result fuses as usual. Views go in as they are wherever BLAS can express them:
// transposed, sliced, broadcast along leading axes; others are copied once. Integers and bools are multiplied by the
// library's own kernels and wrap around as in NumPy; bools are or-ed and-s.
//
// Where a factor is a vector (or a matrix of one row or column) the product only records a sum of products, which fuses
// with what is around it and needs no BLAS.
//
// dtypes promote. float16 and bfloat16 are summed in float32 and rounded once. A sum over nothing is 0. NaN and infinity
// spread as in a plain loop. shape_error: extents that do not fit, with NumPy's words; dtype_error; device_error:
// operands on two devices.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// Keywords of products.
struct product_kw {
  kwonly _kw{};
  /// Where the result goes, converted as by same_kind casting (dtype_error otherwise); shape_error unless its shape is the
  /// result's. Returned. BLAS writes straight into it where the dtype is the result's and nothing else needs what it held.
  std::optional<ndarray> out{};
  /// What operands are converted to; the result's dtype.
  std::optional<sinter::dtype> dtype{};
  /// float32 and complex64 on a GPU: factors may be rounded to TF32, 10 bits of mantissa, which tensor cores multiply
  /// several times faster. No effect elsewhere.
  bool tf32 = false;
};

/// What matmul may do to its result: max(z, 0), or z Phi(z) with Phi, the normal distribution, by its usual approximation:
/// 0.5 z (1 + tanh(sqrt(2 / pi) (z + 0.044715 z^3))).
enum class activation : std::uint8_t { none, relu, gelu };

/// Keywords of matmul. Products of real floating dtypes may have an epilogue: activation(scale * x y + bias). Where the
/// device's BLAS has a call for it (cuBLASLt: float16, bfloat16, float32; one matrix on the left or a stack of them,
/// one on the right) that is part of the product and costs no pass over the result, which is rounded once, at the end;
/// else one kernel after the product does it, in float32 for 16-bit floats. dtype_error: other dtypes; shape_error:
/// bias is not one number for each column.
struct matmul_kw {
  kwonly _kw{};
  std::optional<ndarray> out{};  // out, dtype and tf32 as of product_kw
  std::optional<sinter::dtype> dtype{};
  bool tf32 = false;
  double scale = 1;
  std::optional<ndarray> bias{};  // shape (columns,), added to each row
  sinter::activation activation = sinter::activation::none;
};

/// x y as NumPy's `@`: of matrices in the last two axes, leading axes broadcast. A vector is a row on the left, a column on
/// the right, and loses that axis in the result. Rank 0 throws shape_error.
ndarray matmul(const ndarray& x, const ndarray& y, const matmul_kw& kw = {});

/// NumPy's dot: sums over the last axis of x and the last but one of y (the last where y is a vector), the other axes of
/// x, then those of y; the plain product where one has rank 0.
ndarray dot(const ndarray& x, const ndarray& y, const product_kw& kw = {});
/// Sums over the last axes of both; the plain product where one has rank 0.
ndarray inner(const ndarray& x, const ndarray& y, const product_kw& kw = {});
/// x[i] * y[j] of the flattened arguments; recorded.
ndarray outer(const ndarray& x, const ndarray& y, const product_kw& kw = {});
/// sum(conj(x) * y) of the flattened arguments; recorded. value_error: different sizes.
ndarray vdot(const ndarray& x, const ndarray& y);

struct vecdot_kw {
  kwonly _kw{};
  std::int64_t axis = -1;
};
/// sum(conj(x) * y) along an axis, counted in each argument; the others broadcast; recorded.
ndarray vecdot(const ndarray& x, const ndarray& y, const vecdot_kw& kw = {});
/// Matrices (..., M, N) times vectors (..., N); recorded.
ndarray matvec(const ndarray& x, const ndarray& y);
/// conj of vectors (..., M) times matrices (..., M, N); recorded.
ndarray vecmat(const ndarray& x, const ndarray& y);

/// Sums over the last `count` axes of x and the first of y, in order.
ndarray tensordot(const ndarray& x, const ndarray& y, std::int64_t count = 2, const product_kw& kw = {});
/// Sums over these axes of x and of y, which pair up.
ndarray tensordot(const ndarray& x, const ndarray& y, const axes& of_x, const axes& of_y, const product_kw& kw = {});

/// Kronecker product: each element of x times all of y; the shorter shape counts as having leading ones. Recorded.
ndarray kron(const ndarray& x, const ndarray& y);

}  // namespace sinter::inline v0
