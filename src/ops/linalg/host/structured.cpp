// Systems of banded and Toeplitz matrices, solved on the host.
#include <algorithm>

#include "ops/linalg/host/matrix.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {

using namespace ops;
using std::int64_t;

namespace {

/// Right sides (M, K) on the host, and the shape and dtype of the solution.
template <class T>
struct sides {
  host_stack<T> stack;
  dims shape;
  dtype type;
  host_matrix<T> matrix() { return stack[0]; }
  ndarray solution() const { return stack.array_of(shape, type, like); }
  ndarray like;
};

template <class T>
sides<T> sides_of(const ndarray& b, int64_t rows, dtype type, const char* function) {
  const dims shape = view_of(b, function).shape;
  if (shape.size() != 1 && shape.size() != 2)
    fail<shape_error>(function, "b is a vector or a matrix, not of shape ", shape);
  if (shape[0] != rows) fail<shape_error>(function, "b of shape ", shape, " for a matrix of order ", rows);
  const int64_t columns = shape.size() == 1 ? 1 : shape[1];
  return {host_stack<T>(b.astype(type, false), 1, rows, columns), shape, type, b};
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
  if (shape.size() != 2) fail<shape_error>(function, "ab is a matrix of diagonals, not of shape ", shape);
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
  if (lower < 0 || upper < 0) fail<value_error>("solve_banded", "{", lower, ", ", upper, "} diagonals");
  if (lower >= shape[0] || upper >= shape[0] || lower + upper + 1 != shape[0])
    fail<shape_error>("solve_banded", "{", lower, ", ", upper, "} diagonals are not in ab of shape ", shape);
  const dtype type = linalg_dtype("solve_banded", {&ab, &b});
  common_device(ab, b, "solve_banded");
  return in_double(type, [&](auto zero) {
    using T = decltype(zero);
    sides<T> right = sides_of<T>(b, shape[1], type, "solve_banded");
    host_stack<T> from(ab.astype(type, false), 1, shape[0], shape[1]);
    band<T> a{shape[1], std::min(lower, shape[1]), std::min(upper, shape[1])};
    for (int64_t i = 0; i < a.order; ++i)
      for (int64_t j = std::max<int64_t>(0, i - a.lower); j <= std::min(a.order - 1, i + a.upper); ++j)
        a.at(i, j) = from[0](upper + i - j, j);
    eliminate(a, right.matrix());
    return right.solution();
  });
}

ndarray linalg::solveh_banded(const ndarray& ab, const ndarray& b, const solveh_banded_kw& kw) {
  const dims shape = band_shape(ab, "solveh_banded");
  if (shape[0] == 0) fail<shape_error>("solveh_banded", "ab of shape ", shape, " has no diagonal");
  const dtype type = linalg_dtype("solveh_banded", {&ab, &b});
  common_device(ab, b, "solveh_banded");
  return in_double(type, [&](auto zero) {
    using T = decltype(zero);
    sides<T> right = sides_of<T>(b, shape[1], type, "solveh_banded");
    host_stack<T> from(ab.astype(type, false), 1, shape[0], shape[1]);
    band<T> a{shape[1], std::min(shape[0] - 1, shape[1]), 0};
    for (int64_t i = 0; i < a.order; ++i)
      for (int64_t j = std::max<int64_t>(0, i - a.lower); j <= i; ++j)
        a.at(i, j) = kw.lower ? from[0](i - j, j) : conj_of(from[0](shape[0] - 1 + j - i, i));
    factor_cholesky(a);
    solve_cholesky(a, right.matrix());
    return right.solution();
  });
}

ndarray linalg::solve_toeplitz(const std::pair<ndarray, ndarray>& c_and_r, const ndarray& b) {
  const ndarray c = ravel(c_and_r.first), r = ravel(c_and_r.second);
  if (c.size() != r.size())
    fail<shape_error>("solve_toeplitz", "c of shape ", c.shape(), " and r of shape ", r.shape(),
                      " make no square matrix");
  const dtype type = linalg_dtype("solve_toeplitz", {&c, &r, &b});
  common_device(c, r, "solve_toeplitz");
  common_device(c, b, "solve_toeplitz");
  return in_double(type, [&](auto zero) {
    using T = decltype(zero);
    sides<T> right = sides_of<T>(b, c.size(), type, "solve_toeplitz");
    toeplitz_matrix<T> t{c.size(), r.astype(type, false).template to_vector<T>()};
    std::reverse(t.diagonal.begin(), t.diagonal.end());
    const std::vector<T> column = c.astype(type, false).template to_vector<T>();
    if (!t.diagonal.empty()) t.diagonal.pop_back();
    t.diagonal.insert(t.diagonal.end(), column.begin(), column.end());
    solve_levinson(t, right.matrix());
    return right.solution();
  });
}
ndarray linalg::solve_toeplitz(const ndarray& c, const ndarray& b) {
  return solve_toeplitz({c, is_complex(view_of(c, "solve_toeplitz").type) ? conj(c) : c}, b);
}

}  // namespace sinter::inline v0
