// First and second derivatives at zeros and ties, of empty and of 0-d arrays, beside JAX's, which
// tests/golden/make/golden_derivative_edges.py has written to jax_edges.inl.
#include <cmath>
#include <map>
#include <string>

#include "ops/derivatives/check.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::idx;
namespace sp = sinter::special;

using function = ndarray (*)(const ndarray&);

#define F(name, expression)                                       \
  {                                                               \
#name, [](const ndarray& x) -> ndarray { return expression; } \
  }

const std::map<std::string, function>& elementwise() {
  static const std::map<std::string, function> all{
      F(absolute, absolute(x)),
      F(square, square(x)),
      F(sin, sin(x)),
      F(cos, cos(x)),
      F(tan, tan(x)),
      F(sinh, sinh(x)),
      F(cosh, cosh(x)),
      F(tanh, tanh(x)),
      F(arctan, arctan(x)),
      F(arcsinh, arcsinh(x)),
      F(exp, exp(x)),
      F(expm1, expm1(x)),
      F(exp2, exp2(x)),
      F(sinc, sinc(x)),
      F(cube, power(x, 3)),
      F(power_one, power(x, 1)),
      F(relu, maximum(x, 0)),
      F(clip, clip(x, 0.0, 2.0)),
      F(hypot, hypot(x, 1.25)),
      F(arctan2, arctan2(x, 1.0)),
      F(logaddexp, logaddexp(x, 0.0)),
      F(logaddexp2, logaddexp2(x, 1.0)),
      F(copysign, copysign(x, -1.0)),
      F(remainder, remainder(x, 0.7)),
      F(fmod, fmod(x, 0.7)),
      F(where, where(x > 0, x * x, -x)),
      F(expit, sp::expit(x)),
      F(log_expit, sp::log_expit(x)),
      F(erf, sp::erf(x)),
      F(erfc, sp::erfc(x)),
      F(ndtr, sp::ndtr(x)),
      F(log_ndtr, sp::log_ndtr(x)),
      F(i0, sp::i0(x)),
      F(i0e, sp::i0e(x)),
      F(i1, sp::i1(x)),
      F(i1e, sp::i1e(x)),
      F(nan_to_num, nan_to_num(x)),
      F(deg2rad, deg2rad(x)),
      F(floor, floor(x)),
      F(sign, sign(x)),
      F(heaviside, heaviside(x, 0.5)),
      F(arcsin, arcsin(x)),
      F(arccos, arccos(x)),
      F(arctanh, arctanh(x)),
      F(log1p, log1p(x)),
      F(erfinv, sp::erfinv(x)),
      F(sqrt, sqrt(x)),
      F(log, log(x)),
      F(log2, log2(x)),
      F(reciprocal, reciprocal(x)),
      F(cbrt, cbrt(x)),
      F(entr, sp::entr(x)),
      F(xlogy, sp::xlogy(2.0, x + 1)),
      F(xlog1py, sp::xlog1py(x, x)),
      F(power_self, power(x, x)),
      F(power_half, power(x, 0.5)),
      F(gammaln, sp::gammaln(x + 1)),
      F(digamma, sp::digamma(x + 1)),
  };
  return all;
}

const std::map<std::string, function>& of_arrays() {
  static const std::map<std::string, function> all{
      F(minimum_flipped, square(minimum(x, x(slice(_, _, -1))))),
      F(sum, sum(x * x, -1)),
      F(mean, mean(x * x, 0)),
      F(prod, prod(x, -1)),
      F(max, square(max(x, -1))),
      F(min, square(min(x, 0))),
      F(ptp, square(ptp(x, axes{-1}))),
      F(var, var(x, -1)),
      F(logsumexp, sp::logsumexp(x, -1)),
      F(softmax, sp::softmax(x, axes{-1})),
      F(log_softmax, sp::log_softmax(x, axes{-1})),
      F(nanmax, square(nanmax(x, -1))),
      F(nansum, nansum(x * x, -1)),
      F(average, average(x, {.axis = 0, .weights = exp(x)})),
      F(norm_1, square(sum(absolute(x), -1))),
      F(median, square(median(x, -1))),
      F(quantile, square(quantile(x, 0.3, -1))),
      F(cumsum, square(cumsum(x, -1))),
      F(cumprod, cumprod(x, -1)),
      F(cummax, square(cummax(x, {.axis = -1}))),
      F(cummin, square(cummin(x, {.axis = 0}))),
      F(logcumsumexp, logcumsumexp(x, {.axis = -1})),
      F(sort, square(sort(x, -1))),
      F(sort_descending, -square(sort(x, {.axis = -1, .descending = true}))),
      F(diff, square(diff(x))),
      F(roll, square(roll(x, 1, axes{-1}))),
      F(flip, square(flip(x, axes{-1}))),
      F(tile, square(tile(x, {2, 2}))),
      F(repeat, square(repeat(x, 2, -1))),
      F(pad, square(pad(x, 1))),
      F(pad_edge, square(pad(x, 1, "edge"))),
      F(pad_reflect, square(pad(x, 1, "reflect"))),
      F(pad_wrap, square(pad(x, 1, "wrap"))),
      F(take, square(x(_, array({2, 0, 2, -1})))),
      F(tril, square(tril(x))),
      F(outer, outer(x(0), x(-1))),
      F(inner, inner(x, x)),
      F(kron, kron(x, x(0))),
      F(matmul, matmul(x, x.T())),
      F(einsum, einsum("ij,kj,ij->ik", x, x, x)),
      F(convolve, convolve(x(0), x(-1))),
      F(interp, interp(x, array({-1.0, 0.4, 1.5, 4.0}), array({0.0, 2.0, 1.0, 3.0}))),
      F(trapezoid, trapezoid(x * x)),
      {"set",
       [](const ndarray& x) -> ndarray {
         const ndarray y = x.copy();
         y(0) = square(x(-1));
         return square(y);
       }},
      {"add_at",
       [](const ndarray& x) -> ndarray {
         const ndarray y = x.copy();
         add_at(y(array({0, 0, 1})), square(x(0)));
         return y;
       }},
      F(gradient, square(gradient(x, {.axis = -1})[0])),
      F(take_along_axis, square(take_along_axis(x, argmax(x, -1, {.keepdims = true}), -1))),
      F(concatenate, concatenate({x, x * x}, 0)),
      F(cov, cov(x)),
      F(cross, cross(x(_, slice(_, 3)), x(slice(_, _, -1), slice(1, _)))),
      F(rfft, square(absolute(fft::rfft(x)))),
  };
  return all;
}

