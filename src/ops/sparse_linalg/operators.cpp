// The ways to make a linear operator, and its public functions.
#include <array>
#include <utility>
#include <vector>

#include "ops/base/errors.hpp"
#include "ops/sparse_linalg/operator_body.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"

namespace sinter::ops {

const sparse::linalg::detail::operator_body& body_of(const sparse::linalg::linear_operator& a, const char* function) {
  return defined(sparse::linalg::detail::operator_body::of(a), function, "the operator");
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;
using namespace idx;
using sparse::linalg::linear_operator;
using sparse::linalg::detail::operator_body;
using std::int64_t;

namespace {

using body_ptr = std::shared_ptr<const operator_body>;

ndarray conj_where_complex(const ndarray& x) { return is_complex(x.dtype()) ? conj(x) : x; }

class dense_operator final : public operator_body {
 public:
  explicit dense_operator(const ndarray& a) : operator_body(a.shape(0), a.shape(1)), a_(a) {}
  sinter::dtype dtype() const override { return a_.dtype(); }
  ndarray apply(const ndarray& x) const override { return matmul(a_, x); }
  ndarray apply_adjoint(const ndarray& x) const override {
    return conj_where_complex(matmul(a_.T(), conj_where_complex(x)));
  }
  ndarray as_dense() const override { return a_; }

 private:
  ndarray a_;
};

class sparse_operator final : public operator_body {
 public:
  explicit sparse_operator(const sparse::sparse_array& a)
      : operator_body(a.shape(0), a.shape(1)), a_(a), transposed_(a.T()) {}
  sinter::dtype dtype() const override { return a_.dtype(); }
  ndarray apply(const ndarray& x) const override { return sparse::matmul(a_, x); }
  ndarray apply_adjoint(const ndarray& x) const override {
    if (!is_complex(a_.dtype())) return sparse::matmul(transposed_, x);
    return conj(sparse::matmul(transposed_, conj_where_complex(x)));
  }
  bool has_normal_products(sinter::dtype vectors) const override {
    return multiplies_normal(a_, vectors) && multiplies_normal(transposed_, vectors);
  }
  normal_product_result apply_normal(bool adjoint, const ndarray& x, const ndarray& y,
                                     const ndarray& other) const override {
    return times_normal(adjoint ? transposed_ : a_, x, y, other);
  }
  sparse::sparse_array as_sparse() const override { return a_; }

 private:
  sparse::sparse_array a_, transposed_;
};

/// Functions that the user gave.
class function_operator final : public operator_body {
 public:
  function_operator(int64_t rows, int64_t columns, sparse::linalg::array_map matvec, sparse::linalg::operator_kw kw)
      : operator_body(rows, columns), matvec_(std::move(matvec)), kw_(std::move(kw)) {
    if (!kw_.dtype) kw_.dtype = matvec_(zeros({columns}, float64)).dtype();
  }
  sinter::dtype dtype() const override { return *kw_.dtype; }
  ndarray apply(const ndarray& x) const override { return by(matvec_, kw_.matmat, x); }
  ndarray apply_adjoint(const ndarray& x) const override {
    if (!kw_.rmatvec) fail<value_error>("rmatvec", "the operator was made without rmatvec");
    return by(kw_.rmatvec, kw_.rmatmat, x);
  }

 private:
  static ndarray by(const sparse::linalg::array_map& one, const sparse::linalg::array_map& all, const ndarray& x) {
    if (x.ndim() == 1) return one(x);
    if (all) return all(x);
    std::vector<ndarray> columns;
    for (int64_t k = 0; k < x.shape(1); ++k) columns.push_back(reshape(one(x(_, k)), {-1}));
    return columns.empty() ? zeros({0, 0}, x.dtype()) : stack(columns, 1);
  }
  sparse::linalg::array_map matvec_;
  sparse::linalg::operator_kw kw_;
};

class diagonal_body final : public operator_body {
 public:
  explicit diagonal_body(const ndarray& d) : operator_body(d.size(), d.size()), d_(d) {}
  sinter::dtype dtype() const override { return d_.dtype(); }
  ndarray apply(const ndarray& x) const override { return x.ndim() == 1 ? d_ * x : d_(_, newaxis) * x; }
  ndarray apply_adjoint(const ndarray& x) const override {
    const ndarray d = conj_where_complex(d_);
    return x.ndim() == 1 ? d * x : d(_, newaxis) * x;
  }

 private:
  ndarray d_;
};

/// Ones on the diagonal of any shape.
class identity_body final : public operator_body {
 public:
  identity_body(int64_t rows, int64_t columns, sinter::dtype type) : operator_body(rows, columns), type_(type) {}
  sinter::dtype dtype() const override { return type_; }
  ndarray apply(const ndarray& x) const override { return resized(x, columns(), rows()); }
  ndarray apply_adjoint(const ndarray& x) const override { return resized(x, rows(), columns()); }

 private:
  static ndarray resized(const ndarray& x, int64_t from, int64_t to) {
    if (from == to) return x;
    if (to < from) return x(slice(to));
    const shape_t rest = x.ndim() == 1 ? shape_t{to - from} : shape_t{to - from, x.shape(1)};
    return concatenate({x, zeros(rest, {.dtype = x.dtype(), .device = x.device()})});
  }
  sinter::dtype type_;
};

/// A^H, or where only the transpose is asked for conj(A^H).
class adjoint_body final : public operator_body {
 public:
  adjoint_body(body_ptr of, bool conjugate)
      : operator_body(of->columns(), of->rows()), of_(std::move(of)), conj_(conjugate) {
    made_of(of_);
  }
  sinter::dtype dtype() const override { return of_->dtype(); }
  ndarray apply(const ndarray& x) const override {
    return conj_ ? of_->apply_adjoint(x) : conj_where_complex(of_->apply_adjoint(conj_where_complex(x)));
  }
  ndarray apply_adjoint(const ndarray& x) const override {
    return conj_ ? of_->apply(x) : conj_where_complex(of_->apply(conj_where_complex(x)));
  }

 private:
  body_ptr of_;
  bool conj_;
};

class sum_body final : public operator_body {
 public:
  sum_body(body_ptr a, body_ptr b, bool minus)
      : operator_body(a->rows(), a->columns()), a_(std::move(a)), b_(std::move(b)), minus_(minus) {
    made_of(a_);
  }
  sinter::dtype dtype() const override { return promote_types(a_->dtype(), b_->dtype()); }
  ndarray apply(const ndarray& x) const override { return joined(a_->apply(x), b_->apply(x)); }
  ndarray apply_adjoint(const ndarray& x) const override { return joined(a_->apply_adjoint(x), b_->apply_adjoint(x)); }

 private:
  ndarray joined(const ndarray& a, const ndarray& b) const { return minus_ ? a - b : a + b; }
  body_ptr a_, b_;
  bool minus_;
};

class product_body final : public operator_body {
 public:
  product_body(body_ptr a, body_ptr b) : operator_body(a->rows(), b->columns()), a_(std::move(a)), b_(std::move(b)) {
    made_of(a_);
  }
  sinter::dtype dtype() const override { return promote_types(a_->dtype(), b_->dtype()); }
  ndarray apply(const ndarray& x) const override { return a_->apply(b_->apply(x)); }
  ndarray apply_adjoint(const ndarray& x) const override { return b_->apply_adjoint(a_->apply_adjoint(x)); }

 private:
  body_ptr a_, b_;
};

class scaled_body final : public operator_body {
 public:
  scaled_body(body_ptr a, const scalar& s) : operator_body(a->rows(), a->columns()), a_(std::move(a)), s_(s) {
    made_of(a_);
  }
  sinter::dtype dtype() const override { return result_type(a_->dtype(), s_); }
  ndarray apply(const ndarray& x) const override { return s_ * a_->apply(x); }
  ndarray apply_adjoint(const ndarray& x) const override {
    const ndarray y = a_->apply_adjoint(x);
    if (s_.kind() != scalar_kind::complex) return s_ * y;
    return std::complex<double>(s_.real(), -s_.imag()) * y;
  }

 private:
  body_ptr a_;
  scalar s_;
};

class power_body final : public operator_body {
 public:
  power_body(body_ptr a, int64_t n) : operator_body(a->rows(), a->columns()), a_(std::move(a)), n_(n) { made_of(a_); }
  sinter::dtype dtype() const override { return a_->dtype(); }
  ndarray apply(const ndarray& x) const override {
    ndarray y = x;
    for (int64_t k = 0; k < n_; ++k) y = a_->apply(y);
    return y;
  }
  ndarray apply_adjoint(const ndarray& x) const override {
    ndarray y = x;
    for (int64_t k = 0; k < n_; ++k) y = a_->apply_adjoint(y);
    return y;
  }

 private:
  body_ptr a_;
  int64_t n_;
};

template <class Body, class... A>
linear_operator made(A&&... a) {
  return operator_body::handle(std::make_shared<const Body>(std::forward<A>(a)...));
}

shape_t shape_of(const operator_body& a) { return {a.rows(), a.columns()}; }

/// Checks what goes in and what comes out.
ndarray checked(const char* function, const operator_body& a, const ndarray& x, bool adjoint, bool matrix) {
  if (!x.defined()) fail<value_error>(function, "the array is undefined (default-constructed or moved from)");
  const int64_t in = adjoint ? a.rows() : a.columns(), out = adjoint ? a.columns() : a.rows();
  const shape_t shape = x.shape();
  const bool fits =
      matrix ? shape.size() == 2 && shape[0] == in
             : (shape.size() == 1 && shape[0] == in) || (shape.size() == 2 && shape[0] == in && shape[1] == 1);
  if (!fits)
    fail<shape_error>(function, "an operator of shape ", shape_of(a), adjoint ? ", its adjoint," : "",
                      " cannot be applied to shape ", shape);
  const ndarray y = matrix || shape.size() == 1 ? (adjoint ? a.apply_adjoint(x) : a.apply(x))
                                                : (adjoint ? a.apply_adjoint(x(_, 0)) : a.apply(x(_, 0)));
  const shape_t expected = matrix ? shape_t{out, shape[1]} : shape_t{out};
  if (y.shape() == expected) return matrix || shape.size() == 1 ? y : reshape(y, {out, 1});
  if (!matrix && y.shape() == shape_t{out, 1}) return shape.size() == 1 ? reshape(y, {out}) : y;
  fail<shape_error>(function, "an operator of shape ", shape_of(a), " gave ", y.shape(), " for ", shape);
}

void require_same_extents(const operator_body& a, const operator_body& b, const char* function) {
  if (shape_of(a) != shape_of(b))
    fail<shape_error>(function, "operators of shapes ", shape_of(a), " and ", shape_of(b));
}

}  // namespace

namespace sparse::linalg {

linear_operator::linear_operator(const ndarray& a) {
  if (!a.defined()) fail<value_error>("linear_operator", "the array is undefined (default-constructed or moved from)");
  if (a.ndim() != 2) fail<shape_error>("linear_operator", "a matrix has two axes, not shape ", a.shape());
  body_ = std::make_shared<const dense_operator>(a);
}
linear_operator::linear_operator(const sparse_array& a) {
  if (!a.defined()) fail<value_error>("linear_operator", "the sparse array is undefined");
  body_ = std::make_shared<const sparse_operator>(a);
}
linear_operator::linear_operator(const shape_t& shape, array_map matvec, const operator_kw& kw) {
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0)
    fail<shape_error>("linear_operator", "an operator has two extents, not shape ", shape);
  if (!matvec) fail<value_error>("linear_operator", "there is no function matvec");
  body_ = std::make_shared<const function_operator>(shape[0], shape[1], std::move(matvec), kw);
}

shape_t linear_operator::shape() const { return shape_of(body_of(*this, "shape")); }
int64_t linear_operator::shape(int64_t axis) const {
  if (axis < -2 || axis > 1) fail<index_error>("shape", "axis ", axis, " of an operator");
  return shape()[static_cast<std::size_t>(axis < 0 ? axis + 2 : axis)];
}
sinter::dtype linear_operator::dtype() const { return body_of(*this, "dtype").dtype(); }

ndarray linear_operator::matvec(const ndarray& x) const {
  return checked("matvec", body_of(*this, "matvec"), x, false, false);
}
ndarray linear_operator::rmatvec(const ndarray& x) const {
  return checked("rmatvec", body_of(*this, "rmatvec"), x, true, false);
}
ndarray linear_operator::matmat(const ndarray& x) const {
  return checked("matmat", body_of(*this, "matmat"), x, false, true);
}
ndarray linear_operator::rmatmat(const ndarray& x) const {
  return checked("rmatmat", body_of(*this, "rmatmat"), x, true, true);
}
ndarray linear_operator::dot(const ndarray& x) const { return x.defined() && x.ndim() == 2 ? matmat(x) : matvec(x); }

linear_operator linear_operator::adjoint() const {
  body_of(*this, "adjoint");
  return made<adjoint_body>(body_, true);
}
linear_operator linear_operator::transpose() const {
  body_of(*this, "transpose");
  return made<adjoint_body>(body_, false);
}
linear_operator linear_operator::power(int64_t n) const {
  const operator_body& a = body_of(*this, "power");
  if (a.rows() != a.columns()) fail<value_error>("power", "an operator of shape ", shape_of(a), " is not square");
  if (n < 0) fail<value_error>("power", "the exponent is ", n);
  return made<power_body>(body_, n);
}

linear_operator operator+(const linear_operator& a, const linear_operator& b) {
  require_same_extents(body_of(a, "operator+"), body_of(b, "operator+"), "operator+");
  return made<sum_body>(a.body_, b.body_, false);
}
linear_operator operator-(const linear_operator& a, const linear_operator& b) {
  require_same_extents(body_of(a, "operator-"), body_of(b, "operator-"), "operator-");
  return made<sum_body>(a.body_, b.body_, true);
}
linear_operator operator-(const linear_operator& a) { return a * scalar(-1); }
linear_operator operator*(const linear_operator& a, const linear_operator& b) {
  const operator_body &left = body_of(a, "operator*"), &right = body_of(b, "operator*");
  if (left.columns() != right.rows())
    fail<shape_error>("operator*", "operators of shapes ", shape_of(left), " and ", shape_of(right));
  return made<product_body>(a.body_, b.body_);
}
linear_operator operator*(const linear_operator& a, const scalar& s) {
  body_of(a, "operator*");
  return made<scaled_body>(a.body_, s);
}
linear_operator operator*(const scalar& s, const linear_operator& a) { return a * s; }

linear_operator identity_operator(const shape_t& shape, const std::optional<sinter::dtype>& type) {
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0)
    fail<shape_error>("identity_operator", "an operator has two extents, not shape ", shape);
  return made<identity_body>(shape[0], shape[1], type.value_or(float64));
}
linear_operator diagonal_operator(const ndarray& d) {
  if (!d.defined() || d.ndim() != 1)
    fail<shape_error>("diagonal_operator", "a diagonal has one axis, not shape ", d.defined() ? d.shape() : shape_t{});
  return made<diagonal_body>(d);
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
