// Linear operators: what the iterative solvers take as a matrix.
// Not part of sinter.hpp: `#include "sinter/sparse_linalg.hpp"`.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"
#include "sinter/sparse_array.hpp"

namespace sinter::inline v0 {
namespace sparse::linalg {

namespace detail {
class operator_body;
}

/// What a function does to a vector (columns,) or a matrix (columns, k). It may record, enqueue or compute; a solver calls it
/// once a step and never looks at the result from the host.
using array_map = std::function<ndarray(const ndarray&)>;

/// Keywords of an operator of functions.
struct operator_kw {
  kwonly _kw{};
  array_map rmatvec{};  // x to A^H x; without it rmatvec and H() throw value_error
  array_map matmat{};   // of matrices; else matvec column by column
  array_map rmatmat{};
  /// The dtype of A's elements; else that of matvec's result for float64 zeros.
  std::optional<sinter::dtype> dtype{};
};

/// SciPy's LinearOperator: a matrix known by what it does to vectors. A handle. Dense and sparse arrays convert to it, so
/// solvers take them as they are; `adjoint`, sums, products and multiples of operators are operators. Nothing is computed
/// until it is applied; it holds its arrays as they are now.
///
///   const linear_operator laplacian({n, n}, [](const ndarray& x) { return 2 * x - sn::roll(x, 1) - sn::roll(x, -1); });
class linear_operator {
 public:
  /// No operator: in keywords, none is given.
  linear_operator() = default;
  /// A dense matrix. shape_error: not of rank 2.
  linear_operator(const ndarray& a);
  /// Sparse. Products are those of `sparse::matmul`; A^H x is the transposed product of the same parts.
  linear_operator(const sparse_array& a);
  /// A function; `x` is (columns,), the result (rows,). shape_error: not two extents, or negative ones.
  linear_operator(const shape_t& shape, array_map matvec, const operator_kw& kw = {});

  bool defined() const noexcept { return body_ != nullptr; }
  shape_t shape() const;
  std::int64_t shape(std::int64_t axis) const;
  sinter::dtype dtype() const;

  /// A x of x (columns,) or (columns, 1), in the same rank. shape_error: another shape, of x or of what the function gives.
  ndarray matvec(const ndarray& x) const;
  /// A^H x.
  ndarray rmatvec(const ndarray& x) const;
  /// A X of X (columns, k).
  ndarray matmat(const ndarray& x) const;
  ndarray rmatmat(const ndarray& x) const;
  /// matvec or matmat, by x's rank. shape_error: another rank.
  ndarray dot(const ndarray& x) const;
  ndarray operator()(const ndarray& x) const { return dot(x); }

  /// A^H.
  linear_operator adjoint() const;
  linear_operator H() const { return adjoint(); }
  /// A^T: conj(A^H conj(x)).
  linear_operator transpose() const;
  linear_operator T() const { return transpose(); }

  /// (A + B) x, (A B) x, (s A) x, A^n x. shape_error: extents that do not fit.
  friend linear_operator operator+(const linear_operator& a, const linear_operator& b);
  friend linear_operator operator-(const linear_operator& a, const linear_operator& b);
  friend linear_operator operator-(const linear_operator& a);
  friend linear_operator operator*(const linear_operator& a, const linear_operator& b);
  friend linear_operator operator*(const linear_operator& a, const scalar& s);
  friend linear_operator operator*(const scalar& s, const linear_operator& a);
  /// value_error: not square, or n negative.
  linear_operator power(std::int64_t n) const;

 private:
  friend class detail::operator_body;
  explicit linear_operator(std::shared_ptr<const detail::operator_body> body) noexcept : body_(std::move(body)) {}
  std::shared_ptr<const detail::operator_body> body_;
};

/// SciPy's name for the conversion.
inline linear_operator aslinearoperator(const linear_operator& a) { return a; }
/// Square, or of {n, n}.
linear_operator identity_operator(const shape_t& shape, const std::optional<dtype>& type = {});
/// diag(d) of d (n,).
linear_operator diagonal_operator(const ndarray& d);

}  // namespace sparse::linalg
}  // namespace sinter::inline v0
