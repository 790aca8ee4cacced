// The matrix exponential by Pade approximants: one degree for the whole batch; each matrix has its own power of two for
// scaling and squaring.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "ops/base/of_examples.hpp"
#include "ops/base/type_rules.hpp"
#include "ops/linalg/solver_calls.hpp"
#include "sinter/creation.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;
using std::int64_t;

namespace {

/// The approximants (Higham, The Scaling and Squaring Method for the Matrix Exponential Revisited, 2005, table 2.3; for
/// float32 table 2.2). If a bound on the size of a matrix is at most `theta`, the backward error is below the unit
/// roundoff.
struct approximant {
  int degree;
  double theta;
  std::span<const double> b;  // of the numerator; the denominator has the same with alternating signs
};

constexpr double b3[] = {120, 60, 12, 1}, b5[] = {30240, 15120, 3360, 420, 30, 1},
                 b7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1},
                 b9[] = {17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1},
                 b13[] = {64764752532480000,
                          32382376266240000,
                          7771770303897600,
                          1187353796428800,
                          129060195264000,
                          10559470521600,
                          670442572800,
                          33522128640,
                          1323241920,
                          40840800,
                          960960,
                          16380,
                          182,
                          1};

std::vector<approximant> approximants_for(dtype t) {
  if (t == dtype::f32 || t == dtype::c64)
    return {{3, 4.258730016922831e-1, b3}, {5, 1.880152677804762, b5}, {7, 3.925724783138660, b7}};
  return {{3, 1.495585217958292e-2, b3},
          {5, 2.539398330063230e-1, b5},
          {7, 9.504178996162932e-1, b7},
          {9, 2.097847961257068, b9},
          {13, 4.25, b13}};
}

constexpr int highest_power = 27;  // 2 * 13 + 1

/// Per matrix, on the host: the quantities from which Al-Mohy and Higham choose degree and scaling.
struct sizes {
  double norm = 0, d4 = 0, d6 = 0, d8 = 0, d10 = 0;
  double log_of_power[highest_power + 1] = {};  // log2 of the norm of (|a| / norm)^p, p = 7, 11, 15, 19, 27

  /// The same for the matrix times a factor.
  sizes times(double f) const {
    sizes s = *this;
    for (double* d : {&s.norm, &s.d4, &s.d6, &s.d8, &s.d10}) *d *= f;
    return s;
  }
};

struct powers {
  ndarray a, a2, a4, a6, a8, a10;
};

ndarray norm_1(const ndarray& x) { return max(sum(absolute(x), -2), -1); }

powers powers_of(const ndarray& a) {
  const ndarray a2 = matmul(a, a), a4 = matmul(a2, a2), a6 = matmul(a4, a2);
  return {a, a2, a4, a6, matmul(a4, a4), matmul(a4, a6)};
}

std::vector<sizes> sizes_of(const powers& p) {
  const ndarray norm = norm_1(p.a);
  const ndarray unit = absolute(p.a) / expand_dims(where(equal(norm, 0), 1, norm), axes{-1, -2});
  std::vector<ndarray> asked{norm, norm_1(p.a4), norm_1(p.a6), norm_1(p.a8), norm_1(p.a10)};
  // For a nonnegative matrix, the 1-norm of a power is the largest element of a row of ones times the power.
  ndarray row = sum(unit, -2);
  for (int k = 2; k <= highest_power; ++k) {
    row = vecmat(row, unit);
    if (k == 7 || k == 11 || k == 15 || k == 19 || k == 27) asked.push_back(max(row, -1));
  }
  for (ndarray& x : asked) x = reshape(x.astype(float64), {-1});
  const std::vector<double> numbers = stack(asked, 1).to_vector<double>();
  std::vector<sizes> all(numbers.size() / asked.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const double* n = numbers.data() + k * asked.size();
    sizes& s = all[k];
    s.norm = n[0], s.d4 = std::pow(n[1], 1.0 / 4), s.d6 = std::pow(n[2], 1.0 / 6);
    s.d8 = std::pow(n[3], 1.0 / 8), s.d10 = std::pow(n[4], 1.0 / 10);
    int at = 5;
    for (const int p_k : {7, 11, 15, 19, 27}) s.log_of_power[p_k] = std::log2(n[at++]);
  }
  return all;
}

