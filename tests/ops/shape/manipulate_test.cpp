// Rules of reshaping, permuting, broadcasting, joining, splitting and taking.
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/creation.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/take.hpp"

namespace {

using namespace sinter;
using integers = std::vector<std::int64_t>;
integers numbers(const ndarray& x) { return x.astype(int64).to_vector<std::int64_t>(); }
/// 0, 1, 2, ... of this shape.
ndarray counting(const shape_t& shape) {
  return reshape(arange(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())), shape);
}
/// Whether writing to `v` shows in `x`: v is a view of x.
bool is_view(const ndarray& x, ndarray v) {
  const integers before = numbers(x);
  v += 1000;
  return numbers(x) != before;
}

}  // namespace

TEST_CASE("reshape keeps C order and infers one extent") {
  const ndarray x = arange(6);
  CHECK(numbers(reshape(x, {2, 3})(1)) == integers{3, 4, 5});
  CHECK(reshape(x, {2, -1}).shape() == shape_t{2, 3});
  CHECK(reshape(x, -1).shape() == shape_t{6});
  CHECK(reshape(zeros({0}), {3, -1}).shape() == shape_t{3, 0});
  CHECK(reshape(array(5), {1, 1}).shape() == shape_t{1, 1});
  CHECK(reshape(ones({1}), {}).shape() == shape_t{});
}

TEST_CASE("reshape refuses shapes of another size and more than one unknown") {
  const ndarray x = arange(6);
  CHECK_THROWS_AS(reshape(x, {4, 2}), shape_error);
  CHECK_THROWS_AS(reshape(x, {4, -1}), shape_error);
  CHECK_THROWS_AS(reshape(x, {-1, -1}), shape_error);
  CHECK_THROWS_AS(reshape(x, {-2, -3}), shape_error);
  CHECK_THROWS_AS(reshape(zeros({0}), {0, -1}), shape_error);
}

TEST_CASE("reshape is a view where strides allow it, pending arrays included, else a copy") {
  const ndarray x = counting({2, 3}) * 1;
  CHECK(is_view(x, reshape(x, {3, 2})));
  CHECK(is_view(x, ravel(x)));
  CHECK_FALSE(is_view(x, flatten(x)));
  CHECK_FALSE(is_view(x, ravel(x.T())));
  CHECK_FALSE(is_view(x, reshape(x, {6}, {.copy = true})));
  CHECK_THROWS_AS(reshape(x.T(), {6}, {.copy = false}), value_error);
  CHECK(numbers(ravel(counting({2, 3}).T())) == integers{0, 3, 1, 4, 2, 5});
}

TEST_CASE("transpose, permute_dims, moveaxis and swapaxes permute axes of a view") {
  const ndarray x = counting({2, 3, 4});
  CHECK(transpose(x).shape() == shape_t{4, 3, 2});
  CHECK(permute_dims(x, axes{1, -1, 0}).shape() == shape_t{3, 4, 2});
  CHECK(moveaxis(x, 0, -1).shape() == shape_t{3, 4, 2});
  CHECK(moveaxis(x, axes{0, 2}, axes{1, 0}).shape() == shape_t{4, 2, 3});
  CHECK(swapaxes(x, 0, 2).shape() == shape_t{4, 3, 2});
  CHECK(matrix_transpose(x).shape() == shape_t{2, 4, 3});
  CHECK(numbers(transpose(counting({2, 3}))) == integers{0, 3, 1, 4, 2, 5});
  CHECK(is_view(x, transpose(x)));
  CHECK_THROWS_AS(permute_dims(x, axes{0, 1}), shape_error);
  CHECK_THROWS_WITH_AS(permute_dims(x, axes{0, 0, 1}), "[permute_dims] axis 0 is given twice for shape (2, 3, 4)",
                       index_error);
  CHECK_THROWS_AS(permute_dims(x, axes{0, 1, 3}), index_error);
  CHECK_THROWS_AS(moveaxis(x, axes{0, 1}, 0), value_error);
  CHECK_THROWS_AS(swapaxes(x, 0, 3), index_error);
  CHECK_THROWS_AS(matrix_transpose(arange(3)), shape_error);
}

