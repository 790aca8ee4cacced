// Layouts that the CPU backend takes another way than contiguous ones, beside copies of the same elements: rows whose results
// are neighbours in memory, gathers of whole rows, places of extrema in short rows, bools in generated code, repetitions,
// short rows that are computed.
#include "backends/cpu/kernels/block_plan.hpp"
#include "backends/cpu/kernels/hooks.hpp"  // clang takes namespace sinter::cpu only before the device of that name
#include "backends/cpu/kernels/lanes.hpp"
#include "backends/cpu/strides/strided_loops.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "backends/cpu/scattered.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using test::host;
using test::same;
using test::scattered;

namespace {

const std::vector<std::int64_t> hostile = {0, 1, 15, 16, 17, 255, 256, 257};

void check_all_reductions(const ndarray& view, std::int64_t axis) {
  const ndarray dense = (view + 0).copy();
  eval(dense);
  CHECK(same(sum(view, axis), sum(dense, axis)));
  CHECK(same(sum(view * 2, axis) + 1, sum(dense * 2, axis) + 1));
  CHECK(same(var(view, axis), var(dense, axis)));
  if (view.shape(static_cast<int>(axis)) == 0) return;
  CHECK(same(max(view, axis), max(dense, axis)));
  CHECK(same(argmin(view, axis), argmin(dense, axis)));
  CHECK(same(count_nonzero(view, axis), count_nonzero(dense, axis)));
}

/// Runs of n elements with a stride between them, to and from lanes, for elements of one size: they are where they belong, and
/// nothing beside them changes.
template <class T, std::size_t Kind>
int wrong_runs(std::int64_t stride, int n) {
  const std::int64_t last = stride * (n - 1), low = std::min<std::int64_t>(0, last), extent = std::abs(last) + 1;
  std::vector<T> memory(static_cast<std::size_t>(extent) + 8), lanes(static_cast<std::size_t>(n) + 8);
  for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = T(static_cast<unsigned char>(k * 37 + 11));
  const std::vector<T> before = memory;
  T* const first = memory.data() + 4 - low;
  cpu::loops_over_strides().load[Kind](lanes.data() + 4, first, stride, n);
  int wrong = memory != before;
  for (int l = -4; l < n + 4; ++l)
    wrong += lanes[static_cast<std::size_t>(l + 4)] != (l >= 0 && l < n ? first[l * stride] : T());
  for (int l = 0; l < n; ++l) lanes[static_cast<std::size_t>(l + 4)] = T(static_cast<unsigned char>(l * 3 + 100));
  std::vector<T> want = before;
  for (int l = 0; l < n; ++l)
    want[static_cast<std::size_t>(4 - low + l * stride)] = lanes[static_cast<std::size_t>(l + 4)];
  cpu::loops_over_strides().store[Kind](first, stride, lanes.data() + 4, n);
  return wrong + (memory != want);
}

/// n lanes of elements that are repeated `run` times.
template <class T, std::size_t Kind>
int wrong_repeats(std::int64_t stride, int run, int n) {
  const int read = (n + run - 1) / run;
  std::vector<T> memory(static_cast<std::size_t>(read * stride)), lanes(static_cast<std::size_t>(n) + 1, T(77));
  for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = T(static_cast<unsigned char>(k * 37 + 11));
  cpu::loops_over_strides().repeat[Kind](lanes.data(), memory.data(), stride, run, n);
  int wrong = lanes.back() != T(77);
  for (int l = 0; l < n; ++l)
    wrong += lanes[static_cast<std::size_t>(l)] != memory[static_cast<std::size_t>(l / run * stride)];
  return wrong;
}

/// Lanes [start, start + n) of a space of several axes, at all places within planes: each is where it belongs, and nothing beside
/// them changes.
int wrong_lanes(dtype type, const core::dims& extents, const core::dims& strides) {
  cpu::lane_map map;
  map.assign(extents, strides);
  const auto size = static_cast<std::int64_t>(itemsize(type));
  std::int64_t last = 0, all = 1;
  for (int a = 0; a < extents.size(); ++a) last += (extents[a] - 1) * strides[a], all *= extents[a];
  std::vector<unsigned char> memory(static_cast<std::size_t>((last + 1) * size));  // nothing behind it may be read
  for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = static_cast<unsigned char>(k * 151 / 7 + 3);
  int wrong = 0;
  for (std::int64_t start = 0; start < all; start += 7)
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{40}, all - start}) {
      if (n > all - start) continue;
      std::vector<unsigned char> lanes(static_cast<std::size_t>((n + 16) * size), 0xAB);
      const std::vector<unsigned char> behind(static_cast<std::size_t>(16 * size), 0xAB);
      cpu::load_lanes(lanes.data(), reinterpret_cast<const char*>(memory.data()), type, map, start, static_cast<int>(n),
                      static_cast<int>(n));
      wrong += !std::equal(behind.begin(), behind.end(), lanes.end() - 16 * size);
      for (std::int64_t l = 0; l < n; ++l) {
        std::int64_t offset = 0, rest = start + l;
        for (int a = extents.size() - 1; a >= 0; --a) offset += rest % extents[a] * strides[a], rest /= extents[a];
        const auto* const from = memory.data() + offset * size;
        wrong += !std::equal(from, from + size, lanes.data() + l * size);
      }
    }
  return wrong;
}

}  // namespace

