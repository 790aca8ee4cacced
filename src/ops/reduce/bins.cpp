// Limits, edges, bins and counts with NumPy's rounding: edges are compared in their own dtype, so that a sample on an
// edge falls into the same bin as in NumPy.
#include "ops/reduce/bins.hpp"

#include <algorithm>
#include <string>

#include "graph/values/example.hpp"
#include "ops/base/differentiating.hpp"
#include "ops/base/one_memory.hpp"
#include "ops/base/opaque_call.hpp"
#include "sinter/grad.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/kernel.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/search.hpp"

namespace sinter::ops {
namespace {

std::string range_text(double low, double high) {
  return "[" + std::to_string(low) + ", " + std::to_string(high) + "]";
}

double epsilon_of(dtype type) {
  return type == dtype::f16 ? 0x1p-10 : type == dtype::bf16 ? 0x1p-7 : type == dtype::f32 ? 0x1p-23 : 0x1p-52;
}

double step_of(const equal_bins& b) {
  const dtype t = b.limits.type;
  return rounded_to(t, width_of(b.limits) / rounded_to(t, static_cast<double>(b.count)));
}

/// Edge k, with the rounding of `edges`.
double edge_of(const equal_bins& b, double step, std::int64_t k) {
  if (k == b.count) return rounded_to(b.type, b.limits.high);
  const dtype t = b.limits.type;
  const double along = rounded_to(t, rounded_to(t, static_cast<double>(k)) * step);
  return rounded_to(b.type, rounded_to(t, along + b.limits.low));
}

bool edges_ascend(const equal_bins& b) {
  const double step = step_of(b), largest = std::max(std::abs(b.limits.low), std::abs(b.limits.high));
  // The error of each edge is below three roundings, so edges with this step are distinct.
  if (step > 8 * std::max(epsilon_of(b.type), epsilon_of(b.limits.type)) * largest) return true;
  double before = edge_of(b, step, 0);
  for (std::int64_t k = 1; k <= b.count; ++k) {
    const double edge = edge_of(b, step, k);
    if (!(before < edge)) return false;
    before = edge;
  }
  return true;
}

/// The dtype in which algorithms::histogram counts samples; null for 16-bit floats.
std::optional<dtype> counted_as(dtype t) {
  switch (t) {
    case dtype::i8:
    case dtype::i16: return dtype::i32;
    case dtype::u32: return dtype::i64;
    case dtype::u64: return dtype::f64;
    case dtype::f16:
    case dtype::bf16: return std::nullopt;
    default: return t;
  }
}

}  // namespace

limits extremes_of(const ndarray& samples, const char* function) {
  const ndarray low = min(samples), high = max(samples);
  eval(low, high);  // in one pass
  const limits l{low.item<double>(), high.item<double>(), is_inexact(samples.dtype()) ? samples.dtype() : dtype::f64};
  if (!std::isfinite(l.low) || !std::isfinite(l.high))
    fail<value_error>(function, "the samples' range ", range_text(l.low, l.high), " is not finite");
  return l;
}

limits limits_of(const ndarray& samples, const bin_limits& given, const char* function) {
  limits l;
  if (given) {
    l.low = given.low();
    l.high = given.high();
    if (l.high < l.low) fail<value_error>(function, "the range ", range_text(l.low, l.high), " falls");
    if (!std::isfinite(l.low) || !std::isfinite(l.high))
      fail<value_error>(function, "the range ", range_text(l.low, l.high), " is not finite");
  } else if (samples.size() != 0) {
    l = extremes_of(samples, function);
  }
  if (l.low == l.high) {
    l.low = rounded_to(l.type, l.low - 0.5);
    l.high = rounded_to(l.type, l.high + 0.5);
  }
  return l;
}

ndarray samples_of(const ndarray& x, const char* function) {
  const dtype type = loop_dtype(loop_rule::ordered, view_of(x, function).type, function);
  const ndarray flat = ravel(x);
  return is_bool(type) ? flat.astype(dtype::u8) : flat;
}

void check_weights(const ndarray& x, const ndarray& weights, const char* function) {
  if (!weights.defined()) return;
  if (view_of(weights, function).shape != view_of(x, function).shape)
    fail<shape_error>(function, "weights of shape ", view_of(weights, function).shape, " for an array of shape ",
                      view_of(x, function).shape);
  common_device(x, weights, function);
}

ndarray equal_bins::edges(const device& d) const {
  if (limits.type == dtype::f64) return linspace(limits.low, limits.high, count + 1, {.dtype = type, .device = d});
  const ndarray k = arange(count + 1, {.dtype = dtype::i64, .device = d});
  const ndarray along = k.astype(limits.type) * step_of(*this) + limits.low;
  return where(k == count, limits.high, along).astype(type, false);
}

void require_bins(std::int64_t count, const device& d, const char* function) {
  if (count >= core::most_elements) fail<value_error>(function, "too many bins: no array has ", count, " counts");
  // A request beyond the available memory is rejected before the loop over the edges.
  if (count > 1 << 20 && d.kind != device_kind::mesh)
    static_cast<void>(runtime::buffer(runtime::get_backend(to_id(d)), static_cast<std::size_t>(count) * sizeof count));
}

equal_bins equal_bins_of(const ndarray& samples, const limits& l, std::int64_t count, const char* function) {
  if (count < 1) fail<value_error>(function, "needs at least one bin, not ", count);
  require_bins(count, samples.device(), function);
  const equal_bins b{l, count, is_inexact(samples.dtype()) ? samples.dtype() : dtype::f64};
  if (!std::isfinite(step_of(b)))
    fail<value_error>(function, "the range ", range_text(l.low, l.high), " is too wide for ", l.type);
  if (!edges_ascend(b))
    fail<value_error>(function, "too many bins: ", count, " in the range ", range_text(l.low, l.high),
                      " have no width in ", b.type);
  return b;
}

ndarray counts_of(const ndarray& samples, const equal_bins& b) {
  if (is_followed(value_of(samples))) return counts_of(stop_gradient(samples), b);  // whole numbers are constant
  if (is_in_parts(samples, "histogram") &&
      !graph::is_example(value_of(samples))) {  // announced with the number of bins
    if (auto r = intercept("histogram", {&samples}, {b.count},
                           [b](std::span<const ndarray> a) { return results_of(counts_of(a[0], b)); }))
      return (*r)[0];
  }
  const auto type = counted_as(samples.dtype());
  if (type && !graph::is_example(value_of(samples))) {  // else by bincount, which has a rule for many examples
    const runtime::bin_range bins{b.limits.low, b.limits.high, b.count, b.limits.type == dtype::f32};
    return wrap(counted_in(bins, value_of(samples.astype(*type, false))));
  }
  return count_or_sum(bin_of(samples, b, b.edges(samples.device())), ndarray(), b.count);
}

ndarray bin_of(const ndarray& samples, const equal_bins& b, const ndarray& edges) {
  static const auto& bin = *new function("int64 histogram_bin(T x, raw T edges, double low, double width)", R"(
  long long n = edges.size() - 1;
  if (!(x >= edges[0] && x <= edges[n])) return -1;
  double guess = ((double)x - low) / width * n;
  long long k = guess < n ? (long long)guess : n - 1;
  if (k < 0) k = 0;
  while (k > 0 && x < edges[k]) --k;
  while (k < n - 1 && x >= edges[k + 1]) ++k;
  return k;)");
  return bin(samples.astype(b.type, false), edges, b.limits.low, b.limits.high - b.limits.low);
}

void check_edges(const ndarray& edges, const char* function) {
  const dims shape = view_of(edges, function).shape;
  if (shape.size() != 1 || shape[0] < 1)
    fail<shape_error>(function, "edges must have one axis and an element, not shape ", shape);
  loop_dtype(loop_rule::ordered, edges.dtype(), function);
  if (bool(any(edges(slice(1, shape[0])) < edges(slice(0, shape[0] - 1)))))
    fail<value_error>(function, "edges must not fall");
}

ndarray bin_between(const ndarray& samples, const ndarray& edges) {
  const std::int64_t n = edges.size() - 1;
  const ndarray last = edges(n), place = searchsorted(edges, samples, "right") - 1;
  return where(samples == last, n - 1, where(samples <= last, place, -1));
}

namespace {

/// Announced as "bincount" with the number of bins; the operands are of rank 1, the weights real or undefined.
std::optional<std::vector<ndarray>> announced(const ndarray& at, const ndarray& weights, std::int64_t n) {
  return intercept("bincount", {&at, &weights}, {n},
                   [n](std::span<const ndarray> a) { return results_of(count_or_sum(a[0], a[1], n)); });
}

}  // namespace

ndarray count_or_sum(const ndarray& bins, const ndarray& weights, std::int64_t n) {
  const value at = value_of(ravel(bins));
  const dtype added = weights.defined() && weights.dtype() == dtype::f32 ? dtype::f32 : dtype::f64;
  if (!weights.defined()) {
    if (auto r = announced(wrap(at), {}, n)) return (*r)[0];
    return wrap(binned(at, value(), n));
  }
  const auto sums = [&](const ndarray& w) {
    const ndarray flat = ravel(w).astype(added, false);
    if (auto r = announced(wrap(at), flat, n)) return (*r)[0];
    return wrap(binned(at, value_of(flat), n));
  };
  if (!is_complex(weights.dtype())) return sums(weights);
  static const auto& complex_of =
      *new function("complex128 complex_of(double re, double im)", "return complex128(re, im);");
  return complex_of(sums(real(weights)), sums(imag(weights)));
}

}  // namespace sinter::ops
