// Factorisations on the host: symmetric indefinite (Bunch and Kaufman), QR with column pivoting (Businger and Golub).
#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/base/of_examples.hpp"
#include "ops/linalg/host/matrix.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {

using namespace ops;
using std::int64_t;

namespace {

// --- L D L^H: pivots as LAPACK's sytf2 and hetf2 choose them, Bunch and Kaufman, 1977

template <class T>
struct indefinite {
  host_matrix<T> a;  // full; becomes l below the diagonal blocks of d
  int64_t* order;    // the row of x that each row of l comes from

  /// Where the step's pivot is, and whether it is a block of two.
  struct pivot {
    int64_t at;
    bool pair;
  };
  pivot choose(int64_t k) const {
    const double alpha = (1 + std::sqrt(17.0)) / 8, diagonal = size_of(a(k, k));
    int64_t below = k;
    double most = 0;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (const double s = size_of(a(i, k)); s > most) most = s, below = i;
    if (diagonal >= alpha * most) return {k, false};
    double along = 0;
    for (int64_t j = k; j < a.rows; ++j)
      if (j != below) along = std::max(along, size_of(a(below, j)));
    if (diagonal >= alpha * most * (most / along)) return {k, false};
    return {below, size_of(a(below, below)) < alpha * along};
  }
  /// Rows of all columns (those of l among them), columns from row k on: above is what nobody reads any more.
  void exchange(int64_t k, int64_t i, int64_t j) const {
    if (i == j) return;
    a.swap_rows(i, j);
    for (int64_t r = k; r < a.rows; ++r) std::swap(a(r, i), a(r, j));
    std::swap(order[i], order[j]);
  }
  /// The trailing matrix less l d l^H, of one column or two.
  void eliminate_one(int64_t k) const {
    const T d = a(k, k);
    if (d == T(0)) return;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      const T l = a(i, k) / d;
      for (int64_t j = k + 1; j < a.rows; ++j) a(i, j) -= l * a(k, j);
    }
    for (int64_t i = k + 1; i < a.rows; ++i) a(i, k) /= d;
  }
  void eliminate_two(int64_t k) const {
    const T p = a(k, k), q = a(k + 1, k + 1), e = a(k + 1, k), f = a(k, k + 1), det = p * q - e * f;
    for (int64_t i = k + 2; i < a.rows; ++i) {
      const T x = a(i, k), y = a(i, k + 1);
      const T l = (x * q - y * e) / det, m = (y * p - x * f) / det;
      for (int64_t j = k + 2; j < a.rows; ++j) a(i, j) -= l * a(k, j) + m * a(k + 1, j);
      a(i, k) = l;
      a(i, k + 1) = m;
    }
  }
  /// Marks in `pair_at` where blocks of two begin.
  void factor(std::vector<char>& pair_at) const {
    for (int64_t k = 0; k < a.rows;) {
      const pivot p = choose(k);
      if (p.pair) {
        exchange(k, k + 1, p.at);
        pair_at[static_cast<std::size_t>(k)] = 1;
        eliminate_two(k);
        k += 2;
      } else {
        exchange(k, k, p.at);
        eliminate_one(k);
        k += 1;
      }
    }
  }
};

