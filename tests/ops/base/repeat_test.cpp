// repeat with a count for each element.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using ints = std::vector<std::int64_t>;

ints values(const ndarray& x) { return x.to_vector<std::int64_t>(); }

/// The same by joining slices.
ndarray joined(const ndarray& x, const ints& counts, int axis) {
  std::vector<ndarray> parts;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    std::vector<sinter::index> key(static_cast<std::size_t>(x.ndim()), _);
    const auto at = static_cast<std::int64_t>(k);
    key[static_cast<std::size_t>(axis)] = slice(at, at + 1);
    for (std::int64_t n = 0; n < counts[k]; ++n) parts.push_back(x[key]);
  }
  return concatenate(parts, axis);
}

}  // namespace

TEST_CASE("each element has its own count") {
  const ndarray x = array({7, 8, 9});
  CHECK(values(repeat(x, {1, 0, 3})) == ints{7, 9, 9, 9});
  CHECK(values(repeat(x, array({2, 1, 0}))) == ints{7, 7, 8});
  CHECK(values(repeat(x, ints{0, 0, 0})).empty());
  CHECK(values(repeat(x, x > 7)) == ints{8, 9});
  CHECK(values(repeat(x, array({1, 2, 3}, {.dtype = uint8}))) == ints{7, 8, 8, 9, 9, 9});
  CHECK(values(repeat(array({{1, 2}, {3, 4}}), {1, 2, 0, 1})) == ints{1, 2, 2, 4});
  CHECK(repeat(array({1.5, 2.5}, {.dtype = float32}), {1, 1}).dtype() == float32);
}

TEST_CASE("counts along every axis agree with slices joined") {
  const ndarray x = reshape(arange(24), {2, 3, 4});
  const ints counts[] = {{3, 0}, {0, 2, 1}, {1, 0, 0, 4}};
  for (int axis = 0; axis < 3; ++axis) {
    const ints& c = counts[axis];
    for (const ndarray& subject : {x, x + 0}) {
      const ndarray out = repeat(subject, c, axis);
      CHECK(out.shape() == joined(x, c, axis).shape());
      CHECK(values(out) == values(joined(x, c, axis)));
      CHECK(values(repeat(subject, array(c), axis - 3)) == values(out));
    }
  }
  const ndarray turned = x.T();
  CHECK(values(repeat(turned, counts[1], 1)) == values(joined(turned, counts[1], 1)));
}

TEST_CASE("one count serves all elements") {
  const ndarray x = array({{1, 2}, {3, 4}});
  for (const ndarray& two : {array(2), array({2}), array({1}) + 1}) {
    CHECK(values(repeat(x, two)) == ints{1, 1, 2, 2, 3, 3, 4, 4});
    CHECK(repeat(x, two, 1).shape() == shape_t{2, 4});
  }
  CHECK(values(repeat(x, ints{2}, 0)) == ints{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(values(repeat(x, {2}, 0)) == ints{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(values(repeat(array({5}), {3})) == ints{5, 5, 5});
}

TEST_CASE("nothing is repeated no times") {
  CHECK(repeat(zeros({0, 2}), ints{}, 0).shape() == shape_t{0, 2});
  CHECK(repeat(zeros({0}), zeros({0}, int64)).shape() == shape_t{0});
  CHECK(repeat(zeros({3, 0}), {1, 0, 2}, 0).shape() == shape_t{3, 0});
  CHECK(repeat(zeros({2, 0}), {0, 0}, 0).shape() == shape_t{0, 0});
}

TEST_CASE("the result is an array of its own, and counts are read at the call") {
  ndarray x = array({1, 2}), counts = array({1, 1});
  ndarray out = repeat(x, counts);
  x(0) = 9;
  counts(0) = 5;
  CHECK(values(out) == ints{1, 2});
  out(1) = 7;
  CHECK(values(x) == ints{9, 2});
}

TEST_CASE("counts that do not fit are refused") {
  const ndarray x = array({{1, 2, 3}, {4, 5, 6}});
  CHECK_THROWS_WITH_AS(repeat(x, {1, 2}, 1), "[repeat] 2 counts for the 3 elements along axis 1 of shape (2, 3)",
                       shape_error);
  CHECK_THROWS_WITH_AS(repeat(x, {1, 2, 3}), "[repeat] 3 counts for the 6 elements along the flattened shape (2, 3)",
                       shape_error);
  CHECK_THROWS_AS(repeat(x, ints{}), shape_error);
  CHECK_THROWS_AS(repeat(x, ones({1, 3}, int64), 1), shape_error);
  CHECK_THROWS_AS(repeat(x, {1, 2}, 2), index_error);
  CHECK_THROWS_WITH_AS(repeat(x, array({1.0, 2.0}), 0),
                       "[repeat] cannot cast counts from float64 to int64 (casting rule safe)", dtype_error);
  CHECK_THROWS_AS(repeat(x, array({1, 2}, {.dtype = uint64}), 0), dtype_error);
  CHECK_THROWS_WITH_AS(repeat(x, {2, -1}, 0), "[repeat] cannot repeat -1 times", value_error);
  CHECK_THROWS_AS(repeat(x, {-1}, 0), value_error);
  CHECK_THROWS_AS(repeat(x, array({-1}), 0), value_error);
}

TEST_CASE("counts whose sum leaves int64 are refused") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_AS(repeat(arange(2), {most, most}), shape_error);
  CHECK_THROWS_AS(repeat(arange(3), {most, 1, 1}), shape_error);
  CHECK_THROWS_AS(
      repeat(arange(4), {std::int64_t{1} << 62, std::int64_t{1} << 62, std::int64_t{1} << 62, std::int64_t{1} << 62}),
      shape_error);
  CHECK_THROWS_AS(repeat(zeros({2, 8}), {std::int64_t{1} << 58, std::int64_t{1} << 58}, 0), shape_error);
}