TEST_CASE("expand_dims counts in the result, squeeze in the argument") {
  const ndarray x = counting({2, 3});
  CHECK(expand_dims(x, 0).shape() == shape_t{1, 2, 3});
  CHECK(expand_dims(x, -1).shape() == shape_t{2, 3, 1});
  CHECK(expand_dims(x, axes{0, 2}).shape() == shape_t{1, 2, 1, 3});
  CHECK_THROWS_AS(expand_dims(x, 3), index_error);
  CHECK_THROWS_WITH_AS(expand_dims(x, axes{0, 0}), "[expand_dims] axis 0 is given twice for rank 4", index_error);
  CHECK(squeeze(ones({1, 2, 1})).shape() == shape_t{2});
  CHECK(squeeze(ones({1, 2, 1}), -1).shape() == shape_t{1, 2});
  CHECK_THROWS_AS(squeeze(ones({1, 2}), 1), shape_error);
  CHECK_THROWS_AS(squeeze(ones({1, 2}), 2), index_error);
}

TEST_CASE("broadcasting repeats without copying, and writing to repeats is refused") {
  const ndarray x = arange(3);
  ndarray y = broadcast_to(x, {2, 3});
  CHECK(numbers(y) == integers{0, 1, 2, 0, 1, 2});
  CHECK_THROWS_AS(y += 1, value_error);
  CHECK_THROWS_AS(broadcast_to(x, {2, 4}), shape_error);
  // Read-only, and so is every view of it, also where nothing is repeated.
  CHECK_THROWS_AS((y(0, 0) = 1), value_error);
  CHECK_THROWS_AS((y.T()(0) = 1), value_error);
  CHECK_THROWS_AS(broadcast_to(ones({1, 2, 3}), {2, 3}), shape_error);
  CHECK(broadcast_shapes(shape_t{2, 1}, shape_t{3}) == shape_t{2, 3});
  CHECK(broadcast_shapes({}) == shape_t{});
  CHECK(broadcast_shapes(shape_t{0, 1}, shape_t{5}) == shape_t{0, 5});
  CHECK_THROWS_AS(broadcast_shapes(shape_t{2, 3}, shape_t{2, 4}), shape_error);
  const auto both = broadcast_arrays(x, ones({2, 1}));
  CHECK(both[0].shape() == shape_t{2, 3});
  CHECK(both[1].shape() == shape_t{2, 3});
}

TEST_CASE("atleast_1d, 2d and 3d place axes as NumPy") {
  CHECK(atleast_1d(array(1)).shape() == shape_t{1});
  CHECK(atleast_2d(arange(3)).shape() == shape_t{1, 3});
  CHECK(atleast_3d(arange(3)).shape() == shape_t{1, 3, 1});
  CHECK(atleast_3d(ones({2, 3})).shape() == shape_t{2, 3, 1});
}

TEST_CASE("flip and rot90 are views in reversed order") {
  const ndarray x = counting({2, 3});
  CHECK(numbers(flip(x)) == integers{5, 4, 3, 2, 1, 0});
  CHECK(numbers(flip(x, 0)) == integers{3, 4, 5, 0, 1, 2});
  CHECK(numbers(fliplr(x)) == integers{2, 1, 0, 5, 4, 3});
  CHECK(numbers(flipud(x)) == integers{3, 4, 5, 0, 1, 2});
  CHECK(numbers(rot90(x)) == integers{2, 5, 1, 4, 0, 3});
  CHECK(numbers(rot90(x, 2)) == integers{5, 4, 3, 2, 1, 0});
  CHECK(numbers(rot90(x, -1)) == integers{3, 0, 4, 1, 5, 2});
  CHECK(flip(zeros({0, 3})).shape() == shape_t{0, 3});
  CHECK_THROWS_AS(fliplr(arange(3)), shape_error);
  CHECK_THROWS_WITH_AS(flip(x, axes{0, 0}), "[flip] axis 0 is given twice for shape (2, 3)", index_error);
}

TEST_CASE("roll shifts cyclically along axes or the flattened array") {
  const ndarray x = counting({2, 3});
  CHECK(numbers(roll(arange(5), 2)) == integers{3, 4, 0, 1, 2});
  CHECK(numbers(roll(arange(5), -6)) == integers{1, 2, 3, 4, 0});
  CHECK(numbers(roll(x, 1)) == integers{5, 0, 1, 2, 3, 4});
  CHECK(numbers(roll(x, 1, 1)) == integers{2, 0, 1, 5, 3, 4});
  CHECK(numbers(roll(x, {1, 2}, axes{0, 1})) == integers{4, 5, 3, 1, 2, 0});
  CHECK(numbers(roll(x, {1, 2}, axes{0, 0})) == integers{3, 4, 5, 0, 1, 2});
  CHECK_THROWS_AS(roll(x, {1, 2}, axes{0}), value_error);
  CHECK_THROWS_AS(roll(x, 1, 2), index_error);
  CHECK(roll(zeros({0}), 3).shape() == shape_t{0});
}