/// log2 of binomial(2m, m) (2m + 1)!, the reciprocal of the first coefficient that an approximant omits.
double log_of_coefficient(int m) {
  // std::lgamma writes the sign to a global variable, which is a data race between threads.
  const auto log_gamma = [](double x) {
    int sign;
    return ::lgamma_r(x, &sign);
  };
  const double logarithm = log_gamma(2.0 * m + 1) - 2 * log_gamma(m + 1.0) + log_gamma(2.0 * m + 2);
  return logarithm / std::log(2.0);
}

/// Additional halvings for the terms that the bounds on norms of powers do not cover.
int further_halvings(const sizes& s, int m, int halvings, double log_of_unit) {
  if (s.norm == 0) return 0;
  const double p = s.log_of_power[2 * m + 1];
  const double alpha = p + 2.0 * m * (std::log2(s.norm) - halvings) - log_of_coefficient(m);
  const double more = std::ceil((alpha - log_of_unit) / (2.0 * m));
  return more > 0 ? static_cast<int>(more) : 0;
}

double size_for(const sizes& s, int degree) {
  if (degree <= 5) return std::max(s.d4, s.d6);
  const double size = std::max(s.d6, s.d8);
  return degree < 13 ? size : std::min(size, std::max(s.d8, s.d10));
}

int halvings_for(const sizes& s, const approximant& a, double log_of_unit) {
  const double size = size_for(s, a.degree) / a.theta;
  const int halvings = size > 1 ? static_cast<int>(std::ceil(std::log2(size))) : 0;
  return halvings + further_halvings(s, a.degree, halvings, log_of_unit);
}

/// The cheapest approximant that needs no scaling, else the last one, and the number of halvings of each matrix.
struct choice_of {
  approximant with;
  std::vector<int> halvings;
};

choice_of choose(const std::vector<sizes>& all, dtype type) {
  const double log_of_unit = type == dtype::f32 || type == dtype::c64 ? -24 : -53;
  choice_of c;
  for (const approximant& a : approximants_for(type)) {
    c.with = a;
    c.halvings.clear();
    for (const sizes& s : all) c.halvings.push_back(halvings_for(s, a, log_of_unit));
    if (*std::max_element(c.halvings.begin(), c.halvings.end()) == 0) break;
  }
  return c;
}

/// b[first] 1 + b[first + 2] a^2 + b[first + 4] a^4 + ...
ndarray even_part(const powers& p, std::span<const double> b, std::size_t first, const ndarray& one) {
  const ndarray* even[] = {&one, &p.a2, &p.a4, &p.a6, &p.a8};
  ndarray total = b[first] * one;
  for (std::size_t k = 1; first + 2 * k < b.size() && k < 5; ++k) total = total + b[first + 2 * k] * *even[k];
  return total;
}

/// Degree 13 needs higher even powers than are computed; they are factored through a^6.
ndarray even_part_13(const powers& p, std::size_t first, const ndarray& one) {
  const ndarray low = b13[first] * one + b13[first + 2] * p.a2 + b13[first + 4] * p.a4 + b13[first + 6] * p.a6;
  const ndarray high = b13[first + 8] * p.a2 + b13[first + 10] * p.a4 + b13[first + 12] * p.a6;
  return matmul(p.a6, high) + low;
}

ndarray approximated(const powers& p, const approximant& with, const ndarray& one) {
  const bool high = with.degree == 13;
  const ndarray odd = matmul(p.a, high ? even_part_13(p, 1, one) : even_part(p, with.b, 1, one));
  const ndarray even = high ? even_part_13(p, 0, one) : even_part(p, with.b, 0, one);
  return linalg::solve(even - odd, even + odd);
}

