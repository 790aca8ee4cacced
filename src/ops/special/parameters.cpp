// Parameters of distributions by halving intervals.
#include "ops/base/at_call.hpp"
#include "sinter/special_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "ops/base/errors.hpp"
#include "ops/base/opaque_call.hpp"
#include "sinter/creation.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/special_more.hpp"

namespace sinter::inline v0::special {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double far = 23.025850929940457;  // log(1e10), up to which the distributions have values
constexpr int halvings = 62;

/// The arguments of a function as float64, and the dtype of what it gives.
struct arguments {
  std::vector<ndarray> x;
  dtype type = dtype::f64;
  shape_t shape;

  const ndarray& operator[](std::size_t i) const { return x[i]; }
};

arguments arguments_of(const char* function, std::initializer_list<const operand*> list) {
  arguments all;
  const ndarray* some = nullptr;
  bool narrow = true;
  for (const operand* o : list) {
    if (!o->is_array()) continue;
    const graph::array_view& v = ops::view_of(o->array(), function);
    if (is_complex(v.type)) ops::fail<dtype_error>(function, v.type, " of shape ", v.shape, " is not supported");
    ops::for_host(o->array(), function);
    narrow = narrow && v.type == dtype::f32;
    some = &o->array();
  }
  std::vector<shape_t> shapes;
  for (const operand* o : list) {
    if (!o->is_array() && o->number().kind() == scalar_kind::complex)
      ops::fail<dtype_error>(function, "an argument is complex");
    const create_kw there{.dtype = dtype::f64, .device = some ? some->device() : default_device()};
    all.x.push_back(o->is_array() ? o->array().astype(dtype::f64, false) : full({}, o->number(), there));
    shapes.push_back(all.x.back().shape());
  }
  all.shape = shapes.front();
  for (const shape_t& s : shapes) all.shape = broadcast_shapes(all.shape, s);
  if (some && narrow) all.type = dtype::f32;
  return all;
}

using function_of_parameter = std::function<ndarray(const ndarray&)>;

/// The place t in [low, high] where `f`, which grows there (or falls, where `grows` is false), is `level`.
ndarray place_of(const function_of_parameter& f, const ndarray& level, const ndarray& grows, ndarray low,
                 ndarray high) {
  for (int i = 0; i < halvings; ++i) {
    const ndarray middle = (low + high) / 2, y = f(middle);
    // Far away a distribution may have no value, on the side of the nearer end.
    const ndarray beyond = where(isnan(y), middle < 0, equal(y < level, grows));
    low = where(beyond, middle, low);
    high = where(beyond, high, middle);
    if (ops::may_look_at(ops::value_of(low)) && ops::may_look_at(ops::value_of(high))) eval(low, high);
  }
  return (low + high) / 2;
}

ndarray always(bool value, const arguments& all) { return full({}, value, {.device = all[0].device()}); }

/// The positive parameter for which a distribution has probability p.
ndarray positive_parameter(const arguments& all, const ndarray& p, const ndarray& grows,
                           const function_of_parameter& f) {
  const ndarray end = full(all.shape, far, {.device = p.device()});
  const ndarray t = exp(place_of([&](const ndarray& s) { return f(exp(s)); }, p, grows, -end, end));
  return where(logical_and(logical_and(p >= 0, p <= 1), logical_not(isnan(f(t)))), t, not_a_number)
      .astype(all.type, false);
}

}  // namespace

