// Norms, condition numbers, ranks, traces, diagonals, cross products, with the names of numpy.linalg. All of them
// record, and fuse with what is around them, save those that need singular values or inverses: these run at the call
// and wait (linalg_factors.hpp).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "sinter/elementwise.hpp"
#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// The diagonals of two axes, `offset` above the main one (below where negative), as the last axis; a read-only view,
/// as in NumPy. value_error: rank below 2, or the same axis twice.
ndarray diagonal(const ndarray& x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
/// The same by name.
struct diagonal_axes_kw {
  kwonly _kw{};
  std::int64_t offset = 0;
  std::int64_t axis1 = 0, axis2 = 1;
};
inline ndarray diagonal(const ndarray& x, const diagonal_axes_kw& kw) {
  return diagonal(x, kw.offset, kw.axis1, kw.axis2);
}
struct trace_kw {
  kwonly _kw{};
  std::int64_t offset = 0;
  std::int64_t axis1 = 0, axis2 = 1;
  std::optional<sinter::dtype> dtype{};
};
/// The sum of a diagonal, in the dtypes of sum.
ndarray trace(const ndarray& x, const trace_kw& kw = {});

namespace linalg {

/// Which norm: a number (infinities among them), "fro" or "nuc", or nothing (`_`): the 2-norm of all elements.
/// Parameter-only.
class norm_order {
 public:
  norm_order() = default;
  norm_order(none_t) noexcept {}
  norm_order(std::nullopt_t) noexcept {}
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
  norm_order(T p)
  noexcept : kind_(order_kind::number), number_(static_cast<double>(p)) {}
  norm_order(const char* name) noexcept : kind_(order_kind::name), name_(name) {}
  norm_order(std::string_view name) noexcept : kind_(order_kind::name), name_(name) {}

  bool is_number() const noexcept { return kind_ == order_kind::number; }
  bool is_name() const noexcept { return kind_ == order_kind::name; }
  double number() const noexcept { return number_; }
  std::string_view name() const noexcept { return name_; }

 private:
  enum class order_kind : std::uint8_t { none, number, name };
  order_kind kind_ = order_kind::none;
  double number_ = 0;
  std::string_view name_{};
};

struct norm_kw {
  kwonly _kw{};
  norm_order ord{};
  axes axis{};
  bool keepdims = false;
};
/// NumPy's norm: of vectors along one axis, of matrices along two; without axes, of an array of rank 1 or 2, or
/// (without an order) of all elements. Vectors: 2 unless given, inf, -inf, 0 (how many are not zero), or any other p.
/// Matrices: "fro" unless given, "nuc", 1, -1, 2, -2, inf, -inf; 2, -2 and "nuc" need singular values. Real dtype,
/// float64 of integers. value_error: another order or another number of axes.
ndarray norm(const ndarray& x, const norm_kw& kw = {});
template <class T>
  requires(std::is_arithmetic_v<T> || std::convertible_to<T, std::string_view>)
ndarray norm(const ndarray& x, const T& ord) { return norm(x, norm_kw{.ord = ord}); }

struct vector_norm_kw {
  kwonly _kw{};
  axes axis{};
  bool keepdims = false;
  norm_order ord = 2;
};
/// The array API's: over one axis, several, or all of them as one vector.
ndarray vector_norm(const ndarray& x, const vector_norm_kw& kw = {});

struct matrix_norm_kw {
  kwonly _kw{};
  bool keepdims = false;
  norm_order ord = "fro";
};
/// The array API's: of the last two axes.
ndarray matrix_norm(const ndarray& x, const matrix_norm_kw& kw = {});

/// Condition numbers: norm(x) norm(inv(x)) in the norm p; without one (and for 2 and -2) from the singular values, also
/// of matrices that are not square. Infinite for singular matrices. Waits. linalg_error: matrices
/// without elements (an empty stack of others gives an empty array).
ndarray cond(const ndarray& x, const norm_order& p = {});

struct matrix_rank_kw {
  kwonly _kw{};
  optional_operand tol{};  // singular values up to this count as 0
  bool hermitian = false;
  optional_operand rtol{};  // up to this times the largest one; max(M, N) eps unless given
};
/// How many singular values are above the threshold: int64. Of a vector: whether it has an element that is not 0.
/// Waits. value_error: both tol and rtol.
ndarray matrix_rank(const ndarray& x, const matrix_rank_kw& kw = {});

struct diagonal_kw {
  kwonly _kw{};
  std::int64_t offset = 0;
};
/// The diagonals of the last two axes; a read-only view.
ndarray diagonal(const ndarray& x, const diagonal_kw& kw = {});
struct matrix_trace_kw {
  kwonly _kw{};
  std::int64_t offset = 0;
  std::optional<sinter::dtype> dtype{};
};
/// Sums of the diagonals of the last two axes, in the dtypes of sum.
ndarray trace(const ndarray& x, const matrix_trace_kw& kw = {});

/// `axis` is that of all three, else `axisa`, `axisb` those of the operands and `axisc` the result's (value_error: an axis and one
/// of them).
struct cross_kw {
  kwonly _kw{};
  std::optional<std::int64_t> axis{};
  std::optional<std::int64_t> axisa{}, axisb{}, axisc{};  // the last one unless given
};
/// Cross products of vectors of 3 elements along an axis; the other axes broadcast. value_error: another extent.
ndarray cross(const ndarray& x, const ndarray& y, const cross_kw& kw = {});

}  // namespace linalg

using linalg::cross;

}  // namespace sinter::inline v0