TEST_CASE("layouts: planes of short rows, repeated and apart, from any element on") {
  int wrong = 0;
  for (const dtype type : {uint8, int16, float32, float64, complex128})
    for (const std::int64_t row : {2, 3, 5, 8, 16, 17, 33, 70})
      for (const std::int64_t rows : {2, 3, 9}) {
        wrong += wrong_lanes(type, {6, rows, row}, {row, 0, 1});               // one row for a plane
        wrong += wrong_lanes(type, {6, rows, row}, {0, row + 2, 1});           // one plane
        wrong += wrong_lanes(type, {6, rows, row}, {rows * row + 5, row, 1});  // whole planes apart
        wrong += wrong_lanes(type, {6, rows, row}, {3, 1, 0});                 // one element for a row
        wrong += wrong_lanes(type, {6, rows, row}, {rows * row * 2 + 1, row * 2, 2});
        wrong += wrong_lanes(type, {2, 3, rows, row}, {rows * row * 9, row, row * 4, 1});  // tiles of a plane
        wrong += wrong_lanes(type, {2, 3, rows, row}, {row, rows * row, 0, 1});
      }
  for (const dtype type : {uint8, int16, float32, float64, complex128})
    for (const std::int64_t side : {2, 3, 4}) {  // small planes whose elements lie in any order
      const std::int64_t plane = side * side;
      for (const std::int64_t apart : {std::int64_t{0}, std::int64_t{1}, plane, 3 * plane}) {
        wrong += wrong_lanes(type, {40, side, side}, {apart, side, 0});
        wrong += wrong_lanes(type, {40, side, side}, {apart, 0, side});
        wrong += wrong_lanes(type, {40, side, side}, {apart, 1, side});
        wrong += wrong_lanes(type, {40, side, side}, {apart, 50, 7});  // farther apart than vectors reach
        wrong += wrong_lanes(type, {40, side}, {apart, 3});
        wrong += wrong_lanes(type, {5, 9, side, 2, side}, {apart * 9 + 1, apart, side, 0, 1});
      }
    }
  for (const std::int64_t row : {1, 2, 3, 4, 5, 7})
    for (const std::int64_t apart : {1, 2, 4})
      for (const std::int64_t rows : {15, 16, 17, 90}) {
        wrong += wrong_lanes(uint8, {rows, row}, {row + apart, 1});
        wrong += wrong_lanes(int16, {3, rows, row}, {rows * (row + apart) + 1, row + apart, 1});
      }
  CHECK(wrong == 0);
}

TEST_CASE("layouts: lanes and coordinates repeat where nothing changes along the outermost axis, whatever is inside") {
  const auto period = [](const core::dims& extents, const core::dims& strides) {
    cpu::lane_map map;
    map.assign(extents, strides);
    return cpu::period_of(map);
  };
  CHECK(period({250, 8}, {0, 1}) == 8);
  CHECK(period({250, 8, 2}, {0, 1, 0}) == 16);
  CHECK(period({250, 3, 8, 2}, {0, 40, 0, 1}) == 48);
  CHECK(period({250, 8, 2}, {1, 0, 5}) == 0);
  CHECK(period({250, 60, 20}, {0, 1, 0}) == 0);  // too late
  CHECK(period({250}, {0}) == 0);
}

