// Norms of sparse matrices, and the action of the exponential.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "ops/base/errors.hpp"
#include "ops/sparse_linalg/iteration.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_eigen.hpp"
#include "sinter/sparse_functions.hpp"

namespace sinter::inline v0 {

using namespace ops;
using sparse::sparse_array;
using sparse::linalg::expm_multiply_kw;
using std::int64_t;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Sums of the stored numbers of each column (axis 0) or row (axis 1).
ndarray axis_sums(const sparse_array& a, int64_t axis) {
  const ndarray ones_of = ones({a.shape(axis)}, {.dtype = a.dtype(), .device = a.device()});
  return axis == 0 ? sparse::matmul(ones_of, a) : sparse::matmul(a, ones_of);
}
/// The largest or smallest magnitude of each column or row; what is not stored counts as 0.
ndarray axis_extremes(const sparse_array& a, int64_t axis, bool largest) {
  const sparse_array by = axis == 0 ? a.tocsc() : a.tocsr();
  const auto starts = by.indptr().to_vector<int64_t>();
  const auto values = by.data().to_vector<double>();
  const int64_t across = by.shape(axis), count = by.shape(1 - axis);
  std::vector<double> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int64_t begin = starts[i], end = starts[i + 1];
    double m = !largest && end - begin == across && across > 0 ? infinite : 0;
    for (int64_t k = begin; k < end; ++k) {
      const double v = values[static_cast<std::size_t>(k)];
      m = largest ? std::max(m, v) : std::min(m, v);
    }
    out[i] = m;
  }
  return array(out, {.dtype = a.dtype(), .device = a.device()});
}

[[noreturn]] void refuse_order(const char* what) { fail<value_error>("norm", "Invalid norm order for ", what); }

/// (A - mu) as an operator, and what is needed to choose the degree of the series.
class exponential {
 public:
  exponential(const linear_operator& a, const std::optional<double>& trace, dtype type)
      : a_(a), n_(a.shape(0)), mu_(trace_of(trace) / static_cast<double>(std::max<int64_t>(n_, 1))) {
    if (!is_complex(type)) mu_ = mu_.real();
    shifted_ = mu_ == 0.0 ? a : less_diagonal(a, scalar_of(mu_), type);
  }
  /// exp(t A) b.
  ndarray apply(ndarray b, double t, double tol) {
    const auto [degree, steps] = plan(std::fabs(t), b.ndim() == 1 ? 1 : b.shape(1));
    const int64_t stride = onlooker(b.device(), false).stride();
    const auto eta = std::exp(t * mu_ / static_cast<double>(steps));
    ndarray sum_of = b;
    for (int64_t i = 0; i < steps; ++i) {
      ndarray before = size_of_rows(b);
      for (int64_t j = 0; j < degree; ++j) {
        b = t / static_cast<double>(steps * (j + 1)) * shifted_.dot(b);
        sum_of = sum_of + b;
        const ndarray now = size_of_rows(b), enough = before + now <= tol * size_of_rows(sum_of);
        eval(b, sum_of, now, enough);
        if ((j + 1) % stride == 0 && enough.item<bool>()) break;
        before = now;
      }
      sum_of = is_complex(b.dtype()) ? sum_of * eta : sum_of * eta.real();
      b = sum_of;
    }
    return sum_of;
  }

 private:
  /// The degrees of the series and the norms up to which they are exact to 2^-53: Higham, Functions of Matrices, table A.3,
  /// and table 3.1 of Al-Mohy and Higham.
  struct limit {
    int64_t degree;
    double theta;
  };
  static constexpr std::array<limit, 35> limits{
      {{1, 2.29e-16}, {2, 2.58e-8},  {3, 1.39e-5},  {4, 3.40e-4},  {5, 2.40e-3},  {6, 9.07e-3},  {7, 2.38e-2},
       {8, 5.00e-2},  {9, 8.96e-2},  {10, 1.44e-1}, {11, 2.14e-1}, {12, 3.00e-1}, {13, 4.00e-1}, {14, 5.14e-1},
       {15, 6.41e-1}, {16, 7.81e-1}, {17, 9.31e-1}, {18, 1.09},    {19, 1.26},    {20, 1.44},    {21, 1.62},
       {22, 1.82},    {23, 2.01},    {24, 2.22},    {25, 2.43},    {26, 2.64},    {27, 2.86},    {28, 3.08},
       {29, 3.31},    {30, 3.54},    {35, 4.7},     {40, 6.0},     {45, 7.2},     {50, 8.5},     {55, 9.9}}};
  static constexpr int64_t most_degree = 55, most_power = 8, columns_tried = 2;

