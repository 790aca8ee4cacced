// src/ops/numerics: functions of sampled data, polynomials, windows, composed of the functions of other rooms.
//
// Differences, integrals and interpolation of samples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ops/base/axes.hpp"
#include "ops/base/differentiating.hpp"
#include "ops/base/type_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/numerics.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// A vector along one axis of arrays of some rank.
ndarray along(const ndarray& vector, int rank, int axis) {
  dims shape(rank, 1);
  shape[axis] = vector.shape(0);
  return reshape(vector, to_shape(shape));
}

/// Differences of neighbours that are `d` apart, at the edges of the sample there and its only neighbour. In one pass, which
/// fuses with what reads it: neighbours are samples of the rolled array, but at its edges. For GPUs, where deciding that for
/// each sample is hidden by memory.
ndarray neighbour_differences(const ndarray& f, double d, int axis) {
  const std::int64_t n = f.shape(axis);
  const ndarray at = along(arange(n, {.device = f.device()}), static_cast<int>(f.ndim()), axis);
  const ndarray is_first = equal(at, 0), is_last = equal(at, n - 1);
  const ndarray next = where(is_last, f, roll(f, -1, axis)), before = where(is_first, f, roll(f, 1, axis));
  const ndarray rise = next - before;
  return where(logical_or(is_first, is_last), rise / d, rise / (2.0 * d));
}

/// Differences of samples of even distance.
ndarray even_gradient(const ndarray& f, const scalar& h, int axis, int order) {
  const std::int64_t n = f.shape(axis);
  const auto at = [&](std::int64_t i) { return slice_of(f, axis, i, i + 1); };
  const double d = h.real();
  if (order == 1 && view_of(f, "gradient").device().kind == runtime::device_kind::cuda)
    return neighbour_differences(f, d, axis);
  const ndarray inside = (slice_of(f, axis, 2, n) - slice_of(f, axis, 0, n - 2)) / (2.0 * d);
  if (order == 1) return concatenate({(at(1) - at(0)) / d, inside, (at(n - 1) - at(n - 2)) / d}, axis);
  const ndarray first = -1.5 / d * at(0) + 2.0 / d * at(1) + -0.5 / d * at(2);
  const ndarray last = 0.5 / d * at(n - 3) + -2.0 / d * at(n - 2) + 1.5 / d * at(n - 1);
  return concatenate({first, inside, last}, axis);
}

/// The same of samples at coordinates.
ndarray uneven_gradient(const ndarray& f, const ndarray& x, int axis, int order) {
  const std::int64_t n = f.shape(axis);
  const ndarray d = along(diff(x), f.ndim(), axis);
  const auto at = [&](std::int64_t i) { return slice_of(f, axis, i, i + 1); };
  const auto step = [&](std::int64_t i) { return slice_of(d, axis, i, i + 1); };
  const ndarray d1 = slice_of(d, axis, 0, n - 2), d2 = slice_of(d, axis, 1, n - 1);
  const ndarray inside = -d2 / (d1 * (d1 + d2)) * slice_of(f, axis, 0, n - 2) +
                         (d2 - d1) / (d1 * d2) * slice_of(f, axis, 1, n - 1) +
                         d1 / (d2 * (d1 + d2)) * slice_of(f, axis, 2, n);
  if (order == 1) return concatenate({(at(1) - at(0)) / step(0), inside, (at(n - 1) - at(n - 2)) / step(n - 2)}, axis);
  const ndarray a = step(0), b = step(1), y = step(n - 3), z = step(n - 2);
  const ndarray first = -(2.0 * a + b) / (a * (a + b)) * at(0) + (a + b) / (a * b) * at(1) + -a / (b * (a + b)) * at(2);
  const ndarray last =
      z / (y * (y + z)) * at(n - 3) + -(z + y) / (y * z) * at(n - 2) + (2.0 * z + y) / (z * (y + z)) * at(n - 1);
  return concatenate({first, inside, last}, axis);
}

ndarray gradient_along(const ndarray& f, const spacing& h, int axis, int order, dtype type) {
  const std::int64_t n = f.shape(axis);
  if (n < order + 1)
    fail<shape_error>("gradient", "axis ", axis, " of shape ", f.shape(), " has less than ", order + 1, " samples");
  ndarray out;
  const bool is_number = h.is_number() || h.coordinates().ndim() == 0;
  if (h.is_number()) {
    out = even_gradient(f, h.number(), axis, order);
  } else if (is_number) {
    out = even_gradient(f, scalar(h.coordinates().item<double>()), axis, order);
  } else {
    const ndarray& x = h.coordinates();
    if (x.ndim() != 1 || x.shape(0) != n)
      fail<shape_error>("gradient", "coordinates of shape ", x.shape(), " for the ", n, " samples along axis ", axis);
    out = uneven_gradient(f, is_inexact(x.dtype()) ? x : x.astype(float64), axis, order);
  }
  return out.astype(type, false);
}

}  // namespace

