// Device code for factorisations, in addition to the libraries. As in device_algorithms.hpp nothing synchronises
// and nothing throws.
#pragma once
#include "backends/cuda/algorithms/device_algorithms.hpp"

namespace sinter::cuda::device {

/// table[i] = first + i * stride bytes: batched routines take tables of addresses.
struct address_row {
  void* first = nullptr;
  std::int64_t stride = 0;
  void** table = nullptr;
};
cudaError_t address_table(const context& c, const address_row& row, std::int64_t count);
/// Two such tables in one launch.
cudaError_t address_tables(const context& c, const address_row& one, const address_row& other, std::int64_t count);

/// `count` contiguous column-major matrices of rows x columns, whose first `reflectors` columns hold reflectors; they
/// are replaced by the first columns of the reflectors' product. tau: `reflectors` factors per matrix. f32, f64, c64 or
/// c128.
struct q_shape {
  element type{};
  std::int64_t rows = 0, columns = 0, reflectors = 0, count = 0;
};
cudaError_t form_q(const context& c, const q_shape& s, void* a, const void* tau);

/// `count` contiguous column-major matrices of order x order, at most most_small_order; f32, f64, c64 or c128.
struct small_shape {
  element type{};
  std::int64_t order = 0, count = 0;
};
constexpr std::int64_t most_small_order = 16;
/// LU factors in place with pivots and info as LAPACK's getrf.
cudaError_t factor_small_lu(const context& c, const small_shape& s, void* a, std::int32_t* pivots, std::int32_t* info);
/// Systems with such factors for `columns` right sides a matrix, in place. form: 0 the matrix, 1 its transpose, 2 its conjugated transpose.
cudaError_t solve_small_lu(const context& c, const small_shape& s, std::int64_t columns, int form, const void* lu,
                           const std::int32_t* pivots, void* sides);

enum class matrix_part : int { all, lower, upper };  // with the diagonal
/// Column-major matrices; f32, f64, c64 or c128.
struct check_shape {
  element type{};
  std::int64_t rows = 0, columns = 0, count = 0;
  matrix_part part = matrix_part::all;
};
/// flags[k]: whether the part of matrix k has an element that is not finite. Such a matrix is set to zero. `exponents`,
/// if not null (for at most 32 rows and columns): very small and very large matrices are divided by 2^exponents[k], so
/// that squares of their elements can be summed.
cudaError_t clear_unless_finite(const context& c, const check_shape& s, void* a, std::int32_t* flags,
                                std::int32_t* exponents);
/// Results that are multiplied by the powers of two again: `each` numbers per matrix.
struct scaled_values {
  const std::int32_t* exponents = nullptr;
  bool wide = false;  // double precision
  int each = 0;
  void* values = nullptr;
};
/// info[k] = value where flags[k] is nonzero; the values of each matrix are scaled back.
cudaError_t mark(const context& c, const std::int32_t* flags, std::int64_t count, std::int32_t value,
                 std::int32_t* info, const scaled_values& scaled);

/// The index of the first nonzero among `count` numbers: the least of found[0, finders(count)), or `count`. `found` may
/// be host memory.
constexpr std::int64_t most_finders = 1024;
std::int64_t finders(std::int64_t count) noexcept;
cudaError_t find_first(const context& c, const std::int32_t* numbers, std::int64_t count, std::int64_t* found);

}  // namespace sinter::cuda::device