  struct choice {
    int64_t degree = 0, steps = 1;
    void consider(int64_t d, double s) {
      if (degree == 0 || static_cast<double>(d) * s < static_cast<double>(degree * steps))
        degree = d, steps = static_cast<int64_t>(s);
    }
  };
  /// A - mu. Of a sparse matrix as one, whose product then is one pass.
  static linear_operator less_diagonal(const linear_operator& a, const scalar& mu, dtype type) {
    const int64_t n = a.shape(0);
    const sparse_array s = body_of(a, "expm_multiply").as_sparse();
    if (!s.defined()) return a - mu * sparse::linalg::identity_operator({n, n}, type);
    const dtype own = solver_dtype(s.dtype());
    const ndarray diagonal = full({n}, mu, {.dtype = own, .device = s.device()});
    return s.astype(own) - sparse::diags({diagonal}, {0}).tocsr();
  }
  static scalar scalar_of(std::complex<double> v) { return v.imag() == 0 ? scalar(v.real()) : scalar(v); }
  std::complex<double> trace_of(const std::optional<double>& given) const {
    if (given) return *given;
    const auto& body = body_of(a_, "expm_multiply");
    if (const sparse_array s = body.as_sparse(); s.defined()) {
      const ndarray data = s.data().astype(solver_dtype(s.dtype()));
      return sum(where(s.row() == s.col(), data, 0)).item<std::complex<double>>();
    }
    if (const ndarray d = body.as_dense(); d.defined())
      return sum(diagonal(d.astype(solver_dtype(d.dtype())))).item<std::complex<double>>();
    return 0;
  }
  static ndarray size_of_rows(const ndarray& b) {
    const ndarray m = absolute(b);
    return max(b.ndim() == 1 ? m : sum(m, 1));
  }
  /// The p-th root of the norm of the p-th power.
  double root_of_power(int64_t p) {
    double& known = roots_.try_emplace(p, -1.0).first->second;
    if (known < 0) known = std::pow(one_norm_of_power(p), 1.0 / static_cast<double>(p));
    return known;
  }
  double one_norm_of_power(int64_t p) const {
    if (p > 1) return sparse::linalg::onenormest(shifted_.power(p)).est;
    const sparse_array s = body_of(shifted_, "expm_multiply").as_sparse();
    return s.defined() ? sparse::linalg::norm(s, {.ord = 1}).item<double>() : sparse::linalg::onenormest(shifted_).est;
  }
  /// Fragment 3.1 of the paper.
  choice plan(double t, int64_t columns) {
    choice best;
    if (n_ == 0 || t == 0) return best;
    const double norm = t * root_of_power(1);
    if (norm == 0) return best;
    if (!std::isfinite(norm)) fail<value_error>("expm_multiply", "A has elements that are not finite");
    const double bound = 2.0 * columns_tried * most_power * (most_power + 3) * limits.back().theta /
                         static_cast<double>(columns * most_degree);
    if (norm <= bound) {
      for (const limit& l : limits) best.consider(l.degree, std::ceil(norm / l.theta));
      return best;
    }
    for (int64_t p = 2; p <= most_power; ++p) {
      const double alpha = t * std::max(root_of_power(p), root_of_power(p + 1));
      for (const limit& l : limits)
        if (l.degree >= p * (p - 1) - 1) best.consider(l.degree, std::max(1.0, std::ceil(alpha / l.theta)));
    }
    return best;
  }