gradient_result::operator ndarray() const {
  if (size() != 1) fail<value_error>("gradient", "gives one array for each of ", size(), " axes");
  return front();
}

gradient_result detail::gradient_at(const ndarray& f, const std::vector<spacing>& each, const gradient_kw& kw) {
  const dims& shape = view_of(f, "gradient").shape;
  std::vector<int> along = distinct_axes(kw.axis, shape, "gradient");
  if (!kw.axis.given()) {
    along.resize(static_cast<std::size_t>(shape.size()));
    std::iota(along.begin(), along.end(), 0);
  }
  if (kw.edge_order != 1 && kw.edge_order != 2)
    fail<value_error>("gradient", "edge_order is 1 or 2, not ", kw.edge_order);
  if (each.size() != along.size())
    fail<value_error>("gradient", each.size(), " spacings for ", along.size(), " axes of shape ", shape);
  const dtype type = is_inexact(f.dtype()) ? f.dtype() : float64;
  const ndarray samples = is_integer(f.dtype()) ? f.astype(float64) : f;
  gradient_result out;
  for (std::size_t i = 0; i < along.size(); ++i)
    out.push_back(gradient_along(samples, each[i], along[i], kw.edge_order, type));
  return out;
}
gradient_result gradient(const ndarray& f, const spacing& all, const gradient_kw& kw) {
  const bool of_one = !all.is_number() && view_of(all.coordinates(), "gradient").shape.size() != 0;
  const auto count =
      of_one ? std::size_t{1}
             : static_cast<std::size_t>(kw.axis.given() ? kw.axis.size() : view_of(f, "gradient").shape.size());
  return detail::gradient_at(f, std::vector<spacing>(count, all), kw);
}
gradient_result gradient(const ndarray& f, const gradient_kw& kw) { return gradient(f, spacing(1.0), kw); }

namespace {

/// The function through points with real values, all in float64.
ndarray interpolated(const ndarray& x, const ndarray& xp, const ndarray& fp, const ndarray& segment,
                     const operand& left, const operand& right) {
  const std::int64_t n = xp.shape(0);
  const ndarray j = clip(segment, 0, std::max<std::int64_t>(n - 2, 0)), next = minimum(j + 1, n - 1);
  const ndarray x0 = take(xp, j), x1 = take(xp, next), y0 = take(fp, j), y1 = take(fp, next);
  const ndarray slope = (y1 - y0) / (x1 - x0);
  // As NumPy: where an end is infinite, the other one may do.
  const ndarray from_first = slope * (x - x0) + y0;
  const ndarray from_next = slope * (x - x1) + y1;
  ndarray y = where(isnan(from_first), where(logical_and(isnan(from_next), equal(y0, y1)), y0, from_next), from_first);
  if (is_differentiating() && n > 1) {  // at a point the slope is that of its segment
    y = where(logical_and(equal(x, x0), isnan(from_first)), y0, y);
    y = where(greater_equal(segment, n - 1), where(isnan(from_next), y1, from_next), y);
  } else {
    y = where(equal(x, x0), y0, y);
    y = where(greater_equal(segment, n - 1), take(fp, n - 1), y);
  }
  y = where(less(x, take(xp, 0)), left, where(greater(x, take(xp, n - 1)), right, y));
  return where(isnan(x), x, y);
}

}  // namespace

