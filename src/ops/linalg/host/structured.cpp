// Systems of banded and Toeplitz matrices, solved on the host.
#include <algorithm>

#include "core/shape.hpp"
#include "ops/base/of_examples.hpp"
#include "ops/linalg/host/matrix.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {

using namespace ops;
using std::int64_t;

namespace {

dims without_last(const dims& shape, int axes) {
  dims batch;
  for (int k = 0; k + axes < shape.size(); ++k) batch.push_back(shape[k]);
  return batch;
}

/// Stacks of systems, as SciPy counts them: b with one axis is a vector, else matrices (..., M, K); what is before broadcasts
/// with what stands before the axes that describe a matrix.
struct system_stack {
  const char* function;
  dims batch, core;  // of the solution
  dtype type;
  int64_t count() const { return core::element_count(batch); }
  dims shape() const { return joined(core); }
  /// An array whose last axes describe one matrix, or one right side, for every system.
  template <class T>
  host_stack<T> on_host(const ndarray& x, int axes) const {
    dims one;
    for (int k = x.ndim() - axes; k < x.ndim(); ++k) one.push_back(x.shape()[static_cast<std::size_t>(k)]);
    const ndarray all = broadcast_to(x.astype(type, false), to_shape(joined(one)));
    return {function, all, count(), axes == 2 ? one[0] : 1, one[axes - 1]};
  }
  template <class T>
  host_stack<T> right_sides(const ndarray& b) const {
    host_stack<T> sides = on_host<T>(b, core.size());
    if (core.size() == 1) std::swap(sides.rows, sides.columns);
    return sides;
  }

