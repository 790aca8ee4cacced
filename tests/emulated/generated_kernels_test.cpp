// Generated CUDA kernels, run thread by thread on the CPU: the meaning of generated code is tested where there is no
// GPU. Baseline and optimised tiers must agree bit for bit, also where arguments of sine and cosine are huge, and with
// the CPU backend to rounding (whose sine is another one).
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"

#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/values/limits.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/units.hpp"
#include "jit/program/fault_words.hpp"
#include "jit/program/stages.hpp"
#include "sinter/sinter.hpp"
#include "support/complex_order.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using namespace emulated;

/// Numbers between -1.5 and 1.5, and huge ones here and there.
ndarray angles(std::int64_t n, int huge_each = 0) {
  std::vector<float> x(static_cast<std::size_t>(n));
  std::uint32_t state = 12345;
  for (std::size_t k = 0; k < x.size(); ++k) {
    state = state * 1664525u + 1013904223u;
    x[k] = static_cast<float>(state >> 8) * 0x1.8p-23f - 1.5f;
    if (huge_each && k % static_cast<std::size_t>(huge_each) == 1) x[k] *= k % 2 ? 3e6f : 7e30f;
  }
  return array(x).to_device("cpu");
}

/// Whether the last kernel's last output agrees with the CPU's result to `tolerance`.
void check_close(const recorded& r, double tolerance) {
  REQUIRE_FALSE(r.launches.empty());
  const std::vector<float> expected = r.result.to_vector<float>();
  const bytes& raw = r.launches.back().emulated.back();
  REQUIRE(raw.size() == expected.size() * sizeof(float));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    float got;
    std::memcpy(&got, raw.data() + k * sizeof got, sizeof got);
    CAPTURE(k);
    if (std::isnan(expected[k])) {
      CHECK(std::isnan(got));
    } else {
      CHECK(std::abs(got - expected[k]) <= tolerance * (1 + std::abs(expected[k])));
    }
  }
}

/// Minima, maxima and their places of the rows of x, which lie along `axis` of `given`, in kernels of `shape`.
template <class R>
void check_extremes(const std::vector<std::complex<R>>& x, std::size_t columns, const ndarray& given, int axis,
                    jit::cuda_shape shape) {
  using order = test::complex_order<R>;
  for (const bool low : {true, false}) {
    CAPTURE(low);
    const recorded where = emulate(low ? argmin(given, axis) : argmax(given, axis));
    const recorded what = emulate(low ? min(given, {.axis = axis}) : max(given, {.axis = axis}));
    CHECK(where.launches.back().shape == shape);
    const auto places = emulated_as<std::int64_t>(where);
    const auto values = emulated_as<std::complex<R>>(what);
    REQUIRE(places.size() == x.size() / columns);
    REQUIRE(values.size() == places.size());
    for (std::size_t r = 0; r < places.size(); ++r) {
      CAPTURE(r);
      const auto* const row = &x[r * columns];
      const std::int64_t expected = order::place(row, columns, low);
      CHECK(places[r] == expected);
      CHECK(order::same(values[r], row[expected]));
    }
  }
}

template <class R>
void check_complex_extremes() {
  // Elements past the last group of four, several groups, and several threads a row.
  for (const std::size_t columns : {6, 13, 40}) {
    CAPTURE(columns);
    const auto x = test::complex_order<R>::rows(900, columns, static_cast<unsigned>(columns));
    const auto n = static_cast<std::int64_t>(columns);
    const ndarray rows = reshape(array(x).to_device("cpu"), {-1, n});
    const ndarray across = rows.T().copy();
    eval(across);
    check_extremes(x, columns, rows, 1, jit::cuda_shape::reduce_rows);
    check_extremes(x, columns, across, 0, jit::cuda_shape::reduce_columns);
  }
}

