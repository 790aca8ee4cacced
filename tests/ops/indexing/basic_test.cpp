// Basic indexing, aliasing views, writes through temporaries and in-place operators.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using ints = std::vector<std::int64_t>;

namespace {

ndarray grid() { return array({{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}); }
ints values(const ndarray& x) { return x.to_vector<std::int64_t>(); }

template <class Error, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("an integer removes its axis, a slice keeps it") {
  const ndarray x = grid();
  CHECK(x(1).shape() == shape_t{4});
  CHECK(values(x(1)) == ints{4, 5, 6, 7});
  CHECK(x(1, 2).shape() == shape_t{});
  CHECK(x(1, 2).item<int>() == 6);
  CHECK(values(x(-1, _)) == ints{8, 9, 10, 11});
  CHECK(values(x(_, 1)) == ints{1, 5, 9});
  CHECK(values(x[2]) == ints{8, 9, 10, 11});
  CHECK(values(x[slice(1, 2)]) == ints{4, 5, 6, 7});
}

TEST_CASE("slices clamp their bounds and take negative steps as in Python") {
  const ndarray x = arange(10);
  CHECK(values(x(slice(2, 5))) == ints{2, 3, 4});
  CHECK(values(x(slice(3))) == ints{0, 1, 2});
  CHECK(values(x(slice(-3, _))) == ints{7, 8, 9});
  CHECK(values(x(slice(_, _, 3))) == ints{0, 3, 6, 9});
  CHECK(values(x(slice(_, _, -4))) == ints{9, 5, 1});
  CHECK(values(x(slice(100, 2, -2))) == ints{9, 7, 5, 3});
  CHECK(values(x(slice(-100, 2))) == ints{0, 1});
  CHECK(x(slice(5, 2)).shape() == shape_t{0});
  CHECK(x(slice(20, 30)).shape() == shape_t{0});
  CHECK(values(x(slice(_, _, INT64_MIN))) == ints{9});
  CHECK(values(x(slice(_, _, INT64_MAX))) == ints{0});
}

TEST_CASE("subscript text means what the calls mean") {
  const ndarray x = grid();
  CHECK(values(x["1:-1, ::2"]) == ints{4, 6});
  CHECK(x["None, :, 0"].shape() == shape_t{1, 3});
  CHECK(x["newaxis, ..., None"].shape() == shape_t{1, 3, 4, 1});
  CHECK(values(x["..., -1"]) == ints{3, 7, 11});
  CHECK(values(x[" ::-1 , +1 "]) == ints{9, 5, 1});
  CHECK(values(x["2"]) == ints{8, 9, 10, 11});
}

TEST_CASE("newaxis and ellipsis place axes") {
  const ndarray x = zeros({2, 3, 4});
  CHECK(x(newaxis).shape() == shape_t{1, 2, 3, 4});
  CHECK(x(ellipsis, newaxis).shape() == shape_t{2, 3, 4, 1});
  CHECK(x(0, ellipsis, 0).shape() == shape_t{3});
  CHECK(x(_, newaxis, 0).shape() == shape_t{2, 1, 4});
  CHECK(x(ellipsis, 0, 0, 0).shape() == shape_t{});
  CHECK(x().shape() == shape_t{2, 3, 4});
}

TEST_CASE("strides are bytes of the view") {
  const ndarray x = zeros({3, 4}, {.dtype = float32});
  CHECK(x.strides() == std::vector<std::int64_t>{16, 4});
  CHECK(x.T().strides() == std::vector<std::int64_t>{4, 16});
  CHECK(x["::2, ::-1"].strides() == std::vector<std::int64_t>{32, -4});
}

TEST_CASE("an integer out of range names index, axis and shape") {
  const ndarray x = grid();
  const std::string text = message_of<index_error>([&] { x(1, 4); });
  CHECK(text == "[index] index 4 is out of range for axis 1 with extent 4 in shape (3, 4)");
  CHECK_THROWS_AS(x(-4), index_error);
  CHECK_THROWS_AS(zeros({0})(0), index_error);
}

TEST_CASE("too many indices, two ellipses and a zero step are refused") {
  const ndarray x = grid();
  CHECK(message_of<index_error>([&] { x(0, 0, 0); }) == "[index] too many indices: 3 for rank 2 in shape (3, 4)");
  CHECK_THROWS_AS(x(ellipsis, 0, ellipsis), index_error);
  CHECK_THROWS_AS(x(slice(_, _, 0)), value_error);
}

TEST_CASE("an undefined array says so") {
  ndarray x;
  CHECK_FALSE(x.defined());
  CHECK_THROWS_AS(x.shape(), value_error);
  CHECK_THROWS_AS(x(0), value_error);
}

TEST_CASE("assignment to an indexed temporary writes through") {
  ndarray x = grid();
  x(0) = -1;
  x(_, 3) = array({20, 21, 22});
  x["1:, :2"] = array({{30, 31}, {32, 33}});
  CHECK(values(x) == ints{-1, -1, -1, 20, 30, 31, 6, 21, 32, 33, 10, 22});
  x() = 5;
  CHECK(values(x(1)) == ints{5, 5, 5, 5});
  x(0) = x(1) = 0;
  CHECK(values(x(0)) == ints{0, 0, 0, 0});
}

TEST_CASE("a named row rebinds, and its in-place operators write through") {
  ndarray x = grid();
  auto row = x(0);
  row += 10;
  CHECK(values(x(0)) == ints{10, 11, 12, 13});
  row = row * 2;
  CHECK(values(row) == ints{20, 22, 24, 26});
  CHECK(values(x(0)) == ints{10, 11, 12, 13});
  row += 1;
  CHECK(values(x(0)) == ints{10, 11, 12, 13});
}

TEST_CASE("every alias sees an in-place write; a copy does not") {
  ndarray x = grid();
  const ndarray same = x, row = x(1), transposed = x.T(), copy = x.copy();
  x += 100;
  CHECK(values(same(0)) == ints{100, 101, 102, 103});
  CHECK(values(row) == ints{104, 105, 106, 107});
  CHECK(values(transposed(0)) == ints{100, 104, 108});
  CHECK(values(copy(0)) == ints{0, 1, 2, 3});
}

TEST_CASE("an expression keeps the values that it was written with") {
  ndarray x = arange(3);
  const ndarray y = x * 2;
  x(0) = 50;
  CHECK(values(y) == ints{0, 2, 4});
  CHECK(values(x) == ints{50, 1, 2});
}

TEST_CASE("overlapping reads happen before the write") {
  ndarray x = arange(6);
  x["1:"] = x[":-1"];
  CHECK(values(x) == ints{0, 0, 1, 2, 3, 4});
  x() = x["::-1"];
  CHECK(values(x) == ints{4, 3, 2, 1, 0, 0});
  ndarray m = array({{1, 2}, {3, 4}});
  m += m.T();
  CHECK(values(m) == ints{2, 5, 5, 8});
}

TEST_CASE("assignment converts as astype and drops leading axes of extent 1") {
  ndarray x = zeros({3}, {.dtype = int8});
  x() = array({{1.9, -2.9, 3.0}});
  CHECK(values(x) == ints{1, -2, 3});
  x(0) = 2.7;
  CHECK(x(0).item<int>() == 2);
}

TEST_CASE("a number that does not fit the dtype is refused and nothing is written") {
  ndarray x = zeros({2}, {.dtype = uint8});
  CHECK(message_of<dtype_error>([&] { x(0) = 256; }) == "[assign] integer 256 does not fit dtype uint8");
  CHECK_THROWS_AS(x(0) = -1, dtype_error);
  CHECK_THROWS_AS(x(0) = std::complex<double>(1, 1), dtype_error);
  CHECK_THROWS_AS(x(0) = 1e300, dtype_error);
  CHECK(values(x) == ints{0, 0});
}

TEST_CASE("the right side broadcasts to the left, never the other way") {
  ndarray x = zeros({2, 3});
  CHECK(message_of<shape_error>([&] { x() = zeros({2}); }) == "[assign] shape (2,) does not broadcast to shape (2, 3)");
  CHECK_THROWS_AS(x(0) += zeros({2, 3}), shape_error);
  CHECK_THROWS_AS(x(0) += zeros({1, 3}), shape_error);
  x += array({1, 2, 3});
  CHECK(values(x) == ints{1, 2, 3, 1, 2, 3});
}

TEST_CASE("in-place operators keep the dtype and refuse casts beyond same_kind") {
  ndarray i = array({1, 2}, {.dtype = int32}), f = array({1.0, 2.0}, {.dtype = float32});
  const std::string text = message_of<dtype_error>([&] { i += array({0.5, 0.5}); });
  CHECK(text.find("float64") != std::string::npos);
  CHECK(text.find("int32") != std::string::npos);
  CHECK_THROWS_AS(i /= 2, dtype_error);
  CHECK_THROWS_AS(i += 0.5, dtype_error);
  CHECK_THROWS_AS(i += INT64_C(3000000000), dtype_error);
  i += 1;
  f += array({1.0, 1.0});
  CHECK(i.dtype() == int32);
  CHECK(f.dtype() == float32);
  CHECK(values(i) == ints{2, 3});
  CHECK(values(f) == ints{2, 3});
}

TEST_CASE("host views index by coordinates and check them") {
  const auto view = grid().host<double>();
  CHECK(view(1, 2) == 6.0);
  CHECK(view.size() == 12);
  CHECK_THROWS_AS(view(3, 0), index_error);
  CHECK_THROWS_AS(view(0), index_error);
}

TEST_CASE("a host view does not see later writes") {
  ndarray x = arange(3);
  const auto before = x.host<std::int64_t>();
  x(0) = 9;
  CHECK(before(0) == 0);
  CHECK(x.host<std::int64_t>()(0) == 9);
}

TEST_CASE("numbers come out converted, never reinterpreted") {
  const ndarray x = array(2.75);
  CHECK(double(x) == 2.75);
  CHECK(int(x) == 2);
  CHECK(x.item<float>() == 2.75f);
  CHECK(std::complex<double>(x) == 2.75);
  CHECK(bool(x));
  CHECK_FALSE(bool(array(0)));
  CHECK_THROWS_AS(array(std::complex<double>(1, 2)).item<double>(), dtype_error);
  CHECK_THROWS_AS((void)bool(arange(2)), shape_error);
  CHECK_THROWS_AS(arange(2).item<int>(), shape_error);
}

TEST_CASE("nested braces give shape and dtype") {
  CHECK(array({1, 2}).dtype() == int64);
  CHECK(array({1, 2.5}).dtype() == float64);
  CHECK(array({true, false}).dtype() == bool_);
  CHECK(array({std::complex<double>(0, 1)}).dtype() == complex128);
  CHECK(array({UINT64_MAX}).dtype() == uint64);
  CHECK(array({{1, 2, 3}, {4, 5, 6}}).shape() == shape_t{2, 3});
  CHECK(array({{{1}, {2}}}).shape() == shape_t{1, 2, 1});
  CHECK(array({}).shape() == shape_t{0});
  CHECK_THROWS_AS(array({{1, 2}, {3}}), shape_error);
  CHECK_THROWS_AS(array({{1, 2}, 3}), shape_error);
  CHECK_THROWS_AS(array({300}, {.dtype = int8}), dtype_error);
}

TEST_CASE("containers and pointers are copied with their type") {
  std::vector<float> v{1, 2, 3, 4};
  const ndarray x = array(v), m = array(v.data(), {2, 2});
  v[0] = 9;
  CHECK(x.dtype() == float32);
  CHECK(m.shape() == shape_t{2, 2});
  CHECK(m.to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(array(std::vector<bool>{true, false}).to_vector<bool>() == std::vector<bool>{true, false});
}

TEST_CASE("arange has NumPy's length and values") {
  CHECK(values(arange(3)) == ints{0, 1, 2});
  CHECK(values(arange(5, 0, -2)) == ints{5, 3, 1});
  CHECK(arange(5, 5).shape() == shape_t{0});
  CHECK(arange(0, 1, 0.1).shape() == shape_t{10});
  CHECK(arange(1, 1.3, 0.1).shape() == shape_t{4});  // (1.3 - 1) / 0.1 is above 3 in float64
  CHECK(arange(3).dtype() == int64);
  CHECK(arange(3.0).dtype() == float64);
  CHECK(values(arange(0.5, 5, 1, {.dtype = int64})) == ints{0, 1, 2, 3, 4});
  CHECK_THROWS_AS(arange(0, 5, 0), value_error);
}

TEST_CASE("linspace ends where it is told to") {
  CHECK(linspace(0, 1, 5).to_vector<double>() == std::vector<double>{0, 0.25, 0.5, 0.75, 1});
  CHECK(linspace(0, 1, 4, {.endpoint = false}).to_vector<double>() == std::vector<double>{0, 0.25, 0.5, 0.75});
  CHECK(linspace(0.1, 0.7, 7).to_vector<double>().back() == 0.7);
  CHECK(linspace(3, 9, 1).to_vector<double>() == std::vector<double>{3});
  CHECK(linspace(0, 1, 0).shape() == shape_t{0});
  CHECK(values(linspace(-1, 1, 4, {.dtype = int64})) == ints{-1, -1, 0, 1});
  CHECK_THROWS_AS(linspace(0, 1, -1), value_error);
}

TEST_CASE("eye, tril, triu and meshgrid follow NumPy") {
  CHECK(values(eye(2, 3, {.k = 1})) == ints{0, 1, 0, 0, 0, 1});
  CHECK(values(identity(2)) == ints{1, 0, 0, 1});
  const ndarray x = array({{1, 2}, {3, 4}});
  CHECK(values(tril(x)) == ints{1, 0, 3, 4});
  CHECK(values(triu(x, 1)) == ints{0, 2, 0, 0});
  CHECK(values(tril(array({1, 2}))) == ints{1, 0, 1, 2});
  const auto g = meshgrid({arange(2), arange(3)});
  CHECK(values(g[0]) == ints{0, 1, 0, 1, 0, 1});
  CHECK(values(g[1]) == ints{0, 0, 1, 1, 2, 2});
  CHECK(meshgrid({arange(2), arange(3)}, {.indexing = "ij"})[0].shape() == shape_t{2, 3});
}

TEST_CASE("shapes that no array has are refused") {
  CHECK_THROWS_AS(zeros({-1}), shape_error);
  CHECK_THROWS_AS(zeros({INT64_MAX, 2}), shape_error);
  CHECK_THROWS_AS(zeros({INT64_C(1) << 31, INT64_C(1) << 31, 0}), shape_error);
  CHECK(zeros({0, 5}).size() == 0);
}

TEST_CASE("writing to a view whose elements share memory is refused") {
  ndarray x = broadcast_to(arange(3), {2, 3});
  CHECK_THROWS_AS(x += 1, value_error);
  CHECK_THROWS_AS(x(_, 0) = 1, value_error);
}
