// Matrix products on a device: those of vendors' BLAS libraries, and products of integers, which these lack.
//
// A product is enqueued like a launch and never synchronises. Addresses are memory of the backend; extents and strides
// count elements.
#pragma once
#include <cstdint>
#include <optional>

#include "core/dims.hpp"
#include "sinter/dtype.hpp"

namespace sinter::runtime {

/// Strides of one matrix of a product, and from one matrix of the batch to the next along each batch axis.
struct matrix_strides {
  std::int64_t row = 0, column = 0;
  core::dims batch;
};

/// c (rows, columns) = a (rows, inner) b (inner, columns), for each point of the batch axes. All of one dtype; integers
/// wrap around, bools are or-ed and-s, float16 and bfloat16 accumulate in float32. c shares no memory with a and b, and
/// its elements none with each other.
struct product_layout {
  dtype type{};
  std::int64_t rows = 0, columns = 0, inner = 0;
  core::dims batch;
  matrix_strides a, b, c;
  bool tf32 = false;  // float32: inputs may be rounded to 10 bits of mantissa where that is faster on the device
};

enum class activation : std::uint8_t { none, relu, gelu };
/// Of a product a b of real floating numbers: activation(scale * a b + bias), rounded to the dtype at the end. gelu is
/// the one by hyperbolic tangent.
struct product_epilogue {
  double scale = 1;
  const void* bias = nullptr;  // `columns` elements of the product's dtype, added to each row; null: none
  activation how = activation::none;
};

class products {
 public:
  virtual ~products() = default;
  /// Says that a product of this dtype follows, once its factors are computed: what it takes (a library and its handle) is
  /// made ready meanwhile, in the background. What fails there is reported by the product.
  virtual void expect(dtype) {}
  /// Whether matrices of these extents and strides are read as they are; others are to be copied by the caller.
  virtual bool reads(dtype type, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                     std::int64_t column_stride) const = 0;
  /// The same for the result.
  virtual bool writes(dtype type, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                      std::int64_t column_stride) const = 0;
  /// No extent is 0. Throws device_error where the library that it needs cannot be opened.
  virtual void multiply(const product_layout& l, const void* a, const void* b, void* c) = 0;
  /// The same with an epilogue, in one call. False where the device has no such call for this layout; nothing has been
  /// done then.
  virtual bool multiply_with_epilogue(const product_layout& l, const product_epilogue& f, const void* a, const void* b,
                                      void* c);
};

/// A matrix as BLAS takes it: unit stride along the rows (row-major) or the columns, the other stride its leading
/// dimension.
struct blas_matrix {
  bool row_major = true;
  std::int64_t leading = 1;
};
/// Nothing where BLAS cannot express the strides: neither is 1, the other is negative or too small. Extents of 1 take any.
std::optional<blas_matrix> as_blas(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                                   std::int64_t column_stride) noexcept;

/// The same products with as few batch axes as the strides allow: axes of extent 1 go, adjacent ones merge, and an axis
/// along which one factor repeats becomes rows or columns of the other. Of the remaining axes the longest becomes the
/// last.
product_layout simplified(product_layout l);

/// Calls f(offset of a, of b, of c) for each point of the batch axes before the last `kept` ones.
template <class F>
void for_each_matrix(const product_layout& l, int kept, F&& f) {
  const int axes = l.batch.size() - kept;
  core::dims at(axes > 0 ? axes : 0);
  std::int64_t a = 0, b = 0, c = 0;
  while (true) {
    f(a, b, c);
    int k = axes - 1;
    for (; k >= 0; --k) {
      a += l.a.batch[k], b += l.b.batch[k], c += l.c.batch[k];
      if (++at[k] < l.batch[k]) break;
      a -= l.a.batch[k] * at[k], b -= l.b.batch[k] * at[k], c -= l.c.batch[k] * at[k];
      at[k] = 0;
    }
    if (k < 0) return;
  }
}

}  // namespace sinter::runtime
