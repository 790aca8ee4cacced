// Keys made at run time: x(key) and x[key] with std::vector<index>, which keeps the arrays and lists that it is made
// of.
#include <doctest/doctest.h>

#include <cstdint>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using ints = std::vector<std::int64_t>;
using key_list = std::vector<sinter::index>;

ints values(const ndarray& x) { return x.to_vector<std::int64_t>(); }
void check_same(const ndarray& a, const ndarray& b) {
  CHECK(a.shape() == b.shape());
  CHECK(values(a) == values(b));
}

/// A key whose arrays and lists have no other owner.
key_list temporary_key() {
  key_list key;
  key.push_back(array({2, 0}) + 0);
  key.emplace_back(list{1, -1});
  key.emplace_back(slice(_, _, 2));
  return key;
}

}  // namespace

TEST_CASE("a key made at run time selects what the same indices in a call select") {
  const ndarray x = reshape(arange(60), {3, 4, 5}), rows = array({2, 0, 1}), mask = x(_, 0, 0) > 10;
  check_same(x[key_list{1}], x(1));
  check_same(x[key_list{1, slice(1, 3)}], x(1, slice(1, 3)));
  check_same(x[key_list{_, newaxis, 0}], x(_, newaxis, 0));
  check_same(x[key_list{ellipsis, -1}], x(ellipsis, -1));
  check_same(x[key_list{0, ellipsis, slice(_, _, -2)}], x(0, ellipsis, slice(_, _, -2)));
  check_same(x[key_list{rows}], x[rows]);
  check_same(x[key_list{_, rows, 1}], x(_, rows, 1));
  check_same(x[key_list{mask, _, list{0, 3}}], x(mask, _, list{0, 3}));
  check_same(x[key_list{x > 30}], x[x > 30]);
  check_same(x[key_list{list{true, false, true}}], x(list{true, false, true}));
  check_same(x[key_list{1, 2, 3}], x(1, 2, 3));
}

TEST_CASE("no indices select the whole array, as a view") {
  ndarray x = arange(4);
  x[key_list{}] += 1;
  CHECK(values(x) == ints{1, 2, 3, 4});
  ndarray zero = full({}, 5);
  zero[key_list{}] = 7;
  CHECK(zero.item<int>() == 7);
}

TEST_CASE("a key owns its arrays and lists") {
  const ndarray x = reshape(arange(60), {3, 4, 5});
  const key_list key = temporary_key(), copy = key;
  check_same(x[key], x(array({2, 0}), list{1, 3}, slice(_, _, 2)));
  check_same(x(copy), x[key]);
  const sinter::index alone = array({1, 1}) * 2;
  check_same(x[alone], x[list{2, 2}]);
  key_list long_key;
  for (int k = 0; k < 3; ++k) long_key.emplace_back(array({k, 0}) * 1);  // grows: moves its items
  check_same(x[long_key], x(list{0, 0}, list{1, 0}, list{2, 0}));
  ndarray where = array({0, 1});
  const key_list refers{where};
  where(0) = 2;  // the array itself, not a copy
  check_same(x[refers], x[list{2, 1}]);
}

TEST_CASE("keys made at run time write through") {
  ndarray x = zeros({3, 4}, int64);
  key_list key{1};
  x[key] = 5;
  key.push_back(slice(1, 3));
  x[key] += array({1, 2});
  CHECK(values(x(1)) == ints{5, 6, 7, 5});
  x[key_list{list{0, 2}, list{0, 0}}] = array({8, 9});
  CHECK(values(x(_, 0)) == ints{8, 5, 9});
  x[key_list{x > 7}] *= 2;
  CHECK(values(x(_, 0)) == ints{16, 5, 18});
  add_at(x[key_list{list{0, 0}, 1}], 3);
  CHECK(x(0, 1).item<int>() == 6);
}

TEST_CASE("an axis chosen at run time") {
  const ndarray x = reshape(arange(24), {2, 3, 4});
  for (int axis = 0; axis < 3; ++axis) {
    key_list key(3, _);
    key[static_cast<std::size_t>(axis)] = 1;
    check_same(x[key], take(x, 1, axis));
  }
}

TEST_CASE("a list of arrays may be between brackets") {
  ndarray x = array({{0, 3}, {4, 0}});
  check_same(x[nonzero(x)], array({3, 4}));
  x[nonzero(x)] = 1;
  CHECK(values(x) == ints{0, 1, 1, 0});
}

TEST_CASE("errors of keys made at run time are those of calls") {
  const ndarray x = zeros({3, 4});
  CHECK_THROWS_AS(x[key_list(3, 0)], index_error);
  CHECK_THROWS_AS(x[key_list{3}], index_error);
  CHECK_THROWS_AS((x[key_list{ellipsis, ellipsis}]), index_error);
  CHECK_THROWS_AS((x[key_list{slice(0, 3, 0)}]), value_error);
  CHECK_THROWS_AS((x[key_list{zeros({2})}]), dtype_error);
  CHECK_THROWS_AS((x[key_list{ones({2}, bool_)}]), index_error);
  CHECK_THROWS_AS((x[key_list{list{3}}]), index_error);
  CHECK_THROWS_AS((x[key_list{ndarray()}]), value_error);
  CHECK_THROWS_AS(ndarray()[key_list{0}], value_error);
}

TEST_CASE("an index that was moved from is what it was") {
  const ndarray x = arange(4);
  key_list key{array({1, 2})};
  const sinter::index taken = std::move(key[0]);
  check_same(x[taken], array({1, 2}));
  check_same(x[key], array({1, 2}));
}