TEST_CASE("concatenate joins along an axis and promotes") {
  const ndarray x = counting({2, 2}), y = array({{7, 8}});
  CHECK(numbers(concatenate({x, y})) == integers{0, 1, 2, 3, 7, 8});
  CHECK(numbers(concatenate({x, y.T()}, 1)) == integers{0, 1, 7, 2, 3, 8});
  CHECK(numbers(concatenate({x, y}, idx::_)) == integers{0, 1, 2, 3, 7, 8});
  CHECK(concatenate({ones({1}, int8), ones({1}, uint8)}).dtype() == int16);
  CHECK(concatenate({zeros({0}, int8), ones({2}, float32)}).dtype() == float32);
  CHECK(numbers(concatenate({x * 10, x + 1}, -1)) == integers{0, 10, 1, 2, 20, 30, 3, 4});
  CHECK_THROWS_AS(concatenate({}), value_error);
  CHECK_THROWS_AS(concatenate({arange(2), x}), shape_error);
  CHECK_THROWS_AS(concatenate({ones({3, 2}), ones({2, 3})}), shape_error);
  CHECK_THROWS_AS(concatenate({array(1.0)}), shape_error);
  CHECK_THROWS_AS(concatenate({x, y}, 2), index_error);
}

TEST_CASE("a join holds the values from when it was recorded") {
  ndarray x = arange(2);
  const ndarray joined = concatenate({x, x + 10});
  x += 100;
  CHECK(numbers(joined) == integers{0, 1, 10, 11});
  ndarray copy = concatenate({x});
  copy += 1;
  CHECK(numbers(x) == integers{100, 101});
}

TEST_CASE("stack and its relatives") {
  const ndarray x = arange(2), y = x + 5;
  CHECK(stack({x, y}).shape() == shape_t{2, 2});
  CHECK(numbers(stack({x, y}, -1)) == integers{0, 5, 1, 6});
  CHECK(numbers(vstack({x, y})) == integers{0, 1, 5, 6});
  CHECK(numbers(hstack({x, y})) == integers{0, 1, 5, 6});
  CHECK(numbers(hstack({counting({2, 1}), counting({2, 1})})) == integers{0, 0, 1, 1});
  CHECK(numbers(column_stack({x, counting({2, 2})})) == integers{0, 0, 1, 1, 2, 3});
  CHECK(dstack({x, y}).shape() == shape_t{1, 2, 2});
  CHECK(numbers(hstack({array(1), array(2)})) == integers{1, 2});
  CHECK_THROWS_AS(stack({x, arange(3)}), shape_error);
  CHECK_THROWS_AS(stack({x, y}, 2), index_error);
  CHECK_THROWS_AS(stack({}), value_error);
}

