// Polynomials as vectors of coefficients, the highest power first, as numpy.poly1d holds them. shape_error: coefficients
// that are no vector. Functions whose result's size depends on the coefficients' values (polydiv, roots) synchronise.
#pragma once
#include <cstdint>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// The value at each x, by Horner's rule. Of coefficients with more axes, one polynomial for each element of the others, which
/// broadcast with x.
ndarray polyval(const ndarray& p, const operand& x);
ndarray polyadd(const ndarray& p, const ndarray& q);
ndarray polysub(const ndarray& p, const ndarray& q);
ndarray polymul(const ndarray& p, const ndarray& q);
/// p = quotient * q + remainder. value_error: q is zero in front.
struct polydiv_result {
  ndarray quotient, remainder;
};
polydiv_result polydiv(const ndarray& p, const ndarray& q);
/// The m-th derivative. value_error: m < 0.
ndarray polyder(const ndarray& p, std::int64_t m = 1);
/// The m-th antiderivative, `k` the constant of each integration: a number, or m of them. value_error: m < 0 or m > 1000.
ndarray polyint(const ndarray& p, std::int64_t m = 1, const operand& k = 0);
/// The coefficients of the monic polynomial with these roots, or the characteristic one of a square matrix.
ndarray poly(const ndarray& roots);
/// The roots, complex: eigenvalues of the companion matrix.
ndarray roots(const ndarray& p);

/// Keywords of polyfit.
struct polyfit_kw {
  kwonly _kw{};
  optional_array w{};  // weights of the residuals
  std::optional<double> rcond{};
};
/// The coefficients of the polynomial of this degree that is nearest to the points (x, y) in least squares; y may have
/// columns. Factorises and waits. value_error: degree < 0; shape_error: x and y of different extents, or empty.
ndarray polyfit(const ndarray& x, const ndarray& y, std::int64_t degree, const polyfit_kw& kw = {});

/// Keywords of vander.
struct vander_kw {
  kwonly _kw{};
  std::optional<std::int64_t> n{};  // columns; as many as elements unless given
  bool increasing = false;
};
/// Powers of a vector's elements as rows, the highest first unless they increase.
ndarray vander(const ndarray& x, const vander_kw& kw = {});
ndarray vander(const ndarray& x, std::int64_t n, const vander_kw& kw = {});

}  // namespace sinter::inline v0