/// One matrix; `x` is overwritten. The upper form is the lower one of the matrix with rows and columns reversed.
template <class T>
void factor_ldl(host_matrix<T> x, const linalg::ldl_kw& kw, host_matrix<T> lu, host_matrix<T> d, int64_t* perm) {
  const int64_t n = x.rows;
  const auto at = [&](int64_t i) { return kw.lower ? i : n - 1 - i; };
  std::vector<T> held(static_cast<std::size_t>(n * n));
  const host_matrix<T> a{held.data(), n, n};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      a(i, j) = x(at(i), at(j));
      if (i == j && kw.hermitian) a(i, j) = std::real(a(i, j));
      a(j, i) = kw.hermitian && i != j ? conj_of(a(i, j)) : a(i, j);
    }
  std::vector<int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::vector<char> pair_at(static_cast<std::size_t>(n + 1), 0);
  indefinite<T>{a, order.data()}.factor(pair_at);
  for (int64_t k = 0; k < n; ++k) {
    const bool first = pair_at[static_cast<std::size_t>(k)] != 0;
    d(at(k), at(k)) = kw.hermitian ? T(std::real(a(k, k))) : a(k, k);
    if (first) d(at(k + 1), at(k)) = a(k + 1, k), d(at(k), at(k + 1)) = a(k, k + 1);
    const int64_t from = k + (first ? 2 : 1);
    lu(at(order[static_cast<std::size_t>(k)]), at(k)) = 1;
    for (int64_t i = from; i < n; ++i) lu(at(order[static_cast<std::size_t>(i)]), at(k)) = a(i, k);
    perm[at(k)] = at(order[static_cast<std::size_t>(k)]);
  }
}

// --- QR with column pivoting: LAPACK's geqp3 without blocks

/// A reflection 1 - tau v v^H with v(0) = 1 that takes the column below (k, k) to a multiple of a unit vector: LAPACK's larfg.
/// The rest of v replaces the column.
template <class T>
T reflect(host_matrix<T> a, int64_t k) {
  double below = 0;
  for (int64_t i = k + 1; i < a.rows; ++i) below = std::hypot(below, std::abs(a(i, k)));
  const T alpha = a(k, k);
  if (below == 0 && std::imag(alpha) == 0) return T(0);
  const double length = std::hypot(std::abs(alpha), below), beta = std::real(alpha) >= 0 ? -length : length;
  const T tau = (beta - alpha) / beta, scale = T(1) / (alpha - beta);
  for (int64_t i = k + 1; i < a.rows; ++i) a(i, k) *= scale;
  a(k, k) = beta;
  return conj_of(tau);
}

/// Columns from `first` on less tau v (v^H column).
template <class T>
void apply(host_matrix<T> reflections, int64_t k, const T& tau, host_matrix<T> to, int64_t first) {
  std::vector<T> dots(static_cast<std::size_t>(to.columns));
  const auto v = [&](int64_t i) { return i == k ? T(1) : reflections(i, k); };
  for (int64_t i = k; i < to.rows; ++i)
    for (int64_t j = first; j < to.columns; ++j) dots[static_cast<std::size_t>(j)] += conj_of(v(i)) * to(i, j);
  for (int64_t i = k; i < to.rows; ++i)
    for (int64_t j = first; j < to.columns; ++j) to(i, j) -= v(i) * (tau * dots[static_cast<std::size_t>(j)]);
}

template <class T>
double length_below(host_matrix<T> a, int64_t k, int64_t j) {
  double length = 0;
  for (int64_t i = k; i < a.rows; ++i) length = std::hypot(length, std::abs(a(i, j)));
  return length;
}

/// a becomes r and the reflections below it; `taus` are those of q = h_0 h_1 ...
template <class T>
void factor_pivoted(host_matrix<T> a, T* taus, int64_t* pivots) {
  std::iota(pivots, pivots + a.columns, int64_t{0});
  std::vector<double> now(static_cast<std::size_t>(a.columns)), exact(now.size());
  for (int64_t j = 0; j < a.columns; ++j)
    now[static_cast<std::size_t>(j)] = exact[static_cast<std::size_t>(j)] = length_below(a, 0, j);
  const double enough = std::sqrt(std::numeric_limits<double>::epsilon());
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    const int64_t p = std::max_element(now.begin() + k, now.end()) - now.begin();
    a.swap_columns(k, p);
    std::swap(pivots[k], pivots[p]);
    now[static_cast<std::size_t>(p)] = now[static_cast<std::size_t>(k)];
    exact[static_cast<std::size_t>(p)] = exact[static_cast<std::size_t>(k)];
    const T tau = reflect(a, k);  // conjugated: h^H is applied
    apply(a, k, tau, a, k + 1);
    taus[k] = conj_of(tau);
    for (int64_t j = k + 1; j < a.columns; ++j) {
      double &length = now[static_cast<std::size_t>(j)], &last = exact[static_cast<std::size_t>(j)];
      if (length == 0) continue;
      const double part = std::abs(a(k, j)) / length, left = std::max(0.0, (1 + part) * (1 - part));
      const double ratio = length / last;
      if (left * ratio * ratio <= enough) length = last = length_below(a, k + 1, j);
      else length *= std::sqrt(left);
    }
  }
}

}  // namespace

