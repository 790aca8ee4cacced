// Transposed operands of elementwise kernels on the CPU: every size of element, odd extents, ranks, signs of strides.
#include "backends/cpu/kernels/panel.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// Every element differs from its neighbours in each byte order.
std::vector<unsigned char> scrambled(std::size_t bytes) {
  std::vector<unsigned char> v(bytes);
  std::uint32_t state = 99;
  for (auto& b : v) {
    state = state * 1664525u + 1013904223u;
    b = static_cast<unsigned char>(state >> 24);
  }
  return v;
}

void check_panel(std::size_t size, int rows, int lanes, std::int64_t step, std::int64_t stride) {
  CAPTURE(size);
  CAPTURE(rows);
  CAPTURE(lanes);
  CAPTURE(step);
  CAPTURE(stride);
  const int padded = (lanes + 15) & ~15, pitch = cpu::panel_pitch(size);
  const std::int64_t reach = (step < 0 ? -step : step) * rows + (stride < 0 ? -stride : stride) * lanes;
  const auto from = scrambled(static_cast<std::size_t>(2 * reach + 1) * size);
  std::vector<unsigned char> to(static_cast<std::size_t>(rows * pitch) * size, 0xee);
  const unsigned char* const origin = from.data() + static_cast<std::size_t>(reach) * size;
  cpu::fill_panel(to.data(), origin, rows, lanes, padded, step, stride, size);
  int wrong = 0;
  for (int r = 0; r < rows; ++r)
    for (int l = 0; l < padded; ++l) {
      const std::int64_t at = r * step + std::min(l, lanes - 1) * stride;
      wrong += std::memcmp(&to[static_cast<std::size_t>(r * pitch + l) * size],
                           origin + at * static_cast<std::int64_t>(size), size) != 0;
    }
  CHECK(wrong == 0);
}

/// Whole numbers that fit any dtype, as this type's elements.
ndarray numbers(const shape_t& shape, dtype type) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray x = reshape(arange(n).to_device("cpu") * 37 % 113, shape);
  if (!is_complex(type)) return x.astype(type);
  return (x.astype(float64) + std::complex<double>(0, 1) * (x + 3).astype(float64)).astype(type);
}

/// An expression over transposed operands is the one over copies of them that lie in C order already.
template <class F>
void check_orders(const ndarray& x, const axes& order, F f) {
  const ndarray turned = permute_dims(x, order);
  // A gather of every element: no operand is transposed there.
  const ndarray places = permute_dims(reshape(arange(x.size()).to_device("cpu"), x.shape()), order).copy();
  eval(places);
  const ndarray in_order = take(reshape(x, {-1}), places);
  eval(in_order);
  const ndarray expected = f(in_order), got = f(turned);
  eval(expected);
  CHECK(got.dtype() == expected.dtype());
  CHECK(array_equal(got, expected));
}

}  // namespace

TEST_CASE("cpu: panels transpose elements of every size, with any step between them") {
  for (const std::size_t size : {1, 2, 4, 8, 16})
    for (const int rows : {1, 4, 15, 16})
      for (const int lanes : {1, 16, 47, 256})
        for (const std::int64_t step : {1, -1, 2, -3}) {
          check_panel(size, rows, lanes, step, 71);
          check_panel(size, rows, lanes, step, -71);
        }
  for (const std::size_t size : {1, 2, 4, 8}) check_panel(size, cpu::panel_rows(size), 255, 1, 4096);
}

TEST_CASE("cpu: expressions over transposed operands, of every dtype") {
  for (dtype t : {bool_, int8, uint16, int32, uint64, float16, bfloat16, float32, float64, complex64, complex128}) {
    CAPTURE(t);
    const auto sum = [](const ndarray& x) { return x + x; };
    const auto flipped = [](const ndarray& x) { return x(slice(_, _, -1)) + x(_, slice(_, _, -1)); };
    const auto copied = [](const ndarray& x) { return x.copy(); };
    for (const shape_t& shape : {shape_t{131, 200}, shape_t{64, 33}, shape_t{300, 517}, shape_t{5, 700}}) {
      const ndarray x = numbers(shape, t);
      eval(x);
      check_orders(x, {1, 0}, copied);
      check_orders(x, {1, 0}, sum);
      check_orders(x, {1, 0}, flipped);
    }
    const ndarray cube = numbers({17, 40, 140}, t), images = numbers({2, 13, 35, 48}, t);
    eval(cube, images);
    for (const axes& order : {axes{2, 1, 0}, axes{2, 0, 1}, axes{1, 2, 0}, axes{1, 0, 2}, axes{0, 2, 1}}) {
      check_orders(cube, order, copied);
      check_orders(cube, order, flipped);
    }
    for (const axes& order : {axes{0, 3, 1, 2}, axes{0, 2, 3, 1}, axes{3, 2, 1, 0}, axes{1, 3, 0, 2}}) {
      check_orders(images, order, copied);
      check_orders(images, order, sum);
    }
  }
}

