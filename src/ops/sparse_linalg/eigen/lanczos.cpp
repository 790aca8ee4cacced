#include "ops/base/opaque_call.hpp"
#include "ops/sparse_linalg/eigen/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <optional>
#include <vector>

#include "ops/base/errors.hpp"
#include "ops/sparse_linalg/orthogonal.hpp"
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
  double value(int64_t i) const { return values[static_cast<std::size_t>(i)]; }
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
    int64_t kept = 0, first_search = 0, end = p_.most;
    std::optional<lanczos_result> converged;
    for (int64_t restart = 0;; ++restart) {
      extend(kept);
      if (size_ < p_.k)
        fail<linalg_error>(p_.function, "M, of rank ", size_, " as it seems, has no ", p_.k, " finite eigenvalues");
      const ritz r = project();
      const std::vector<int64_t> wanted = chosen(r.values, p_.k);
      const int64_t missing = unconverged(r, wanted);
      if (size_ < p_.ncv || p_.ncv == p_.n) return finish(r, wanted, missing);
      if (missing == 0 && (found_.empty() || is_settled(r, wanted))) {
        if (!p_.all_copies || !is_new(r, wanted)) return finish(r, wanted, missing);
        if (!converged) first_search = restart + 1;
        converged = finish(r, wanted, missing);
        end = std::min(p_.most, restart + 1 + 2 * first_search + 20);
        if (restart + 1 >= end) return *converged;
        kept = restart_elsewhere(r, wanted);
        continue;
      }
      if (restart + 1 >= end) return converged ? *converged : finish(r, wanted, missing);
      // More than k vectors are kept the more of them have converged, as ARPACK does, so that the rest does not stall.
      const int64_t found = p_.k - missing, more = p_.k + std::min(found, (p_.ncv - p_.k) / 2);
      kept = thicken(r, chosen(r.values, std::max(more, std::min<int64_t>(p_.ncv - 2, p_.k + 1))));
      if (!(left_ > 0)) put_another(kept);
    }
  }

 private:
  /// Where a column's vector comes from: what was left of the vector before, of all Ritz vectors at a restart, or nothing.
  enum class origin : char { vector_before, ritz_vectors, another };
  struct pending_column {
    int64_t at;
    origin from;
    ndarray h, left;
    ndarray alpha = {};  // of a step by three terms, to which h is what rounding adds
  };
  amplitude& t(int64_t i, int64_t j) { return t_[static_cast<std::size_t>(i * p_.ncv + j)]; }

  /// The basis, after the metric.
  const ndarray& dual() const { return p_.metric ? dual_ : basis_; }
  /// Where the metric is singular, what it does not see must be no part of a first vector: the operator's range.
  ndarray in_range(const ndarray& v) const { return p_.into_range ? p_.into_range(p_.metric(v)) : v; }
  /// Nothing stays nothing, since steps that are recorded ahead give it to the operator.
  void put(int64_t at, const ndarray& w, const ndarray& after_metric, const ndarray& size) {
    const ndarray divisor = where(size == 0, 1, size);
    basis_(at, _) = w / divisor;
    if (p_.metric) dual_(at, _) = after_metric / divisor;
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
    const ndarray start = in_range(starting_vector(p_.n, p_.type, p_.device, ++drawn_));
    const double before = std::fabs(signed_length(start, p_.metric ? p_.metric(start) : start).item<double>());
    begin_ = origin::another;
    if (!put_first(at, project_out_twice(first_rows(basis_, at), first_rows(dual(), at), start).left, before))
      size_ = at;
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
    int64_t first = from;  // a column whose vector follows from none before
    for (int64_t col = from; col < p_.ncv && size_ == p_.ncv; ++col) {
      pending.push_back(expand(col, col > first ? origin::vector_before : begin_));
      if (static_cast<int64_t>(pending.size()) < columns_a_look && col + 1 < p_.ncv) continue;
      for (const pending_column& c : pending)
        if (!take(c)) {  // an invariant subspace: goes on with another direction
          put_another(c.at + 1);
          col = c.at;
          first = c.at + 1;
          break;
        }
      pending.clear();
    }
  }
  static ndarray first_rows(const ndarray& of, int64_t count) { return of(slice(count), _); }
  /// A vector that follows from the one before has three terms but for rounding (Paige, Computational Variants of the Lanczos Method,
  /// 1972), so that one projection makes it as orthogonal as two make another one.
  pending_column expand(int64_t col, origin from) {
    const bool follows = from == origin::vector_before;
    const ndarray v = basis_(col, _), seen = dual()(col, _), rows = first_rows(basis_, col + 1),
                  dual_rows = first_rows(dual(), col + 1);
    ndarray w = p_.apply(v, seen), alpha;
    if (follows) {
      alpha = real(inner_product(seen, w));
      w = w - alpha * v - length_before_ * basis_(col - 1, _);
    }
    const projected q = follows ? project_out(rows, dual_rows, w) : project_out_twice(rows, dual_rows, w);
    const ndarray after_metric = p_.metric ? p_.metric(q.left) : q.left;
    length_before_ = signed_length(q.left, after_metric);
    if (follows) eval(q.left, q.h, length_before_, alpha);
    else eval(q.left, q.h, length_before_);
    put(col + 1, q.left, after_metric, length_before_);
    return {col, from, q.h, length_before_, alpha};
  }
  /// Puts a column into the projected matrix, less what only rounding makes of its elements. False where nothing is left of the
  /// next vector, and it is not the last.
  bool take(const pending_column& c) {
    const std::vector<amplitude> h = for_host(c.h, p_.function).to_vector<amplitude>();
    const double before = left_, alpha = c.alpha.defined() ? c.alpha.item<double>() : 0;
    double size = left_ = for_host(c.left, p_.function).item<double>();
    for (const amplitude v : h) size = std::hypot(size, std::abs(v));
    size = std::hypot(size, alpha);
    if (!std::isfinite(size)) fail<linalg_error>(p_.function, "A x has elements that are not finite");
    t(c.at, c.at) = alpha + h[static_cast<std::size_t>(c.at)].real();
    const auto couple = [&](int64_t i, amplitude v) {
      t(i, c.at) = v;
      t(c.at, i) = std::conj(v);
    };
    if (c.from == origin::vector_before) couple(c.at - 1, before);
    if (c.from == origin::ritz_vectors)
      for (int64_t i = 0; i < c.at; ++i) couple(i, std::conj(left_of_ritz_[static_cast<std::size_t>(i)]));
    if (left_ > 4 * eps_ * size) return true;
    if (left_ < -std::sqrt(eps_) * size) refuse_metric();
    left_ = 0;
    return c.at + 1 == p_.ncv;
  }
  /// The matrix is given back to front, since LAPACK's reduction to three diagonals keeps the first vector ("L") to itself: so the last
  /// components of eigenvectors, which tell what is left, become as small as they are, and are not rounded with the others.
  ritz project() const {
    ndarray m = flip(array(t_, {.device = cpu}).reshape(p_.ncv, p_.ncv)(slice(size_), slice(size_)));
    if (!is_complex(p_.type)) m = real(m);
    const auto e = linalg::eigh(m);
    return {e.eigenvalues.to_vector<double>(), flip(e.eigenvectors, 0).to_vector<amplitude>()};
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
  /// A x - value x in terms of the vector after the last one, and its length.
  amplitude left_part(const ritz& r, int64_t i) const {
    return left_ * r.s[static_cast<std::size_t>((size_ - 1) * size_ + i)];
  }
  double residual(const ritz& r, int64_t i) const { return std::abs(left_part(r, i)); }
  /// What may be left of A x - value x. Rounding leaves as much of the largest value there is.
  double limit(const ritz& r, int64_t i) const {
    const double tol = p_.tol > 0 ? p_.tol : eps_, floor = std::pow(eps_, 2.0 / 3);
    const double largest = std::max(std::fabs(r.values.front()), std::fabs(r.values.back()));
    return std::max(tol * std::max(floor, std::fabs(r.value(i))), eps_ * static_cast<double>(p_.ncv) * largest);
  }
  int64_t unconverged(const ritz& r, const std::vector<int64_t>& wanted) const {
    return std::count_if(wanted.begin(), wanted.end(), [&](int64_t i) { return !(residual(r, i) <= limit(r, i)); });
  }

  // One vector has one direction of each eigenspace in its Krylov space, so that a search alone sees of a double eigenvalue one
  // copy, and none where the start had no part of it. So what has converged is kept, and the search begun once more from a vector
  // that is orthogonal to it, until one has found nothing else (Saad, Numerical Methods for Large Eigenvalue Problems, 2011, 4.2.3), or
  // has taken more than twice the restarts of the first one.

  /// Whether these are not those that the last search began with. Notes them.
  bool is_new(const ritz& r, const std::vector<int64_t>& wanted) {
    std::vector<double> values;
    bool same = !found_.empty();
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      values.push_back(r.value(wanted[j]));
      same = same && std::fabs(values[j] - found_[j]) <= 4 * limit(r, wanted[j]);
    }
    if (!same) found_ = std::move(values);
    return !same;
  }
  int64_t restart_elsewhere(const ritz& r, const std::vector<int64_t>& wanted) {
    const int64_t kept = thicken(r, wanted);
    put_another(kept);
    return kept;
  }
  /// Whether the best of what is not wanted will stay worse than what is: an eigenvalue is as near to it as its residual is long,
  /// and it has hardly a part of others then.
  bool is_settled(const ritz& r, const std::vector<int64_t>& wanted) const {
    constexpr double part = 0.1;
    for (const rival& other : rivals(r, wanted))
      if (!(residual(r, other.at) <= std::max(part * other.gap, limit(r, other.at)))) return false;
    return true;
  }
  struct rival {
    int64_t at;
    double gap;  // by how much it is worse than the worst one wanted
  };
  /// What is next to the wanted ones in either direction from which something wanted may come.
  std::vector<rival> rivals(const ritz& r, const std::vector<int64_t>& wanted) const {
    const int64_t m = static_cast<int64_t>(r.values.size());
    std::vector<char> is_wanted(r.values.size());
    for (const int64_t i : wanted) is_wanted[static_cast<std::size_t>(i)] = 1;
    std::vector<rival> out;
    double worst = 0;
    for (const int64_t i : wanted) worst = i == wanted[0] ? score(r.value(i)) : std::min(worst, score(r.value(i)));
    for (const int64_t i : wanted)
      for (const int64_t at : {i - 1, i + 1}) {
        if (at < 0 || at >= m || is_wanted[static_cast<std::size_t>(at)]) continue;
        out.push_back({at, p_.which == "BE" ? std::fabs(r.value(i) - r.value(at)) : worst - score(r.value(at))});
      }
    // Of the largest in magnitude there may be others at an end where none has been found.
    if (p_.which == "LM")
      for (const int64_t at : {int64_t{0}, m - 1})
        if (!is_wanted[static_cast<std::size_t>(at)]) out.push_back({at, worst - score(r.value(at))});
    return out;
  }
  /// Greater for what is wanted more.
  double score(double value) const {
    if (p_.which == "LA") return value;
    if (p_.which == "SA") return -value;
    return p_.which == "SM" ? -std::fabs(value) : std::fabs(value);
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
  /// Restarts with these Ritz vectors and what is left after the last vector; returns how many.
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
    begin_ = origin::ritz_vectors;
    left_of_ritz_.clear();
    for (const int64_t i : kept) left_of_ritz_.push_back(left_part(r, i));
    std::fill(t_.begin(), t_.end(), amplitude(0));
    for (int64_t i = 0; i < count; ++i) t(i, i) = r.value(kept[static_cast<std::size_t>(i)]);
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
      const double value = r.value(wanted[static_cast<std::size_t>(i)]);
      rows.push_back(std::fabs(value) > std::sqrt(eps_) * largest ? p_.into_range(seen(i, _)) : v(i, _));
    }
    return stack(rows);
  }
  lanczos_result finish(const ritz& r, const std::vector<int64_t>& wanted, int64_t missing) const {
    lanczos_result out;
    for (const int64_t i : wanted) out.values.push_back(r.value(i));
    ndarray v = vectors(r, wanted, basis_), seen = p_.metric ? vectors(r, wanted, dual_) : v;
    if (p_.into_range) {
      v = through_range(r, wanted, v, seen);
      seen = stack(mapped(v, p_.metric));
    }
    out.vectors = v / sqrt(real(vecdot(v, seen)))(_, newaxis);
    eval(out.vectors);  // before the basis is written again
    out.missing = missing;
    return out;
  }

  const lanczos_problem& p_;
  ndarray basis_;
  ndarray dual_;
  std::vector<amplitude> t_;  // the projected matrix, (ncv, ncv)
  double eps_;
  int64_t size_;                         // vectors of the basis: ncv, fewer where a singular metric sees no more
  double left_ = 0;                      // the norm of what is left after the last vector
  origin begin_ = origin::another;       // of the first vector of a restart
  std::vector<amplitude> left_of_ritz_;  // the part in that vector of what A makes of the Ritz vectors before it
  ndarray length_before_;                // that norm of the vector recorded last
  std::vector<double> found_;            // the eigenvalues that the last search began with
  int drawn_ = 0;
};

}  // namespace

ndarray starting_vector(int64_t n, dtype type, const sinter::device& on, int draw) {
  // Numbers of (0, 1) without a period: the fractions of multiples of the golden ratio's square.
  const ndarray k = arange(n, {.dtype = float64, .device = on}) + 1;
  const ndarray v = k * k * 0.3819660112501051 + k * (0.7548776662466927 + 0.5698402909980532 * draw);
  return (v - floor(v) - 0.4).astype(type);
}

lanczos_result run_lanczos(const lanczos_problem& p, const ndarray& start) { return lanczos(p, start).run(); }

}  // namespace sinter::ops
