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
        eps_(epsilon_of(p.type)) {
    basis_(0, _) = start / length_of(start);
  }

  lanczos_result run() {
    int64_t kept = 0;
    for (int64_t restart = 0;; ++restart) {
      extend(kept);
      const ritz r = project();
      const std::vector<int64_t> wanted = chosen(r.values, p_.k);
      const int64_t missing = unconverged(r, wanted);
      if (missing == 0 || restart + 1 >= p_.most || p_.ncv == p_.n) return finish(r, wanted, missing);
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

  /// Fills the basis from vector `from` on.
  void extend(int64_t from) {
    std::vector<pending_column> pending;
    for (int64_t col = from; col < p_.ncv; ++col) {
      pending.push_back(expand(col));
      if (static_cast<int64_t>(pending.size()) < columns_a_look && col + 1 < p_.ncv) continue;
      for (const pending_column& c : pending)
        if (!take(c)) {  // an invariant subspace: goes on with another direction
          basis_(c.at + 1, _) = another_direction(c.at + 1);
          col = c.at;
          break;
        }
      pending.clear();
    }
  }
  /// w less its part in the first rows of the basis, by classical Gram-Schmidt twice, and the coefficients of that part.
  ndarray orthogonal(ndarray w, int64_t rows, ndarray& h) const {
    const ndarray v = basis_(slice(rows), _), bra = is_complex(p_.type) ? conj(v) : v;
    h = matmul(bra, w);
    w = w - matmul(h, v);
    const ndarray again = matmul(bra, w);
    h = h + again;
    return w - matmul(again, v);
  }
  pending_column expand(int64_t col) {
    ndarray h;
    const ndarray w = orthogonal(p_.apply(basis_(col, _)), col + 1, h), left = length_of(w);
    eval(w, h, left);
    basis_(col + 1, _) = w / left;
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
    left_ = 0;
    return c.at + 1 == p_.ncv;
  }
  ndarray another_direction(int64_t rows) {
    ndarray h;
    const ndarray w = orthogonal(roll(starting_vector(p_.n, p_.type, p_.device), rows), rows, h);
    return w / length_of(w);
  }

  ritz project() const {
    const bool complex_type = is_complex(p_.type);
    ndarray m = array(t_, {.device = cpu}).reshape(p_.ncv, p_.ncv);
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
    return left_ * std::abs(r.s[static_cast<std::size_t>((p_.ncv - 1) * p_.ncv + i)]);
  }
  int64_t unconverged(const ritz& r, const std::vector<int64_t>& wanted) const {
    const double tol = p_.tol > 0 ? p_.tol : eps_, floor = std::pow(eps_, 2.0 / 3);
    return std::count_if(wanted.begin(), wanted.end(), [&](int64_t i) {
      return !(residual(r, i) <= tol * std::max(floor, std::fabs(r.values[static_cast<std::size_t>(i)])));
    });
  }
  /// The chosen Ritz vectors as rows.
  ndarray vectors(const ritz& r, const std::vector<int64_t>& which) const {
    std::vector<amplitude> s;
    for (const int64_t i : which)
      for (int64_t j = 0; j < p_.ncv; ++j) s.push_back(r.s[static_cast<std::size_t>(j * p_.ncv + i)]);
    const int64_t count = static_cast<int64_t>(which.size());
    const ndarray all = array(s, {.device = cpu}).reshape(count, p_.ncv);
    const ndarray factors = (is_complex(p_.type) ? all : ndarray(real(all))).astype(p_.type, {.device = p_.device});
    return matmul(factors, basis_(slice(p_.ncv), _));
  }
  /// Restarts with these Ritz vectors; returns how many.
  int64_t thicken(const ritz& r, const std::vector<int64_t>& kept) {
    const int64_t count = static_cast<int64_t>(kept.size());
    const ndarray first = vectors(r, kept), last = basis_(p_.ncv, _).copy();
    eval(first, last);
    basis_(slice(count), _) = first;
    basis_(count, _) = left_ > 0 ? last : another_direction(count);
    std::fill(t_.begin(), t_.end(), amplitude(0));
    for (int64_t i = 0; i < count; ++i) t(i, i) = r.values[static_cast<std::size_t>(kept[static_cast<std::size_t>(i)])];
    return count;
  }
  lanczos_result finish(const ritz& r, const std::vector<int64_t>& wanted, int64_t missing) const {
    lanczos_result out;
    for (const int64_t i : wanted) out.values.push_back(r.values[static_cast<std::size_t>(i)]);
    const ndarray v = vectors(r, wanted);
    out.vectors = v / sqrt(real(vecdot(v, v)))(_, newaxis);
    out.missing = missing;
    return out;
  }

  const lanczos_problem& p_;
  ndarray basis_;
  std::vector<amplitude> t_;  // the projected matrix, (ncv, ncv)
  double eps_;
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
