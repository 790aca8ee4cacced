// Extremes of integers in reductions, sorting, searching, sets, histograms and functions of elements.
#include "hostile/extreme_integers.hpp"

using namespace hostile;
using sinter::axes;
using longs = std::vector<int64_t>;

namespace {

ndarray cube() { return sn::reshape(sn::arange(24, {.dtype = sn::float64}), {2, 3, 4}); }
ndarray row() { return sn::arange(6); }

template <class F>
extreme_case reduction(const char* name, F f) {
  return {name, [f](int64_t k) { return f(cube(), k); }};
}

}  // namespace

TEST_CASE("extreme integers: reductions and scans") {
  check_extremes({
      reduction("sum", [](auto x, auto k) { return sn::sum(x, k); }),
      reduction("prod", [](auto x, auto k) { return sn::prod(x, k); }),
      reduction("min", [](auto x, auto k) { return sn::min(x, k); }),
      reduction("max", [](auto x, auto k) { return sn::max(x, k); }),
      reduction("amin", [](auto x, auto k) { return sn::amin(x, k); }),
      reduction("amax", [](auto x, auto k) { return sn::amax(x, k); }),
      reduction("ptp", [](auto x, auto k) { return sn::ptp(x, k); }),
      reduction("argmin", [](auto x, auto k) { return sn::argmin(x, k); }),
      reduction("argmax", [](auto x, auto k) { return sn::argmax(x, k); }),
      reduction("any", [](auto x, auto k) { return sn::any(x, k); }),
      reduction("all", [](auto x, auto k) { return sn::all(x, k); }),
      reduction("count_nonzero", [](auto x, auto k) { return sn::count_nonzero(x, k); }),
      reduction("mean", [](auto x, auto k) { return sn::mean(x, k); }),
      reduction("var", [](auto x, auto k) { return sn::var(x, k); }),
      reduction("std", [](auto x, auto k) { return sn::std(x, k); }),
      reduction("reduce_kw.axis",
                [](auto x, auto k) {
                  return sn::sum(x, {.axis = axes{0, k}, .keepdims = true});
                }),
      reduction("var_kw.axis", [](auto x, auto k) { return sn::var(x, {.axis = k}); }),
      reduction("scan_kw.axis", [](auto x, auto k) { return sn::cumsum(x, {.axis = k}); }),
      reduction("cumulative_sum", [](auto x, auto k) { return sn::cumulative_sum(x, k, {.include_initial = true}); }),
      reduction("cumulative_prod", [](auto x, auto k) { return sn::cumulative_prod(x, k); }),
      reduction("cumsum", [](auto x, auto k) { return sn::cumsum(x, k); }),
      reduction("cumprod", [](auto x, auto k) { return sn::cumprod(x, k); }),
      reduction("nancumsum", [](auto x, auto k) { return sn::nancumsum(x, k); }),
      reduction("nancumprod", [](auto x, auto k) { return sn::nancumprod(x, k); }),
      reduction("cummax", [](auto x, auto k) { return sn::cummax(x, k); }),
      reduction("cummin", [](auto x, auto k) { return sn::cummin(x, k); }),
      reduction("logcumsumexp", [](auto x, auto k) { return sn::logcumsumexp(x, k); }),
      {"sum of the number",
       [](int64_t k) {
         return sn::sum(sn::array({k, k}));
       }},
      {"cumsum of the number",
       [](int64_t k) {
         return sn::cumsum(sn::array({k, k}));
       }},
  });
}