ndarray distances(const ndarray& p, const ndarray& q) {
  const auto lat1 = p(_, newaxis, 0), lon1 = p(_, newaxis, 1);
  const auto lat2 = q(_, 0), lon2 = q(_, 1);
  const auto h = square(sin((lat2 - lat1) / 2)) + cos(lat1) * cos(lat2) * square(sin((lon2 - lon1) / 2));
  return 12742.0 * arcsin(sqrt(minimum(h, 1)));
}

/// Whether the kernel is a tiled one and its output has the bytes of the CPU's.
template <class T>
void check_tiles(const ndarray& x) {
  const recorded r = emulate(x);
  REQUIRE_FALSE(r.launches.empty());
  CHECK(r.launches.back().shape == jit::cuda_shape::tiled);
  const std::vector<T> expected = r.result.to_vector<T>();
  const bytes& raw = r.launches.back().emulated.back();
  REQUIRE(raw.size() == expected.size() * sizeof(T));
  CHECK(std::memcmp(raw.data(), expected.data(), raw.size()) == 0);
}

template <class T>
void check_tiles_of(dtype type) {
  CAPTURE(type);
  // Whole packs, odd extents; short axes, the axis of the tile in another place.
  const ndarray even = numbers({272, 256}, type, 7), odd = numbers({257, 259}, type, 5);
  const ndarray images = numbers({3, 31, 23, 40}, type, 13), planes = numbers({5, 4, 30, 120}, type, 17);
  eval(even, odd, images, planes);
  check_tiles<T>(even.T().copy());
  check_tiles<T>(odd.T() + odd.T());
  check_tiles<T>(permute_dims(images, {0, 3, 1, 2}) + images(0, 0, 0, 1));
  check_tiles<T>(permute_dims(planes, {0, 2, 3, 1}).copy());
}

}  // namespace

TEST_CASE("emulated: baseline and optimised elementwise kernels have the same bits, and the CPU's values") {
  if (no_emulation()) return;
  for (const int huge : {0, 7, 400}) {
    CAPTURE(huge);
    // Two and a bit blocks of vectors; a strided view; rows of a matrix, vectors and single elements; a gather.
    const ndarray x = angles(9001, huge), y = angles(9001);
    check_close(emulate(sin(x) * y + cos(x)), 1e-5);
    check_close(emulate(cos(x(slice(_, _, 2))) * 3), 1e-5);
    const ndarray m = reshape(angles(48 * 52, huge), {48, 52});
    check_close(emulate(sin(m) + y(slice(0, 52))), 1e-5);
    check_close(emulate(sin(m.T()) * 2 + m.T()), 1e-5);
    check_close(emulate(cos(m(_, slice(1, 50))) - 1), 1e-5);
    const ndarray cube = reshape(angles(6 * 10 * 12, huge), {6, 10, 12});
    check_close(emulate(sin(transpose(cube, {1, 0, 2}))), 1e-5);
    check_close(emulate(cos(take(x, arange(5, 4000, 3).to_device("cpu")))), 1e-5);
  }
  CHECK(baseline_shapes.count(jit::cuda_shape::linear) == 1);
  CHECK(baseline_shapes.count(jit::cuda_shape::strided) == 1);
}

TEST_CASE("emulated: tiles of every kind of element have the CPU's bytes") {
  if (no_emulation()) return;
  check_tiles_of<std::uint8_t>(uint8);
  check_tiles_of<std::int16_t>(int16);
  check_tiles_of<float>(float32);
  check_tiles_of<std::int64_t>(int64);
  check_tiles_of<std::complex<float>>(complex64);
  check_tiles_of<std::complex<double>>(complex128);
}

TEST_CASE("emulated: tiles of some inputs beside others that are read along the inner axis") {
  if (no_emulation()) return;
  const ndarray square = numbers({258, 258}, float32, 3), column = numbers({258, 1}, float32, 11);
  eval(square, column);
  check_tiles<float>(square + square.T() * square(3));
  check_tiles<float>(square.T() * column.T() + square(slice(_, _, -1)).T());
  check_tiles<float>(square(slice(1, _), slice(_, _, -1)).T() + square(_, slice(0, 257)));
  check_tiles<float>(permute_dims(reshape(square(slice(0, 256)), {16, 16, 258}), {2, 1, 0}).copy());
}