const std::map<std::string, function>& of_matrices() {
  static const std::map<std::string, function> all{
      F(det, linalg::det(x)),
      F(trace, square(trace(x))),
      F(matrix_power, linalg::matrix_power(x, 3)),
      F(inv, linalg::inv(x)),
      F(solve, linalg::solve(x, x(0))),
      F(slogdet, linalg::slogdet(x).logabsdet),
      F(expm, linalg::expm(x * 0.1)),
      F(cholesky, linalg::cholesky(matmul(x, x.T()) + eye(3))),
      F(eigvalsh, linalg::eigvalsh(x + x.T())),
      F(svdvals, linalg::svdvals(x)),
      F(triangular, linalg::solve_triangular(x, x(0), {.lower = true})),
      F(nuclear, linalg::norm(x, "nuc")),
      F(pinv, linalg::pinv(x)),
      F(qr_r, square(linalg::qr(x).r)),
      F(c_conj, conj(x) * x * x),
      F(c_square, square(x)),
      F(c_exp, exp(x)),
      F(c_sin, sin(x)),
      F(c_real, square(real(x)).astype(complex128)),
      F(c_imag, square(imag(x)).astype(complex128)),
      F(c_abs2, square(absolute(x)).astype(complex128)),
      F(c_tanh, tanh(x)),
      F(c_matmul, matmul(x, conj(x.T()))),
      F(c_fft, square(fft::fft(x))),
      F(c_ifft, square(fft::ifft(x, {.axis = 0}))),
      F(c_prod, prod(x, 0)),
      F(c_cumsum, square(cumsum(x, 0))),
      F(c_inv, linalg::inv(x)),
      F(c_det, linalg::det(x)),
      F(c_log, log(x)),
      F(c_sqrt, sqrt(x)),
      F(c_solve, linalg::solve(x, x(0))),
  };
  return all;
}
#undef F

function find(const std::string& name) {
  for (const auto* const list : {&elementwise(), &of_arrays(), &of_matrices()})
    if (const auto found = list->find(name); found != list->end()) return found->second;
  return nullptr;
}

ndarray array_of(const std::vector<double>& numbers, const shape_t& shape, bool is_complex) {
  const ndarray all = array(numbers);
  if (!is_complex) return reshape(all, shape);
  return reshape(all(slice(0, _, 2)) + std::complex<double>(0, 1) * all(slice(1, _, 2)), shape);
}

ndarray weighted(const ndarray& y, bool first) {
  const ndarray k = arange(y.size()).astype(float64);
  return sum(real(ravel(y)) * (first ? cos(k) : sin(k + 1)));
}

/// Equal to JAX's, but where those are NaN.
void compare(const std::string& name, int order, const shape_t& shape, const std::vector<double>& x,
             const std::vector<double>& expected) {
  std::string text;
  for (const std::int64_t n : shape) text += " " + std::to_string(n);
  CAPTURE(name);
  CAPTURE(order);
  CAPTURE(text);
  const function f = find(name);
  REQUIRE((f != nullptr));
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  const bool is_complex = static_cast<std::int64_t>(x.size()) == 2 * count && count > 0;
  const auto once = [&](const ndarray& a) { return weighted(f(a), true); };
  const auto twice = [&](const ndarray& a) { return weighted(grad(once)(a), false); };
  const ndarray at = array_of(x, shape, is_complex), g = order == 1 ? grad(once)(at) : grad(twice)(at);
  REQUIRE(g.shape() == shape);
  const ndarray jax = array_of(expected, shape, is_complex);
  const ndarray same = logical_or(isclose(g, jax, order == 1 ? 1e-8 : 1e-6, order == 1 ? 1e-10 : 1e-8), isnan(jax));
  if (bool(all(same))) return;
  std::string got;
  for (const ndarray& one : {ravel(at), ravel(g), ravel(jax)}) got += to_string(one) + "\n";
  CAPTURE(got);
  CHECK(bool(all(same)));
}

}  // namespace

TEST_CASE("derivatives at zeros and ties are those of JAX") {
#define UNPACK(...) \
  shape_t { __VA_ARGS__ }
#define LIST(...) \
  std::vector<double> { __VA_ARGS__ }
#define JAX_EDGE(name, order, shape, ...) compare(#name, order, UNPACK shape, __VA_ARGS__);
#include "ops/derivatives/jax_edges.inl"
#undef JAX_EDGE
#undef LIST
#undef UNPACK
}
