// lobpcg: blocks of vectors on the device, projected problems on the host. Vectors are rows, so that what is done to each of a
// few vectors runs along memory; the operators get and give them as columns.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/base/opaque_call.hpp"
#include "ops/base/errors.hpp"
#include "ops/sparse_linalg/eigen/gram.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sparse_eigen.hpp"

namespace sinter::inline v0 {

using namespace ops;
using namespace idx;
using sparse::linalg::lobpcg_kw;
using sparse::linalg::lobpcg_result;
using std::int64_t;

namespace {

constexpr const char* name = "lobpcg";

/// Vectors as rows, with what A and B make of them. Without B, `b` is `v`.
struct block {
  ndarray v, a, b;
  int64_t width() const { return v.defined() ? v.shape(0) : 0; }
};

/// Columns as rows, and rows as columns, side by side in memory.
ndarray turned_over(const ndarray& v) { return v.T().copy(); }
/// What the products of each row of x with each of y make: x_i^H y_j in row j, column i.
ndarray products_of(const ndarray& x, const ndarray& y) { return matmul(y, adjoint_of(x)); }
/// The squares of the lengths of rows, as a column.
ndarray squares_of(const ndarray& v) { return sum(real(v * conj(v)), 1)(_, newaxis); }

class lobpcg_run {
 public:
  lobpcg_run(const linear_operator& a, const ndarray& x, const lobpcg_kw& kw, dtype type)
      : a_(a),
        kw_(kw),
        type_(type),
        n_(x.shape(0)),
        k_(x.shape(1)),
        tol_(kw.tol && *kw.tol > 0 ? *kw.tol : std::sqrt(epsilon_of(type)) * static_cast<double>(n_)),
        active_(static_cast<std::size_t>(k_)) {
    std::iota(active_.begin(), active_.end(), int64_t{0});
    if (kw.Y) constrain_to(turned_over((*kw.Y).astype(type)));
    x_ = first_block(turned_over(x.astype(type)));
  }

  lobpcg_result run() {
    const int64_t most = kw_.maxiter.value_or(20);
    for (step_ = 0; step_ <= most; ++step_) {
      const ndarray r = residuals();
      note(r);
      if (!still_active() || !advance(r)) break;
    }
    note_last();
    return finish();
  }

 private:
  static ndarray image(const linear_operator& of, const ndarray& v) { return turned_over(of.matmat(turned_over(v))); }
  ndarray times_b(const ndarray& v) const { return kw_.B.defined() ? image(kw_.B, v) : v; }
  block with_images(const ndarray& v) const { return {v, image(a_, v), times_b(v)}; }
  /// Each column of `by` says what one of the new vectors consists of.
  block turned(const block& s, const ndarray& by) const {
    const ndarray c = by.T().astype(type_, {.device = s.v.device()});
    block out{matmul(c, s.v), matmul(c, s.a), {}};
    out.b = kw_.B.defined() ? matmul(c, s.b) : out.v;
    return out;
  }
  ndarray active_of(const ndarray& v) const {
    return active_.size() == static_cast<std::size_t>(k_) ? v : v(array(active_, {.device = v.device()}), _);
  }
  block active_of(const block& s) const {
    block out{active_of(s.v), active_of(s.a), {}};
    out.b = kw_.B.defined() ? active_of(s.b) : out.v;
    return out;
  }
  block together(const block& x, const block& y) const {
    block out{concatenate({x.v, y.v}, 0), concatenate({x.a, y.a}, 0), {}};
    out.b = kw_.B.defined() ? concatenate({x.b, y.b}, 0) : out.v;
    return out;
  }

  void constrain_to(const ndarray& y) {
    y_ = y, by_ = times_b(y);
    y_turn_ = gram_cholesky_inverse(gram_of(y_, by_));
    if (!y_turn_.defined()) fail<value_error>(name, "the columns of Y depend on each other");
    y_turn_ = y_turn_.astype(type_, {.device = y.device()});
  }
  /// v without its part in the constraints.
  ndarray constrained(const ndarray& v) const {
    if (!y_.defined()) return v;
    const ndarray t = matmul(products_of(by_, v), conj(y_turn_));
    return v - matmul(matmul(t, y_turn_.T()), y_);
  }