 private:
  dims joined(const dims& last) const {
    dims all = batch;
    for (const int64_t extent : last) all.push_back(extent);
    return all;
  }
};

/// `matrices` is the shape of what describes them, with `axes` axes for each.
system_stack systems_of(const dims& matrices, int axes, const ndarray& b, int64_t rows, dtype type,
                        const char* function) {
  const dims shape = view_of(b, function).shape;
  if (shape.empty()) fail<shape_error>(function, "b is a vector or matrices, not of shape ", shape);
  const int own = std::min(shape.size(), 2), from = shape.size() - own;
  if (shape[from] != rows) fail<shape_error>(function, "b of shape ", shape, " for matrices of order ", rows);
  system_stack s{function, without_last(matrices, axes), {}, type};
  for (int k = from; k < shape.size(); ++k) s.core.push_back(shape[k]);
  if (!core::broadcast_into(s.batch, without_last(shape, own)))
    fail<shape_error>(function, "stacks of shapes ", matrices, " and ", shape, " do not broadcast");
  return s;
}

void subtract_row(auto b, int64_t from, int64_t factor_row, const auto& factor) {
  for (int64_t k = 0; k < b.columns; ++k) b(from, k) -= factor * b(factor_row, k);
}

// --- banded

/// Rows of a band: element (i, j) for i - lower <= j <= i + upper + lower (row exchanges fill in).
template <class T>
struct band {
  int64_t order, lower, upper;
  std::vector<T> held = std::vector<T>(static_cast<std::size_t>(order * width()));
  int64_t width() const noexcept { return 2 * lower + upper + 1; }
  T& at(int64_t i, int64_t j) noexcept { return held[static_cast<std::size_t>(i * width() + j - i + lower)]; }
  int64_t last_of(int64_t i) const noexcept { return std::min(order - 1, i + upper + lower); }
};

template <class T>
void eliminate(band<T>& a, host_matrix<T> b) {
  for (int64_t k = 0; k < a.order; ++k) {
    const int64_t below = std::min(a.order - 1, k + a.lower), last = std::min(a.order - 1, k + a.upper + a.lower);
    int64_t p = k;
    for (int64_t i = k + 1; i <= below; ++i)
      if (size_of(a.at(i, k)) > size_of(a.at(p, k))) p = i;
    if (a.at(p, k) == T(0)) fail<linalg_error>("solve_banded", "Singular matrix");
    if (p != k) {
      for (int64_t j = k; j <= last; ++j) std::swap(a.at(k, j), a.at(p, j));
      b.swap_rows(k, p);
    }
    for (int64_t i = k + 1; i <= below; ++i) {
      const T factor = a.at(i, k) / a.at(k, k);
      if (factor == T(0)) continue;
      for (int64_t j = k + 1; j <= last; ++j) a.at(i, j) -= factor * a.at(k, j);
      subtract_row(b, i, k, factor);
    }
  }
  for (int64_t i = a.order; i-- > 0;) {
    for (int64_t j = i + 1; j <= a.last_of(i); ++j) subtract_row(b, i, j, a.at(i, j));
    for (int64_t k = 0; k < b.columns; ++k) b(i, k) /= a.at(i, i);
  }
}

/// l l^H = a in place; element (i, j), i >= j, of a banded triangle.
template <class T>
void factor_cholesky(band<T>& a) {
  for (int64_t j = 0; j < a.order; ++j) {
    double square = std::real(a.at(j, j));
    for (int64_t k = std::max<int64_t>(0, j - a.lower); k < j; ++k) square -= std::norm(a.at(j, k));
    if (!(square > 0)) fail<linalg_error>("solveh_banded", "Matrix is not positive definite");
    const double root = std::sqrt(square);
    a.at(j, j) = root;
    for (int64_t i = j + 1; i <= std::min(a.order - 1, j + a.lower); ++i) {
      T sum = a.at(i, j);
      for (int64_t k = std::max<int64_t>(0, i - a.lower); k < j; ++k) sum -= a.at(i, k) * conj_of(a.at(j, k));
      a.at(i, j) = sum / root;
    }
  }
}

template <class T>
void solve_cholesky(band<T>& l, host_matrix<T> b) {
  for (int64_t i = 0; i < l.order; ++i) {
    for (int64_t j = std::max<int64_t>(0, i - l.lower); j < i; ++j) subtract_row(b, i, j, l.at(i, j));
    for (int64_t k = 0; k < b.columns; ++k) b(i, k) /= l.at(i, i);
  }
  for (int64_t i = l.order; i-- > 0;) {
    for (int64_t j = i + 1; j <= std::min(l.order - 1, i + l.lower); ++j) subtract_row(b, i, j, conj_of(l.at(j, i)));
    for (int64_t k = 0; k < b.columns; ++k) b(i, k) /= l.at(i, i);
  }
}

dims band_shape(const ndarray& ab, const char* function) {
  const dims shape = view_of(ab, function).shape;
  if (shape.size() < 2) fail<shape_error>(function, "ab is a matrix of diagonals, or some, not of shape ", shape);
  return shape;
}

// --- Toeplitz

/// Diagonals t(i - j) = diagonal[i - j + order - 1].
template <class T>
struct toeplitz_matrix {
  int64_t order;
  std::vector<T> diagonal;
  const T& operator()(int64_t k) const noexcept { return diagonal[static_cast<std::size_t>(k + order - 1)]; }
};

[[noreturn]] void refuse_minor(int64_t order) {
  fail<linalg_error>("solve_toeplitz", "the leading matrix of order ", order, " is singular");
}

/// Levinson's recursion: `forward` and `backward` solve the leading systems of the first and the last unit vector.
template <class T>
void solve_levinson(const toeplitz_matrix<T>& t, host_matrix<T> b) {
  if (t.order == 0) return;
  if (t(0) == T(0)) refuse_minor(1);
  std::vector<T> forward{T(1) / t(0)}, backward = forward, longer_forward, longer_backward;
  for (int64_t k = 0; k < b.columns; ++k) b(0, k) /= t(0);
  for (int64_t n = 1; n < t.order; ++n) {
    const auto size = static_cast<std::size_t>(n);
    T below = 0, above = 0;
    for (std::size_t i = 0; i < size; ++i) {
      below += t(n - static_cast<int64_t>(i)) * forward[i];
      above += t(-static_cast<int64_t>(i) - 1) * backward[i];
    }
    const T rest = T(1) - below * above;
    if (rest == T(0)) refuse_minor(n + 1);
    longer_forward.assign(size + 1, T(0));
    longer_backward.assign(size + 1, T(0));
    for (std::size_t i = 0; i < size; ++i) {
      longer_forward[i] += forward[i] / rest;
      longer_forward[i + 1] -= below / rest * backward[i];
      longer_backward[i + 1] += backward[i] / rest;
      longer_backward[i] -= above / rest * forward[i];
    }
    forward.swap(longer_forward);
    backward.swap(longer_backward);
    for (int64_t k = 0; k < b.columns; ++k) {
      T missing = b(n, k);
      for (int64_t i = 0; i < n; ++i) missing -= t(n - i) * b(i, k);
      b(n, k) = 0;
      for (int64_t i = 0; i <= n; ++i) b(i, k) += missing * backward[static_cast<std::size_t>(i)];
    }
  }
}

}  // namespace

