// src/ops/sparse_linalg: linear operators, iterative solvers, eigenvalues and factorisations of sparse matrices.
//
// What a linear operator does; one class for each way to make one (operators.cpp).
#pragma once
#include <memory>

#include "ops/base/normal_product.hpp"
#include "sinter/sparse_operator.hpp"

namespace sinter::inline v0 {
namespace sparse::linalg::detail {

class operator_body {
 public:
  operator_body(std::int64_t rows, std::int64_t columns) noexcept : rows_(rows), columns_(columns) {}
  virtual ~operator_body() = default;
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  virtual sinter::dtype dtype() const = 0;
  /// A x and A^H x of vectors and of matrices, whose first extent fits.
  virtual ndarray apply(const ndarray& x) const = 0;
  virtual ndarray apply_adjoint(const ndarray& x) const = 0;
  /// Whether there are normal products of vectors of a dtype, and these, of A or A^H (ops/base/normal_product.hpp).
  virtual bool has_normal_products(sinter::dtype) const { return false; }
  virtual ops::normal_product_result apply_normal(bool /*adjoint*/, const ndarray& /*x*/, const ndarray& /*y*/,
                                                  const ndarray& /*other*/) const {
    return {};
  }
  /// The matrix, where it is there as an array; else undefined.
  virtual sparse_array as_sparse() const { return {}; }
  virtual ndarray as_dense() const { return {}; }

  /// Where its vectors are, as far as its arrays tell; else the default device.
  sinter::device device_hint() const {
    if (const sparse_array a = as_sparse(); a.defined()) return a.device();
    if (const ndarray a = as_dense(); a.defined()) return a.device();
    return inner_ ? inner_->device_hint() : default_device();
  }

  static linear_operator handle(std::shared_ptr<const operator_body> body) { return linear_operator(std::move(body)); }
  static const std::shared_ptr<const operator_body>& of(const linear_operator& a) { return a.body_; }

 protected:
  /// An operator that this one is made of, for the hint.
  void made_of(std::shared_ptr<const operator_body> inner) { inner_ = std::move(inner); }

 private:
  std::int64_t rows_, columns_;
  std::shared_ptr<const operator_body> inner_;
};

}  // namespace sparse::linalg::detail

}  // namespace sinter::inline v0

namespace sinter::ops {

/// value_error in the name of a public function where there is no operator.
const sparse::linalg::detail::operator_body& body_of(const sparse::linalg::linear_operator& a, const char* function);

}  // namespace sinter::ops
