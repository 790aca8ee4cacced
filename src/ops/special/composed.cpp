// Special functions that are compositions of others.
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/base/errors.hpp"
#include "ops/special/special_values.hpp"
#include "sinter/creation.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/special_more.hpp"

namespace sinter::inline v0::special {
namespace {

using std::int64_t;

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t largest_order = 1000;

/// x in a real dtype.
ndarray real_array(const char* function, const ndarray& x) {
  const graph::array_view& v = ops::view_of(x, function);
  if (is_complex(v.type)) ops::fail<dtype_error>(function, v.type, " of shape ", v.shape, " is not supported");
  return is_real_floating(v.type) ? x : x.astype(dtype::f64);
}
/// A parameter beside x: a number takes x's dtype.
ndarray parameter(const char* function, const operand& p, const ndarray& x) {
  if (p.is_array()) return real_array(function, p.array());
  if (p.number().kind() == scalar_kind::complex) ops::fail<dtype_error>(function, "a parameter is complex");
  return full({}, p.number(), {.dtype = x.dtype(), .device = x.device()});
}

/// By f(k, f_k, f_(k - 1)) = f_(k + 1) up from orders 0 and 1.
template <class Next>
ndarray of_order(const char* function, const operand& n, const ndarray& zeroth, const ndarray& first,
                 const Next& next) {
  ndarray before = zeroth, last = first;
  const auto check = [&](int64_t most) {
    if (most > largest_order) ops::fail<value_error>(function, "order ", most, " is more than ", largest_order);
    return most;
  };
  if (!n.is_array()) {
    if (n.number().kind() != scalar_kind::integer) ops::fail<dtype_error>(function, "the order is no integer");
    const int64_t order = n.number().as_int64();
    const int64_t most = check(order < 0 ? (order < -largest_order ? largest_order + 1 : -order) : order);
    if (most == 0) return zeroth;
    for (int64_t k = 1; k < most; ++k) {
      const ndarray after = next(k, last, before);
      before = last;
      last = after;
    }
    return last;
  }
  if (!is_integer(ops::view_of(n.array(), function).type))
    ops::fail<dtype_error>(function, "orders are integers, not of ", n.array().dtype());
  const ndarray orders = abs(n.array().astype(dtype::i64));
  // The lowest number of int64 is its own absolute value.
  const bool overflows = static_cast<bool>(any(orders < 0));
  const int64_t most = orders.size() == 0 ? 0 : check(overflows ? largest_order + 1 : max(orders).item<int64_t>());
  ndarray result = where(orders == 0, zeroth, first);
  for (int64_t k = 1; k < most; ++k) {
    const ndarray after = next(k, last, before);
    before = last;
    last = after;
    result = where(orders > k, last, result);
  }
  return result;
}

}  // namespace

ndarray yn(const operand& n, const ndarray& x) {
  const ndarray a = real_array("yn", x), inverse = 2 / a;
  // What has become infinite stays so.
  const ndarray y = of_order("yn", n, y0(a), y1(a), [&](int64_t k, const ndarray& last, const ndarray& before) {
    return where(last == -infinity, last, k * inverse * last - before);
  });
  if (!n.is_array()) return n.number().as_int64() < 0 && n.number().as_int64() % 2 != 0 ? -y : y;
  return where(logical_and(n.array() < 0, n.array() % 2 != 0), -y, y);
}
ndarray kn(const operand& n, const ndarray& x) {
  const ndarray a = real_array("kn", x), inverse = 2 / a;
  return of_order("kn", n, k0(a), k1(a), [&](int64_t k, const ndarray& last, const ndarray& before) {
    return where(last == infinity, last, k * inverse * last + before);
  });
}

ndarray stdtr(const operand& df, const ndarray& t) {
  const ndarray x = real_array("stdtr", t), v = parameter("stdtr", df, x);
  // t^2 has an F distribution, whose upper tail loses no digits however small it is.
  const ndarray share = fdtrc(1, v, square(x)) / 2, finite = where(v > 0, where(x > 0, 1 - share, share), nan);
  return where(v == infinity, ndtr(x), where(isnan(x), x, finite));
}
ndarray stdtrit(const operand& df, const ndarray& p) {
  const ndarray q = real_array("stdtrit", p), v = parameter("stdtrit", df, q);
  const ndarray tail = minimum(q, 1 - q), middle = tail > 0.25, half = v / 2;
  const ndarray inner =
      betaincinv(where(middle, 0.5, half), where(middle, half, 0.5), where(middle, abs(1 - 2 * q), 2 * tail));
  const ndarray size = sqrt(where(middle, v * inner / (1 - inner), v / inner - v));
  const ndarray finite = where(v > 0, where(q < 0.5, -size, size), nan);
  return where(v == infinity, ndtri(q), finite);
}
ndarray gdtrix(const operand& a, const operand& b, const ndarray& p) {
  const ndarray q = real_array("gdtrix", p);
  return gammaincinv(parameter("gdtrix", b, q), q) / parameter("gdtrix", a, q);
}
ndarray gdtria(const ndarray& p, const operand& b, const operand& x) {
  const ndarray q = real_array("gdtria", p);
  return gammaincinv(parameter("gdtria", b, q), q) / parameter("gdtria", x, q);
}

ndarray huber(const operand& delta, const ndarray& r) {
  const ndarray x = real_array("huber", r), d = parameter("huber", delta, x), size = abs(x);
  return where(d < 0, infinity, where(size <= d, square(x) / 2, d * (size - d / 2)));
}
ndarray pseudo_huber(const operand& delta, const ndarray& r) {
  const ndarray x = real_array("pseudo_huber", r), d = parameter("pseudo_huber", delta, x);
  const ndarray some = square(x) / (1 + sqrt(1 + square(x / d)));
  return where(d < 0, infinity, where(d == 0, zeros_like(some), some));
}
ndarray softplus(const ndarray& x) { return -log_expit(-real_array("softplus", x)); }
ndarray exp10(const ndarray& x) { return power(10, real_array("exp10", x)); }

ndarray boxcox(const ndarray& x, const operand& lmbda) {
  const ndarray l = log(real_array("boxcox", x)), p = parameter("boxcox", lmbda, l);
  return where(abs(p) < 1e-19, l, expm1(p * l) / p);
}
ndarray boxcox1p(const ndarray& x, const operand& lmbda) {
  const ndarray l = log1p(real_array("boxcox1p", x)), p = parameter("boxcox1p", lmbda, l);
  return where(abs(p) < 1e-19, l, expm1(p * l) / p);
}
ndarray inv_boxcox(const ndarray& y, const operand& lmbda) {
  const ndarray a = real_array("inv_boxcox", y), p = parameter("inv_boxcox", lmbda, a);
  return where(abs(p * a) < 1e-154, exp(a), exp(log1p(p * a) / p));
}
ndarray inv_boxcox1p(const ndarray& y, const operand& lmbda) {
  const ndarray a = real_array("inv_boxcox1p", y), p = parameter("inv_boxcox1p", lmbda, a);
  return where(abs(p * a) < 1e-154, expm1(a), expm1(log1p(p * a) / p));
}

ndarray multigammaln(const ndarray& a, int64_t d) {
  if (d < 1 || d > largest_order)
    ops::fail<value_error>("multigammaln", "d must be from 1 to ", largest_order, ", not ", d);
  const ndarray x = real_array("multigammaln", a);
  const double dimensions = static_cast<double>(d);
  ndarray total = gammaln(x);
  for (int64_t j = 1; j < d; ++j) total = total + gammaln(x - static_cast<double>(j) / 2);
  total = total + dimensions * (dimensions - 1) / 4 * std::log(std::numbers::pi);
  return where(x > (dimensions - 1) / 2, total, nan);
}

}  // namespace sinter::inline v0::special