  block first_block(const ndarray& x) {
    const ndarray v = constrained(x), turn = gram_cholesky_inverse(gram_of(v, times_b(v)));
    if (!turn.defined()) fail<value_error>(name, "the columns of X depend on each other");
    const block s = with_images(matmul(turn.T().astype(type_, {.device = v.device()}), v));
    const gram_solution g = gram_eigen(gram_of(s.v, s.a), eye(k_, {.device = cpu}), kw_.largest);
    lambda_ = g.values;
    return turned(s, g.vectors(_, slice(k_)));
  }

  ndarray residuals() const {
    const ndarray lambda = array(lambda_, {.device = x_.v.device()})(slice(k_), newaxis).astype(type_);
    return x_.a - x_.b * lambda;
  }
  /// Writes down the step's eigenvalues and norms.
  void record(const ndarray& r) {
    norms_ = for_host(sqrt(squares_of(r)), name).astype(float64).to_vector<double>();
    for (const double v : norms_)
      if (!std::isfinite(v)) fail<linalg_error>(name, "A x has elements that are not finite");
    lambdas_.resize(static_cast<std::size_t>(step_)), residuals_.resize(static_cast<std::size_t>(step_));
    lambdas_.push_back({lambda_.begin(), lambda_.begin() + k_});
    residuals_.push_back(norms_);
  }
  /// The same, and whether the step is the best one.
  void note(const ndarray& r) {
    record(r);
    const double mean_of = std::accumulate(norms_.begin(), norms_.end(), 0.0) / static_cast<double>(k_);
    if (mean_of < least_) least_ = mean_of, best_ = step_, best_x_ = x_.v;
    else if (mean_of > std::ldexp(least_, static_cast<int>(std::clamp<int64_t>(kw_.restartControl, -2000, 2000)))) {
      x_ = with_images(x_.v);
      p_ = {};
    }
  }
  void note_last() {
    if (step_ <= kw_.maxiter.value_or(20)) return;  // ended within a step, which has been noted
    note(residuals());
  }
  /// Columns that have converged leave for good.
  bool still_active() {
    std::vector<int64_t> columns;
    for (std::size_t i = 0; i < active_.size(); ++i)
      if (norms_[static_cast<std::size_t>(active_[i])] > tol_) columns.push_back(active_[i]);
    active_ = columns;
    return !active_.empty();
  }

  /// v without its part in X, twice.
  ndarray off_x(ndarray v) const {
    for (int pass = 0; pass < 2; ++pass) v = v - matmul(products_of(x_.b, v), x_.v);
    return v;
  }
  /// What makes unit vectors of vectors whose products these are; nothing stays nothing.
  static ndarray scales_of(const ndarray& gram) {
    const ndarray size = sqrt(abs(real(gram.diagonal())));
    return where(size > 0, 1 / where(size > 0, size, 1), 0);
  }
  /// Orthonormal vectors of what the residuals and the last directions span beside X, in terms of both.
  ndarray turn_of(const block& search) const {
    const ndarray gram = gram_of(search.v, search.b), scale = scales_of(gram);
    return scale(_, newaxis) * gram_orthonormal(gram * scale * scale(_, newaxis), epsilon_of(type_));
  }
  /// The best vectors of X, the residuals and the last directions. False where the residuals have no direction of their own.
  bool advance(const ndarray& r) {
    ndarray w = active_of(r);
    if (kw_.M.defined()) w = image(kw_.M, w).astype(type_);
    w = off_x(constrained(w));
    const ndarray norms = sqrt(squares_of(w));
    block search = with_images(w * where(norms > 0, 1 / where(norms > 0, norms, 1), 0).astype(type_));
    if (p_.width() != 0) search = together(search, active_of(p_));
    const ndarray turn = turn_of(search);
    if (turn.shape(1) == 0) return false;
    const block q = turned(search, turn), s = together(x_, q);
    const gram_solution g = gram_eigen(gram_of(s.v, s.a), gram_of(s.v, s.b), kw_.largest);
    if (!g.vectors.defined()) return false;
    lambda_ = g.values;
    const ndarray c = g.vectors(_, slice(k_));
    p_ = turned(q, c(slice(k_, _), _));
    const block kept = turned(x_, c(slice(k_), _));
    x_ = {kept.v + p_.v, kept.a + p_.a, {}};
    x_.b = kw_.B.defined() ? kept.b + p_.b : x_.v;
    for (const ndarray* part : {&x_.v, &x_.a, &x_.b, &p_.v, &p_.a, &p_.b}) eval(*part);
    return true;
  }

