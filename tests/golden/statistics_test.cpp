// Order statistics, means, covariances, reductions that leave NaN out or take initial values and masks: as NumPy 2.
#include <doctest/doctest.h>

#include "golden/calls.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using results = std::vector<ndarray>;

template <class Number, class Array>
results quantile_call(const call& c, const Number& of_number, const Array& of_array) {
  const bool several = c.has("several");
  const std::string method = c.option.substr(0, c.option.find(' '));
  quantile_kw kw{.axis = c.axes_from(several ? 0 : 1), .keepdims = c.has("keepdims"), .method = method};
  if (c.has("weights")) kw.weights = c.x.at(1);
  return {several ? of_array(c.x.at(0), c.x.at(1), kw) : of_number(c.x.at(0), c.n.at(0), kw)};
}
#define QUANTILE(name)                                                                               \
  {                                                                                                  \
#name, [](const call& c) {                                                                         \
     const auto f = [](const ndarray& x, const operand& q, const quantile_kw& kw) { return name(x, q, kw); }; \
     return quantile_call(c, f, f);                                                                   \
   } \
  }
#define MEDIAN(name)                                                                                               \
  {                                                                                                                \
#name, [](const call&                                                                                          \
                  c) { return results{name(c.x.at(0), {.axis = c.axes_from(0), .keepdims = c.has("keepdims")})}; } \
  }

reduce_kw keywords(const call& c) {
  reduce_kw kw{.axis = c.axes_from(c.has("initial") ? 1 : 0), .keepdims = c.has("keepdims")};
  if (c.has("initial")) kw.initial = c.integer(0);
  if (c.has("where")) kw.where = c.x.at(1);
  return kw;
}
var_kw moments(const call& c) {
  const reduce_kw kw = keywords(c);
  return {.axis = kw.axis, .keepdims = kw.keepdims, .where = kw.where};
}
#define REDUCTION(name)                                                        \
  {                                                                            \
#name, [](const call& c) { return results{name(c.x.at(0), keywords(c))}; } \
  }
#define MOMENT(name)                                                          \
  {                                                                           \
#name, [](const call& c) { return results{name(c.x.at(0), moments(c))}; } \
  }

results average_of(const call& c) {
  average_kw kw{.axis = c.axes_from(0), .keepdims = c.has("keepdims")};
  if (c.x.size() > 1) kw.weights = c.x[1];
  const average_result r = average(c.x.at(0), kw);
  return {r.average, r.sum_of_weights};
}

results cov_of(const call& c) {
  const cov_kw kw{.rowvar = !c.has("columns"), .ddof = c.integer(0)};
  return {c.x.size() > 1 ? cov(c.x[0], c.x[1], kw) : cov(c.x.at(0), kw)};
}

results weighted_cov(const call& c) {
  cov_kw kw;
  if (c.has("f")) kw.fweights = c.x.at(1);
  if (c.has("a")) kw.aweights = c.x.back();
  return {cov(c.x.at(0), kw)};
}

}  // namespace

TEST_CASE("statistics give what NumPy does" * doctest::test_suite(sharded_suite)) {
  check_calls("statistics.bin",
              {QUANTILE(quantile),
               QUANTILE(percentile),
               QUANTILE(nanquantile),
               QUANTILE(nanpercentile),
               MEDIAN(median),
               MEDIAN(nanmedian),
               REDUCTION(nansum),
               REDUCTION(nanprod),
               REDUCTION(nanmin),
               REDUCTION(nanmax),
               REDUCTION(nanargmin),
               REDUCTION(nanargmax),
               REDUCTION(nanmean),
               MOMENT(nanvar),
               MOMENT(nanstd),
               {"nanvar ddof",
                [](const call& c) { return results{nanvar(c.x.at(0), {.axis = c.axes_from(1), .ddof = c.n.at(0)})}; }},
               REDUCTION(sum),
               REDUCTION(prod),
               REDUCTION(min),
               REDUCTION(max),
               REDUCTION(any),
               REDUCTION(all),
               REDUCTION(mean),
               MOMENT(var),
               {"std", [](const call& c) { return results{sinter::std(c.x.at(0), moments(c))}; }},
               {"average", average_of},
               {"cov", cov_of},
               {"cov weights", weighted_cov},
               {"corrcoef",
                [](const call& c) { return results{corrcoef(c.x.at(0), c.x.at(1), {.rowvar = !c.has("columns")})}; }}});
}
