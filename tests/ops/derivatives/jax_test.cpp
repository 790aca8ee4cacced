// Gradients beside JAX's, which tests/golden/make/golden_derivatives.py has written to jax_values.inl.
#include <map>
#include <string>

#include "ops/derivatives/check.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::idx;

const std::map<std::string, ndarray (*)(const ndarray&)>& functions() {
  static const std::map<std::string, ndarray (*)(const ndarray&)> all{
#define F(name, expression)                                       \
  {                                                               \
#name, [](const ndarray& x) -> ndarray { return expression; } \
  }
      F(absolute, absolute(x)),
      F(sign, sign(x)),
      F(sqrt, sqrt(x)),
      F(cbrt, cbrt(x)),
      F(tanh, tanh(x)),
      F(power, power(x, 3)),
      F(power_zero, power(x, 0.0)),
      F(maximum, maximum(x, 2.0)),
      F(minimum, minimum(x, x(slice(_, _, -1)))),
      F(clip, clip(x, 0.5, 2.5)),
      F(erfinv, special::erfinv(x)),
      F(gammaln, special::gammaln(x)),
      F(digamma, special::digamma(x)),
      F(i0e, special::i0e(x)),
      F(xlogy, special::xlogy(x, x)),
      F(max, max(x, 1)),
      F(min, min(x, 0)),
      F(max_all, max(x)),
      F(prod, prod(x, 1)),
      F(cumprod, cumprod(x, 1)),
      F(var, var(x, 1)),
      F(std, sinter::std(x, 0)),
      F(logsumexp, special::logsumexp(x, 1)),
      F(softmax, special::softmax(x, axes{1})),
      F(sort, sort(x, 1)),
      F(cumsum, cumsum(x, 0)),
      F(median, median(x, 1)),
      F(norm, linalg::norm(x)),
      F(take, x(array({2, 0, 2}))),
      F(cholesky, linalg::cholesky(matmul(x, x.T()))),
      F(cholesky_of_lower, linalg::cholesky(x)),
      F(det, linalg::det(x)),
      F(inv, linalg::inv(x)),
      F(slogdet, linalg::slogdet(x).logabsdet),
      F(solve, linalg::solve(x, x(slice(0, 2)).T())),
      F(eigvalsh, linalg::eigvalsh(x)),
      F(svdvals, linalg::svdvals(x)),
      F(qr_r, square(linalg::qr(x).r)),
      F(c_absolute, absolute(x)),
      F(c_exp, exp(x)),
      F(c_square, x * conj(x) * x),
      F(c_angle, angle(x)),
      F(c_solve, linalg::solve(x, x.T())),
      F(c_det, linalg::det(x)),
      F(c_eigvalsh, linalg::eigvalsh(matmul(x, conj(x.T())))),
      F(c_fft, absolute(fft::fft(x))),
      F(rfft, fft::rfft(x)),
      F(c_irfft, fft::irfft(x, {.axis = 1}))
#undef F
  };
  return all;
}

ndarray array_of(const std::vector<double>& numbers, const shape_t& shape, bool is_complex) {
  const ndarray all = array(numbers);
  if (!is_complex) return reshape(all, shape);
  return reshape(all(slice(0, _, 2)) + std::complex<double>(0, 1) * all(slice(1, _, 2)), shape);
}

void compare(const std::string& name, std::int64_t rows, std::int64_t columns, const std::vector<double>& x,
             const std::vector<double>& expected) {
  INFO(name);
  REQUIRE(functions().count(name) == 1);
  const bool complex_numbers = static_cast<std::int64_t>(x.size()) == 2 * rows * columns;
  const auto loss = [&](const ndarray& a) {
    const ndarray y = ravel(functions().at(name)(a));
    return sum(real(y) * cos(arange(y.size()).astype(float64)));
  };
  const ndarray g = grad(loss)(array_of(x, {rows, columns}, complex_numbers));
  CHECK(bool(all(isclose(g, array_of(expected, {rows, columns}, complex_numbers), 1e-8, 1e-10))));
}

}  // namespace

TEST_CASE("gradients are those of JAX") {
#define UNPACK(rows, columns) rows, columns
#define LIST(...) \
  std::vector<double> { __VA_ARGS__ }
#define JAX_GRADIENT(name, shape, ...) compare(#name, UNPACK shape, __VA_ARGS__);
#include "ops/derivatives/jax_values.inl"
#undef JAX_GRADIENT
#undef LIST
#undef UNPACK
}
