// Digits, bytes, memory in common, places for results: what stored results of NumPy do not say.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "sinter/raw_file.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using sinter::idx::_;

struct own_file {
  own_file() : path("/tmp/sinter_bytes_" + std::to_string(getpid()) + ".bin") {}
  ~own_file() { std::remove(path.c_str()); }
  std::string path;
};

}  // namespace

TEST_CASE("digits of numbers are NumPy's") {
  struct in_base {
    const char* text;
    std::int64_t number, base, padding;
  };
  for (const in_base& c : {in_base{"0", 0, 2, 0},
                           {"000", 0, 2, 3},
                           {"101", 5, 2, 0},
                           {"-0012", -5, 3, 2},
                           {"FF", 255, 16, 0},
                           {"0Z", 35, 36, 1},
                           {"11154003640456024361134", 4611686018427387904, 7, 0}})
    CHECK(base_repr(c.number, c.base, c.padding) == c.text);
  struct in_two {
    const char* text;
    std::int64_t number;
    std::optional<std::int64_t> width;
  };
  for (const in_two& c : {in_two{"0", 0, {}},
                          {"101", 5, {}},
                          {"-101", -5, {}},
                          {"0000", 0, 4},
                          {"0", 0, 0},
                          {"101", 5, 3},
                          {"00000101", 5, 8},
                          {"11111011", -5, 8},
                          {"1011", -5, 4},
                          {"1000", -8, 4},
                          {"1", -1, 1},
                          {"-1", -1, {}},
                          {"111111", -1, 6},
                          {"10111", -9, 5}})
    CHECK(binary_repr(c.number, c.width) == c.text);
  CHECK(base_repr(INT64_MIN) == "-1" + std::string(63, '0'));
  CHECK(binary_repr(INT64_MIN, 64) == "1" + std::string(63, '0'));
  for (const auto& [n, w] : {std::pair(5, 2), {-5, 3}, {-9, 4}, {8, 3}, {1, -1}})
    CHECK_THROWS_AS(binary_repr(n, w), value_error);
  CHECK_THROWS_AS(base_repr(5, 37), value_error);
  CHECK_THROWS_AS(base_repr(5, 2, -1), value_error);
}

TEST_CASE("elements are written and read as bytes") {
  const own_file file;
  const ndarray x = reshape(arange(12, {.dtype = float32}), {3, 4}) / 3;
  tofile(x.T(), file.path);
  const ndarray all = fromfile(file.path, float32);
  CHECK(array_equal(all, ravel(x.T())));
  CHECK(array_equal(fromfile(file.path, float32, {.count = 3, .offset = 8}), all(slice(2, 5))));
  CHECK(fromfile(file.path, float64).shape() == shape_t{6});
  CHECK(fromfile(file.path, float64, {.offset = 1}).shape() == shape_t{5});
  CHECK(fromfile(file.path, int8, {.count = 99}).shape() == shape_t{48});
  CHECK(fromfile(file.path, int8, {.offset = 99}).shape() == shape_t{0});
  CHECK_THROWS_AS(fromfile(file.path, int8, {.offset = -1}), value_error);
  CHECK_THROWS_AS(fromfile(file.path + ".none"), io_error);
  CHECK_THROWS_AS(fromfile("/tmp"), io_error);
  CHECK_THROWS_AS(tofile(x, "/no/such/folder/x.bin"), io_error);
  const std::vector<std::byte> raw = tobytes(x(_, slice(_, _, 2)));
  CHECK(array_equal(frombuffer(raw, float32), ravel(x(_, slice(_, _, 2)))));
  const std::byte truths[] = {std::byte{0}, std::byte{2}, std::byte{1}};
  CHECK(array_equal(frombuffer(truths, bool_), array({false, true, true})));
}

