#include "ops/sparse_linalg/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "ops/base/errors.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"

namespace sinter::ops {

using namespace idx;
using std::int64_t;

namespace {

using amplitude = std::complex<double>;

constexpr int64_t columns_a_look = 8;

struct ritz {
  std::vector<double> values;  // ascending
  std::vector<amplitude> s;    // (m, m), row by row
};

class lanczos {
 public:
  lanczos(const lanczos_problem& p, const ndarray& start)
      : p_(p),
        basis_(zeros({p.ncv + 1, p.n}, {.dtype = p.type, .device = p.device})),
        t_(static_cast<std::size_t>(p.ncv * p.ncv)),
        eps_(epsilon_of(p.type)),
        size_(p.ncv) {
    if (p.metric) dual_ = zeros({p.ncv + 1, p.n}, {.dtype = p.type, .device = p.device});
    if (!put_first(0, in_range(start))) fail<linalg_error>(p.function, "v0 is 0, or M makes it 0");
  }

  lanczos_result run() {
    int64_t kept = 0;
    for (int64_t restart = 0;; ++restart) {
      extend(kept);
      if (size_ < p_.k)
        fail<linalg_error>(p_.function, "M, of rank ", size_, " as it seems, has no ", p_.k, " finite eigenvalues");
      const ritz r = project();
      const std::vector<int64_t> wanted = chosen(r.values, p_.k);
      const int64_t missing = unconverged(r, wanted);
      if (missing == 0 || restart + 1 >= p_.most || size_ < p_.ncv || p_.ncv == p_.n) return finish(r, wanted, missing);
      // More than k vectors are kept the more of them have converged, as ARPACK does, so that the rest does not stall.
      const int64_t found = p_.k - missing, more = p_.k + std::min(found, (p_.ncv - p_.k) / 2);
      kept = thicken(r, chosen(r.values, std::max(more, std::min<int64_t>(p_.ncv - 2, p_.k + 1))));
    }
  }

 private:
  struct pending_column {
    int64_t at;
    ndarray h, left;
  };
  amplitude& t(int64_t i, int64_t j) { return t_[static_cast<std::size_t>(i * p_.ncv + j)]; }

  /// The basis, after the metric.
  const ndarray& dual() const { return p_.metric ? dual_ : basis_; }
  /// Where the metric is singular, what it does not see must be no part of a first vector: the operator's range.
  ndarray in_range(const ndarray& v) const { return p_.into_range ? p_.into_range(p_.metric(v)) : v; }
  void put(int64_t at, const ndarray& w, const ndarray& after_metric, const ndarray& size) {
    basis_(at, _) = w / size;
    if (p_.metric) dual_(at, _) = after_metric / size;
  }
  /// w, which the basis has no part of yet, made of length 1. False where nothing is left of it.
  bool put_first(int64_t at, const ndarray& w, double before = 0) {
    const ndarray after_metric = p_.metric ? p_.metric(w) : w, size = signed_length(w, after_metric);
    const double left = size.item<double>();
    if (std::fabs(left) <= std::sqrt(eps_) * before) return false;
    if (left < 0) refuse_metric();
    put(at, w, after_metric, size);
    return left > 0;
  }
  /// The same of another direction, after `at` vectors. Where a singular metric has no more of them, the basis ends.
  void put_another(int64_t at) {
    ndarray h;
    const ndarray start = in_range(roll(starting_vector(p_.n, p_.type, p_.device), at));
    const double before = std::fabs(signed_length(start, p_.metric ? p_.metric(start) : start).item<double>());
    if (!put_first(at, orthogonal(start, at, h), before)) size_ = at;
  }
  /// The length in the metric; negative where its square is.
  ndarray signed_length(const ndarray& w, const ndarray& after_metric) const {
    if (!p_.metric) return length_of(w);
    const ndarray square_of = real(vdot(w, after_metric));
    return sign(square_of) * sqrt(abs(square_of));
  }
  [[noreturn]] void refuse_metric() const {
    fail<linalg_error>(p_.function, "the matrix of the inner product is not positive: x^H M x is negative for some x");
  }

