// Rules of sorting: order, stability, axes, views, errors.
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/error.hpp"
#include "sinter/sort.hpp"

namespace {

using namespace sinter;
using doubles = std::vector<double>;
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();
doubles numbers(const ndarray& x) { return x.astype(float64).to_vector<double>(); }
ndarray grid() { return array({{3, 1, 2}, {6, 5, 4}}); }

}  // namespace

TEST_CASE("sort takes the last axis, a named one, or all elements") {
  CHECK(numbers(sort(grid())) == doubles{1, 2, 3, 4, 5, 6});
  CHECK(numbers(sort(array({{3, 5}, {2, 9}, {1, 7}}), 0)) == doubles{1, 5, 2, 7, 3, 9});
  CHECK(numbers(sort(array({{3, 5}, {2, 9}, {1, 7}}), std::nullopt, {.descending = true})) ==
        doubles{9, 7, 5, 3, 2, 1});
  CHECK(sort(array({{3, 5}, {2, 9}, {1, 7}}), 0).shape() == shape_t{3, 2});
}

TEST_CASE("sort leaves its argument as it is, also one that is pending") {
  const ndarray x = array({3, 1, 2}), y = x * 2;
  CHECK(numbers(sort(y)) == doubles{2, 4, 6});
  CHECK(numbers(y) == doubles{6, 2, 4});
  CHECK(numbers(sort(x)) == doubles{1, 2, 3});
  CHECK(numbers(x) == doubles{3, 1, 2});
  CHECK(numbers(sort(x + 1)) == doubles{2, 3, 4});
}

TEST_CASE("what a sort along another axis gives can be written to without changing the argument") {
  const ndarray x = array({{2, 1}, {1, 2}});
  ndarray y = sort(x, 0);
  y += 10;
  CHECK(numbers(y) == doubles{11, 11, 12, 12});
  CHECK(numbers(x) == doubles{2, 1, 1, 2});
}

TEST_CASE("NaN comes last in ascending and first in descending order") {
  const ndarray x = array({qnan, 1.0, -1.0});
  CHECK(argsort(x).to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 1, 0});
  CHECK(argsort(x, {.descending = true}).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("argsort is stable in both directions, and an array of rank 0 has the index 0") {
  const ndarray x = array({1, 0, 1, 0, 1});
  CHECK(numbers(argsort(x)) == doubles{1, 3, 0, 2, 4});
  CHECK(numbers(argsort(x, {.descending = true})) == doubles{0, 2, 4, 1, 3});
  CHECK(argsort(array(3)).item<int>() == 0);
  CHECK(argsort(x).dtype() == int64);
}

TEST_CASE("a long array is sorted, a permutation of what it was, and in stable order") {
  const std::int64_t n = 100003;
  const ndarray x = (arange(n) * 7919) % 1000, order = argsort(x);
  const auto k = x.to_vector<std::int64_t>(), o = order.to_vector<std::int64_t>();
  const auto s = sort(x).to_vector<std::int64_t>();
  std::vector<bool> seen(k.size());
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < k.size(); ++i) {
    const auto at = static_cast<std::size_t>(o[i]);
    wrong += seen[at] || s[i] != k[at];
    seen[at] = true;
    if (i > 0) wrong += s[i - 1] > s[i] || (s[i - 1] == s[i] && o[i - 1] > o[i]);
  }
  CHECK(wrong == 0);
}

TEST_CASE("lexsort: the last key decides first") {
  const ndarray surnames = array({2, 0, 1, 0}), names = array({3, 1, 3, 0});
  CHECK(numbers(lexsort({names, surnames})) == doubles{3, 1, 2, 0});
  CHECK(numbers(lexsort(array({{3, 1, 3, 0}, {2, 0, 1, 0}}))) == doubles{3, 1, 2, 0});
  CHECK(numbers(lexsort({array({{1, 0}, {0, 1}})}, 0)) == doubles{1, 0, 0, 1});
  CHECK_THROWS_AS(lexsort(std::vector<ndarray>{}), value_error);
  CHECK_THROWS_AS(lexsort({names, array({1, 2})}), shape_error);
}

TEST_CASE("partition puts the kth element in its place") {
  const ndarray x = array({5, 3, 9, 1, 7});
  for (std::int64_t k = 0; k < 5; ++k) CHECK(partition(x, k)(k).item<int>() == 1 + 2 * k);
  CHECK(numbers(argpartition(x, 0))[0] == 3);
  CHECK_THROWS_AS(partition(x, 5), value_error);
  CHECK_THROWS_AS(argpartition(x, -6), value_error);
}

TEST_CASE("topk gives the largest or smallest elements with their indices") {
  const topk_result r = topk(grid(), 2);
  CHECK(numbers(r.values) == doubles{3, 2, 6, 5});
  CHECK(numbers(r.indices) == doubles{0, 2, 0, 1});
  const topk_result s = topk(grid(), 1, {.axis = 0, .largest = false});
  CHECK(numbers(s.values) == doubles{3, 1, 2});
  CHECK(s.values.shape() == shape_t{1, 3});
  CHECK(topk(grid(), 0).values.size() == 0);
  CHECK_THROWS_AS(topk(grid(), 4), value_error);
}

TEST_CASE("axes out of range are index errors; rank 0 has none") {
  CHECK_THROWS_AS(sort(grid(), 2), index_error);
  CHECK_THROWS_AS(sort(array(1)), index_error);
  CHECK_THROWS_AS(argsort(grid(), -3), index_error);
}