TEST_CASE("layouts: elements of every size that are repeated in lanes") {
  int wrong = 0;
  for (const std::int64_t stride : {1, 2, 3, 5, 9})
    for (const int run : {1, 2, 3, 4, 5, 7, 8, 11, 16, 30, 32, 33})
      for (int n = 1; n <= 140; ++n)
        wrong += wrong_repeats<std::uint8_t, 0>(stride, run, n) + wrong_repeats<std::uint16_t, 1>(stride, run, n) +
                 wrong_repeats<std::uint32_t, 2>(stride, run, n) + wrong_repeats<std::uint64_t, 3>(stride, run, n) +
                 wrong_repeats<std::complex<double>, 4>(stride, run, n);
  CHECK(wrong == 0);
}

TEST_CASE("layouts: repetitions along the last axis that begin within a block") {
  const device_guard on(device("cpu"));
  for (const int run : {2, 3, 4, 7})
    for (const dtype type : {uint8, float16, int32, float64, complex128}) {
      const ndarray x = arange(1001).astype(type).to_device("cpu");
      const ndarray y = x(_, newaxis) + zeros({run}, {.dtype = type, .device = device("cpu")});
      CHECK(same(y.reshape({-1}), take(x, floor_divide(arange(1001 * run), run))));
      CHECK(same(repeat(x, run), take(x, floor_divide(arange(1001 * run), run))));
    }
}

// Operands that repeat after some elements are laid out once for a block of many rows, or for the rows of one image.
TEST_CASE("layouts: rows and images with operands that repeat, of all lengths") {
  for (const dtype type : {float16, float32, int64})
    for (const shape_t& shape : {shape_t{7, 300, 3}, shape_t{3, 1000, 5}, shape_t{40, 130}, shape_t{9, 300},
                                 shape_t{5, 3, 257}, shape_t{3, 1023}, shape_t{4, 30, 70, 2}, shape_t{2, 40, 31}}) {
      const int rank = static_cast<int>(shape.size());
      const std::int64_t first = shape[0], last = shape[shape.size() - 1];
      CAPTURE(type);
      CAPTURE(rank);
      CAPTURE(last);
      std::int64_t count = 1;
      for (int a = 0; a < rank; ++a) count *= shape[static_cast<std::size_t>(a)];
      const create_kw here{.device = device("cpu")};
      const ndarray i = arange(count, here), column = i % last, row = floor_divide(i, count / first);
      const ndarray x = (i % 83).astype(type).reshape(shape), w = (arange(last, here) % 7 + 1).astype(type);
      const ndarray each = (arange(first * last, here) % 5).astype(type);
      std::vector<std::int64_t> ones(static_cast<std::size_t>(rank), 1);
      ones.front() = first, ones.back() = last;
      const ndarray v = each.reshape(shape_t(ones));
      eval(x, w, v);
      const ndarray flat = x.reshape({-1}), w_of = take(w, column), v_of = take(each, row * last + column);
      eval(flat, w_of, v_of);
      CHECK(same((x * w + v).reshape({-1}), flat * w_of + v_of));
      ndarray y = x.copy();
      y += w;
      CHECK(same(y.reshape({-1}), flat + w_of));
      CHECK(same((x - v).T().copy(), (flat - v_of).reshape(shape).T().copy()));
    }
}

// Lanes that fill a vector up behind the last element hold elements of other places: an index computed of them is not checked.
TEST_CASE("layouts: indices with parts that repeat are checked for elements alone") {
  const create_kw here{.device = device("cpu")};
  const ndarray x = array({{0, 1, 2}, {3, 4, 5}, {0, 1, 2}, {0, 1, 2}, {0, 1, 9}}, here),
                table = arange(50, here).reshape({5, 10});
  const ndarray with = array({3, 0, 0}, here);
  eval(x, table, with);
  CHECK(take_along_axis(table, x + with, 1).to_vector<int>() ==
        std::vector<int>{3, 1, 2, 16, 14, 15, 23, 21, 22, 33, 31, 32, 43, 41, 49});
  // The same of a coordinate: the column is 2 where x is 9.
  CHECK(take_along_axis(table, x + 2 - arange(3, here), 1).to_vector<int>() ==
        std::vector<int>{2, 2, 2, 15, 15, 15, 22, 22, 22, 32, 32, 32, 42, 42, 49});
  CHECK_THROWS_AS(take_along_axis(table, x + 1, 1).to_vector<int>(), index_error);
}

