// Multidimensional histograms: the cell of each point from its bins, then a count.
#include <string>

#include "core/shape.hpp"
#include "ops/reduce/bins.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;
using idx::_;

namespace {

/// The edges along one dimension; as in NumPy, edges of equal bins may coincide here.
ndarray edges_along(const ndarray& samples, const bin_spec& bins, const bin_limits& range, std::size_t dimension) {
  const std::string which = "[histogramdd] bins of dimension " + std::to_string(dimension);
  if (bins.has_edges()) {
    check_edges(bins.edges(), "histogramdd");
    return bins.edges();
  }
  if (!bins.rule().empty())
    throw value_error(which + ": no rule may choose them, but \"" + bins.rule() + "\" is given");
  if (bins.count() < 1) throw value_error(which + ": at least one is needed, not " + std::to_string(bins.count()));
  require_bins(bins.count(), samples.device(), "histogramdd");
  const limits l = limits_of(samples, range, "histogramdd");
  return equal_bins{l, bins.count(), l.type}.edges(samples.device());
}

/// Divides counts by their sum and by the cells' volumes.
ndarray density_of(ndarray hist, const std::vector<ndarray>& edges) {
  const ndarray total = sum(hist);
  for (std::size_t d = 0; d < edges.size(); ++d) {
    const std::int64_t n = edges[d].size() - 1;
    std::vector<std::int64_t> along(edges.size(), 1);
    along[d] = n;
    hist = hist / reshape(edges[d](slice(1, n + 1)) - edges[d](slice(0, n)), shape_t(along));
  }
  return hist / total;
}

}  // namespace

histogramdd_result histogramdd(const ndarray& sample, const std::vector<bin_spec>& bins, const histogramdd_kw& kw) {
  const dims shape = view_of(sample, "histogramdd").shape;
  const auto fits = [&](std::size_t n) { return static_cast<std::size_t>(shape[1]) == n; };
  if (shape.size() != 2 || shape[1] == 0 || !fits(bins.size()) || (!kw.range.empty() && !fits(kw.range.size())))
    fail<shape_error>("histogramdd", "bins of ", bins.size(), " and ranges of ", kw.range.size(),
                      " dimensions for points of shape ", shape);
  if (kw.weights.defined()) {
    check_weights(sample(_, 0), kw.weights, "histogramdd");
    if (is_complex(kw.weights.dtype()))
      fail<dtype_error>("histogramdd", "cannot sum weights of dtype ", kw.weights.dtype());
  }
  loop_dtype(loop_rule::ordered, sample.dtype(), "histogramdd");
  const ndarray points = wrap(evaluated(value_of(sample)));
  ndarray cell = zeros({shape[0]}, {.dtype = dtype::i64, .device = sample.device()}), inside = cell == 0;
  std::vector<ndarray> edges;
  dims grid;
  for (std::size_t d = 0; d < bins.size(); ++d) {
    const ndarray samples = samples_of(points(_, static_cast<std::int64_t>(d)), "histogramdd");
    edges.push_back(edges_along(samples, bins[d], kw.range.empty() ? bin_limits() : kw.range[d], d));
    grid.push_back(edges[d].size() - 1);
    const ndarray at = bin_between(samples, edges[d]);
    cell = cell * grid[static_cast<int>(d)] + at;
    inside = inside & (at >= 0);
  }
  ndarray hist = count_or_sum(where(inside, cell, -1), kw.weights, core::checked_count(grid, "histogramdd"));
  hist = reshape(hist.astype(dtype::f64, false), to_shape(grid));
  return {kw.density ? density_of(hist, edges) : hist, edges};
}

histogramdd_result histogramdd(const ndarray& sample, std::int64_t bins, const histogramdd_kw& kw) {
  const dims shape = view_of(sample, "histogramdd").shape;
  if (shape.size() != 2) fail<shape_error>("histogramdd", "points must have two axes, not shape ", shape);
  return histogramdd(sample, std::vector<bin_spec>(static_cast<std::size_t>(shape[1]), bin_spec(bins)), kw);
}

histogramdd_result histogram2d(const ndarray& x, const ndarray& y, const std::vector<bin_spec>& bins,
                               const histogramdd_kw& kw) {
  const dims a = view_of(x, "histogram2d").shape, b = view_of(y, "histogram2d").shape;
  if (a.size() != 1 || a != b)
    fail<shape_error>("histogram2d", "x and y must have one axis and one length, not shapes ", a, " and ", b);
  return histogramdd(stack({x, y}, 1), bins, kw);
}
histogramdd_result histogram2d(const ndarray& x, const ndarray& y, const bin_spec& bins, const histogramdd_kw& kw) {
  return histogram2d(x, y, std::vector<bin_spec>(2, bins), kw);
}

}  // namespace sinter::inline v0