ndarray interp(const ndarray& x, const ndarray& xp, const ndarray& fp, const interp_kw& kw) {
  if (view_of(xp, "interp").shape.size() != 1 || !(view_of(fp, "interp").shape == view_of(xp, "interp").shape) ||
      xp.shape(0) == 0)
    fail<shape_error>("interp", "xp of shape ", xp.shape(), " and fp of shape ", fp.shape(), " are no points");
  for (const ndarray* real_only : {&x, &xp})
    if (is_complex(view_of(*real_only, "interp").type))
      fail<dtype_error>("interp", "coordinates of dtype ", real_only->dtype());
  ndarray at = x.astype(float64, false), from = xp.astype(float64, false);
  ndarray values = fp.astype(is_complex(fp.dtype()) ? complex128 : float64, false);
  std::optional<scalar> left = kw.left, right = kw.right;
  if (kw.period) {
    const double period = std::abs(*kw.period);
    if (period == 0) fail<value_error>("interp", "the period is zero");
    left = right = std::nullopt;
    at = at % period;
    from = from % period;
    const ndarray order = argsort(from);
    from = take(from, order);
    values = take(values, order);
    const std::int64_t n = from.shape(0);
    const ndarray first = slice_of(from, 0, 0, 1), last = slice_of(from, 0, n - 1, n);
    from = concatenate({last - period, from, first + period});
    values = concatenate({slice_of(values, 0, n - 1, n), values, slice_of(values, 0, 0, 1)});
  }
  const ndarray segment = searchsorted(from, at, "right") - 1;
  const std::int64_t n = from.shape(0);
  const auto part = [&](const ndarray& f, double (scalar::*of)() const) {
    const ndarray first = take(f, 0), last = take(f, n - 1);
    return interpolated(at, from, f, segment, left ? operand((*left.*of)()) : operand(first),
                        right ? operand((*right.*of)()) : operand(last));
  };
  if (!is_complex(values.dtype())) return part(values, &scalar::real);
  return part(real(values), &scalar::real) + part(imag(values), &scalar::imag) * std::complex<double>(0, 1);
}

namespace {

ndarray integral(const ndarray& y, const operand& d, int axis) {
  const std::int64_t n = y.shape(axis);
  const ndarray upper = slice_of(y, axis, std::min<std::int64_t>(1, n), n);
  const ndarray lower = slice_of(y, axis, 0, std::max<std::int64_t>(n - 1, 0));
  return sum(multiply(d, upper + lower) / 2.0, axis);
}

}  // namespace

ndarray trapezoid(const ndarray& y, const trapezoid_kw& kw) {
  return integral(y, kw.dx, normalize_axis(kw.axis, view_of(y, "trapezoid").shape, "trapezoid"));
}
ndarray trapezoid(const ndarray& y, const ndarray& x, const trapezoid_kw& kw) {
  const int axis = normalize_axis(kw.axis, view_of(y, "trapezoid").shape, "trapezoid");
  if (view_of(x, "trapezoid").shape.size() == 1) return integral(y, along(diff(x), y.ndim(), axis), axis);
  return integral(y, diff(x, 1, kw.axis), axis);
}

ndarray ediff1d(const ndarray& x, const ediff1d_kw& kw) {
  const ndarray flat = ravel(x);
  const std::int64_t n = flat.shape(0);
  const ndarray steps =
      slice_of(flat, 0, std::min<std::int64_t>(1, n), n) - slice_of(flat, 0, 0, std::max<std::int64_t>(n - 1, 0));
  const auto end = [&](const operand& e) {
    const dtype from = e.is_array() ? view_of(e.array(), "ediff1d").type : weak_dtype(e.number(), x.dtype());
    require_same_kind("ediff1d", "what is added", from, x.dtype());
    return e.is_array() ? ravel(e.array()).astype(x.dtype(), false)
                        : full({1}, e, {.dtype = x.dtype(), .device = x.device()});
  };
  std::vector<ndarray> parts;
  if (kw.to_begin) parts.push_back(end(*kw.to_begin));
  parts.push_back(steps);
  if (kw.to_end) parts.push_back(end(*kw.to_end));
  return parts.size() == 1 ? steps : concatenate(parts);
}

ndarray unwrap(const ndarray& x, const unwrap_kw& kw) {
  const dims& shape = view_of(x, "unwrap").shape;
  const int axis = normalize_axis(kw.axis, shape, "unwrap");
  const std::int64_t n = shape[axis];
  const ndarray steps = diff(x, 1, axis);
  const bool whole = !is_inexact(x.dtype()) && kw.period.kind() <= scalar_kind::integer;
  const operand period(kw.period);
  const scalar half = whole ? scalar(kw.period.as_int64() / 2) : scalar(kw.period.real() / 2);
  const scalar low = whole ? scalar(-half.as_int64()) : scalar(-half.real());
  const bool ambiguous = !whole || kw.period.as_int64() % 2 == 0;
  ndarray wrapped = add(remainder(subtract(steps, low), period), low);
  if (ambiguous) wrapped = where(logical_and(equal(wrapped, low), greater(steps, 0)), half, wrapped);
  const double least = kw.discont.value_or(kw.period.real() / 2);
  const ndarray corrections = where(less(absolute(steps), least), 0, subtract(wrapped, steps));
  const ndarray start = slice_of(x, axis, 0, std::min<std::int64_t>(1, n)).astype(corrections.dtype());
  const ndarray rest = slice_of(x, axis, std::min<std::int64_t>(1, n), n) + cumsum(corrections, axis);
  return concatenate({start, rest.astype(start.dtype(), false)}, axis);  // sums of narrow integers are int64
}

}  // namespace sinter::inline v0
