// Counting elements in bins. How many bins there are, or their edges, depend on the data unless they are given, so
// these functions evaluate their arguments; bincount always synchronises, and so do histograms where no range, a rule,
// or edges (which are checked) are given. Bins of equal width are counted in one pass over the elements, without an
// array of bins; weights and 16-bit floats take an int64 for each element meanwhile. Sums of weights are taken in
// float64; their bits are the same in every run.
#pragma once
#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

struct bincount_kw {
  kwonly _kw{};
  ndarray weights{};  // real, of x's shape; undefined: every element counts 1
  std::int64_t minlength = 0;
};
/// How often each number 0, 1, ... is in x (1-D, bool or integers but uint64): int64 of length max(x) + 1, at least
/// `minlength`; with weights their sums, float64 (int64 zeros of an empty x). value_error: a negative element or
/// minlength. shape_error: x is not 1-D, or weights have another shape. dtype_error: other dtypes, complex weights.
ndarray bincount(const ndarray& x, const bincount_kw& kw = {});

/// The limits of the outermost bins: `{low, high}`, or `_`: the extremes of the data. Parameter-only.
class bin_limits {
 public:
  bin_limits() = default;
  bin_limits(none_t) noexcept {}
  template <std::convertible_to<double> A, std::convertible_to<double> B>
  bin_limits(A low, B high) : low_(static_cast<double>(low)), high_(static_cast<double>(high)), given_(true) {}
  template <std::convertible_to<double> A, std::convertible_to<double> B>
  bin_limits(const std::pair<A, B>& both) : bin_limits(both.first, both.second) {}
  explicit operator bool() const noexcept { return given_; }
  double low() const noexcept { return low_; }
  double high() const noexcept { return high_; }

 private:
  double low_ = 0, high_ = 1;
  bool given_ = false;
};

/// Bins: how many of equal width; or the name of the rule that decides how many ("auto", "fd", "doane", "scott",
/// "stone", "rice", "sturges", "sqrt", as NumPy explains them); or their edges (1-D, real, never falling).
/// Parameter-only.
class bin_spec {
 public:
  template <int_like T>
  bin_spec(T count) : count_(extent(count).value) {}
  bin_spec(std::string_view rule) : rule_(rule) {}
  bin_spec(const char* rule) : rule_(rule) {}
  bin_spec(std::string rule) : rule_(std::move(rule)) {}
  bin_spec(const ndarray& edges) : edges_(edges), has_edges_(true) {}
  std::int64_t count() const noexcept { return count_; }
  const std::string& rule() const noexcept { return rule_; }  // empty: none
  const ndarray& edges() const noexcept { return edges_; }
  bool has_edges() const noexcept { return has_edges_; }

 private:
  std::int64_t count_ = 0;
  std::string rule_;
  ndarray edges_;
  bool has_edges_ = false;
};

struct histogram_kw {
  kwonly _kw{};
  bin_limits range{};  // no part in it where edges are given
  bool density = false;
  ndarray weights{};  // of x's shape
};
struct histogram_result {
  ndarray hist, bin_edges;
};
/// How many elements of x (flattened) lie in each bin; the last bin has its right edge, the others have not. NaN lies
/// in no bin. int64; with weights their sums in the dtype of the weights; with density float64 (complex128 for complex
/// weights) whose integral is 1. Edges of equal bins are x's dtype where that is floating, else float64, computed as by
/// NumPy's linspace; given edges come back as they are. value_error: no bins; bins too narrow for edges to differ; a
/// range that falls or is not finite, found in x or given; no rule of the name, or a rule with weights; edges that
/// fall. shape_error: weights of another shape; edges that are not 1-D. dtype_error: complex x or edges.
histogram_result histogram(const ndarray& x, const bin_spec& bins = 10, const histogram_kw& kw = {});

struct bin_edges_kw {
  kwonly _kw{};
  bin_limits range{};
  ndarray weights{};  // must be undefined with a rule; changes nothing
};
/// The edges alone. Errors as of histogram.
ndarray histogram_bin_edges(const ndarray& x, const bin_spec& bins = 10, const bin_edges_kw& kw = {});

struct histogramdd_kw {
  kwonly _kw{};
  std::vector<bin_limits> range{};  // for each dimension; empty: the extremes
  bool density = false;
  ndarray weights{};  // real, one for each point
};
struct histogramdd_result {
  ndarray hist;  // float64, one axis for each dimension
  std::vector<ndarray> edges;
};
/// How many of the points `sample` (n, d) lie in each cell of a grid: `bins` equal bins along every dimension, or for
/// each dimension a number of bins or edges. As NumPy: float64, and the last bins have their right edges; edges of
/// equal bins are float64, or the sample's dtype where that is floating and they are found in it. The density's
/// integral is 1. shape_error: sample has not two axes, or bins or ranges are not one for each dimension; value_error:
/// a rule. Errors else as of histogram, but bins may be too narrow.
histogramdd_result histogramdd(const ndarray& sample, std::int64_t bins = 10, const histogramdd_kw& kw = {});
histogramdd_result histogramdd(const ndarray& sample, const std::vector<bin_spec>& bins, const histogramdd_kw& kw = {});
/// The same of points (x, y), two arrays of one axis and length. One number of bins, or one array of edges, serves both
/// dimensions.
histogramdd_result histogram2d(const ndarray& x, const ndarray& y, const bin_spec& bins = 10,
                               const histogramdd_kw& kw = {});
histogramdd_result histogram2d(const ndarray& x, const ndarray& y, const std::vector<bin_spec>& bins,
                               const histogramdd_kw& kw = {});

}  // namespace sinter::inline v0