TEST_CASE("tile repeats the whole, repeat each element") {
  CHECK(numbers(tile(arange(2), 3)) == integers{0, 1, 0, 1, 0, 1});
  CHECK(tile(arange(3), {2, 1}).shape() == shape_t{2, 3});
  CHECK(numbers(tile(counting({2, 2}), 2)) == integers{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(numbers(tile(counting({2, 1}), {1, 2})) == integers{0, 0, 1, 1});
  CHECK(tile(arange(3), 0).shape() == shape_t{0});
  CHECK(numbers(repeat(arange(3), 2)) == integers{0, 0, 1, 1, 2, 2});
  CHECK(numbers(repeat(counting({2, 2}), 2, 1)) == integers{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(numbers(repeat(counting({2, 2}), 2, 0)) == integers{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(repeat(arange(3), 0).shape() == shape_t{0});
  CHECK_THROWS_AS(repeat(arange(3), -1), value_error);
}

TEST_CASE("splitting gives views") {
  const ndarray x = arange(5) * 1;
  const auto parts = array_split(x, 2);
  CHECK(numbers(parts[0]) == integers{0, 1, 2});
  CHECK(numbers(parts[1]) == integers{3, 4});
  CHECK(is_view(x, parts[1]));
  const auto cut = split(arange(5), {1, 3});
  CHECK(cut.size() == 3);
  CHECK(numbers(cut[1]) == integers{1, 2});
  CHECK(split(arange(5), integers{3, 1})[1].shape() == shape_t{0});
  CHECK(numbers(split(arange(6), {4})[1]) == integers{4, 5});
  CHECK(numbers(array_split(arange(6), 4)[3]) == integers{5});
  CHECK(split(counting({2, 4}), 2, 1)[1].shape() == shape_t{2, 2});
  CHECK_THROWS_AS(split(arange(5), 2), value_error);
  CHECK_THROWS_AS(array_split(arange(5), 0), value_error);
  const auto columns = unstack(counting({2, 3}), 1);
  CHECK(columns.size() == 3);
  CHECK(numbers(columns[1]) == integers{1, 4});
}

TEST_CASE("diff subtracts neighbours") {
  CHECK(numbers(diff(array({1, 4, 9, 16}))) == integers{3, 5, 7});
  CHECK(numbers(diff(array({1, 4, 9, 16}), 2)) == integers{2, 2});
  CHECK(numbers(diff(counting({2, 3}), 1, 0)) == integers{3, 3, 3});
  CHECK(numbers(diff(array({4, 9}), {.prepend = 1, .append = array({16, 25})})) == integers{3, 5, 7, 9});
  CHECK(diff(array({true, false, false})).dtype() == bool_);
  CHECK(diff(arange(1)).shape() == shape_t{0});
  CHECK(diff(arange(2), 5).shape() == shape_t{0});
  CHECK_THROWS_AS(diff(array(3)), shape_error);
  CHECK_THROWS_AS(diff(arange(3), -1), value_error);
}

TEST_CASE("take reads along an axis or of the flattened array") {
  const ndarray x = counting({2, 3});
  CHECK(numbers(take(x, array({5, -1, 0}))) == integers{5, 5, 0});
  CHECK(numbers(take(x, array({2, 0}), 1)) == integers{2, 0, 5, 3});
  CHECK(take(x, array({{0, 1}, {1, 0}}), 1).shape() == shape_t{2, 2, 2});
  CHECK(numbers(take(x, array({{0, 1}, {1, 0}}), 1)) == integers{0, 1, 1, 0, 3, 4, 4, 3});
  CHECK(numbers(take(x, 1, 0)) == integers{3, 4, 5});
  CHECK(take(x, -1, 1).shape() == shape_t{2});
  CHECK(take(zeros({0, 3}), zeros({0}, int64), 0).shape() == shape_t{0, 3});
  CHECK_THROWS_AS(take(x, 3, 1), index_error);
  CHECK_THROWS_AS(take(x, 1.5), dtype_error);
  CHECK_THROWS_AS(take(x, array({0.5})), dtype_error);
  CHECK_THROWS_AS(take(x, 0, 2), index_error);
  CHECK_THROWS_AS(take(zeros({0}), array({0})), index_error);
}

TEST_CASE("take_along_axis pairs indices with the other axes") {
  const ndarray x = array({{3, 1, 2}, {4, 6, 5}});
  CHECK(numbers(take_along_axis(x, argmin(x, 1, {.keepdims = true}), 1)) == integers{1, 4});
  CHECK(numbers(take_along_axis(x, array({{1}}), 1)) == integers{1, 6});
  CHECK(numbers(take_along_axis(x, array({{0, 1, 0}}), 0)) == integers{3, 6, 2});
  CHECK(numbers(take_along_axis(array({{7, 8}}), array({{1}, {0}, {1}}), 1)) == integers{8, 7, 8});
  CHECK(numbers(take_along_axis(x, array({4, 1}), idx::_)) == integers{6, 1});
  CHECK(numbers(take_along_axis(x, array({{-1}, {-3}}))) == integers{2, 4});
  CHECK_THROWS_AS(take_along_axis(x, array({1}), 1), shape_error);
  CHECK_THROWS_AS(take_along_axis(x, array({{1}, {0}, {1}}), 1), shape_error);
  CHECK_THROWS_AS(take_along_axis(x, array({{1.0}}), 1), dtype_error);
}

TEST_CASE("an index out of range in an array is reported at the next synchronisation") {
  const ndarray y = take(arange(3), array({0, 3}));
  CHECK_THROWS_AS(y.to_vector<std::int64_t>(), index_error);
  CHECK(numbers(take(arange(3), array({0, 2}))) == integers{0, 2});
}

TEST_CASE("taking from a pending expression gives what the expression would hold there") {
  const ndarray t = expand_dims(arange(40), 1) * 3 - expand_dims(arange(30), 0);
  const ndarray i = argmin(t, 1);
  CHECK(numbers(take_along_axis(t, expand_dims(i, 1), 1)) == numbers(min(t, 1)));
  CHECK(numbers(take(t, array({2, 5}), 0)) == numbers(t["2:6:3"]));
}