ndarray bdtrik(const operand& y, const operand& n, const operand& p) {
  const arguments a = arguments_of("bdtrik", {&y, &n, &p});
  const auto f = [&](const ndarray& k) { return where(k < a[1], betaincc(k + 1, a[1] - k, a[2]), 1.0); };
  const ndarray top = broadcast_to(a[1], a.shape), k = place_of(f, a[0], always(true, a), zeros_like(top), top);
  const ndarray fits = logical_and(logical_and(a[0] >= 0, a[0] <= 1), logical_and(a[2] >= 0, a[2] <= 1));
  return where(logical_and(fits, top >= 0), k, not_a_number).astype(a.type, false);
}
ndarray bdtrin(const operand& k, const operand& y, const operand& p) {
  const arguments a = arguments_of("bdtrin", {&k, &y, &p});
  const ndarray more =
      positive_parameter(a, a[1], always(false, a), [&](const ndarray& t) { return betaincc(a[0] + 1, t, a[2]); });
  return (more + a[0]).astype(a.type, false);
}
ndarray nbdtrik(const operand& y, const operand& n, const operand& p) {
  const arguments a = arguments_of("nbdtrik", {&y, &n, &p});
  return positive_parameter(a, a[0], always(true, a), [&](const ndarray& t) { return betainc(a[1], t + 1, a[2]); });
}
ndarray nbdtrin(const operand& k, const operand& y, const operand& p) {
  const arguments a = arguments_of("nbdtrin", {&k, &y, &p});
  return positive_parameter(a, a[1], always(false, a), [&](const ndarray& t) { return betainc(t, a[0] + 1, a[2]); });
}
ndarray pdtrik(const operand& p, const operand& m) {
  const arguments a = arguments_of("pdtrik", {&p, &m});
  return positive_parameter(a, a[0], always(true, a), [&](const ndarray& t) { return gammaincc(t + 1, a[1]); });
}
ndarray chdtriv(const operand& p, const operand& x) {
  const arguments a = arguments_of("chdtriv", {&p, &x});
  return positive_parameter(a, a[0], always(false, a), [&](const ndarray& t) { return gammainc(t / 2, a[1] / 2); });
}
ndarray stdtridf(const operand& p, const operand& t) {
  const arguments a = arguments_of("stdtridf", {&p, &t});
  return positive_parameter(a, a[0], a[1] > 0,
                            [&](const ndarray& df) { return stdtr(df, broadcast_to(a[1], a.shape)); });
}
ndarray gdtrib(const operand& a, const operand& p, const operand& x) {
  const arguments all = arguments_of("gdtrib", {&a, &p, &x});
  return positive_parameter(all, all[1], always(false, all),
                            [&](const ndarray& t) { return gammainc(t, all[0] * all[2]); });
}
ndarray btdtria(const operand& p, const operand& b, const operand& x) {
  const arguments a = arguments_of("btdtria", {&p, &b, &x});
  return positive_parameter(a, a[0], always(false, a), [&](const ndarray& t) { return betainc(t, a[1], a[2]); });
}
ndarray btdtrib(const operand& a, const operand& p, const operand& x) {
  const arguments all = arguments_of("btdtrib", {&a, &p, &x});
  return positive_parameter(all, all[1], always(true, all),
                            [&](const ndarray& t) { return betainc(all[0], t, all[2]); });
}

ndarray tklmbda(const operand& x, const operand& lmbda) {
  const arguments a = arguments_of("tklmbda", {&x, &lmbda});
  const ndarray& power_of = a[1];
  // By the logit of p, in which both of its ends are far away.
  const auto f = [&](const ndarray& t) {
    return where(equal(power_of, 0), t, (power(expit(t), power_of) - power(expit(-t), power_of)) / power_of);
  };
  const ndarray end = full(a.shape, 745.0, {.device = a[0].device()});
  const ndarray p = expit(place_of(f, a[0], always(true, a), -end, end));
  const ndarray outside = logical_and(power_of > 0, abs(a[0]) >= 1 / power_of);
  return where(isnan(a[0] + power_of), not_a_number, where(outside, where(a[0] > 0, 1.0, 0.0), p))
      .astype(a.type, false);
}

ndarray nrdtrimn(const operand& p, const operand& std, const operand& x) {
  const arguments a = arguments_of("nrdtrimn", {&p, &std, &x});
  return where(a[1] > 0, a[2] - a[1] * ndtri(a[0]), not_a_number).astype(a.type, false);
}
ndarray nrdtrisd(const operand& mn, const operand& p, const operand& x) {
  const arguments a = arguments_of("nrdtrisd", {&mn, &p, &x});
  return ((a[2] - a[0]) / ndtri(a[1])).astype(a.type, false);
}

ndarray kolmogorov(const ndarray& y) {
  const operand given = y;
  const arguments a = arguments_of("kolmogorov", {&given});
  const ndarray& x = a[0];
  // Beyond 0.82 five terms of one series are exact, up to there of the other.
  const ndarray v = maximum(x, 0.82), q = exp(-2 * square(v));
  const ndarray above = 2 * (q - power(q, 4) + power(q, 9) - power(q, 16) + power(q, 25));
  const ndarray s = minimum(maximum(x, 0.01), 0.82), r = exp(-std::numbers::pi * std::numbers::pi / (8 * square(s)));
  const ndarray below = 1 - std::sqrt(2 * std::numbers::pi) / s * (r + power(r, 9) + power(r, 25));
  const ndarray value = where(x > 0.82, above, where(x > 0, where(x < 0.01, 1.0, below), 1.0));
  return where(isnan(x), x, value).astype(a.type, false);
}

}  // namespace sinter::inline v0::special