TEST_CASE("emulated: tiles beside their mirror images are all tiles of a square") {
  if (no_emulation()) return;
  const auto mirrored = [](const ndarray& x) { return emulate(x).launches.back().mirrored; };
  for (const std::int64_t n : {272, 257, 320}) {
    CAPTURE(n);
    const ndarray x = numbers({n, n}, float32, 7), bytes_of = numbers({n, n}, uint8, 5),
                  wide = numbers({n, n + 1}, float32, 3), other = (x + 1).copy();
    eval(x, bytes_of, wide, other);
    CHECK(mirrored(x + x.T()));
    check_tiles<float>(x + x.T());
    check_tiles<float>(x.T() * 2 - x);
    check_tiles<std::uint8_t>(bytes_of + bytes_of.T());
    check_tiles<float>(wide(_, slice(1, _)) + wide(_, slice(1, _)).T());
    // Other memory, another part of it, tiles of no square.
    CHECK_FALSE(mirrored(x + other.T()));
    CHECK_FALSE(mirrored(wide(_, slice(1, _)) + wide(_, slice(0, n)).T()));
    CHECK_FALSE(mirrored(wide + x.T()(_, slice(0, 1))));
    check_tiles<float>(wide(_, slice(1, _)) + wide(_, slice(0, n)).T());
  }
  const ndarray stack = numbers({3, 160, 160}, float64, 11);
  eval(stack);
  CHECK(mirrored(stack + swapaxes(stack, 1, 2)));
  check_tiles<double>(stack + swapaxes(stack, 1, 2));
}

TEST_CASE("emulated: tiles of mixed elements, of gathers, positions and functions with a baseline form") {
  if (no_emulation()) return;
  const ndarray bytes_of = numbers({256, 260}, uint8, 7), doubles = numbers({260, 256}, float64, 3);
  const ndarray picks = (numbers({260}, int64, 29) % 256).to_device("cpu");
  eval(bytes_of, doubles, picks);
  check_tiles<double>(bytes_of.T() + doubles);
  check_tiles<float>(bytes_of.T().astype(float32) / 255);
  check_tiles<std::uint8_t>(doubles.T().astype(uint8));
  check_tiles<double>(doubles(slice(0, 256)).T() + take(doubles, picks(slice(0, 256)), 0));
  check_tiles<double>(bytes_of.T() * 1.5 + arange(256).to_device("cpu"));
  const ndarray m = reshape(angles(300 * 260, 401), {300, 260});
  check_close(emulate(sin(m.T()) + 1), 1e-5);
  CHECK(baseline_shapes.count(jit::cuda_shape::tiled) == 1);
  // A transposed region is written along its memory.
  ndarray x = numbers({256, 256}, float32, 3);
  eval(x);
  x.T()(_, slice(0, _)) = doubles(slice(0, 256)).astype(float32);
  check_tiles<float>(x);
}

TEST_CASE("emulated: baseline and optimised reductions have the same bits, and the CPU's values") {
  if (no_emulation()) return;
  for (const int huge : {0, 7, 400}) {
    CAPTURE(huge);
    const ndarray m = reshape(angles(61 * 70, huge), {61, 70});
    check_close(emulate(sum(sin(m), {.axis = 1})), 1e-4);
    check_close(emulate(sum(cos(m) * 2, {.axis = 0})), 1e-4);
    check_close(emulate(max(sin(m), {.axis = 1})), 1e-5);
  }
  CHECK(baseline_shapes.count(jit::cuda_shape::reduce_rows) == 1);
  CHECK(baseline_shapes.count(jit::cuda_shape::reduce_columns) == 1);
}