  linear_operator a_, shifted_;
  int64_t n_;
  std::complex<double> mu_;
  std::map<int64_t, double> roots_;
};

constexpr double series_tolerance = 0x1p-53;

ndarray checked_block(const linear_operator& a, const ndarray& b, dtype& type) {
  const auto& body = body_of(a, "expm_multiply");
  if (!b.defined()) fail<value_error>("expm_multiply", "B is undefined (default-constructed or moved from)");
  if (body.rows() != body.columns()) fail<shape_error>("expm_multiply", "A of shape ", a.shape(), " is not square");
  if (b.ndim() < 1 || b.ndim() > 2 || b.shape(0) != body.rows())
    fail<shape_error>("expm_multiply", "A of shape ", a.shape(), " and B of shape ", b.shape());
  type = promote_types(solver_dtype(body.dtype()), solver_dtype(b.dtype()));
  return b.astype(type, false);
}

}  // namespace

namespace sparse::linalg {

ndarray norm(const sparse_array& A, const norm_kw& kw) {
  if (!A.defined()) fail<value_error>("norm", "the sparse array is undefined");
  sparse_array a = A.tocsr().astype(solver_dtype(A.dtype()));
  a.sum_duplicates();
  const sparse_array size = a.with_data(absolute(a.data()));
  const ndarray squares = square(is_complex(a.dtype()) ? size.data() : a.data());
  const double p = kw.ord.is_number() ? kw.ord.number() : 2;
  if (kw.axis) {
    const int64_t axis = *kw.axis < 0 ? *kw.axis + 2 : *kw.axis;
    if (axis < 0 || axis > 1) fail<index_error>("norm", "axis ", *kw.axis, " of a matrix");
    if (kw.ord.is_name()) refuse_order("vectors");
    if (p == infinite || p == -infinite) return axis_extremes(size, axis, p > 0);
    if (p == 0) return axis_sums(size.with_data((size.data() != 0).astype(size.dtype())), axis);
    if (p == 1) return axis_sums(size, axis);
    if (p == 2) return sqrt(axis_sums(size.with_data(squares), axis));
    return power(axis_sums(size.with_data(sinter::power(size.data(), p)), axis), 1 / p);
  }
  if (kw.ord.is_name() && kw.ord.name() != "fro") refuse_order("matrices");
  if (!kw.ord.is_number()) return sqrt(sum(squares));
  if (p == 1 || p == -1 || p == infinite || p == -infinite) {
    const ndarray sums = axis_sums(size, std::isinf(p) ? 1 : 0);
    if (sums.size() == 0) fail<value_error>("norm", "a matrix of shape ", A.shape(), " has no extreme sum");
    return p > 0 ? max(sums) : min(sums);
  }
  if (p != 2) refuse_order("matrices");
  if (std::min(A.shape(0), A.shape(1)) < 2) return sqrt(sum(squares));
  return svds(a, {.k = 1, .return_singular_vectors = false}).s(0);
}

ndarray expm_multiply(const linear_operator& A, const ndarray& B, const expm_multiply_kw& kw) {
  dtype type{};
  const ndarray b = checked_block(A, B, type);
  if (b.size() == 0) return b;
  return exponential(A, kw.traceA, type).apply(b, 1, series_tolerance);
}

ndarray expm_multiply(const linear_operator& A, const ndarray& B, double start, double stop, int64_t num, bool endpoint,
                      const expm_multiply_kw& kw) {
  dtype type{};
  const ndarray b = checked_block(A, B, type);
  if (num < 1) fail<value_error>("expm_multiply", "num is ", num, "; it must be positive");
  if (b.size() == 0) return stack(std::vector<ndarray>(static_cast<std::size_t>(num), b));
  exponential e(A, kw.traceA, type);
  const double gap = (stop - start) / static_cast<double>(std::max<int64_t>(endpoint ? num - 1 : num, 1));
  std::vector<ndarray> points{e.apply(b, start, series_tolerance)};
  while (static_cast<int64_t>(points.size()) < num) points.push_back(e.apply(points.back(), gap, series_tolerance));
  return stack(points);
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
