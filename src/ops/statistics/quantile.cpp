// Quantiles, percentiles, medians: a selection of ranks along rows, then an interpolation that is recorded.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/shape.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/differentiating.hpp"
#include "ops/base/of_examples.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/statistics/quantile_rank.hpp"
#include "ops/statistics/weights.hpp"
#include "sinter/creation.hpp"
#include "sinter/grad.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"
#include "sinter/statistics.hpp"

namespace sinter::ops {

quantile_method method_of(std::string_view word, const char* function) {
  static constexpr std::string_view words[] = {"linear",
                                               "lower",
                                               "higher",
                                               "midpoint",
                                               "nearest",
                                               "inverted_cdf",
                                               "averaged_inverted_cdf",
                                               "closest_observation",
                                               "interpolated_inverted_cdf",
                                               "hazen",
                                               "weibull",
                                               "median_unbiased",
                                               "normal_unbiased"};
  const auto* found = std::find(std::begin(words), std::end(words), word);
  if (found == std::end(words)) fail<value_error>(function, "there is no method '", word, "'");
  return static_cast<quantile_method>(found - std::begin(words));
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// What is wanted: quantiles in [0, 1].
struct quantiles {
  std::vector<double> values;
  dims shape;
  bool weak = false;      // a number, which has no dtype of its own
  bool integers = false;  // 0 and 1, with which ranks are exact
  ndarray followed{};     // their array, one axis, where a derivative follows it
  dtype type = dtype::f64;
};

quantiles quantiles_of(const operand& q, double whole, const char* function) {
  quantiles out;
  if (q.is_array()) {
    const graph::array_view& given = view_of(q.array(), function);
    if (is_complex(given.type)) fail<dtype_error>(function, "quantiles of dtype ", given.type);
    out.shape = given.shape;
    out.type = is_inexact(given.type) ? given.type : dtype::f64;
    out.integers = !is_inexact(given.type) && whole == 1;
    const ndarray parts = whole == 1 ? q.array() : ndarray(divide(q.array(), whole));
    if (is_followed(value_of(q.array()))) out.followed = ravel(parts);
    out.values = parts.to_vector<double>();
  } else {
    if (q.number().kind() == scalar_kind::complex) fail<dtype_error>(function, "a complex quantile");
    out.weak = true;
    out.integers = q.number().kind() <= scalar_kind::integer && whole == 1;
    out.values = {q.number().real() / whole};
  }
  for (const double x : out.values)
    if (!(x >= 0 && x <= 1)) fail<value_error>(function, "quantiles are in [0, ", whole, "], not ", x * whole);
  return out;
}

/// An array with the axes that are reduced as one, the last one.
struct sample {
  ndarray elements;
  dims kept;       // the other axes
  dims with_axes;  // the same, and the reduced ones with extent 1
  std::int64_t count = 0;
};

sample sample_of(const ndarray& x, const axes& axis, const char* function) {
  const graph::array_view& v = view_of(x, function);
  std::vector<int> reduced = distinct_axes(axis, v.shape, function);
  if (!axis.given()) {
    reduced.resize(static_cast<std::size_t>(v.shape.size()));
    std::iota(reduced.begin(), reduced.end(), 0);
  }
  sample s;
  s.with_axes = v.shape;
  s.count = 1;
  std::vector<int> order;
  for (int a = 0; a < v.shape.size(); ++a) {
    if (std::find(reduced.begin(), reduced.end(), a) != reduced.end()) continue;
    order.push_back(a);
    s.kept.push_back(v.shape[a]);
  }
  std::sort(reduced.begin(), reduced.end());
  for (const int a : reduced) {
    order.push_back(a);
    s.count *= v.shape[a];
    s.with_axes[a] = 1;
  }
  const ndarray moved = view_as(x, core::at_axes(v.shape, order), core::at_axes(v.strides, order), v.offset);
  dims shape = s.kept;
  shape.push_back(s.count);
  s.elements = reshape(moved, to_shape(shape));
  return s;
}

/// Of each row the elements of some ranks, ascending, or all of them.
struct ordered {
  ndarray rows;
  std::vector<std::int64_t> ranks;  // none: all

  std::int64_t place(std::int64_t rank) const {
    return ranks.empty() ? rank : std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
  }
  std::vector<std::int64_t> places(std::vector<std::int64_t> of_ranks) const {
    for (std::int64_t& rank : of_ranks) rank = place(rank);
    return of_ranks;
  }
  ndarray places(const ndarray& of_ranks) const {
    return ranks.empty() ? of_ranks : searchsorted(array(ranks, {.device = rows.device()}), of_ranks);
  }
};

ordered with_ranks(const sample& s, std::vector<std::int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (is_intercepting()) {  // announced with the ranks, ascending; the rows are along the last axis
    opaque_call call{
        "ranked_elements", {s.elements}, ranks, {}, [](std::span<const ndarray>) { return std::vector<ndarray>(); }};
    call.again = [s, ranks](std::span<const ndarray> a) {
      sample of_these = s;
      of_these.elements = a[0];
      const ordered found = with_ranks(of_these, ranks);
      return results_of(found.ranks.empty() ? take(found.rows, array(ranks, {.device = a[0].device()}), -1)
                                            : found.rows);
    };
    if (auto r = run_intercepted(call)) return {(*r)[0], std::move(ranks)};
  }
  const value v = value_of(s.elements);
  const rows_of r = rows_along(v, v->shape.size() - 1);
  if (static_cast<std::int64_t>(ranks.size()) > most_ranks(r.elements, r.layout())) return {sort(s.elements), {}};
  return {in_place_of(r, ranked_elements(evaluated(r.elements), r.layout(), ranks)), std::move(ranks)};
}
/// The same, and the last one, which nan_restored() asks for.
ordered with_ranks_and_nan(const sample& s, std::vector<std::int64_t> ranks) {
  if (is_inexact(s.elements.dtype())) ranks.push_back(s.count - 1);
  return with_ranks(s, std::move(ranks));
}

ndarray last_axis(const ndarray& x, std::int64_t first, std::int64_t last) {
  return slice_of(x, x.ndim() - 1, first, last);
}
ndarray element(const ndarray& x, std::int64_t at) { return squeeze(last_axis(x, at, at + 1), -1); }

/// `result`, or NaN for rows that have one.
ndarray nan_restored(const ndarray& result, const ordered& sorted) {
  if (!is_inexact(sorted.rows.dtype())) return result;
  return where(isnan(element(sorted.rows, sorted.rows.shape(-1) - 1)), std::nan(""), result);
}

/// a + (b - a) * t, from the nearer end.
ndarray between(const ndarray& a, const ndarray& b, const operand& t) {
  const ndarray distance = subtract(b, a);
  if (!t.is_array()) return t.number().real() >= 0.5 ? b - distance * (1 - t.number().real()) : a + distance * t;
  return where(greater_equal(t, 0.5), b - distance * (1 - t.array()), a + distance * t);
}

ndarray list_of(const std::vector<double>& x, dtype type, const ndarray& like) {
  return array(x, {.device = like.device()}).astype(type, false);
}
ndarray positions_of(const std::vector<std::int64_t>& x, const ndarray& like) {
  return array(x, {.device = like.device()});
}

/// From (the kept axes, quantiles) to the shape that the caller wants.
ndarray arranged(const ndarray& x, const quantiles& q, const sample& s, bool keepdims) {
  dims shape = q.shape;
  for (const std::int64_t n : keepdims ? s.with_axes : s.kept) shape.push_back(n);
  return reshape(in_c_order(moveaxis(x, -1, 0)), to_shape(shape));
}

template <class T>
std::vector<quantile_rank<double>> ranks_as(quantile_method method, std::int64_t n, const quantiles& q) {
  std::vector<quantile_rank<double>> out;
  for (const double x : q.values) {
    const auto r = rank_of<T>(method, static_cast<T>(n), static_cast<T>(x));
    out.push_back({static_cast<double>(r.lower), static_cast<double>(r.upper), static_cast<double>(r.share)});
  }
  return out;
}

/// As NumPy, ranks of quantiles in a narrow dtype are computed in it.
std::vector<quantile_rank<double>> ranks_of(quantile_method method, std::int64_t n, const quantiles& q) {
  return itemsize(q.type) < 8 ? ranks_as<float>(method, n, q) : ranks_as<double>(method, n, q);
}

/// `x`, with the derivatives of `moving`.
ndarray moved_with(const ndarray& x, const ndarray& moving) {
  return x + (moving - stop_gradient(moving)).astype(x.dtype(), false);
}

/// A rank's share has slopes by the quantile.
ndarray shares_of(const std::vector<double>& share, const quantiles& q, quantile_method method, std::int64_t n,
                  const ndarray& like) {
  const ndarray x = list_of(share, q.type, like);
  if (!q.followed.defined()) return x;
  const ndarray count = array(static_cast<double>(n), {.device = like.device()});
  const ndarray at = q.followed.astype(float64, false);
  return moved_with(x, rank_of<ndarray>(method, count, at).share);
}

struct request {
  const char* function;
  quantiles q;
  quantile_method method;
  bool exact;  // the quantile is an element
};

request request_of(const operand& q, double whole, const quantile_kw& kw, const ndarray& x, const char* function) {
  request r{function, quantiles_of(q, whole, function), method_of(kw.method, function), false};
  if (is_complex(view_of(x, function).type))
    fail<dtype_error>(function, "dtype ", x.dtype(), " is not supported: complex numbers have no quantiles");
  if (kw.weights && r.method != quantile_method::inverted_cdf)
    fail<value_error>(function, "only the method inverted_cdf takes weights, not ", kw.method);
  r.exact = takes_an_element(r.method) || (r.method == quantile_method::linear && r.q.integers);
  return r;
}

ndarray quantile_of_rows(const request& r, const sample& s, bool keepdims) {
  if (s.count == 0) fail<value_error>(r.function, "nothing has quantiles: shape ", s.elements.shape());
  const auto ranks = ranks_of(r.method, s.count, r.q);
  std::vector<std::int64_t> lower, upper, both;
  std::vector<double> share;
  for (const auto& at : ranks) {
    lower.push_back(static_cast<std::int64_t>(at.lower));
    upper.push_back(static_cast<std::int64_t>(at.upper));
    share.push_back(at.share);
  }
  both = lower;
  if (!r.exact) both.insert(both.end(), upper.begin(), upper.end());
  if (both.empty()) both.push_back(0);
  const ordered sorted = with_ranks_and_nan(s, both);
  lower = sorted.places(lower);
  upper = sorted.places(upper);
  ndarray out;
  if (r.q.shape.empty()) {
    const ndarray first = element(sorted.rows, lower[0]);
    if (r.exact) out = first;
    else if (r.q.weak) out = between(first, element(sorted.rows, upper[0]), share[0]);
    else out = between(first, element(sorted.rows, upper[0]), shares_of(share, r.q, r.method, s.count, first)(0));
    return arranged(expand_dims(nan_restored(out, sorted), -1), r.q, s, keepdims);
  }
  out = take(sorted.rows, positions_of(lower, sorted.rows), -1);
  if (!r.exact)
    out = between(out, take(sorted.rows, positions_of(upper, sorted.rows), -1),
                  shares_of(share, r.q, r.method, s.count, out));
  out = moveaxis(out, -1, 0);
  return arranged(moveaxis(nan_restored(out, sorted), 0, -1), r.q, s, keepdims);
}

/// How many elements of each row are numbers, as int64.
ndarray numbers_in(const sample& s) { return count_nonzero(logical_not(isnan(s.elements)), -1, {.keepdims = true}); }
/// A list of these counts. Waits.
std::vector<std::int64_t> distinct(const ndarray& counts) {
  std::vector<std::int64_t> n = counts.to_vector<std::int64_t>();
  std::sort(n.begin(), n.end());
  n.erase(std::unique(n.begin(), n.end()), n.end());
  return n;
}

/// The elements of each row's own ranks, list by list, where the device selects them row by row; otherwise undefined.
ndarray with_own_ranks(const sample& s, const std::vector<ndarray>& ranks) {
  if (is_intercepting()) return {};
  const value v = value_of(s.elements);
  const rows_of r = rows_along(v, v->shape.size() - 1);
  if (!finds_own_ranks(r.elements, r.layout())) return {};
  const value rows = evaluated(r.elements);
  const value wanted = evaluated(value_of(clip(concatenate(ranks, -1), 0, s.count - 1)));
  return wrap(own_ranked_elements(rows, r.layout(), wanted));
}

/// Of each row the elements of ranks of its own, int64, list by list; all() lists those of all rows. A row without numbers may
/// have ranks out of range.
template <class List>
std::vector<ndarray> elements_at(const sample& s, const std::vector<ndarray>& ranks, const List& all) {
  std::vector<ndarray> out;
  if (const ndarray own = with_own_ranks(s, ranks); own.defined()) {
    std::int64_t first = 0;
    for (const ndarray& k : ranks) {
      out.push_back(last_axis(own, first, first + k.shape(-1)));
      first += k.shape(-1);
    }
    return out;
  }
  const ordered sorted = with_ranks(s, all());
  for (const ndarray& k : ranks) out.push_back(take_along_axis(sorted.rows, sorted.places(k), -1));
  return out;
}

/// Rows of which elements that are NaN do not count: these sort behind the others, so the ranks are those of the first
/// elements of each row, for each count of them.
ndarray quantile_of_numbers(const request& r, const sample& s, bool keepdims) {
  const ndarray counts = numbers_in(s), n = counts.astype(float64), q = list_of(r.q.values, float64, n);
  const auto at = rank_of<ndarray>(r.method, n, r.q.followed.defined() ? moved_with(q, r.q.followed) : q);
  std::vector<ndarray> ranks{at.lower.astype(int64)};
  if (!r.exact) ranks.push_back(at.upper.astype(int64));
  const std::vector<ndarray> ends = elements_at(s, ranks, [&] {
    std::vector<std::int64_t> wanted{0};
    for (const std::int64_t count : distinct(counts))
      for (const auto& each : ranks_as<double>(r.method, std::max<std::int64_t>(count, 1), r.q)) {
        wanted.push_back(static_cast<std::int64_t>(each.lower));
        if (!r.exact) wanted.push_back(static_cast<std::int64_t>(each.upper));
      }
    return wanted;
  });
  ndarray out = ends[0];
  if (!r.exact) out = between(out, ends[1], at.share.astype(r.q.weak ? out.dtype() : r.q.type, false));
  return arranged(where(equal(n, 0), std::nan(""), out), r.q, s, keepdims);
}

/// NaN: there is no number.
ndarray nan_of_nothing(const request& r, const sample& s, bool keepdims) {
  shape_t shape = s.elements.shape();
  std::vector<std::int64_t> extents(shape.begin(), shape.end());
  extents.back() = static_cast<std::int64_t>(r.q.values.size());
  const dtype own = s.elements.dtype();
  const dtype type = !is_inexact(own) ? dtype::f64 : r.exact || r.q.weak ? own : promote_types(own, r.q.type);
  const ndarray none = full(shape_t(std::span<const std::int64_t>(extents)), std::nan(""),
                            {.dtype = type, .device = s.elements.device()});
  return arranged(none, r.q, s, keepdims);
}

/// The first element at which the weights so far are at least the part q of all.
ndarray weighted_quantile(const request& r, const ndarray& x, const quantile_kw& kw, bool skips_nan) {
  const sample s = sample_of(x, kw.axis, r.function);
  if (s.count == 0) fail<value_error>(r.function, "nothing has quantiles: shape ", x.shape());
  const ndarray over = broadcast_to(weights_over(x, *kw.weights, kw.axis, r.function), x.shape());
  ndarray w = sample_of(over, kw.axis, r.function).elements;
  if (bool(any(less(w, 0)))) fail<value_error>(r.function, "weights must not be negative");
  const bool has_nan = is_inexact(x.dtype());
  if (skips_nan && has_nan) w = where(isnan(s.elements), 0, w);
  const ndarray order = argsort(s.elements), rows = take_along_axis(s.elements, order, -1);
  ndarray part = cumsum(take_along_axis(w, order, -1), -1, {.dtype = float64});
  const ndarray all_of = last_axis(part, s.count - 1, s.count);
  const ndarray none = skips_nan && has_nan ? expand_dims(all(isnan(s.elements), -1), -1) : ndarray();
  const ndarray bad = logical_not(logical_and(isfinite(all_of), greater(all_of, 0)));
  if (bool(any(none.defined() ? logical_and(bad, logical_not(none)) : bad)))
    fail<value_error>(r.function, "weights include NaN or infinity, or are all zero");
  part = part / all_of;
  if (itemsize(r.q.type) < 8) part = part.astype(r.q.type);
  part = where(equal(part, 0), -1, part);
  const ndarray q = list_of(r.q.values, part.dtype(), part);
  const ndarray before = count_nonzero(less(expand_dims(part, -2), expand_dims(q, -1)), -1);
  ndarray out = take_along_axis(rows, minimum(before, s.count - 1), -1);
  if (none.defined()) out = where(none, std::nan(""), out);
  else if (has_nan) out = where(isnan(last_axis(rows, s.count - 1, s.count)), std::nan(""), out);
  return arranged(out, r.q, s, kw.keepdims);
}

ndarray quantile_as(const char* function, const ndarray& x, const operand& q, double whole, const quantile_kw& kw,
                    bool skips_nan) {
  // A list of numbers is on the host, wherever the elements are: it is no operand of a call for each example.
  const ndarray list = q.is_array() ? q.array() : ndarray(),
                given = list.defined() && list.device() == x.device() ? list : ndarray(),
                weights = kw.weights ? *kw.weights : ndarray();
  const bool looks = skips_nan || weights.defined();  // at the elements; else at the quantiles only
  const auto again = [=, method = std::string(kw.method)](std::span<const ndarray> o) {
    quantile_kw with = kw;
    with.method = method;
    if (o[2].defined()) with.weights = o[2];
    return results_of(quantile_as(function, o[0],
                                  o[1].defined()   ? operand(o[1])
                                  : list.defined() ? operand(list)
                                                   : q,
                                  whole, with, skips_nan));
  };
  if (looks || (given.defined() && is_of_examples(std::span(&given, 1))))
    if (auto r = intercept_mapped(function, {&x, &given, &weights}, again)) return (*r)[0];
  const request r = request_of(q, whole, kw, x, function);
  if (kw.weights) return weighted_quantile(r, x, kw, skips_nan);
  const sample s = sample_of(x, kw.axis, function);
  if (skips_nan && x.size() == 0) return nan_of_nothing(r, s, kw.keepdims);
  return skips_nan && is_inexact(x.dtype()) ? quantile_of_numbers(r, s, kw.keepdims)
                                            : quantile_of_rows(r, s, kw.keepdims);
}

ndarray axes_restored(const ndarray& x, const sample& s, bool keepdims) {
  return keepdims ? reshape(x, to_shape(s.with_axes)) : x;
}

}  // namespace

#define SINTER_QUANTILE(name, whole, skips_nan)                                            \
  ndarray name(const ndarray& x, const operand& q, const quantile_kw& kw) {                \
    return quantile_as(#name, x, q, whole, kw, skips_nan);                                 \
  }                                                                                        \
  ndarray name(const ndarray& x, std::initializer_list<double> q, const quantile_kw& kw) { \
    return name(x, array(std::vector<double>(q), {.device = cpu}), kw);                    \
  }
SINTER_QUANTILE(quantile, 1, false)
SINTER_QUANTILE(percentile, 100, false)
SINTER_QUANTILE(nanquantile, 1, true)
SINTER_QUANTILE(nanpercentile, 100, true)
#undef SINTER_QUANTILE

ndarray median(const ndarray& x, const median_kw& kw) {
  const sample s = sample_of(x, kw.axis, "median");
  const std::int64_t half = s.count / 2, first = s.count % 2 == 1 ? half : half - 1;
  if (s.count == 0) return axes_restored(mean(s.elements, -1), s, kw.keepdims);
  const ordered sorted = with_ranks_and_nan(s, {first, half});
  const ndarray middle = mean(last_axis(sorted.rows, sorted.place(first), sorted.place(half) + 1), -1);
  return axes_restored(nan_restored(middle, sorted), s, kw.keepdims);
}

ndarray nanmedian(const ndarray& x, const median_kw& kw) {
  if (!is_inexact(view_of(x, "nanmedian").type)) return median(x, kw);
  const auto again = [kw](std::span<const ndarray> o) { return results_of(nanmedian(o[0], kw)); };
  if (auto r = intercept_mapped("nanmedian", {&x}, again)) return (*r)[0];
  const sample s = sample_of(x, kw.axis, "nanmedian");
  if (s.count == 0) return axes_restored(mean(s.elements, -1), s, kw.keepdims);
  const ndarray n = numbers_in(s);
  const ndarray lower = maximum(floor_divide(n - 1, 2), 0), upper = minimum(floor_divide(n, 2), s.count - 1);
  const ndarray two = concatenate({lower, upper}, -1);
  const std::vector<ndarray> middle = elements_at(s, {two}, [&] {
    std::vector<std::int64_t> wanted{0};
    for (const std::int64_t count : distinct(n)) {
      wanted.push_back(std::max<std::int64_t>((count - 1) / 2, 0));
      wanted.push_back(std::min(count / 2, s.count - 1));
    }
    return wanted;
  });
  return axes_restored(mean(middle[0], -1), s, kw.keepdims);
}

}  // namespace sinter::inline v0