TEST_CASE("emulated: tiles of results have the bits of the kernels for one result") {
  if (no_emulation()) return;
  const auto tiled = [](const ndarray& x, double tolerance) {
    const recorded r = emulate(x);
    CHECK(r.launches.back().shape == jit::cuda_shape::reduce_tiles);
    check_close(r, tolerance);
  };
  // Lanes of one and of several rounds, one lane, groups left over.
  for (const std::int64_t k : {64, 70, 3, 8, 300}) {
    CAPTURE(k);
    const ndarray a = reshape(angles(163 * k), {163, k}), b = reshape(angles(211 * k) * 0.7, {211, k});
    const ndarray weights = angles(k), scale = angles(163);
    eval(a, b, weights, scale);
    tiled(sum(square(a(_, newaxis, _) - b), {.axis = -1}), 1e-4);
    if (k == 300) continue;
    tiled(sqrt(sum(weights * square(a(_, newaxis, _) - b), {.axis = -1}) + 10) * scale(_, newaxis), 1e-4);
    tiled(max(abs(a(_, newaxis, _) - b), {.axis = -1}), 1e-6);
    const ndarray across = b.T().copy();
    eval(across);
    tiled(sum(a(_, newaxis, _) * across.T() * scale(_, newaxis, newaxis), {.axis = -1}), 1e-4);
  }
}

TEST_CASE("emulated: tiles of results along columns, of several stacks and reductions") {
  if (no_emulation()) return;
  for (const std::int64_t k : {64, 37, 5}) {
    CAPTURE(k);
    const ndarray a = reshape(angles(k * 163), {k, 163}), b = reshape(angles(k * 211), {k, 211});
    eval(a, b);
    const recorded r = emulate(sum(abs(a(_, _, newaxis) - b(_, newaxis, _)), {.axis = 0}));
    CHECK(r.launches.back().shape == jit::cuda_shape::reduce_tiles);
    check_close(r, 1e-4);
  }
  const ndarray a = reshape(angles(3 * 120 * 20), {3, 120, 1, 20}), b = reshape(angles(3 * 100 * 20), {3, 1, 100, 20});
  eval(a, b);
  const recorded stacks = emulate(sum(square(a - b), {.axis = -1}));
  CHECK(stacks.launches.back().shape == jit::cuda_shape::reduce_tiles);
  check_close(stacks, 1e-4);
  const recorded spread = emulate(var(a(1) * b(2), {.axis = -1}) + min(a(1) * b(2), {.axis = -1}));
  check_close(spread, 1e-4);
  const ndarray x = angles(33000), y = reshape(angles(3 * 70), {70, 3});
  eval(x, y);
  const ndarray near = x(_, newaxis) - y(_, 1);
  const recorded forces = emulate(sum(near / (square(near) + 1) * y(_, 2), {.axis = 1}) * x);
  CHECK(forces.launches.back().shape == jit::cuda_shape::shared_rows);
  check_close(forces, 1e-4);
  const recorded least = emulate(argmin(abs(reshape(a, {-1, 1, 20}) - b(0)), -1));
  CHECK(least.launches.back().shape == jit::cuda_shape::reduce_tiles);
  CHECK(emulated_as<std::int64_t>(least) == least.result.to_vector<std::int64_t>());
}