// Few elements side by side within planes: each axis of the space has another stride, or none.
TEST_CASE("layouts: short runs of planes of every rank, that begin within a block") {
  const device_guard on(device("cpu"));
  const create_kw here{.device = device("cpu")};
  for (const dtype type : {uint8, float16, float32, complex128}) {
    const ndarray x = arange(3 * 40 * 5 * 12, here).astype(type).reshape({3, 40, 5, 12});
    eval(x);
    for (const std::int64_t run : {1, 2, 3, 7, 11})
      for (const std::int64_t step : {1, -1, 2}) {
        CAPTURE(type);
        CAPTURE(run);
        CAPTURE(step);
        const ndarray part = x(slice(_, _, 2), slice(3, _), slice(_, _, step), slice(_, run));
        const ndarray i = arange(2, here)(_, newaxis, newaxis, newaxis), j = arange(37, here)(_, newaxis, newaxis);
        const ndarray k = arange(5, here)(slice(_, _, step), newaxis), l = arange(run, here);
        const ndarray want = (i * 4800 + (j + 3) * 60 + k * 12 + l).astype(type), none = zeros({2}, type);
        CHECK(same(part + none(0), want));
        CHECK(same(part.transpose({0, 3, 1, 2}).copy(), want.transpose({0, 3, 1, 2})));
        CHECK(same((part(_, _, _, _, newaxis) + none)(_, _, _, _, 1), want));
      }
  }
}

TEST_CASE("layouts: runs of every stride, of elements of every size") {
  int wrong = 0;
  for (const std::int64_t stride : {-7, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33})
    for (int n = 1; n <= 140; ++n) {
      wrong += wrong_runs<std::uint8_t, 0>(stride, n) + wrong_runs<std::uint16_t, 1>(stride, n) +
               wrong_runs<std::uint32_t, 2>(stride, n) + wrong_runs<std::uint64_t, 3>(stride, n) +
               wrong_runs<std::complex<double>, 4>(stride, n);
      std::vector<std::int64_t> counted(static_cast<std::size_t>(n) + 1, -1);
      cpu::loops_over_strides().count(counted.data(), 1000, stride, n);
      for (int l = 0; l < n; ++l) wrong += counted[static_cast<std::size_t>(l)] != 1000 + l * stride;
      wrong += counted.back() != -1;
    }
  CHECK(wrong == 0);
}

TEST_CASE("layouts: reductions of transposed matrices have the bits of contiguous ones") {
  for (const std::int64_t rows : hostile)
    for (const std::int64_t columns : hostile) {
      CAPTURE(rows);
      CAPTURE(columns);
      const ndarray x = scattered({columns, rows}, float32);
      check_all_reductions(x.T(), 1);
      check_all_reductions(x.T(), 0);
    }
  for (const dtype t : {int8, uint16, float16, float64, complex64}) {
    const ndarray x = scattered({300, 70}, t);
    CHECK(same(sum(x.T(), 1), sum(x.T().copy() + 0, 1)));
    CHECK(same(sum(x.T(), 0), sum(x.T().copy() + 0, 0)));
    CHECK(same(prod(x.T(), 1), prod(x.T().copy() + 0, 1)));
  }
}

TEST_CASE("layouts: transposed copies whose rows lie a power of two apart, of elements of every size") {
  for (const dtype type : {uint8, float16, float32, float64, complex128})
    for (const std::int64_t rows : {64, 67, 128, 256, 1024, 2048, 4096})
      for (const std::int64_t columns : {1, 3, 16, 63, 64, 65, 130}) {
        const ndarray x = (arange(rows * columns) * 37 % 251).astype(type).reshape({rows, columns});
        ndarray y = x.T().copy(), z = zeros({columns, rows}, type);
        z(_, slice(0, rows - 1)) = x.T()(_, slice(0, rows - 1));
        eval(x, y, z);
        const auto have = y.view(uint8).to_vector<std::uint8_t>(), part = z.view(uint8).to_vector<std::uint8_t>(),
                   from = x.view(uint8).to_vector<std::uint8_t>();
        const auto size = static_cast<std::int64_t>(itemsize(type));
        std::int64_t wrong = 0;
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t c = 0; c < columns; ++c)
            for (std::int64_t b = 0; b < size; ++b) {
              const auto to = static_cast<std::size_t>((c * rows + r) * size + b);
              const std::uint8_t want = from[static_cast<std::size_t>((r * columns + c) * size + b)];
              wrong += have[to] != want;
              wrong += part[to] != (r + 1 < rows ? want : 0);
            }
        CHECK_MESSAGE(wrong == 0, rows, " x ", columns, " of ", size, " bytes");
      }
}

