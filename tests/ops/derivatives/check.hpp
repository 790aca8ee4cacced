// Derivatives against differences: what forward and reverse mode give along a direction, and the central difference of
// the function, all in float64.
#pragma once
#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/grad.hpp"
#include "sinter/sinter.hpp"

namespace derivative_check {

using sinter::ndarray;
using arrays = std::vector<ndarray>;
using subject = std::function<ndarray(const arrays&)>;

/// Numbers in (low, high) without a pattern, the same ones each time.
inline ndarray numbers(const sinter::shape_t& shape, double low = 0.2, double high = 1.7, int salt = 0) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  std::vector<double> all;
  for (std::int64_t k = 0; k < n; ++k) {
    const double x = std::sin(12.9898 * static_cast<double>(k + 1) + 78.233 * (salt + 1)) * 43758.5453;
    all.push_back(low + (high - low) * (x - std::floor(x)));
  }
  return sinter::reshape(sinter::array(all), shape);
}
inline ndarray complex_numbers(const sinter::shape_t& shape, int salt = 0) {
  return numbers(shape, -1, 1, salt) + std::complex<double>(0, 1) * numbers(shape, -1, 1, salt + 50);
}
inline ndarray like(const ndarray& x, int salt) {
  return is_complex(x.dtype()) ? complex_numbers(x.shape(), salt) : numbers(x.shape(), -1, 1, salt);
}
/// Re(sum(a b)).
inline double paired(const ndarray& a, const ndarray& b) {
  const ndarray p = sinter::sum(a * b);
  return is_complex(p.dtype()) ? p.item<std::complex<double>>().real() : p.item<double>();
}
inline arrays moved(const arrays& x, const arrays& d, double h) {
  arrays out;
  for (std::size_t k = 0; k < x.size(); ++k) out.push_back(x[k] + d[k] * h);
  return out;
}

/// Forward, reverse and difference along two directions.
inline void agrees(const std::string& name, const subject& f, const arrays& x, double tolerance = 1e-6,
                   double h = 1e-5) {
  INFO(name);
  for (const int salt : {100, 200}) {
    arrays d;
    for (std::size_t k = 0; k < x.size(); ++k) d.push_back(like(x[k], salt + static_cast<int>(k)));
    const auto [y, back] = sinter::vjp(f, x);
    const ndarray c = like(y, salt + 20);
    const arrays g = back(c);
    double reverse = 0, size = 1;
    for (std::size_t k = 0; k < x.size(); ++k) {
      REQUIRE(g[k].shape() == x[k].shape());
      REQUIRE(g[k].dtype() == x[k].dtype());
      reverse += paired(g[k], d[k]);
    }
    const auto [value, tangent] = sinter::jvp(f, std::make_tuple(x), std::make_tuple(d));
    REQUIRE(tangent.shape() == y.shape());
    const double forward = paired(tangent, c);
    const double difference = (paired(f(moved(x, d, h)), c) - paired(f(moved(x, d, -h)), c)) / (2 * h);
    size += std::fabs(difference);
    CHECK(std::fabs(forward - reverse) <= 1e-10 * size);
    CHECK(std::fabs(forward - difference) <= tolerance * size);
  }
}

/// The same of the gradient of a scalar made of f, so of its second derivatives.
inline void agrees_twice(const std::string& name, const subject& f, const arrays& x, double tolerance = 1e-5) {
  agrees(name, f, x, tolerance);
  const subject first = [&f](const arrays& a) {
    const arrays g = sinter::grad([&f](const arrays& b) {
      const ndarray y = f(b);
      return sinter::sum(y * numbers(y.shape(), -1, 1, 7));
    })(a);
    ndarray sum;
    for (std::size_t k = 0; k < g.size(); ++k) {
      const ndarray part = sinter::sum(g[k] * numbers(g[k].shape(), -1, 1, 11 + static_cast<int>(k)));
      sum = sum.defined() ? sum + part : part;
    }
    return sum;
  };
  agrees(name + ", second", first, x, tolerance);
}

}  // namespace derivative_check
