// Rules of searching and of sets: sides, sorters, directions; duplicates, NaN, positions, axes.
#include <algorithm>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/error.hpp"
#include "sinter/search.hpp"
#include "sinter/sets.hpp"

namespace {

using namespace sinter;
using doubles = std::vector<double>;
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();
doubles numbers(const ndarray& x) { return x.astype(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("searchsorted finds places on both sides, of numbers and of arrays, through a sorter") {
  const ndarray a = array({1, 3, 3, 5});
  CHECK(searchsorted(a, 3).item<int>() == 1);
  CHECK(searchsorted(a, 3, "right").item<int>() == 3);
  CHECK(numbers(searchsorted(a, array({{0, 2}, {5, 9}}))) == doubles{0, 1, 3, 4});
  CHECK(numbers(searchsorted(array({5, 1, 3}), array({2, 4}), {.sorter = array({1, 2, 0})})) == doubles{1, 2});
  CHECK(searchsorted(array({1.0, qnan, qnan}), qnan).item<int>() == 1);
  CHECK(searchsorted(a, 2.5).item<int>() == 1);
  CHECK(searchsorted(zeros({0}), 1).item<int>() == 0);
  CHECK_THROWS_AS(searchsorted(a, 1, "middle"), value_error);
  CHECK_THROWS_AS(searchsorted(zeros({2, 2}), 1), shape_error);
  CHECK_THROWS_AS(searchsorted(a, 1, {.sorter = array({0, 1})}), shape_error);
  CHECK_THROWS_AS(searchsorted(a, 1, {.sorter = zeros({4})}), dtype_error);
}

TEST_CASE("searchsorted and digitize put NaN behind every number, on both sides") {
  const double inf = std::numeric_limits<double>::infinity();
  const ndarray x = array({qnan, 2.0, inf, -inf}), up = array({1.0, 2.0, 3.0}), down = array({3.0, 2.0, 1.0});
  for (const dtype type : {float32, float64}) {
    const ndarray v = x.astype(type);
    CHECK(numbers(digitize(v, up)) == doubles{3, 2, 3, 0});
    CHECK(numbers(digitize(v, up, {.right = true})) == doubles{3, 1, 3, 0});
    CHECK(numbers(digitize(v, down)) == doubles{0, 1, 0, 3});
    CHECK(numbers(digitize(v, down, {.right = true})) == doubles{0, 2, 0, 3});
    const ndarray sorted = array({1.0, qnan, qnan}).astype(type), wanted = array({qnan, 1.0, inf}).astype(type);
    CHECK(numbers(searchsorted(sorted, wanted)) == doubles{1, 0, 1});
    CHECK(numbers(searchsorted(sorted, wanted, "right")) == doubles{3, 1, 1});
  }
}

TEST_CASE("digitize counts bins upwards and downwards, closed on either side") {
  const ndarray x = array({0.2, 6.4, 3.0, 1.6, 10.0}), up = array({0.0, 1.0, 2.5, 4.0, 10.0});
  CHECK(numbers(digitize(x, up)) == doubles{1, 4, 3, 2, 5});
  CHECK(numbers(digitize(x, up, {.right = true})) == doubles{1, 4, 3, 2, 4});
  const ndarray down = array({10.0, 4.0, 2.5, 1.0, 0.0});
  CHECK(numbers(digitize(x, down)) == doubles{4, 1, 2, 3, 0});
  CHECK(numbers(digitize(x, down, {.right = true})) == doubles{4, 1, 2, 3, 1});
}

TEST_CASE("unique elements with positions, inverse and counts") {
  const ndarray x = array({{3, 1}, {3, 2}, {1, 3}});
  const unique_all_result r = unique_all(x);
  CHECK(numbers(r.values) == doubles{1, 2, 3});
  CHECK(numbers(r.indices) == doubles{1, 3, 0});
  CHECK(numbers(r.inverse_indices) == doubles{2, 0, 2, 1, 0, 2});
  CHECK(r.inverse_indices.shape() == shape_t{3, 2});
  CHECK(numbers(r.counts) == doubles{2, 1, 3});
  CHECK(numbers(unique_counts(x).counts) == doubles{2, 1, 3});
  CHECK(numbers(unique_values(zeros({0}))) == doubles{});
  CHECK(unique_all(zeros({0, 2})).counts.size() == 0);
}

TEST_CASE("NaNs are one element for unique, unless equal_nan is false, and several for the array API") {
  const ndarray x = array({qnan, 1.0, qnan, -0.0, 0.0});
  CHECK(unique(x).values.size() == 3);
  CHECK(unique(x, {.equal_nan = false}).values.size() == 4);
  CHECK(numbers(unique_counts(x).counts) == doubles{2, 1, 1, 1});
  CHECK_FALSE(unique(x).index.defined());
}

TEST_CASE("unique along an axis compares sub-arrays") {
  const ndarray x = array({{1, 2}, {0, 5}, {1, 2}, {0, 4}});
  const unique_result r = unique(x, {.return_index = true, .return_inverse = true, .return_counts = true, .axis = 0});
  CHECK(numbers(r.values) == doubles{0, 4, 0, 5, 1, 2});
  CHECK(numbers(r.index) == doubles{3, 1, 0});
  CHECK(numbers(r.inverse) == doubles{2, 1, 2, 0});
  CHECK(numbers(r.counts) == doubles{1, 1, 2});
  CHECK(unique(array({{1, 1, 2}, {3, 3, 4}}), {.axis = 1}).values.shape() == shape_t{2, 2});
  CHECK_THROWS_AS(unique(x, {.axis = 2}), index_error);
}

TEST_CASE("intersection, union, differences") {
  const ndarray a = array({3, 1, 2, 3}), b = array({3, 4, 1, 4});
  CHECK(numbers(intersect1d(a, b)) == doubles{1, 3});
  const intersect_result r = intersect1d(a, b, {.return_indices = true});
  CHECK(numbers(r.values) == doubles{1, 3});
  CHECK(numbers(r.indices1) == doubles{1, 0});
  CHECK(numbers(r.indices2) == doubles{2, 0});
  CHECK(numbers(union1d(a, b)) == doubles{1, 2, 3, 4});
  CHECK(numbers(setdiff1d(a, b)) == doubles{2});
  CHECK(numbers(setdiff1d(array({5, 1, 4}), b, {.assume_unique = true})) == doubles{5});
  CHECK(numbers(setxor1d(a, b)) == doubles{2, 4});
  CHECK(numbers(intersect1d(a, zeros({0}, int64))) == doubles{});
  CHECK(numbers(setxor1d(zeros({0}), zeros({0}))) == doubles{});
}

TEST_CASE("isin keeps the shape of its first argument; NaN is never found") {
  CHECK(numbers(isin(array({{1, 2}, {3, 4}}), array({4, 2}))) == doubles{0, 1, 0, 1});
  CHECK(numbers(isin(array({1, 2}), array({2}), {.invert = true})) == doubles{1, 0});
  CHECK(numbers(isin(array({1.0, qnan}), array({qnan}))) == doubles{0, 0});
  CHECK(numbers(isin(array({1, 2}), zeros({0}, int64))) == doubles{0, 0});
  CHECK(isin(3, array({1, 3})).item<bool>());
}

namespace {

/// All of x looked for among `test` by isin(), and one by one.
template <class T>
void check_isin(const std::vector<T>& x, const std::vector<T>& test) {
  std::vector<bool> wanted, others;
  for (const T v : x) {
    wanted.push_back(std::find(test.begin(), test.end(), v) != test.end());
    others.push_back(!wanted.back());
  }
  CAPTURE(name(dtype_of<T>));
  CAPTURE(static_cast<double>(test[0]));
  CAPTURE(test.size());
  const auto bools = [](const ndarray& a) { return a.to_vector<bool>(); };
  CHECK(bools(isin(array(x), array(test))) == wanted);
  CHECK(bools(isin(array(x), array(test), {.invert = true})) == others);
}

template <class T>
void check_isin_of() {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  std::vector<T> x{least, static_cast<T>(least + 1), static_cast<T>(most - 1), most, T(0)};
  for (int k = 0; k < 60; ++k) x.push_back(static_cast<T>(k - 5));
  // Close together, with gaps, at either end of the type, around 0, twice the same, one alone, and far apart.
  check_isin<T>(x, {T(10), T(12), T(11), T(17)});
  check_isin<T>(x, {T(20), T(20), T(7)});
  check_isin<T>(x, {least, static_cast<T>(least + 2)});
  check_isin<T>(x, {static_cast<T>(most - 3), most});
  check_isin<T>(x, {static_cast<T>(-2), T(2)});
  check_isin<T>(x, {T(3)});
  check_isin<T>(x, {least, most});
  check_isin<T>(x, {static_cast<T>(most - 1), T(4), static_cast<T>(least + 1)});
}

}  // namespace

TEST_CASE("isin of numbers: few and many to look for, zeros, infinities and NaN") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const int some : {1, 2, 15, 16, 17, 40}) {
    std::vector<double> test, x{0.0, -0.0, inf, -inf, 1e300, 0.25};
    for (int k = 0; k < some; ++k) test.push_back(k == 3 ? -0.0 : k == 5 ? -inf : 0.25 * (k * 7 % 50) - 3);
    for (int k = 0; k < 200; ++k) x.push_back(0.25 * (k - 40));
    check_isin<double>(x, test);
    check_isin<float>(std::vector<float>(x.begin() + 5, x.end()), std::vector<float>(test.begin(), test.end()));
    test.push_back(qnan);
    CHECK(numbers(isin(array({qnan, test[0]}), array(test))) == doubles{0, 1});
    const ndarray z = array(test) * std::complex<double>(0, 1);
    CHECK(numbers(isin(array({std::complex<double>(test[0]), std::complex<double>(0, test[0])}), z)) ==
          doubles{double(test[0] == 0), 1});
  }
}

TEST_CASE("isin of integers: beside the ends of what is looked for, and at the ends of the type") {
  check_isin_of<std::int8_t>();
  check_isin_of<std::int16_t>();
  check_isin_of<std::int32_t>();
  check_isin_of<std::int64_t>();
  check_isin_of<std::uint8_t>();
  check_isin_of<std::uint16_t>();
  check_isin_of<std::uint32_t>();
  check_isin_of<std::uint64_t>();
  // Types that differ are compared in their common one.
  CHECK(numbers(isin(array({-1, 255, 3}), array(std::vector<std::uint8_t>{255, 3}))) == doubles{0, 1, 1});
  CHECK(numbers(isin(array(std::vector<std::uint8_t>{255, 3}), array({-1, 3}))) == doubles{0, 1});
  // Neither argument has changed.
  const ndarray x = array({4, 6, 5}), test = array({6, 9});
  CHECK(numbers(isin(x, test)) == doubles{0, 1, 0});
  CHECK(numbers(x) == doubles{4, 6, 5});
  CHECK(numbers(test) == doubles{6, 9});
}
