// Counts of integers, and one-dimensional histograms.
#include "sinter/histogram.hpp"

#include <algorithm>

#include "graph/values/example.hpp"
#include "ops/base/of_examples.hpp"
#include "ops/reduce/bins.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

equal_bins find_bins(const ndarray& samples, const bin_spec& bins, const bin_limits& range, const ndarray& weights,
                     const char* function) {
  if (!bins.rule().empty() && weights.defined())
    fail<value_error>(function, "a rule (", bins.rule(), ") for bins takes no weights");
  const limits l = limits_of(samples, range, function);
  const std::int64_t count =
      bins.rule().empty() ? bins.count() : count_by_rule(bins.rule(), samples, range, l, function);
  return equal_bins_of(samples, l, count, function);
}

histogram_result finished(ndarray hist, const ndarray& edges, const histogram_kw& kw) {
  if (kw.weights.defined()) hist = hist.astype(kw.weights.dtype(), false);
  if (kw.density) {
    const std::int64_t n = hist.size();
    const ndarray width = (edges(slice(1, n + 1)) - edges(slice(0, n))).astype(dtype::f64);
    hist = hist / width / sum(hist);
  }
  return {hist, edges};
}

}  // namespace

ndarray bincount(const ndarray& x, const bincount_kw& kw) {
  const graph::array_view& v = view_of(x, "bincount");
  if (v.shape.size() != 1) fail<shape_error>("bincount", "the array must have one axis, not shape ", v.shape);
  if ((!is_integer(v.type) && !is_bool(v.type)) || v.type == dtype::u64)
    fail<dtype_error>("bincount", "cannot count elements of dtype ", v.type);
  if (kw.minlength < 0) throw value_error("[bincount] minlength must not be negative");
  check_weights(x, kw.weights, "bincount");
  if (kw.weights.defined() && is_complex(kw.weights.dtype()))
    fail<dtype_error>("bincount", "cannot sum weights of dtype ", kw.weights.dtype());
  if (graph::is_example(value_of(x))) {  // of a vmap: how many bins there are depends on the elements
    const auto again = [kw](std::span<const ndarray> o) {
      bincount_kw with = kw;
      with.weights = o[1];
      return results_of(bincount(o[0], with));
    };
    if (auto r = intercept_mapped("bincount", {&x, &kw.weights}, again)) return (*r)[0];
  }
  if (x.size() == 0) return zeros({kw.minlength}, {.dtype = dtype::i64, .device = x.device()});
  const ndarray bins = wrap(
      evaluated(value_of(x.astype(itemsize(v.type) < 8 && v.type != dtype::u32 ? dtype::i32 : dtype::i64, false))));
  const ndarray low = min(bins), high = max(bins);
  eval(low, high);  // in one pass
  const auto least = low.item<std::int64_t>();
  if (least < 0) fail<value_error>("bincount", "negative element ", least);
  const auto most = high.item<std::int64_t>();
  if (most >= core::most_elements)
    fail<value_error>("bincount", "no array has as many bins as element ", most, " needs");
  return count_or_sum(bins, kw.weights, std::max(kw.minlength, most + 1));
}

histogram_result histogram(const ndarray& x, const bin_spec& bins, const histogram_kw& kw) {
  const ndarray samples = samples_of(x, "histogram");
  check_weights(x, kw.weights, "histogram");
  if (bins.has_edges()) {
    check_edges(bins.edges(), "histogram");
    const ndarray at = bin_between(samples, bins.edges());
    return finished(count_or_sum(at, kw.weights, bins.edges().size() - 1), bins.edges(), kw);
  }
  const value v = value_of(samples);
  if (graph::is_example(v) && (!kw.range || !bins.rule().empty())) {  // the edges depend on the elements
    const auto again = [bins, kw](std::span<const ndarray> o) {
      histogram_kw with = kw;
      with.weights = o[1];
      const histogram_result h = histogram(o[0], bins, with);
      return results_of(h.hist, h.bin_edges);
    };
    if (auto r = intercept_mapped("histogram", {&x, &kw.weights}, again)) return {(*r)[0], (*r)[1]};
  }
  const ndarray own = graph::is_example(v) ? samples : wrap(evaluated(v));  // once, since it is read several times
  const equal_bins b = find_bins(own, bins, kw.range, kw.weights, "histogram");
  const ndarray edges = b.edges(x.device());
  if (!kw.weights.defined()) return finished(counts_of(own, b), edges, kw);
  return finished(count_or_sum(bin_of(own, b, edges), kw.weights, b.count), edges, kw);
}

ndarray histogram_bin_edges(const ndarray& x, const bin_spec& bins, const bin_edges_kw& kw) {
  const ndarray samples = samples_of(x, "histogram_bin_edges");
  check_weights(x, kw.weights, "histogram_bin_edges");
  if (bins.has_edges()) {
    check_edges(bins.edges(), "histogram_bin_edges");
    return bins.edges();
  }
  if (graph::is_example(value_of(samples))) {
    const auto again = [bins, kw](std::span<const ndarray> o) {
      bin_edges_kw with = kw;
      with.weights = o[1];
      return results_of(histogram_bin_edges(o[0], bins, with));
    };
    if (auto r = intercept_mapped("histogram_bin_edges", {&x, &kw.weights}, again)) return (*r)[0];
  }
  const ndarray own = wrap(evaluated(value_of(samples)));
  return find_bins(own, bins, kw.range, kw.weights, "histogram_bin_edges").edges(x.device());
}

}  // namespace sinter::inline v0