TEST_CASE("emulated: the broadcast search finds what the CPU finds, in both forms") {
  if (no_emulation()) return;
  constexpr std::int64_t rows = 520;
  // Columns: whole groups of four, some left over, one thread group or several threads a row.
  for (const std::int64_t columns : {4, 7, 37, 64}) {
    for (const int huge : {0, 301}) {
      CAPTURE(columns);
      CAPTURE(huge);
      const ndarray p = reshape(angles(2 * rows, huge), {rows, 2});
      const ndarray q = reshape(angles(2 * columns) * 0.9, {columns, 2});
      eval(q);
      const recorded smallest = emulate(min(distances(p, q), {.axis = 1}));
      CHECK(smallest.launches.back().shape == jit::cuda_shape::broadcast_rows);
      check_close(smallest, 2e-4);
      check_close(emulate(max(sin(p(_, newaxis, 0) + q(_, 1)), {.axis = 1})), 1e-5);
      // The index names an element as near as the nearest.
      const ndarray d = distances(p, q);
      const recorded nearest = emulate(argmin(d, 1));
      const std::vector<float> all = d.to_vector<float>();
      const bytes& raw = nearest.launches.back().emulated[0];
      REQUIRE(raw.size() == rows * sizeof(std::int64_t));
      for (std::int64_t k = 0; k < rows; ++k) {
        std::int64_t found;
        std::memcpy(&found, raw.data() + static_cast<std::size_t>(k) * sizeof found, sizeof found);
        REQUIRE(found >= 0);
        REQUIRE(found < columns);
        const auto row = all.begin() + k * columns;
        const float best = *std::min_element(row, row + columns);
        CHECK(row[found] <= best * (1 + 2e-4F) + 2e-2F);
      }
    }
  }
  CHECK(baseline_shapes.count(jit::cuda_shape::broadcast_rows) == 1);
}

TEST_CASE("emulated: a search whose tail begins with a limit finds the first of the nearest") {
  if (no_emulation()) return;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr std::int64_t rows = 520, columns = 43;
  ndarray p = abs(angles(rows)) * 0.5, q = abs(angles(columns)) * 0.5;
  p(7) = nan;
  p(8) = -2;
  p(9) = 0;
  q(20) = 0;
  q(30) = -0.25F;
  q(31) = std::numeric_limits<float>::infinity();
  eval(p, q);
  for (const bool fast : {false, true})
    for (const double limit : {1.0, 0.5, 0.2500001, 1e-3, 1e-40, 0.0, -1.0, 2.0, 1e30}) {
      CAPTURE(fast);
      CAPTURE(limit);
      const fast_math_guard guard(fast);
      const ndarray h = p(_, newaxis) + q;
      for (const ndarray& d :
           {3 * sqrt(clip(h, _, limit)), arcsin(sqrt(minimum(limit, h))), sqrt(clip(h * q, _, limit))}) {
        const ndarray all = d.copy();
        const recorded nearest = emulate(argmin(d, 1));
        CHECK(nearest.launches.back().shape == jit::cuda_shape::broadcast_rows);
        // The host's arcsine is not the library's: places may differ by its rounding, which is in order beyond it.
        const auto places = emulated_as<std::int64_t>(nearest);
        const ndarray found = take_along_axis(all, array(places).to_device("cpu")(_, newaxis), 1)(_, 0);
        const ndarray best = min(all, {.axis = 1});
        CHECK(sinter::all((isnan(found) & isnan(best)) | (found <= best * (1 + 4e-7))).item<bool>());
        if (limit < 0.1) CHECK(places == argmin(all, 1).to_vector<std::int64_t>());
      }
    }
}

TEST_CASE("emulated: under fast_math factors of rows' and columns' sums are taken apart, exactly for powers of two") {
  if (emulated::no_emulation()) return;
  const fast_math_guard guard;
  for (const std::int64_t columns : {64, 61}) {
    const ndarray p = angles(600), q = angles(columns), w = abs(angles(columns));
    eval(p, q, w);
    const ndarray d = (q - p(_, newaxis)) / 2, s = 0.25 * (p(_, newaxis) + q);
    const recorded nearest = emulate(argmin(d * d + w * (s * s), 1));
    CHECK(nearest.launches.back().shape == jit::cuda_shape::broadcast_rows);
    CHECK(emulated_as<std::int64_t>(nearest) == argmin((d * d + w * (s * s)).copy(), 1).to_vector<std::int64_t>());
  }
}

TEST_CASE("emulated: minima and maxima of complex numbers, and their places, whatever parts are infinite or NaN") {
  if (no_emulation()) return;
  check_complex_extremes<float>();
  check_complex_extremes<double>();
}