  /// Fills the basis from vector `from` on.
  void extend(int64_t from) {
    std::vector<pending_column> pending;
    for (int64_t col = from; col < p_.ncv; ++col) {
      pending.push_back(expand(col));
      if (static_cast<int64_t>(pending.size()) < columns_a_look && col + 1 < p_.ncv) continue;
      for (const pending_column& c : pending)
        if (!take(c)) {  // an invariant subspace: goes on with another direction
          put_another(c.at + 1);
          if (size_ < p_.ncv) return;
          col = c.at;
          break;
        }
      pending.clear();
    }
  }
  /// w less its part in the first rows of the basis, by classical Gram-Schmidt twice, and the coefficients of that part.
  ndarray orthogonal(ndarray w, int64_t rows, ndarray& h) const {
    const ndarray v = basis_(slice(rows), _), seen = dual()(slice(rows), _),
                  bra = is_complex(p_.type) ? conj(seen) : seen;
    h = matmul(bra, w);
    w = w - matmul(h, v);
    const ndarray again = matmul(bra, w);
    h = h + again;
    return w - matmul(again, v);
  }
  pending_column expand(int64_t col) {
    ndarray h;
    const ndarray w = orthogonal(p_.apply(basis_(col, _), dual()(col, _)), col + 1, h),
                  after_metric = p_.metric ? p_.metric(w) : w, left = signed_length(w, after_metric);
    eval(w, h, left);
    put(col + 1, w, after_metric, left);
    return {col, h, left};
  }
  /// Puts a column into the projected matrix. False where nothing is left of the next vector, and it is not the last.
  bool take(const pending_column& c) {
    const std::vector<amplitude> h = c.h.to_vector<amplitude>();
    double size = left_ = c.left.item<double>();
    for (int64_t i = 0; i <= c.at; ++i) {
      const amplitude v = h[static_cast<std::size_t>(i)];
      if (!std::isfinite(v.real()) || !std::isfinite(v.imag()) || !std::isfinite(left_))
        fail<linalg_error>(p_.function, "A x has elements that are not finite");
      t(i, c.at) = v;
      t(c.at, i) = std::conj(v);
      size = std::hypot(size, std::abs(v));
    }
    t(c.at, c.at) = t(c.at, c.at).real();
    if (left_ > 4 * eps_ * size) return true;
    if (left_ < -std::sqrt(eps_) * size) refuse_metric();
    left_ = 0;
    return c.at + 1 == p_.ncv;
  }
  ritz project() const {
    const bool complex_type = is_complex(p_.type);
    ndarray m = array(t_, {.device = cpu}).reshape(p_.ncv, p_.ncv)(slice(size_), slice(size_));
    if (!complex_type) m = real(m);
    const auto e = linalg::eigh(m);
    return {e.eigenvalues.to_vector<double>(), e.eigenvectors.to_vector<amplitude>()};
  }
  /// Which eigenvalues are wanted, ascending.
  std::vector<int64_t> chosen(const std::vector<double>& values, int64_t count) const {
    const int64_t m = static_cast<int64_t>(values.size());
    std::vector<int64_t> all(values.size());
    std::iota(all.begin(), all.end(), int64_t{0});
    const auto magnitude = [&](int64_t i) { return std::fabs(values[static_cast<std::size_t>(i)]); };
    if (p_.which == "LA") std::reverse(all.begin(), all.end());
    if (p_.which == "LM")
      std::stable_sort(all.begin(), all.end(), [&](auto i, auto j) { return magnitude(i) > magnitude(j); });
    if (p_.which == "SM")
      std::stable_sort(all.begin(), all.end(), [&](auto i, auto j) { return magnitude(i) < magnitude(j); });
    if (p_.which == "BE")  // the upper end has one more
      for (int64_t i = 0; i < m; ++i) all[static_cast<std::size_t>(i)] = i % 2 == 0 ? m - 1 - i / 2 : i / 2;
    all.resize(static_cast<std::size_t>(std::min(count, m)));
    std::sort(all.begin(), all.end());
    return all;
  }
  /// What is left of A x - value x.
  double residual(const ritz& r, int64_t i) const {
    return left_ * std::abs(r.s[static_cast<std::size_t>((size_ - 1) * size_ + i)]);
  }
  int64_t unconverged(const ritz& r, const std::vector<int64_t>& wanted) const {
    const double tol = p_.tol > 0 ? p_.tol : eps_, floor = std::pow(eps_, 2.0 / 3);
    return std::count_if(wanted.begin(), wanted.end(), [&](int64_t i) {
      return !(residual(r, i) <= tol * std::max(floor, std::fabs(r.values[static_cast<std::size_t>(i)])));
    });
  }
  /// The chosen Ritz vectors, or the metric of them, as rows.
  ndarray vectors(const ritz& r, const std::vector<int64_t>& which, const ndarray& of) const {
    std::vector<amplitude> s;
    for (const int64_t i : which)
      for (int64_t j = 0; j < size_; ++j) s.push_back(r.s[static_cast<std::size_t>(j * size_ + i)]);
    const int64_t count = static_cast<int64_t>(which.size());
    const ndarray all = array(s, {.device = cpu}).reshape(count, size_);
    const ndarray factors = (is_complex(p_.type) ? all : ndarray(real(all))).astype(p_.type, {.device = p_.device});
    return matmul(factors, of(slice(size_), _));
  }
  /// Restarts with these Ritz vectors; returns how many.
  int64_t thicken(const ritz& r, const std::vector<int64_t>& kept) {
    const int64_t count = static_cast<int64_t>(kept.size());
    const auto move = [&](ndarray& rows) {
      const ndarray first = vectors(r, kept, rows), last = rows(p_.ncv, _).copy();
      eval(first, last);
      rows(slice(count), _) = first;
      rows(count, _) = last;
    };
    move(basis_);
    if (p_.metric) move(dual_);
    if (!(left_ > 0)) put_another(count);
    std::fill(t_.begin(), t_.end(), amplitude(0));
    for (int64_t i = 0; i < count; ++i) t(i, i) = r.values[static_cast<std::size_t>(kept[static_cast<std::size_t>(i)])];
    return count;
  }
  std::vector<ndarray> mapped(const ndarray& rows, const std::function<ndarray(const ndarray&)>& f) const {
    std::vector<ndarray> out;
    for (int64_t i = 0; i < p_.k; ++i) out.push_back(f(rows(i, _)));
    return out;
  }
  /// Ritz vectors without what has come in from outside of the range; but those of eigenvalues near 0, of which little would be
  /// left.
  ndarray through_range(const ritz& r, const std::vector<int64_t>& wanted, const ndarray& v,
                        const ndarray& seen) const {
    const double largest = std::max(std::fabs(r.values.front()), std::fabs(r.values.back()));
    std::vector<ndarray> rows;
    for (int64_t i = 0; i < p_.k; ++i) {
      const double value = r.values[static_cast<std::size_t>(wanted[static_cast<std::size_t>(i)])];
      rows.push_back(std::fabs(value) > std::sqrt(eps_) * largest ? p_.into_range(seen(i, _)) : v(i, _));
    }
    return stack(rows);
  }
  lanczos_result finish(const ritz& r, const std::vector<int64_t>& wanted, int64_t missing) const {
    lanczos_result out;
    for (const int64_t i : wanted) out.values.push_back(r.values[static_cast<std::size_t>(i)]);
    ndarray v = vectors(r, wanted, basis_), seen = p_.metric ? vectors(r, wanted, dual_) : v;
    if (p_.into_range) {
      v = through_range(r, wanted, v, seen);
      seen = stack(mapped(v, p_.metric));
    }
    out.vectors = v / sqrt(real(vecdot(v, seen)))(_, newaxis);
    out.missing = missing;
    return out;
  }

  const lanczos_problem& p_;
  ndarray basis_;
  ndarray dual_;
  std::vector<amplitude> t_;  // the projected matrix, (ncv, ncv)
  double eps_;
  int64_t size_;     // vectors of the basis: ncv, fewer where a singular metric sees no more
  double left_ = 0;  // the norm of what is left after the last vector
};

}  // namespace

ndarray starting_vector(int64_t n, dtype type, const sinter::device& on) {
  // Numbers of (0, 1) without a period: the fractions of multiples of the golden ratio's square.
  const ndarray k = arange(n, {.dtype = float64, .device = on}) + 1;
  const ndarray v = k * k * 0.3819660112501051 + k * 0.7548776662466927;
  return (v - floor(v) - 0.4).astype(type);
}

lanczos_result run_lanczos(const lanczos_problem& p, const ndarray& start) { return lanczos(p, start).run(); }

}  // namespace sinter::ops