TEST_CASE("layouts: results that are neighbours in memory, of any rank, order of axes and sign of strides") {
  const ndarray x = scattered({9, 5, 4, 33}, float32);
  for (const std::vector<std::int64_t>& order :
       {std::vector<std::int64_t>{3, 2, 1, 0}, {1, 3, 2, 0}, {3, 0, 1, 2}, {0, 3, 2, 1}, {2, 3, 0, 1}}) {
    const ndarray t = transpose(x, {order[0], order[1], order[2], order[3]});
    const std::vector<ndarray> views = {t, flip(t, {0}), flip(t, {3}), t["::2"], t["..., 1:-1"]};
    for (const ndarray& view : views) {
      const ndarray dense = (view + 0).copy();
      eval(dense);
      CHECK(same(sum(view, -1), sum(dense, -1)));
      CHECK(same(sum(view, axes{1, 3}), sum(dense, axes{1, 3})));
      CHECK(same(sum(view, axes{0, 2, 3}), sum(dense, axes{0, 2, 3})));
      CHECK(same(argmax(view, 3), argmax(dense, 3)));
      const ndarray weights = scattered({view.shape(3)}, float32);
      CHECK(same(sum(view * weights, -1) / 3, sum(dense * weights, -1) / 3));
    }
  }
  // Chunks of rows, and segments of few results.
  const ndarray tall = scattered({5000, 24}, float32);
  check_all_reductions(tall.T(), 1);
  check_all_reductions(scattered({70001, 17}, float32).T(), 1);
}

TEST_CASE("layouts: gathers of whole rows") {
  for (const std::int64_t columns : hostile) {
    const ndarray x = scattered({40, columns}, float32);
    for (const std::int64_t n : hostile) {
      CAPTURE(columns);
      CAPTURE(n);
      const ndarray i = arange(n, {.dtype = int64, .device = host}) * 17 % 80 - 40;
      eval(i);
      // Indices of 32 bits are converted within the kernel, which then reads element by element.
      CHECK(same(take(x, i, 0), x[i.astype(int32)] + 0));
    }
  }
  const ndarray x = scattered({6, 20, 8}, float64), i = array({5, -20, 19, 0}, {.device = host});
  CHECK(same(take(x, i, 1), take(x, i.astype(int32), 1) + 0));
  const ndarray back = flip(x, {0});
  CHECK(same(take(back, i, 1), take(back, i.astype(int32), 1) + 0));
  const ndarray every_other = array({1, 99, 2, 99, -3, 99}, {.device = host})["::2"];
  CHECK(same(take(x, every_other, 1), take(x, array({1, 2, -3}, {.device = host}), 1) + 0));
  for (const std::int64_t wrong : {20, -21}) {
    const ndarray rows = take(x, array({std::int64_t{1}, wrong}, {.device = host}), 1);
    eval(rows);
    CHECK_THROWS_AS((void)max(rows).item<double>(), index_error);
  }
  // An update in place reads what it writes.
  ndarray y = scattered({8, 32}, float32);
  const ndarray before = (y + 0).copy(), reversed = array({7, 6, 5, 4, 3, 2, 1, 0}, {.device = host});
  eval(before);
  y(_) = take(y, reversed, 0);
  CHECK(same(y, flip(before, {0})));
}

