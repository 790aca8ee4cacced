// Shared by the tests of linear algebra: whether there is a library to test, matrices, and residuals in the units of
// LAPACK's own tests.
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"

namespace sinter::test {

/// Whether a case must be skipped since no LAPACK or BLAS library can be used; prints the reason.
inline bool no_solvers() {
  static const std::string why = [] {
    try {
      eval(matmul(linalg::solve(eye(2), ones({2, 2})), ones({2, 2})));
    } catch (const device_error& e) {
      return std::string(e.what());
    }
    return std::string();
  }();
  if (!why.empty()) MESSAGE("left out: " << why);
  return !why.empty();
}

inline const dtype solver_types[] = {float32, float64, complex64, complex128};

inline double eps_of(dtype t) {
  return t == float32 || t == complex64 ? std::numeric_limits<float>::epsilon()
                                        : std::numeric_limits<double>::epsilon();
}
inline dtype real_type(dtype t) { return t == float32 || t == complex64 ? float32 : float64; }
inline dtype complex_type(dtype t) { return t == float32 || t == complex64 ? complex64 : complex128; }

/// Normally distributed numbers, the same in every run.
inline ndarray normal(const shape_t& shape, dtype t, unsigned seed) {
  std::mt19937_64 random(seed);
  std::int64_t count = 1;
  for (const auto n : shape) count *= n;
  std::vector<std::complex<double>> x(static_cast<std::size_t>(count));
  // Not std::normal_distribution, whose numbers depend on the implementation.
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  for (auto& v : x) {
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = 6.283185307179586 * uniform();
    v = {radius * std::cos(angle), is_complex(t) ? radius * std::sin(angle) : 0.0};
  }
  const ndarray all = reshape(array(x), shape);
  return (is_complex(t) ? all : real(all)).astype(t);
}

/// x and its conjugated transpose in the widest type of its kind, so that the rounding of checks is negligible.
inline ndarray wide(const ndarray& x) { return x.astype(is_complex(x.dtype()) ? complex128 : float64); }
inline ndarray adjoint(const ndarray& x) { return is_complex(x.dtype()) ? conj(x.mT()) : x.mT(); }

/// The largest 1-norm of the matrices.
inline double norm_1(const ndarray& x) {
  if (x.size() == 0) return 0;
  return max(sum(absolute(wide(x)), -2)).item<double>();
}

/// Largest ||x - y|| / (n eps size); as in LAPACK's tests it must be less than 30.
inline double ratio(const ndarray& x, const ndarray& y, double size, std::int64_t n, dtype t) {
  const double error = norm_1(wide(x) - wide(y));
  return size == 0 ? (error == 0 ? 0 : 1e300) : error / (static_cast<double>(n) * eps_of(t) * size);
}
constexpr double allowed_ratio = 30;

/// ||q^H q - 1||.
inline double orthogonality(const ndarray& q, dtype t) {
  const ndarray w = wide(q);
  if (w.size() == 0) return 0;
  return ratio(matmul(adjoint(w), w), eye(w.shape(-1)), 1, w.shape(-2), t);
}

inline ndarray hermitian(const shape_t& shape, dtype t, unsigned seed) {
  const ndarray x = normal(shape, t, seed);
  return (x + adjoint(x)) * 0.5;
}
inline ndarray positive_definite(const shape_t& shape, dtype t, unsigned seed) {
  const ndarray x = normal(shape, t, seed);
  return (matmul(x, adjoint(x)) + eye(x.shape(-1)) * static_cast<double>(x.shape(-1))).astype(t);
}

/// Shapes of matrices: small ones, those around the sizes at which libraries change their algorithms, tall, wide,
/// stacked.
inline std::vector<shape_t> square_shapes() {
  return {{1, 1},    {2, 2},       {3, 3},     {31, 31},    {32, 32},    {33, 33},
          {4, 3, 3}, {2, 3, 5, 5}, {40, 8, 8}, {3, 33, 33}, {1, 1, 6, 6}};
}
inline std::vector<shape_t> rectangular_shapes() {
  return {{5, 3},   {3, 5},   {1, 4},    {4, 1},    {33, 7},        {7, 33},
          {64, 32}, {32, 65}, {4, 6, 2}, {4, 2, 6}, {2, 2, 31, 33}, {5, 40, 33}};
}
inline std::vector<shape_t> all_shapes() {
  auto list = square_shapes();
  for (const auto& s : rectangular_shapes()) list.push_back(s);
  return list;
}

inline std::string described(const shape_t& shape, dtype t) { return std::string(name(t)) + to_string(shape); }

}  // namespace sinter::test
