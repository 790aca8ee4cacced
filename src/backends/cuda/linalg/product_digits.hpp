// Products of integers as sums of products of 8-bit digits, which tensor cores multiply into 32 bits: the plan of
// splitting, multiplying and joining. Plain C++17; the multiplication is a parameter, so that tests run it on the host.
//
// An integer of w bits is a sum of w / 8 digits a_i 256^i, each from -128 to 127, modulo 2^w, and so a product is the
// sum of the a_i b_j 256^(i + j) with i + j < w / 8. a's digits are stored in consecutive planes along the inner axis,
// a_0 | a_1 | ..., those of b in reverse order, ... | b_1 | b_0: all products with i + j = s are then one matrix
// product over s + 1 planes, from a's first one and from b's last but s. Bools are digits themselves.
//
// Parts are so short that 32 bits hold every sum: whether sums would wrap around or saturate does not matter.
#pragma once
#include <cstdint>

#include "backends/cuda/linalg/product_shape.hpp"

namespace sinter::cuda::device {

/// The digits of a factor, or of a part of it: (matrices, padded_lines, planes, padded_inner) bytes, padded with zeros.
struct split_job {
  std::int64_t lines = 0, inner = 0;  // a's rows, b's columns; elements along the sums
  std::int64_t padded_lines = 0, padded_inner = 0;
  product_strides from;         // of the factor: `row` from line to line, `column` along the sums
  std::int64_t last_batch = 1;  // extent of the last batch axis
  std::int64_t first = 0, matrices = 1;
  bool reversed = false;  // planes: the highest digit first
};

/// sums (rows, columns) = a (rows, depth) b (columns, depth)^T for `matrices` matrices; bytes into 32 bits, all
/// contiguous along their last axis. Lines of a and b are `leading` bytes apart; other strides are in elements.
struct digit_product {
  std::int64_t rows = 0, columns = 0, depth = 0, leading = 0;
  std::int64_t b_offset = 0, sums_offset = 0;
  std::int64_t a_stride = 0, b_stride = 0, sums_stride = 0;
  std::int64_t matrices = 1;
};

/// Part of the result from its sums: (planes, matrices, padded_rows, padded_columns).
struct join_job {
  std::int64_t rows = 0, columns = 0;
  std::int64_t padded_rows = 0, padded_columns = 0;
  product_strides to;
  std::int64_t last_batch = 1;
  std::int64_t first = 0, matrices = 1;
  bool add = false;  // adds to the result instead of replacing it
};

/// Limits of one part, which bound the scratch memory: 1 GiB for 64 bits. depth: digits in a sum, of which 32 bits hold
/// 2^17 - 1 of any magnitude.
struct digit_limits {
  std::int64_t side = 4096, depth = 65536;
};

/// Extents of a part, padded so that cuBLAS finds every matrix aligned to 16 bytes, and the scratch memory for one.
struct digit_parts {
  std::int64_t rows, columns, inner, matrices;
  std::int64_t a_bytes, b_bytes, sums_bytes;
};

constexpr std::int64_t digit_alignment = 16;
constexpr std::int64_t padded(std::int64_t n) { return (n + digit_alignment - 1) / digit_alignment * digit_alignment; }
constexpr std::int64_t least_of(std::int64_t x, std::int64_t y) { return x < y ? x : y; }
constexpr std::int64_t greatest_of(std::int64_t x, std::int64_t y) { return x < y ? y : x; }

/// Padded parts of equal size, none above the limit (a multiple of the alignment).
constexpr std::int64_t even_part(std::int64_t n, std::int64_t limit) {
  const std::int64_t parts = (n + limit - 1) / limit;
  return padded((n + parts - 1) / parts);
}

inline digit_parts parts_of(const product_shape& s, int planes, const digit_limits& limits = {}) {
  constexpr std::int64_t most_blocks = 65535;  // matrices are an axis of the grid
  digit_parts p{};
  p.rows = even_part(s.rows, limits.side);
  p.columns = even_part(s.columns, limits.side);
  p.inner = even_part(s.inner, limits.depth / planes / digit_alignment * digit_alignment);
  const std::int64_t line = planes * p.inner;
  const std::int64_t fitting = least_of(limits.side * limits.side / (p.rows * p.columns),
                                        limits.side * limits.depth / (line * greatest_of(p.rows, p.columns)));
  p.matrices = least_of(s.batch[0] * s.batch[1], least_of(greatest_of(fitting, 1), most_blocks));
  p.a_bytes = p.matrices * p.rows * line;
  p.b_bytes = p.matrices * p.columns * line;
  p.sums_bytes = planes * p.matrices * p.rows * p.columns * static_cast<std::int64_t>(sizeof(std::int32_t));
  return p;
}

/// Whether digits are faster than the kernel that multiplies elements. With the figures of an H200: that kernel
/// performs about 8e12 multiplications per second (2e12 of 64 bits), tensor cores 5e14 of digits, of which an element
/// of 32 bits needs 10, of 64 bits 36; but splitting and joining move about 20 bytes per element of the factors and 40
/// of the result, and there are 4 to 11 launches.
inline bool digits_pay(const product_shape& s) {
  constexpr double least_work = 1 << 26;
  return s.rows >= 64 && s.columns >= 64 && s.inner >= 128 &&
         static_cast<double>(s.rows) * static_cast<double>(s.columns) * static_cast<double>(s.inner) *
                 static_cast<double>(s.batch[0] * s.batch[1]) >=
             least_work;
}

/// Whether the result is column-major. Its transpose, with the factors exchanged, is then computed instead.
inline bool lies_by_columns(const product_strides& c) {
  const auto length = [](std::int64_t n) { return n < 0 ? -n : n; };
  return length(c.row) < length(c.column);
}
inline product_strides transposed(const product_strides& m) { return {m.column, m.row, {m.batch[0], m.batch[1]}}; }
inline product_shape transposed(const product_shape& s) {
  return {s.columns, s.rows, s.inner, {s.batch[0], s.batch[1]}, transposed(s.b), transposed(s.a), transposed(s.c)};
}

/// Computes the product by calls of d, in order:
///   split_a(job, offset), split_b(job, offset)   offset: of the part in the factor, in elements
///   multiply(product)                             of the parts that were split last
///   join(job, offset)                             offset: of the part in the result
/// planes: bytes of an element.
template <class Device>
void multiply_digits(const product_shape& s, int planes, const digit_parts& p, Device&& d) {
  const std::int64_t all = s.batch[0] * s.batch[1];
  for (std::int64_t first = 0; first < all; first += p.matrices)
    for (std::int64_t column = 0; column < s.columns; column += p.columns)
      for (std::int64_t k = 0; k < s.inner; k += p.inner) {
        const std::int64_t matrices = least_of(p.matrices, all - first);
        const std::int64_t columns = least_of(p.columns, s.columns - column), inner = least_of(p.inner, s.inner - k);
        const std::int64_t plane = padded(inner), leading = planes * plane;
        d.split_b(split_job{columns, inner, padded(columns), plane, transposed(s.b), s.batch[1], first, matrices, true},
                  k * s.b.row + column * s.b.column);
        for (std::int64_t row = 0; row < s.rows; row += p.rows) {
          const std::int64_t rows = least_of(p.rows, s.rows - row), one = padded(rows) * padded(columns);
          d.split_a(split_job{rows, inner, padded(rows), plane, s.a, s.batch[1], first, matrices, false},
                    row * s.a.row + k * s.a.column);
          for (int sum = 0; sum < planes; ++sum)
            d.multiply(digit_product{padded(rows), padded(columns), (sum + 1) * plane, leading,
                                     (planes - 1 - sum) * plane, sum * matrices * one, padded(rows) * leading,
                                     padded(columns) * leading, one, matrices});
          d.join(join_job{rows, columns, padded(rows), padded(columns), s.c, s.batch[1], first, matrices, k > 0},
                 row * s.c.row + column * s.c.column);
        }
      }
}

}  // namespace sinter::cuda::device