TEST_CASE("memory is shared by views, and by nothing else") {
  const ndarray x = arange(12), y = x.copy();
  CHECK(shares_memory(x, x(slice(3, 5))));
  CHECK(shares_memory(x, reshape(x, {3, 4}).T()));
  CHECK_FALSE(may_share_memory(x, y));
  CHECK_FALSE(may_share_memory(x, x + 0));
  CHECK_FALSE(shares_memory(x(slice(_, _, 2)), x(slice(1, _, 2))));
  CHECK(may_share_memory(x(slice(_, _, 2)), x(slice(1, _, 2))));
  CHECK_FALSE(may_share_memory(x(slice(_, 6)), x(slice(6, _))));
  CHECK_FALSE(may_share_memory(x(slice(0, 0)), x));
  CHECK(shares_memory(x(slice(_, _, -1)), x(slice(_, 2))));
  CHECK_FALSE(may_share_memory(x(slice(5, 2, -1)), x(slice(6, _))));
  CHECK_FALSE(may_share_memory(x(slice(5, 2, -1)), x(slice(_, 3))));
  CHECK_FALSE(shares_memory(x(slice(_, _, -2)), x(slice(_, _, 2))));  // odd and even ones
  const ndarray z = zeros({3}, complex128);
  CHECK(shares_memory(z.view(float64), z(1)));
  if (default_device().kind != device_kind::cpu) return;
  std::vector<float> memory(8);
  const ndarray a = from_pointer(memory.data(), {4}), b = from_pointer(memory.data() + 3, {4});
  CHECK(shares_memory(a, b));
  CHECK_FALSE(shares_memory(a, b(slice(1, _))));
}

TEST_CASE("scans and transforms are written to places that others see") {
  const ndarray x = array({1.0, 2.0, 3.0}), table = zeros({3, 3});
  const ndarray row = table(1);
  CHECK(shares_memory(cumsum(x, {.out = row}), table));
  eval(x);
  cumprod(x, {.out = table(2)});
  cummax(-x, {.out = table(_, 0)});
  CHECK(array_equal(table, array({{-1.0, 0.0, 0.0}, {-1.0, 3.0, 6.0}, {-1.0, 2.0, 6.0}})));
  // What was read before is what it was.
  const ndarray before = table(1) + 0;
  cumsum(table(1), {.out = table(1)});
  CHECK(array_equal(before, array({-1.0, 3.0, 6.0})));
  CHECK(array_equal(table(1), array({-1.0, 2.0, 8.0})));
  CHECK_THROWS_AS(cumsum(x, {.out = zeros({2})}), shape_error);
  CHECK_THROWS_AS(cumsum(x, {.out = zeros({3}, int64)}), dtype_error);
  CHECK_THROWS_AS(cumsum(x, {.out = broadcast_to(x, {2, 3})(0)}), value_error);
  CHECK_THROWS_AS(fft::fft(x, {.out = zeros({3})}), dtype_error);
  CHECK_THROWS_AS(fft::rfft(x, {.out = zeros({3}, complex128)}), shape_error);
}

TEST_CASE("what is required of an array is so") {
  const ndarray x = reshape(arange(6), {2, 3});
  CHECK(isfortran(require(x, {.requirements = "F"})));
  CHECK(isfortran(require(broadcast_to(x, {2, 2, 3}), {.requirements = "FWO"})));
  CHECK_FALSE(isfortran(require(x.T(), {.requirements = "C"})));
  CHECK(shares_memory(require(x.T(), {.requirements = "F"}), x));
  CHECK_THROWS_AS(require(x, {.requirements = "CF"}), value_error);
  CHECK_THROWS_AS(require(x, {.requirements = "Q"}), value_error);
  CHECK_THROWS_AS(unravel_index(3, {2, 3}, {.order = 'K'}), value_error);
  CHECK_THROWS_AS(ravel_multi_index({x(0), x(1)}, {9, 9}, {.modes = {"clip"}}), value_error);
  CHECK_THROWS_AS(cross(ones({3}), ones({3}), {.axis = 0, .axisa = 0}), value_error);
  CHECK_THROWS_AS(var(x, {.mean = ones({4})}), shape_error);
  CHECK_THROWS_AS(common_type(x, x > 1), dtype_error);
  const std::vector<ndarray> grids = meshgrid({arange(2), arange(3)}, {.copy = true});
  grids[0](0, 0) = 7;
  CHECK(grids[0](0, 0).item<int>() == 7);
}