TEST_CASE("cpu: transposed operands beside others, gathers, broadcasts and six axes") {
  const ndarray x = numbers({260, 260}, float32), row = numbers({260}, float32);
  const ndarray picks = (arange(260).to_device("cpu") * 7) % 260;
  eval(x, row, picks);
  const ndarray turned = x.T().copy(), in_rows = take(x, picks, 0).copy();
  eval(turned, in_rows);
  const auto same = [](const ndarray& a, const ndarray& b) {
    eval(b);
    CHECK(array_equal(a, b));
  };
  same(x + x.T() * row, x + turned * row);
  same(x.T() * take(x, picks, 0) - x(0), turned * in_rows - x(0));
  same(x.T()(slice(3, 250, 2), slice(1, _, 3)) + 1, turned(slice(3, 250, 2), slice(1, _, 3)) + 1);
  same(x(slice(_, _, 2)).T() + row(slice(0, 260))(_, newaxis), turned(_, slice(_, _, 2)) + row(_, newaxis));
  same(sin(x.T()) + arange(260).to_device("cpu"), sin(turned) + arange(260).to_device("cpu"));
  const ndarray six = numbers({3, 4, 5, 6, 7, 40}, int32);
  eval(six);
  check_orders(six, {5, 4, 3, 2, 1, 0}, [](const ndarray& a) { return a * 3; });
  check_orders(six, {0, 1, 5, 3, 4, 2}, [](const ndarray& a) { return a * 3; });
}

TEST_CASE("cpu: writes into transposed regions") {
  const ndarray x = numbers({150, 170}, float64), y = numbers({170, 150}, float64);
  eval(x, y);
  ndarray into = x.copy();
  into.T()(_, _) = y;
  CHECK(array_equal(into, y.T().copy()));
  into = x.copy();
  into.T()(slice(2, 160, 3), slice(_, _, -1)) += y(slice(2, 160, 3));
  ndarray expected = x.copy();
  expected(slice(_, _, -1), slice(2, 160, 3)) += y(slice(2, 160, 3)).T();
  CHECK(array_equal(into, expected));
  // A square that is written over itself, transposed: the statement reads the old elements.
  ndarray square = numbers({129, 129}, int32);
  eval(square);
  const ndarray old = square.T().copy();
  eval(old);
  square(_, _) = square.T() + square;
  CHECK(array_equal(square, old + old.T()));
}

TEST_CASE("cpu: reductions of pairs have the bits of the same reductions over stored pairs") {
  const auto same = [](const ndarray& got, const ndarray& expected) {
    eval(got);
    eval(expected);
    CHECK(array_equal(got, expected, true));
  };
  for (dtype t : {int16, float16, float32, float64, complex64}) {
    CAPTURE(t);
    for (const std::int64_t k : {2, 3, 17, 50, 64, 65, 100, 128}) {
      CAPTURE(k);
      const ndarray scale = numbers({k}, t) + numbers({1}, t) + 1;
      const ndarray a = numbers({13, k}, t) / 7, b = numbers({300, k}, t) / scale;
      eval(a, b);
      const ndarray pairs = (a(_, newaxis, _) * b - a(_, newaxis, _)).copy();
      eval(pairs);
      const ndarray fused = a(_, newaxis, _) * b - a(_, newaxis, _);
      same(sum(fused, {.axis = -1}), sum(pairs, {.axis = -1}));
      same(prod(fused, {.axis = -1}), prod(pairs, {.axis = -1}));
      same(max(real(fused), {.axis = -1}), max(real(pairs), {.axis = -1}));
      same(argmin(real(fused), -1), argmin(real(pairs), -1));
      same(var(real(fused), {.axis = -1}), var(real(pairs), {.axis = -1}));
      same(sum(a(3) * b, {.axis = -1}) + 1, sum((a(3) * b).copy(), {.axis = -1}) + 1);
      // Columns in other orders of memory, every second one, flipped.
      const ndarray turned = b.T().copy();
      eval(turned);
      same(sum(a(_, newaxis, _) * turned.T(), {.axis = -1}), sum((a(_, newaxis, _) * b).copy(), {.axis = -1}));
      const auto odd = slice(_, _, -2);
      same(sum(a(_, newaxis, odd) * b(_, odd), {.axis = -1}),
           sum((a(_, newaxis, odd) * b(_, odd)).copy(), {.axis = -1}));
    }
  }
  const ndarray a = numbers({2, 9, 1, 40}, float32) / 3, b = numbers({2, 1, 270, 40}, float32) / 7;
  eval(a, b);
  const ndarray pairs = abs(a - b).copy();
  eval(pairs);
  same(sum(abs(a - b), {.axis = -1}), sum(pairs, {.axis = -1}));
}
