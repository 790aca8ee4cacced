// Square roots and logarithms of matrices, of their Schur decompositions, on the host.
#include <algorithm>
#include <limits>
#include <optional>

#include "ops/base/of_examples.hpp"
#include "ops/base/at_call.hpp"
#include "ops/linalg/host/matrix.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;
using std::int64_t;

namespace {

using number = std::complex<double>;
using matrix = host_matrix<number>;
constexpr int64_t least_eigen = 12;  // rows, for which a call of LAPACK is worth it

/// The textbook product: the compiler's also looks for infinities, in five times the time.
number times(const number& a, const number& b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// A square matrix that owns its elements.
struct square_matrix {
  explicit square_matrix(int64_t n) : held(static_cast<std::size_t>(n * n)), m{held.data(), n, n} {}
  square_matrix(const square_matrix& o) : held(o.held), m{held.data(), o.m.rows, o.m.rows} {}
  square_matrix& operator=(const square_matrix& o) {
    held = o.held;
    m = {held.data(), o.m.rows, o.m.rows};
    return *this;
  }
  number& operator()(int64_t i, int64_t j) const noexcept { return m(i, j); }
  int64_t order() const noexcept { return m.rows; }
  std::vector<number> held;
  matrix m;
};

square_matrix one(int64_t n) {
  square_matrix x(n);
  for (int64_t i = 0; i < n; ++i) x(i, i) = 1;
  return x;
}
square_matrix product(const square_matrix& a, const square_matrix& b) {
  const int64_t n = a.order();
  square_matrix c(n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k) {
      const number f = a(i, k);
      if (f != 0.0)
        for (int64_t j = 0; j < n; ++j) c(i, j) += times(f, b(k, j));
    }
  return c;
}
square_matrix adjoint(const square_matrix& a) {
  square_matrix b(a.order());
  for (int64_t i = 0; i < a.order(); ++i)
    for (int64_t j = 0; j < a.order(); ++j) b(i, j) = std::conj(a(j, i));
  return b;
}

/// A rotation [c s; -conj(s) c] with real c that takes (a, b) to (r, 0).
struct rotation {
  double c = 1;
  number s;
  static rotation of(number a, number b) {
    if (b == 0.0) return {};
    const double length = std::hypot(std::abs(a), std::abs(b));
    if (a == 0.0) return {0, std::conj(b) / std::abs(b)};
    const number phase = a / std::abs(a);
    return {std::abs(a) / length, phase * std::conj(b) / length};
  }
  void rows(matrix m, int64_t k, int64_t first) const {
    for (int64_t j = first; j < m.columns; ++j) {
      const number x = m(k, j), y = m(k + 1, j);
      m(k, j) = c * x + times(s, y);
      m(k + 1, j) = c * y - times(std::conj(s), x);
    }
  }
  /// Its adjoint from the right.
  void columns(matrix m, int64_t k, int64_t behind) const {
    for (int64_t i = 0; i < behind; ++i) {
      const number x = m(i, k), y = m(i, k + 1);
      m(i, k) = c * x + times(std::conj(s), y);
      m(i, k + 1) = c * y - times(s, x);
    }
  }
};

/// t upper triangular and z unitary with x = z t z^H, by shifted QR steps on a Hessenberg matrix (Golub and Van Loan, Matrix
/// Computations, chapter 7).
struct schur {
  square_matrix t, z;
  const char* function;

  schur(const square_matrix& x, const char* name) : t(x), z(one(x.order())), function(name) {
    to_hessenberg();
    int64_t last = t.order() - 1;
    for (int steps = 0; last > 0; ++steps) {
      const int64_t first = start_of_block(last);
      if (first == last) {
        --last;
        steps = -1;
      } else {
        if (steps > 300) fail<linalg_error>(function, "the Schur decomposition does not converge");
        step(first, last, steps % 10 == 9);
      }
    }
    for (int64_t i = 1; i < t.order(); ++i)
      for (int64_t j = 0; j < i; ++j) t(i, j) = 0;
  }

 private:
  void to_hessenberg() {
    const int64_t n = t.order();
    for (int64_t j = 0; j + 2 < n; ++j)
      for (int64_t i = n - 1; i > j + 1; --i) {
        const rotation r = rotation::of(t(i - 1, j), t(i, j));
        r.rows(t.m, i - 1, j);
        t(i, j) = 0;
        r.columns(t.m, i - 1, n);
        r.columns(z.m, i - 1, n);
      }
  }
  /// The first row of the block that ends at `last`; subdiagonal elements that do not count become 0.
  int64_t start_of_block(int64_t last) {
    for (int64_t k = last; k > 0; --k) {
      double size = size_of(t(k, k)) + size_of(t(k - 1, k - 1));
      if (size == 0)
        for (const number& v : t.held) size = std::max(size, size_of(v));
      if (size_of(t(k, k - 1)) > std::numeric_limits<double>::epsilon() * size) continue;
      t(k, k - 1) = 0;
      return k;
    }
    return 0;
  }
  /// The eigenvalue of the last two rows that is nearer to the last element.
  number shift_of(int64_t last) const {
    const number a = t(last - 1, last - 1), b = t(last - 1, last), c = t(last, last - 1), d = t(last, last);
    const number half = (a - d) / 2.0, root = std::sqrt(half * half + b * c);
    const number near = std::abs(half + root) < std::abs(half - root) ? half + root : half - root;
    return d + near;
  }
  void step(int64_t first, int64_t last, bool unusual) {
    const number shift = unusual ? t(last, last) + std::abs(t(last, last - 1)) : shift_of(last);
    for (int64_t i = first; i <= last; ++i) t(i, i) -= shift;
    std::vector<rotation> turns;
    for (int64_t k = first; k < last; ++k) {
      turns.push_back(rotation::of(t(k, k), t(k + 1, k)));
      turns.back().rows(t.m, k, k);
      t(k + 1, k) = 0;
    }
    for (int64_t k = first; k < last; ++k) {
      const rotation& r = turns[static_cast<std::size_t>(k - first)];
      r.columns(t.m, k, std::min(k + 2, last + 1));
      r.columns(z.m, k, t.order());
    }
    for (int64_t i = first; i <= last; ++i) t(i, i) += shift;
  }
};

/// The square root of an upper triangular matrix (Bjorck and Hammarling, 1983); false where there is none.
bool triangular_root(const square_matrix& t, square_matrix& r) {
  const int64_t n = t.order();
  for (int64_t j = 0; j < n; ++j) {
    r(j, j) = std::sqrt(t(j, j));
    for (int64_t i = j; i-- > 0;) {
      number rest = t(i, j);
      for (int64_t k = i + 1; k < j; ++k) rest -= times(r(i, k), r(k, j));
      const number sum = r(i, i) + r(j, j);
      if (sum == 0.0 && rest != 0.0) return false;
      r(i, j) = rest == 0.0 ? number() : rest / sum;
    }
  }
  return true;
}

/// One column of the solution of (1 + c x) y = x for upper triangular x.
void add_solution(const square_matrix& x, double c, double weight, const square_matrix& to) {
  const int64_t n = x.order();
  std::vector<number> y(static_cast<std::size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j + 1; i-- > 0;) {
      number rest = x(i, j);
      for (int64_t k = i + 1; k <= j; ++k) rest -= c * times(x(i, k), y[static_cast<std::size_t>(k)]);
      y[static_cast<std::size_t>(i)] = rest / (1.0 + c * x(i, i));
      to(i, j) += weight * y[static_cast<std::size_t>(i)];
    }
  }
}

double distance_from_one(const square_matrix& t) {
  double most = 0;
  for (int64_t j = 0; j < t.order(); ++j) {
    double sum = 0;
    for (int64_t i = 0; i <= j; ++i) sum += std::abs(t(i, j) - (i == j ? 1.0 : 0.0));
    most = std::max(most, sum);
  }
  return most;
}

/// The logarithm of an upper triangular matrix: roots until it is near 1, then the Pade approximant of degree 8 as partial
/// fractions, which are Gauss and Legendre's quadrature (Higham, Functions of Matrices, 2008, section 11.4: good to the unit
/// roundoff up to a distance of 0.34). False where there is none.
bool triangular_logarithm(const square_matrix& given, square_matrix& result) {
  static constexpr double nodes[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  static constexpr double weights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  const int64_t n = given.order();
  for (int64_t i = 0; i < n; ++i)
    if (given(i, i) == 0.0) return false;
  square_matrix t = given;
  int roots = 0;
  for (; distance_from_one(t) > 0.25; ++roots) {
    square_matrix r(n);
    if (roots == 200 || !triangular_root(t, r)) return false;
    t = r;
  }
  for (int64_t i = 0; i < n; ++i) t(i, i) -= 1.0;
  result = square_matrix(n);
  for (int k = 0; k < 4; ++k)
    for (const double side : {-1.0, 1.0}) add_solution(t, 0.5 * (1 + side * nodes[k]), 0.5 * weights[k], result);
  for (number& v : result.held) v *= std::ldexp(1.0, roots);
  for (int64_t i = 0; i < n; ++i) result(i, i) = std::log(given(i, i));
  return true;
}

/// Of Hermitian matrices, all of a stack, by their eigenvectors: a tenth of the time. Nothing where one is not Hermitian, or where
/// the library for eigenvectors is not there.
std::optional<ndarray> of_eigenvalues(const ndarray& x, dtype wide, ndarray (*function)(const ndarray&)) try {
  if (x.shape(-1) < least_eigen || !may_look_at(value_of(x))) return std::nullopt;
  const ndarray full = x.astype(is_complex(x.dtype()) ? dtype::c128 : dtype::f64, false);
  if (!bool(all(equal(full, conj(matrix_transpose(full)))))) return std::nullopt;
  const auto [values, vectors] = linalg::eigh(full);
  const ndarray at = expand_dims(values, -2).astype(dtype::c128);
  return linalg::matmul(vectors * function(at), conj(matrix_transpose(vectors))).astype(wide, false);
} catch (const device_error&) {
  return std::nullopt;
}

/// A function of upper triangular matrices, of any.
ndarray of_schur(const char* function, const ndarray& x, bool (*triangular)(const square_matrix&, square_matrix&),
                 ndarray (*of_values)(const ndarray&)) {
  const matrix_stack s = square_matrices_of(x, function);
  const dtype type = linalg_dtype(function, {&x});
  const dtype wide = type == dtype::f32 || type == dtype::c64 ? dtype::c64 : dtype::c128;
  host_stack<number> all(function, x.astype(wide, false), s.count(), s.rows, s.rows);
  for (const number& v : all.elements)
    if (!std::isfinite(v.real()) || !std::isfinite(v.imag()))
      fail<linalg_error>(function, "elements that are not finite");
  if (const std::optional<ndarray> found = of_eigenvalues(x, wide, of_values)) return *found;
  for (int64_t k = 0; k < s.count(); ++k) {
    square_matrix m(s.rows), f(s.rows);
    const matrix place = all[k];
    std::copy_n(place.first, s.rows * s.rows, m.held.begin());
    const schur d(m, function);
    if (triangular(d.t, f)) f = product(product(d.z, f), adjoint(d.z));
    else std::fill(f.held.begin(), f.held.end(), number(std::nan(""), std::nan("")));
    std::copy(f.held.begin(), f.held.end(), place.first);
  }
  return all.array_of(s.with({s.rows, s.rows}), wide, x);
}

}  // namespace

ndarray linalg::sqrtm(const ndarray& x) {
  if (auto r = intercept_mapped("sqrtm", {&x}, [](std::span<const ndarray> o) { return results_of(sqrtm(o[0])); }))
    return (*r)[0];
  return of_schur("sqrtm", x, &triangular_root, [](const ndarray& values) { return sqrt(values); });
}
ndarray linalg::logm(const ndarray& x) {
  if (auto r = intercept_mapped("logm", {&x}, [](std::span<const ndarray> o) { return results_of(logm(o[0])); }))
    return (*r)[0];
  return of_schur("logm", x, &triangular_logarithm, [](const ndarray& values) {
    return where(all(not_equal(values, 0), -1, {.keepdims = true}), log(values), std::nan(""));
  });
}

}  // namespace sinter::inline v0