linalg::ldl_result linalg::ldl(const ndarray& x, const ldl_kw& kw) {
  const auto again = [kw](std::span<const ndarray> o) {
    const ldl_result r = ldl(o[0], kw);
    return results_of(r.lu, r.d, r.perm);
  };
  if (auto r = intercept_mapped("ldl", {&x}, again)) return {(*r)[0], (*r)[1], (*r)[2]};
  const matrix_stack s = square_matrices_of(x, "ldl");
  const dtype type = linalg_dtype("ldl", {&x});
  return in_double(type, [&](auto zero) {
    using T = decltype(zero);
    host_stack<T> from("ldl", x.astype(type, false), s.count(), s.rows, s.rows), lu(s.count(), s.rows, s.rows),
        d(s.count(), s.rows, s.rows);
    host_stack<int64_t> perm(s.count(), 1, s.rows);
    for (int64_t k = 0; k < s.count(); ++k) factor_ldl(from[k], kw, lu[k], d[k], perm[k].first);
    const dims shape = s.with({s.rows, s.rows});
    return ldl_result{lu.array_of(shape, type, x), d.array_of(shape, type, x),
                      perm.array_of(s.with({s.rows}), dtype::i64, x)};
  });
}

linalg::pivoted_qr_result linalg::qr_pivoted(const ndarray& x, const qr_kw& kw) {
  if (kw.mode != "reduced" && kw.mode != "complete" && kw.mode != "r")
    fail<value_error>("qr_pivoted", "Unrecognized mode '", kw.mode, "'; it is reduced, complete or r");
  const auto again = [kw](std::span<const ndarray> o) {
    const pivoted_qr_result r = qr_pivoted(o[0], kw);
    return kw.mode == "r" ? results_of(r.r, r.p) : results_of(r.r, r.p, r.q);
  };
  if (auto r = intercept_mapped("qr_pivoted", {&x}, again))
    return {r->size() == 3 ? (*r)[2] : ndarray(), (*r)[0], (*r)[1]};
  const matrix_stack s = matrices_of(x, "qr_pivoted");
  const dtype type = linalg_dtype("qr_pivoted", {&x});
  const int64_t k = std::min(s.rows, s.columns), columns = kw.mode == "complete" ? s.rows : k;
  return in_double(type, [&](auto zero) {
    using T = decltype(zero);
    host_stack<T> a("qr_pivoted", x.astype(type, false), s.count(), s.rows, s.columns), q(s.count(), s.rows, columns),
        r(s.count(), columns, s.columns);
    host_stack<int64_t> p(s.count(), 1, s.columns);
    std::vector<T> taus(static_cast<std::size_t>(k));
    for (int64_t m = 0; m < s.count(); ++m) {
      factor_pivoted(a[m], taus.data(), p[m].first);
      for (int64_t i = 0; i < columns; ++i) {
        for (int64_t j = i; j < s.columns && i < k; ++j) r[m](i, j) = a[m](i, j);
        q[m](i, i) = 1;
      }
      for (int64_t i = k; i-- > 0;) apply(a[m], i, taus[static_cast<std::size_t>(i)], q[m], i);
    }
    pivoted_qr_result out{
        {}, r.array_of(s.with({columns, s.columns}), type, x), p.array_of(s.with({s.columns}), dtype::i64, x)};
    if (kw.mode != "r") out.q = q.array_of(s.with({s.rows, columns}), type, x);
    return out;
  });
}

}  // namespace sinter::inline v0