powers scaled(const powers& p, const ndarray& by) {
  const ndarray two = by * by, four = two * two;
  return {p.a * by, p.a2 * two, p.a4 * four, p.a6 * (two * four), p.a8 * (four * four), p.a10};
}

/// One number per matrix, with axes for rows and columns.
template <class T>
ndarray for_each_matrix(const std::vector<T>& numbers, const matrix_stack& s, dtype type, const ndarray& like) {
  const ndarray flat = array(numbers, {.dtype = type, .device = like.device()});
  return reshape(flat, to_shape(s.with({1, 1})));
}

ndarray squared(ndarray x, const std::vector<int>& times, const matrix_stack& s) {
  const int most = *std::max_element(times.begin(), times.end());
  const bool alike = std::all_of(times.begin(), times.end(), [&](int n) { return n == most; });
  const ndarray wanted = alike ? ndarray() : for_each_matrix(times, s, int32, x);
  for (int k = 0; k < most; ++k) x = alike ? matmul(x, x) : where(greater(wanted, k), matmul(x, x), x);
  return x;
}

ndarray times_powers_of_two(const ndarray& x, const std::vector<int>& exponents, const matrix_stack& s) {
  std::vector<double> factors;
  for (const int n : exponents) factors.push_back(std::ldexp(1.0, n));
  return x * for_each_matrix(factors, s, ops::real_of(x.dtype()), x);
}

/// The exponential of finite matrices with the given norms.
ndarray exponential(const ndarray& x, const std::vector<double>& norms, const matrix_stack& s) {
  // Powers of matrices with norms up to 1 do not overflow.
  std::vector<int> shifts;
  for (const double n : norms) shifts.push_back(n > 1 ? static_cast<int>(std::ceil(std::log2(n))) : 0);
  const bool shifted = *std::max_element(shifts.begin(), shifts.end()) > 0;
  std::vector<int> back;
  for (const int n : shifts) back.push_back(-n);
  const powers p = powers_of(shifted ? times_powers_of_two(x, back, s) : x);
  std::vector<sizes> all = sizes_of(p);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = all[k].times(std::ldexp(1.0, shifts[k]));

  const choice_of c = choose(all, x.dtype());
  std::vector<int> exponents;
  for (std::size_t k = 0; k < all.size(); ++k) exponents.push_back(shifts[k] - c.halvings[k]);
  const bool changed = std::any_of(exponents.begin(), exponents.end(), [](int n) { return n != 0; });
  const ndarray one = eye(s.rows, {.dtype = x.dtype(), .device = x.device()});
  const ndarray unit = ones(to_shape(s.with({1, 1})), {.dtype = ops::real_of(x.dtype()), .device = x.device()});
  const powers used = changed ? scaled(p, times_powers_of_two(unit, exponents, s)) : p;
  return squared(approximated(used, c.with, one), c.halvings, s);
}

}  // namespace

ndarray linalg::expm(const ndarray& x) {
  const matrix_stack s = square_matrices_of(x, "expm");
  const ndarray a = x.astype(linalg_dtype("expm", {&x}), false);
  if (s.empty()) return a.copy();
  if (s.rows == 1) return exp(a);
  if (auto r = intercept_mapped("expm", {&x}, [](std::span<const ndarray> o) { return results_of(expm(o[0])); }))
    return (*r)[0];
  std::vector<double> norms = reshape(norm_1(a), {-1}).to_vector<double>();
  std::vector<std::int8_t> bad;
  for (double& n : norms) {
    bad.push_back(!std::isfinite(n));
    if (bad.back()) n = 0;
  }
  if (std::find(bad.begin(), bad.end(), 1) == bad.end()) return exponential(a, norms, s);
  const ndarray not_finite = for_each_matrix(bad, s, bool_, a);
  return where(not_finite, std::numeric_limits<double>::quiet_NaN(), exponential(where(not_finite, 0, a), norms, s));
}

}  // namespace sinter::inline v0