ndarray linalg::solve_banded(std::pair<int64_t, int64_t> diagonals, const ndarray& ab, const ndarray& b) {
  const int64_t lower = diagonals.first, upper = diagonals.second;
  const dims shape = band_shape(ab, "solve_banded");
  const int64_t held = shape[shape.size() - 2], order = shape[shape.size() - 1];
  if (lower < 0 || upper < 0) fail<value_error>("solve_banded", "{", lower, ", ", upper, "} diagonals");
  if (lower >= held || upper >= held || lower + upper + 1 != held)
    fail<shape_error>("solve_banded", "{", lower, ", ", upper, "} diagonals are not in ab of shape ", shape);
  const dtype type = linalg_dtype("solve_banded", {&ab, &b});
  const auto again = [diagonals](std::span<const ndarray> o) {
    return results_of(solve_banded(diagonals, o[0], o[1]));
  };
  if (auto r = intercept_mapped("solve_banded", {&ab, &b}, again)) return (*r)[0];
  common_device(ab, b, "solve_banded");
  const system_stack all = systems_of(shape, 2, b, order, type, "solve_banded");
  return in_double(type, [&](auto zero) {
    using T = decltype(zero);
    host_stack<T> sides = all.right_sides<T>(b), from = all.on_host<T>(ab, 2);
    for (int64_t k = 0; k < all.count(); ++k) {
      band<T> a{order, std::min(lower, order), std::min(upper, order)};
      for (int64_t i = 0; i < order; ++i)
        for (int64_t j = std::max<int64_t>(0, i - a.lower); j <= std::min(order - 1, i + a.upper); ++j)
          a.at(i, j) = from[k](upper + i - j, j);
      eliminate(a, sides[k]);
    }
    return sides.array_of(all.shape(), type, b);
  });
}

ndarray linalg::solveh_banded(const ndarray& ab, const ndarray& b, const solveh_banded_kw& kw) {
  const dims shape = band_shape(ab, "solveh_banded");
  const int64_t held = shape[shape.size() - 2], order = shape[shape.size() - 1];
  if (held == 0) fail<shape_error>("solveh_banded", "ab of shape ", shape, " has no diagonal");
  const dtype type = linalg_dtype("solveh_banded", {&ab, &b});
  const auto again = [kw](std::span<const ndarray> o) { return results_of(solveh_banded(o[0], o[1], kw)); };
  if (auto r = intercept_mapped("solveh_banded", {&ab, &b}, again)) return (*r)[0];
  common_device(ab, b, "solveh_banded");
  const system_stack all = systems_of(shape, 2, b, order, type, "solveh_banded");
  return in_double(type, [&](auto zero) {
    using T = decltype(zero);
    host_stack<T> sides = all.right_sides<T>(b), from = all.on_host<T>(ab, 2);
    for (int64_t k = 0; k < all.count(); ++k) {
      band<T> a{order, std::min(held - 1, order), 0};
      for (int64_t i = 0; i < order; ++i)
        for (int64_t j = std::max<int64_t>(0, i - a.lower); j <= i; ++j)
          a.at(i, j) = kw.lower ? from[k](i - j, j) : conj_of(from[k](held - 1 + j - i, i));
      factor_cholesky(a);
      solve_cholesky(a, sides[k]);
    }
    return sides.array_of(all.shape(), type, b);
  });
}

ndarray linalg::solve_toeplitz(const std::pair<ndarray, ndarray>& c_and_r, const ndarray& b) {
  const ndarray &c = c_and_r.first, &r = c_and_r.second;
  dims batch = view_of(c, "solve_toeplitz").shape;
  const dims rows = view_of(r, "solve_toeplitz").shape;
  if (batch.empty() || rows.empty() || batch[batch.size() - 1] != rows[rows.size() - 1])
    fail<shape_error>("solve_toeplitz", "c of shape ", batch, " and r of shape ", rows, " make no square matrices");
  if (!core::broadcast_into(batch, rows))
    fail<shape_error>("solve_toeplitz", "c of shape ", c.shape(), " and r of shape ", rows, " do not broadcast");
  const int64_t order = rows[rows.size() - 1];
  const dtype type = linalg_dtype("solve_toeplitz", {&c, &r, &b});
  const auto again = [](std::span<const ndarray> o) { return results_of(solve_toeplitz({o[0], o[1]}, o[2])); };
  if (auto found = intercept_mapped("solve_toeplitz", {&c, &r, &b}, again)) return (*found)[0];
  common_device(c, r, "solve_toeplitz");
  common_device(c, b, "solve_toeplitz");
  const system_stack all = systems_of(batch, 1, b, order, type, "solve_toeplitz");
  return in_double(type, [&](auto zero) {
    using T = decltype(zero);
    host_stack<T> sides = all.right_sides<T>(b), columns = all.on_host<T>(c, 1), firsts = all.on_host<T>(r, 1);
    for (int64_t k = 0; order > 0 && k < all.count(); ++k) {
      toeplitz_matrix<T> t{order, std::vector<T>(firsts[k].first, firsts[k].first + order)};
      std::reverse(t.diagonal.begin(), t.diagonal.end());
      t.diagonal.pop_back();
      t.diagonal.insert(t.diagonal.end(), columns[k].first, columns[k].first + order);
      solve_levinson(t, sides[k]);
    }
    return sides.array_of(all.shape(), type, b);
  });
}
ndarray linalg::solve_toeplitz(const ndarray& c, const ndarray& b) {
  return solve_toeplitz({c, is_complex(view_of(c, "solve_toeplitz").type) ? conj(c) : c}, b);
}

}  // namespace sinter::inline v0