  lobpcg_result finish() {
    const block s = with_images(constrained(best_x_));
    const gram_solution g = gram_eigen(gram_of(s.v, s.a), gram_of(s.v, s.b), kw_.largest);
    if (!g.vectors.defined()) fail<linalg_error>(name, "B is not positive definite");
    x_ = turned(s, g.vectors);
    lambda_ = g.values;
    step_ = best_ + 1;
    record(residuals());
    const device on = x_.v.device();
    const dtype real_type = type_ == dtype::f32 || type_ == dtype::c64 ? float32 : float64;
    const auto rows = [&](const std::vector<std::vector<double>>& v) {
      std::vector<double> all;
      for (const auto& row : v) all.insert(all.end(), row.begin(), row.end());
      return array(all, {.dtype = real_type, .device = on}).reshape(static_cast<int64_t>(v.size()), k_);
    };
    return {array(lambda_, {.dtype = real_type, .device = on}), turned_over(x_.v), rows(lambdas_), rows(residuals_)};
  }

  const linear_operator& a_;
  const lobpcg_kw& kw_;
  dtype type_;
  int64_t n_, k_;
  double tol_;
  std::vector<int64_t> active_;
  ndarray y_, by_, y_turn_;
  block x_, p_;
  std::vector<double> lambda_, norms_;
  std::vector<std::vector<double>> lambdas_, residuals_;
  double least_ = std::numeric_limits<double>::infinity();
  int64_t step_ = 0, best_ = 0;
  ndarray best_x_;
};

/// By eigh of the dense matrix, where so many columns leave no room for directions.
lobpcg_result dense_solution(const linear_operator& a, const ndarray& x, const lobpcg_kw& kw, dtype type) {
  const int64_t n = x.shape(0), k = std::min(n, x.shape(1));
  if (kw.Y)
    fail<value_error>(name, "X of shape ", x.shape(), " beside constraints: 5 columns of X do not fit into the rest");
  const ndarray unit = eye(n, {.dtype = type, .device = x.device()});
  const ndarray of_b = kw.B.defined() ? kw.B.matmat(unit) : unit;
  const gram_solution g = gram_eigen(host_matrix(a.matmat(unit)), host_matrix(of_b), kw.largest);
  if (!g.vectors.defined()) fail<linalg_error>(name, "B is not positive definite");
  const device on = x.device();
  const dtype real_type = type == dtype::f32 || type == dtype::c64 ? float32 : float64;
  const ndarray none = zeros({0, k}, {.dtype = real_type, .device = on});
  return {array(g.values, {.dtype = real_type, .device = on})(slice(k)),
          g.vectors(_, slice(k)).astype(type, {.device = on}), none, none};
}

void check_problem(const linear_operator& a, const ndarray& x, const lobpcg_kw& kw) {
  const auto& body = body_of(a, name);
  if (!x.defined()) fail<value_error>(name, "X is undefined (default-constructed or moved from)");
  if (body.rows() != body.columns()) fail<shape_error>(name, "A of shape ", a.shape(), " is not square");
  if (x.ndim() != 2 || x.shape(0) != body.rows() || x.shape(1) < 1)
    fail<shape_error>(name, "A of shape ", a.shape(), " and X of shape ", x.shape());
  for (const auto& [m, what] : {std::pair(&kw.B, "B"), std::pair(&kw.M, "M")})
    if (m->defined() && m->shape() != a.shape())
      fail<shape_error>(name, "A of shape ", a.shape(), " and ", what, " of shape ", m->shape());
  if (kw.Y && ((*kw.Y).ndim() != 2 || (*kw.Y).shape(0) != body.rows()))
    fail<shape_error>(name, "A of shape ", a.shape(), " and Y of shape ", (*kw.Y).shape());
  if (kw.maxiter && *kw.maxiter < 0) fail<value_error>(name, "maxiter is ", *kw.maxiter);
}

}  // namespace

namespace sparse::linalg {

lobpcg_result lobpcg(const linear_operator& A, const ndarray& X, const lobpcg_kw& kw) {
  check_problem(A, X, kw);
  dtype type = promote_types(solver_dtype(X.dtype()), solver_dtype(A.dtype()));
  if (kw.B.defined()) type = promote_types(type, solver_dtype(kw.B.dtype()));
  const int64_t constraints = kw.Y ? (*kw.Y).shape(1) : 0;
  if (X.shape(0) - constraints < 5 * X.shape(1)) return dense_solution(A, X, kw, type);
  return lobpcg_run(A, X, kw, type).run();
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