TEST_CASE("layouts: the place of an extremum in rows of any length") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t n : {1, 2, 9, 15, 16, 17, 31, 64, 65, 100, 255, 256, 257, 1000}) {
    std::vector<float> v;
    const std::int64_t rows = 40;
    for (std::int64_t k = 0; k < rows * n; ++k) {
      const auto h = static_cast<std::uint32_t>(k) * 2654435761u >> 20;
      const std::int64_t row = k / n;
      v.push_back(row % 5 == 4 && h % 37 == 0   ? nan
                  : row % 5 == 3                ? (h % 2 ? 0.0f : -0.0f)
                  : row % 5 == 2 && h % 11 == 0 ? -infinity
                  : row % 5 == 1                ? -infinity
                                                : static_cast<float>(h % 97));
    }
    const ndarray x = reshape(array(v, {.device = host}), {rows, n}), low = argmin(x, 1), high = argmax(x, 1);
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t least = 0, most = 0;
      const float* row = v.data() + r * n;
      for (std::int64_t k = 1; k < n; ++k) {
        if (!std::isnan(row[least]) && (row[k] < row[least] || std::isnan(row[k]))) least = k;
        if (!std::isnan(row[most]) && (row[k] > row[most] || std::isnan(row[k]))) most = k;
      }
      CHECK(low(r).item<std::int64_t>() == least);
      CHECK(high(r).item<std::int64_t>() == most);
    }
    for (const dtype t : {bool_, int8, uint8, int16, uint32, int64, float16, float64}) {
      const ndarray y = scattered({7, n}, t);
      CHECK(same(argmax(y, 1), argmax(concatenate({y.T(), y.T()}, 1), 0)(slice(0, 7))));
    }
  }
}

TEST_CASE("layouts: bools are the same in generated and in interpreted code") {
  const auto before = cpu::get_tier();
  std::vector<ndarray> results;
  for (const auto tier : {cpu::tier::interpreted, cpu::tier::compiled}) {
    cpu::set_tier(tier);
    const ndarray x = scattered({1000}, float32), a = (x > 3).copy(), b = (x < 20).copy();
    ndarray m = (x > 0).copy();
    eval(a, b, m);
    results.push_back(((a & ~b) | (b ^ a)).copy());
    results.push_back(where(a, x, x * 2).copy());
    results.push_back((a.astype(int32) + b).copy());
    results.push_back(sum(a & b).copy());
    results.push_back(any(reshape(a ^ b, {10, 100}), 0).copy());
    for (int k = 0; k < 80; ++k) m = m ^ (a & ~m);
    results.push_back(m.copy());
    for (const ndarray& r : results) eval(r);
  }
  cpu::set_tier(before);
  for (std::size_t k = 0; k < results.size() / 2; ++k) CHECK(same(results[k], results[k + results.size() / 2]));
}

TEST_CASE("layouts: repeat by counts") {
  for (const std::int64_t n : hostile)
    for (const dtype t : {uint8, float16, float32, float64, complex128}) {
      const ndarray x = scattered({n, 3}, t), counts = arange(n, {.dtype = int64, .device = host}) * 13 % 21 % 17;
      eval(counts);
      std::vector<std::int64_t> from;
      for (std::int64_t k = 0; k < n; ++k) from.insert(from.end(), static_cast<std::size_t>(k * 13 % 21 % 17), k);
      const ndarray i = array(from, {.dtype = int64, .device = host});
      CAPTURE(n);
      if (n > 1) {
        CHECK(same(repeat(x, counts, 0), take(x, i, 0) + 0));
        CHECK(same(repeat(x(_, 1), counts), take(x(_, 1), i) + 0));
        CHECK(same(repeat(x.T(), counts, 1), take(x.T(), i, 1) + 0));
      }
    }
  const ndarray x = scattered({3}, float32);
  CHECK_THROWS_AS((void)repeat(x, {1, -1, 2}), value_error);
  const std::int64_t many = std::int64_t{1} << 62;
  CHECK_THROWS_AS((void)repeat(x, {many, many, many}), shape_error);
  CHECK(repeat(x, {0, 0, 0}).size() == 0);
}

TEST_CASE("layouts: sums of computed short rows have the bits of those in memory") {
  for (const std::int64_t columns : {9, 15, 16, 17, 50, 64, 65, 100, 127, 128})
    for (const std::int64_t rows : {1, 2, 31, 32, 33, 100, 1000}) {
      CAPTURE(rows);
      CAPTURE(columns);
      const ndarray x = scattered({rows, columns}, float32), v = scattered({columns}, float32), z = (x * v).copy();
      eval(z);
      CHECK(same(sum(x * v, 1), sum(z, 1)));
      CHECK(same(argmax(x * v, 1), argmax(z, 1)));
      CHECK(same(var(x * v, 1), var(z, 1)));
      CHECK(same(sum((x * v).astype(float64), 1), sum(z.astype(float64), 1)));
      CHECK(same(max(abs(x), 1) - min(x * v, 1), max(abs(x), 1) - min(z, 1)));
    }
}