TEST_CASE("extreme integers: sorting, searching, sets") {
  check_extremes({
      reduction("sort", [](auto x, auto k) { return sn::sort(x, k); }),
      reduction("sort_kw.axis", [](auto x, auto k) { return sn::sort(x, {.axis = k}); }),
      reduction("argsort", [](auto x, auto k) { return sn::argsort(x, k); }),
      {"lexsort",
       [](int64_t k) {
         return sn::lexsort({row(), row()}, k);
       }},
      {"lexsort of an array", [](int64_t k) { return sn::lexsort(cube(), k); }},
      {"lexsort of many",
       [](int64_t k) {
         return sn::lexsort(sn::broadcast_to(sn::array({1, 2}), {k, 2}));
       }},
      {"partition", [](int64_t k) { return sn::partition(row(), k); }},
      {"partition kth",
       [](int64_t k) {
         return sn::partition(row(), longs{0, k});
       }},
      reduction("partition axis", [](auto x, auto k) { return sn::partition(x, 0, k); }),
      {"argpartition", [](int64_t k) { return sn::argpartition(row(), k); }},
      reduction("argpartition axis", [](auto x, auto k) { return sn::argpartition(x, longs{0}, k); }),
      {"topk", [](int64_t k) { return sn::topk(row(), k).values; }},
      reduction("topk_kw.axis", [](auto x, auto k) { return sn::topk(x, 1, {.axis = k}).indices; }),
      reduction("unique_kw.axis", [](auto x, auto k) { return sn::unique(x, {.axis = k}).values; }),
      {"searchsorted number", [](int64_t k) { return sn::searchsorted(row().astype(sn::int8), k); }},
      {"isin number", [](int64_t k) { return sn::isin(row().astype(sn::uint8), k); }},
  });
}

TEST_CASE("extreme integers: histograms") {
  const auto points = [] { return sn::reshape(sn::arange(8, {.dtype = sn::float64}), {4, 2}); };
  check_extremes({
      {"histogram", [](int64_t k) { return sn::histogram(cube(), k).hist; }},
      {"histogram of weights", [](int64_t k) { return sn::histogram(cube(), k, {.weights = cube()}).hist; }},
      {"histogram_bin_edges", [](int64_t k) { return sn::histogram_bin_edges(cube(), k); }},
      {"histogramdd", [=](int64_t k) { return sn::histogramdd(points(), k).hist; }},
      {"histogramdd of two",
       [=](int64_t k) {
         return sn::histogramdd(points(), {sn::bin_spec(2), sn::bin_spec(k)}).hist;
       }},
      {"histogram2d", [](int64_t k) { return sn::histogram2d(row(), row(), k).hist; }},
      {"bin_spec", [](int64_t k) { return sn::histogram(row(), sn::bin_spec(static_cast<std::uint64_t>(k))).hist; }},
      {"bincount_kw.minlength", [](int64_t k) { return sn::bincount(row(), {.minlength = k}); }},
      {"bincount_kw.minlength of nothing",
       [](int64_t k) { return sn::bincount(sn::zeros({0}, sn::int64), {.minlength = k}); }},
      {"bincount of the number", [](int64_t k) { return sn::bincount(sn::array({k})); }},
  });
  CHECK_THROWS_AS(sn::bincount(sn::array({most})), sn::value_error);
  CHECK_THROWS_AS(sn::histogram(cube(), most), sn::value_error);
}

TEST_CASE("extreme integers: functions of elements") {
  check_extremes({
      {"round", [](int64_t k) { return sn::round(cube(), k); }},
      {"round of integers", [](int64_t k) { return sn::round(row(), k); }},
      {"round of complex", [](int64_t k) { return sn::round(cube().astype(sn::complex64), k); }},
      {"around", [](int64_t k) { return sn::around(cube().astype(sn::float16), k); }},
      {"add", [](int64_t k) { return row() + k; }},
      {"multiply", [](int64_t k) { return row() * k; }},
      {"floor_divide",
       [](int64_t k) {
         return sn::floor_divide(sn::array({least, most}), k);
       }},
      {"remainder",
       [](int64_t k) {
         return sn::array({least, most}) % k;
       }},
      {"divide of the number",
       [](int64_t k) {
         return sn::floor_divide(k, sn::array({-1, 0, 1}));
       }},
      {"power", [](int64_t k) { return sn::power(row(), k); }},
      {"left_shift", [](int64_t k) { return row() << k; }},
      {"right_shift", [](int64_t k) { return row() >> k; }},
      {"absolute", [](int64_t k) { return sn::absolute(sn::array({k})); }},
      {"clip", [](int64_t k) { return sn::clip(row(), k, k); }},
      {"equal to any integer", [](int64_t k) { return row().astype(sn::int8) == k; }},
      {"where", [](int64_t k) { return sn::where(row() > 2, k, row()); }},
      {"astype", [](int64_t k) { return sn::array({k}).astype(sn::int8); }},
  });
}
