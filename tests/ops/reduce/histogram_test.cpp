// Rules of histograms: bins, edges, ranges, weights, density, rules by name, several dimensions, errors.
#include <complex>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using sinter::idx::_;
using doubles = std::vector<double>;
doubles numbers(const ndarray& x) { return x.astype(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("bincount counts, sums weights, has at least minlength bins") {
  CHECK(numbers(bincount(array({1, 1, 3}))) == doubles{0, 2, 0, 1});
  CHECK(numbers(bincount(array({1, 1}), {.minlength = 4})) == doubles{0, 2, 0, 0});
  CHECK(numbers(bincount(array({0, 1, 1}), {.weights = array({0.5, 1.0, 2.0})})) == doubles{0.5, 3});
  CHECK(bincount(array({0})).dtype() == int64);
  CHECK(bincount(zeros({0}, int64)).size() == 0);
  CHECK_THROWS_AS(bincount(array({-1})), value_error);
  CHECK_THROWS_AS(bincount(array({1.5})), dtype_error);
  CHECK_THROWS_AS(bincount(ones({2, 2}, int64)), shape_error);
  CHECK_THROWS_AS(bincount(array({1}), {.weights = zeros({2})}), shape_error);
}

TEST_CASE("histogram: equal bins over the extremes or a range, the last one closed") {
  const ndarray x = array({1.0, 2.0, 1.0, 4.0, 5.0});
  CHECK(numbers(histogram(x, 4).hist) == doubles{2, 1, 0, 2});
  CHECK(numbers(histogram(x, 4).bin_edges) == doubles{1, 2, 3, 4, 5});
  CHECK(numbers(histogram(x, 2, {.range = std::pair(0.0, 2.0)}).hist) == doubles{0, 3});
  CHECK(numbers(histogram(array({3, 3}), 2).bin_edges) == doubles{2.5, 3, 3.5});
  CHECK(numbers(histogram(array({0.1, 0.2, 0.3, 0.7, 0.8}), 10, {.range = std::pair(0.0, 1.0)}).hist) ==
        doubles{0, 1, 2, 0, 0, 0, 1, 0, 1, 0});
  CHECK(numbers(histogram(x, 2, {.density = true}).hist) == doubles{0.3, 0.2});
  CHECK(histogram(x, 2, {.weights = ones({5}, float32)}).hist.dtype() == float32);
  CHECK(histogram(ones({3}, float32), 2).bin_edges.dtype() == float32);
  CHECK_THROWS_AS(histogram(x, 0), value_error);
  CHECK_THROWS_AS(histogram(x, 2, {.range = std::pair(2.0, 1.0)}), value_error);
  CHECK_THROWS_AS(histogram(array({1.0, std::numeric_limits<double>::infinity()})), value_error);
}

TEST_CASE("histogram: given edges; what lies outside them and NaN are in no bin") {
  const ndarray x = array({0.0, 1.0, 2.0, 3.0, -1.0, std::numeric_limits<double>::quiet_NaN()});
  CHECK(numbers(histogram(x, array({0.0, 1.0, 2.0})).hist) == doubles{1, 2});
  CHECK_THROWS_AS(histogram(x, array({0.0, 2.0, 1.0})), value_error);
}

TEST_CASE("histograms over several dimensions count points in cells") {
  const ndarray x = array({0.0, 0.5, 1.0, 2.0}), y = array({0.0, 1.0, 1.0, 2.0});
  const histogramdd_result r = histogram2d(x, y, 2);
  CHECK(numbers(r.hist) == doubles{1, 1, 0, 2});
  CHECK(r.hist.dtype() == float64);
  CHECK(numbers(r.edges[1]) == doubles{0, 1, 2});
  CHECK(numbers(histogram2d(x, y, 2, {.density = true}).hist) == doubles{0.25, 0.25, 0, 0.5});
  CHECK(numbers(histogram2d(x, y, {array({0.0, 1.0}), array({0.0, 1.5, 3.0})}).hist) == doubles{3, 0});
  CHECK(numbers(histogram2d(x, y, 1, {.range = {{0, 1}, {0, 1}}}).hist) == doubles{3});
  CHECK_THROWS_AS(histogramdd(x), shape_error);
  CHECK_THROWS_AS(histogramdd(ones({3, 2}), {array({0.0, 1.0})}), shape_error);
}

TEST_CASE("bincount of nothing is int64, also with weights; complex weights are refused") {
  CHECK(bincount(zeros({0}, int64), {.weights = zeros({0})}).dtype() == int64);
  CHECK(numbers(bincount(zeros({0}, bool_), {.minlength = 2})) == doubles{0, 0});
  CHECK_THROWS_AS(bincount(array({1}), {.weights = ones({1}, complex64)}), dtype_error);
  CHECK_THROWS_AS(bincount(array({1}), {.minlength = -1}), value_error);
  CHECK_THROWS_AS(bincount(ones({1}, uint64)), dtype_error);
}

TEST_CASE("histogram: complex weights are summed by parts, in the dtype of the weights") {
  using c = std::complex<double>;
  const ndarray x = array({0.0, 1.0, 1.0, 2.0}), w = array(std::vector<c>{{1, 2}, {3, -1}, {0.5, 0}, {0, 4}});
  const histogram_result r = histogram(x, 2, {.weights = w});
  CHECK(r.hist.dtype() == complex128);
  CHECK(r.hist.to_vector<c>() == std::vector<c>{{1, 2}, {3.5, 3}});
  CHECK(histogram(x, array({0.0, 1.5, 3.0}), {.weights = w.astype(complex64)}).hist.dtype() == complex64);
  // An infinite part leaves the other one alone.
  const double inf = std::numeric_limits<double>::infinity();
  const ndarray infinite = array(std::vector<c>{{inf, 1}, {0, 0}, {0, 0}, {2, 3}});
  CHECK(histogram(x, 2, {.weights = infinite}).hist.to_vector<c>() == std::vector<c>{{inf, 1}, {2, 3}});
  CHECK(histogram(x, 2, {.density = true, .weights = w}).hist.dtype() == complex128);
}

TEST_CASE("histogram: weights that are integers or bools keep their dtype, a density is float64") {
  const ndarray x = array({0.0, 1.0, 1.0, 2.0});
  CHECK(numbers(histogram(x, 2, {.weights = array({1, 2, 3, 4}).astype(uint8)}).hist) == doubles{1, 9});
  CHECK(histogram(x, 2, {.weights = ones({4}, uint8)}).hist.dtype() == uint8);
  CHECK(histogram(x, 2, {.weights = ones({4}, bool_)}).hist.dtype() == bool_);
  CHECK(histogram(x, 2, {.density = true, .weights = ones({4}, float16)}).hist.dtype() == float64);
  CHECK_THROWS_AS(histogram(x, 2, {.weights = ones({3})}), shape_error);
}

TEST_CASE("histogram: rules by name choose how many bins there are, and look within the range only") {
  const ndarray x = arange(100.0);
  CHECK(histogram(x, "sqrt").hist.size() == 10);
  CHECK(histogram(x, "sturges").hist.size() == 8);
  CHECK(histogram(x, std::string("rice")).hist.size() == 10);
  CHECK(histogram_bin_edges(x, "sqrt", {.range = {0, 24}}).size() == 6);  // of 25 elements
  CHECK(histogram_bin_edges(x, "sqrt", {.range = {0, 48}}).size() == 8);
  CHECK(histogram_bin_edges(x, "auto", {.range = {200, 300}}).size() == 2);  // of none
  // Integers have bins of a width of 1 at least.
  CHECK(numbers(histogram_bin_edges(arange(1000) % 4, "sqrt")) == doubles{0, 1, 2, 3});
  CHECK(histogram_bin_edges(ones({50}), "fd").size() == 2);
  CHECK_THROWS_WITH_AS(
      histogram(x, "scot"),
      "[histogram] no rule for bins is called \"scot\"; there are auto, fd, doane, scott, stone, rice, "
      "sturges and sqrt",
      value_error);
  CHECK_THROWS_AS(histogram(x, "auto", {.weights = ones({100})}), value_error);
  CHECK_THROWS_AS(histogram_bin_edges(x, "auto", {.weights = ones({100})}), value_error);
}

TEST_CASE("histogram: bins too narrow for their edges to differ are refused") {
  CHECK_THROWS_AS(histogram(array({1e10, 1e10}).astype(float32), 5), value_error);
  CHECK_THROWS_AS(histogram(array({1.0, 1.0 + 0x1p-50}), 5), value_error);
  CHECK(numbers(histogram(array({1.0, 1.0 + 0x1p-50}), 4).hist) == doubles{1, 0, 0, 1});
  CHECK_THROWS_AS(histogram(array({-1e308, 1e308}), 4), value_error);
  CHECK_THROWS_AS(histogram(ones({3}, complex64), 4), dtype_error);
}

TEST_CASE("histogram: 16-bit floats have edges of their dtype, and bins between these") {
  const ndarray x = sin(arange(1000.0)) * 3;
  for (dtype t : {float16, bfloat16}) {
    const ndarray narrow = x.astype(t);
    const histogram_result r = histogram(narrow, 8, {.range = {-2, 2}});
    CHECK(r.bin_edges.dtype() == t);
    CHECK(numbers(r.hist) == numbers(histogram(narrow.astype(float32), 8, {.range = {-2, 2}}).hist));
    const histogram_result own = histogram(narrow, 7);
    CHECK(numbers(own.hist) == numbers(histogram(narrow.astype(float64), own.bin_edges.astype(float64)).hist));
    CHECK(numbers(own.bin_edges)[7] == numbers(max(narrow))[0]);
  }
}

TEST_CASE("histogram: the edges alone are those of histogram; given edges come back as they are") {
  const ndarray x = array({0.5, 2.0, 4.25});
  CHECK(numbers(histogram_bin_edges(x, 3)) == numbers(histogram(x, 3).bin_edges));
  const ndarray edges = array({1, 2, 2, 5});
  CHECK(histogram_bin_edges(x, edges).dtype() == int64);
  CHECK(numbers(histogram(x, edges).hist) == doubles{0, 0, 2});
  CHECK(numbers(histogram_bin_edges(zeros({0}), 2)) == doubles{0, 0.5, 1});
  CHECK(histogram(x, array({1.0})).hist.size() == 0);
  CHECK_THROWS_AS(histogram_bin_edges(x, ones({2, 2})), shape_error);
}

TEST_CASE("histogramdd: numbers of bins, edges and limits for each dimension") {
  const ndarray points = array({{0.0, 5.0, 1.0}, {1.0, 6.0, 2.0}, {3.0, 9.0, 1.0}, {4.0, 7.0, 9.0}});
  const ndarray edges = array({5.0, 6.5, 9.0});
  const histogramdd_result r = histogramdd(points, {2, edges, 1}, {.range = {{0, 4}, _, {0, 2}}});
  CHECK(r.hist.shape() == shape_t{2, 2, 1});
  CHECK(numbers(r.hist) == doubles{2, 0, 0, 1});
  CHECK(numbers(r.edges[0]) == doubles{0, 2, 4});
  CHECK(numbers(r.edges[1]) == numbers(edges));
  CHECK(numbers(r.edges[2]) == doubles{0, 2});
  CHECK(histogramdd(points, 2).hist.shape() == shape_t{2, 2, 2});
  CHECK(numbers(histogramdd(points, {1, 1, 2}, {.weights = array({1.0, 2.0, 4.0, 8.0})}).hist) == doubles{7, 8});
  // Edges found in float32 samples are float32, those of a range float64.
  CHECK(histogramdd(points.astype(float32), 2).edges[0].dtype() == float32);
  CHECK(histogramdd(points.astype(float32), 2, {.range = {_, {0, 9}, _}}).edges[1].dtype() == float64);
  CHECK_THROWS_AS(histogramdd(points, {2, 2}), shape_error);
  CHECK_THROWS_AS(histogramdd(points, 2, {.range = {{0, 1}, {0, 1}}}), shape_error);
  CHECK_THROWS_AS(histogramdd(points, {2, 0, 2}), value_error);
  CHECK_THROWS_AS(histogramdd(points, {2, "auto", 2}), value_error);
  CHECK_THROWS_AS(histogramdd(points, {2, 2, array({1.0, 0.0})}), value_error);
  CHECK_THROWS_AS(histogramdd(points, 2, {.weights = ones({4}, complex64)}), dtype_error);
  CHECK_THROWS_AS(histogramdd(points, 2, {.weights = ones({3})}), shape_error);
}

TEST_CASE("histogram2d: one array of edges serves both dimensions, a list each its own") {
  const ndarray x = array({0.0, 1.0, 2.0}), y = array({2.0, 1.0, 0.0});
  CHECK(numbers(histogram2d(x, y, array({0.0, 1.0, 2.0})).hist) == doubles{0, 1, 1, 1});
  CHECK(histogram2d(x, y, {2, array({0.0, 0.5, 1.0, 3.0})}).hist.shape() == shape_t{2, 3});
  CHECK(histogram2d(x, y, {1, 4}).edges[1].size() == 5);
  CHECK_THROWS_AS(histogram2d(x, ones({2}), 2), shape_error);
}