TEST_CASE("emulated: the broadcast search among complex numbers takes the first NaN in either part") {
  if (no_emulation()) return;
  using order = test::complex_order<float>;
  constexpr std::size_t rows = 520, columns = 27;
  const ndarray odd = arange(rows).to_device("cpu") % 2 == 1;
  const auto draw = [](unsigned seed) {
    std::mt19937 random(seed);
    const auto all = order::all();
    std::vector<std::complex<float>> x(columns);
    for (auto& z : x) z = all[random() % all.size()];
    return x;
  };
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto x = draw(seed), y = draw(100 + seed);
    const ndarray even_row = array(x).to_device("cpu"), odd_row = array(y).to_device("cpu");
    eval(odd, even_row, odd_row);
    for (const bool low : {true, false}) {
      CAPTURE(low);
      const ndarray all = where(odd(_, newaxis), odd_row, even_row);
      const recorded found = emulate(low ? argmin(all, 1) : argmax(all, 1));
      CHECK(found.launches.back().shape == jit::cuda_shape::broadcast_rows);
      const auto places = emulated_as<std::int64_t>(found);
      REQUIRE(places.size() == rows);
      for (std::size_t r = 0; r < rows; ++r) CHECK(places[r] == order::place((r % 2 ? y : x).data(), columns, low));
    }
  }
}

TEST_CASE("emulated: rows on chip have the bits of separate kernels") {
  if (no_emulation()) return;
  const device_guard on(device("cpu"));
  cpu::set_least_staged(0);
  const std::int64_t shapes[][2] = {{40, 300}, {1100, 13}, {1100, 300}, {2800, 3}, {8, 5000}, {8, 4096}, {4, 8190}};
  const reduce_kw rows{.axis = -1, .keepdims = true};
  using program = std::function<ndarray(const ndarray&, const ndarray&)>;
  const program programs[] = {[&](const ndarray& x, const ndarray& gain) {
                                const ndarray d = x - mean(x, rows);
                                return d / sqrt(mean(d * d, rows) + 1e-5) * gain + x;
                              },
                              [&](const ndarray& x, const ndarray& gain) {
                                const ndarray e = cos(x - max(x, rows)), s = e / sum(e, rows);
                                return ((s - min(s * gain, rows)) * 1000).astype(int16);
                              },
                              [&](const ndarray& x, const ndarray&) {
                                const ndarray i = arange(x.shape(0))(_, newaxis), j = arange(x.shape(1));
                                const ndarray y = where(i >= j, x, -4.0f), e = cos(y - max(y, rows));
                                return e / sum(e, rows) + i.astype(float32) - j;
                              },
                              [&](const ndarray& x, const ndarray&) {
                                return x.astype(float64) * argmax(x, {.axis = -1, .keepdims = true}) -
                                       var(x, {.axis = -1, .keepdims = true});
                              }};
  for (const auto& shape : shapes) {
    const auto n = shape[0], length = shape[1];
    for (const bool across : {false, true}) {
      if (across && n * length > 15000) continue;
      CAPTURE(n);
      CAPTURE(length);
      CAPTURE(across);
      const ndarray flat = angles(n * length), gain = angles(length, 3);
      const ndarray x = across ? reshape(flat, {length, n}).T() : reshape(flat, {n, length});
      for (const program& of : programs) {
        const recorded joined = emulate(of(x, gain));
        CHECK(joined.launches.size() == 1);
        CHECK(joined.launches.back().shape == jit::cuda_shape::staged_rows);
        graph::limits().fuse = false;
        const recorded separate = emulate(of(x, gain));
        graph::limits().fuse = true;
        CHECK((joined.launches.back().emulated.back() == separate.launches.back().emulated.back()));
      }
    }
  }
  cpu::set_least_staged(-1);
  CHECK(baseline_shapes.count(jit::cuda_shape::staged_rows) == 1);
}

#endif
