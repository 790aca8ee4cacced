// Matrix products on the GPU: the dedicated kernel and cuBLAS against the CPU, precision, calls of the library.
#include "gpu/gpu.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "support/products_library.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using gpu_test::no_gpu;
using gpu_test::uniform;

bool left_out() { return no_gpu() || sinter::test::no_products(); }

std::uint64_t launches() {
  return runtime::get_backend({runtime::device_kind::cuda, default_device().index}).statistics().launches;
}

ndarray whole(const shape_t& shape, dtype type, std::int64_t range, int seed) {
  std::int64_t n = 1;
  for (auto e : shape) n *= e;
  const ndarray mixed = (arange(n) * 48271 + seed * 977) % 65521 % range;
  ndarray x = reshape(is_bool(type) ? mixed == 0 : (mixed - range / 2).astype(type), shape);
  eval(x);
  return x;
}

bool same(const ndarray& x, const ndarray& y) {
  return x.shape() == y.shape() && x.dtype() == y.dtype() && bool(all(x == y.to_device(x.device())));
}

/// Largest error relative to the product of the magnitudes, which bounds what roundings add up to.
double relative_error(const ndarray& got, const ndarray& a, const ndarray& b) {
  const ndarray x = a.astype(float64), y = b.astype(float64);
  return max(abs(got.astype(float64) - matmul(x, y)) / matmul(abs(x), abs(y))).item<double>();
}

ndarray numbers(const shape_t& shape, dtype type, unsigned seed) {
  std::int64_t n = 1;
  for (auto e : shape) n *= e;
  return reshape(array(uniform<float>(n, -1, 1, seed)), shape).astype(type);
}

}  // namespace

TEST_CASE("integer and bool products are the CPU's, for every dtype, in any layout") {
  if (left_out()) return;
  for (const dtype t : {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64})
    for (const shape_t& s : {shape_t{2, 3, 2}, {64, 64, 64}, {65, 130, 200}, {300, 1000, 70}}) {
      const ndarray a = whole({s[0], s[1]}, t, t == bool_ ? 40 : 30000, 1),
                    b = whole({s[1], s[2]}, t, t == bool_ ? 30 : 30000, 2);
      const ndarray x = a.to_device(cpu), y = b.to_device(cpu);
      CHECK(same(matmul(a, b), matmul(x, y)));
      CHECK(same(matmul(b.T(), a.T()), matmul(y.T(), x.T())));
      CHECK(same(matmul(a["::2"], b[":, ::-1"]), matmul(x["::2"], y[":, ::-1"])));
    }
  const ndarray stack = whole({7, 5, 30, 20}, int32, 1000, 3), other = whole({5, 20, 9}, int32, 1000, 4);
  CHECK(same(matmul(stack, other), matmul(stack.to_device(cpu), other.to_device(cpu))));
  CHECK(same(matmul(stack(_, _, newaxis), other), matmul(stack.to_device(cpu)(_, _, newaxis), other.to_device(cpu))));
}

namespace {

/// Integers of any size, among them those whose digits are largest: INT_MIN, -1, -128 in every byte. Bools that are
/// rarely true. On the CPU.
ndarray any_integers(const shape_t& shape, dtype type, unsigned seed, std::int64_t rarely = 16) {
  std::int64_t n = 1;
  for (auto e : shape) n *= e;
  std::mt19937_64 random(seed);
  const std::uint64_t bits = 8 * static_cast<std::uint64_t>(itemsize(type));
  const std::uint64_t extremes[] = {std::uint64_t{1} << (bits - 1), (std::uint64_t{1} << (bits - 1)) - 1,
                                    ~std::uint64_t{0}, 0x7f7f7f7f7f7f7f80};
  std::vector<std::int64_t> values(static_cast<std::size_t>(n));
  for (std::int64_t& v : values) {
    const std::uint64_t any = random();
    if (is_bool(type)) v = any % static_cast<std::uint64_t>(rarely) == 0;
    else v = static_cast<std::int64_t>(any % 7 == 0 ? extremes[any / 7 % 4] : any);
  }
  const ndarray x = reshape(array(values, {.device = cpu}), shape).astype(type);
  eval(x);
  return x;
}

ndarray here(const ndarray& x) { return x.to_device(default_device()); }

ndarray filled(const shape_t& shape, std::int64_t value, dtype type) { return full(shape, value, {.dtype = type}); }

constexpr dtype whole_types[] = {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64};

}  // namespace

TEST_CASE("large products of integers and bools, by digits, are the CPU's for every dtype and extent") {
  if (left_out()) return;
  for (const dtype t : whole_types)
    for (const shape_t& s : {shape_t{512, 512, 512}, {257, 1031, 333}, {65, 20001, 67}, {4099, 129, 131}}) {
      // As many bools are true that about half of the results are.
      const std::int64_t rarely = static_cast<std::int64_t>(std::sqrt(static_cast<double>(s[1])));
      const ndarray x = any_integers({s[0], s[1]}, t, 1, rarely), y = any_integers({s[1], s[2]}, t, 2, rarely);
      INFO(name(t), " ", s[0], " ", s[1], " ", s[2]);
      CHECK(same(matmul(here(x), here(y)), matmul(x, y)));
    }
}

TEST_CASE("products by digits: any layout of the factors and of the result") {
  if (left_out()) return;
  for (const dtype t : {bool_, int8, uint16, int32, uint64}) {
    const ndarray x = any_integers({500, 600}, t, 3), y = any_integers({600, 450}, t, 4), z = matmul(x, y);
    const ndarray a = here(x), b = here(y);
    INFO(name(t));
    CHECK(same(matmul(b.T(), a.T()), z.T()));
    CHECK(same(matmul(here(x.T().copy()).T(), b), z));
    CHECK(same(matmul(a, here(y.T().copy()).T()), z));
    CHECK(same(matmul(a[":, ::-1"], b["::-1, ::-1"]), z[":, ::-1"]));
    const ndarray p = any_integers({900, 1200}, t, 5), q = any_integers({1201, 903}, t, 6);
    CHECK(same(matmul(here(p)["::2, 1::2"], here(q)["1::2, 3::2"]), matmul(p["::2, 1::2"], q["1::2, 3::2"])));
    const ndarray by_columns = here(zeros({450, 500}, t));
    CHECK(same(matmul(a, b, {.out = by_columns.T()}), z));
    CHECK(same(by_columns, z.T()));
    const ndarray wide = here(zeros({503, 455}, t));
    matmul(a, b, {.out = wide(slice(2, 502), slice(1, 451))});
    CHECK(same(wide(slice(2, 502), slice(1, 451)), z));
    CHECK(bool(sum(wide.astype(uint64)) == here(sum(z.astype(uint64)))));  // the rest is still 0
    const ndarray steps = here(zeros({500, 1350}, t));
    matmul(a, b, {.out = steps["::-1, ::3"]});
    CHECK(same(steps["::-1, ::3"], z));
    CHECK(bool(sum(steps.astype(uint64)) == here(sum(z.astype(uint64)))));
  }
}

TEST_CASE("products by digits: stacks, whatever they share") {
  if (left_out()) return;
  for (const dtype t : {bool_, int8, int32, uint64}) {
    const ndarray x = any_integers({3, 5, 130, 257}, t, 7), y = any_integers({5, 257, 140}, t, 8);
    const ndarray a = here(x), b = here(y);
    INFO(name(t));
    CHECK(same(matmul(a, b), matmul(x, y)));
    CHECK(same(matmul(b.mT(), a.mT()), matmul(y.mT(), x.mT())));
    CHECK(same(matmul(a(_, _, newaxis), b), matmul(x(_, _, newaxis), y)));
    CHECK(same(matmul(a, b(2)), matmul(x, y(2))));
    const ndarray small = any_integers({300, 64, 128}, t, 9), other = any_integers({300, 128, 65}, t, 10);
    CHECK(same(matmul(here(small), here(other)), matmul(small, other)));
  }
}

TEST_CASE("sums that pass 32 bits wrap around as the CPU's do") {
  if (left_out()) return;
  // More than one part of sums for every width: 140000 (-128)^2 is beyond 2^31, and so are the products of each digit.
  for (const dtype t : whole_types) {
    const ndarray x = any_integers({64, 140001}, t, 11, 374), y = any_integers({140001, 66}, t, 12, 374);
    INFO(name(t));
    CHECK(same(matmul(here(x), here(y)), matmul(x, y)));
  }
  const std::int64_t k = 140001;
  for (const dtype t : {int8, int16, int32, int64}) {
    const std::int64_t least = std::int64_t{-1} << (8 * itemsize(t) - 1);
    const ndarray low = filled({64, k}, least, t), high = filled({k, 64}, least + 1, t), minus = filled({k, 64}, -1, t);
    CHECK(bool(all(matmul(low, high) == array(least * (k % 2)).astype(t))));   // least (least + 1) is least
    CHECK(bool(all(matmul(low, minus) == array(least * (k % 2)).astype(t))));  // and so is -least
    CHECK(bool(all(matmul(minus.T(), minus) == array(k).astype(t))));
  }
  CHECK(bool(all(matmul(filled({64, k}, 255, uint8), filled({k, 64}, 255, uint8)) == array(k).astype(uint8))));
  CHECK(bool(all(matmul(filled({64, k}, -128, int8), filled({k, 64}, -127, int8)) == array(k * 128).astype(int8))));
  CHECK(bool(all(matmul(filled({64, k}, -128, int8), filled({k, 64}, -128, int8)) == 0)));
  CHECK(bool(all(matmul(filled({64, k}, true, bool_), filled({k, 64}, true, bool_)))));
}

TEST_CASE("small products of integers are one launch, large ones those of their digits, on any stream") {
  if (left_out()) return;
  const auto launches_of = [](std::int64_t n, dtype t) {
    const ndarray a = here(any_integers({n, n}, t, 13)), b = here(any_integers({n, n}, t, 14));
    eval(a, b);
    const auto before = launches();
    matmul(a, b);
    return launches() - before;
  };
  for (const dtype t : whole_types) {
    INFO(name(t));
    CHECK(launches_of(64, t) == 1);
    CHECK(launches_of(512, t) ==
          3 + itemsize(t));  // both factors split, a product for each digit of the result, joined
  }
  const ndarray x = any_integers({600, 700}, int32, 15), y = any_integers({700, 500}, int32, 16), z = matmul(x, y);
  const ndarray a = here(x), b = here(y);
  const stream one, other;
  std::vector<ndarray> results;
  for (int k = 0; k < 20; ++k) {
    const stream_guard on(k % 2 ? one : other);
    results.push_back(matmul(a, b));
  }
  for (const ndarray& r : results) CHECK(same(r, z));
}

TEST_CASE("whole numbers are multiplied exactly by cuBLAS in every floating dtype and layout") {
  if (left_out()) return;
  for (const dtype t : {float32, float64, complex64, complex128})
    for (const shape_t& s : {shape_t{2, 2, 2}, {31, 33, 32}, {300, 700, 500}, {1000, 1, 1000}}) {
      const ndarray a = whole({s[0], s[1]}, t, 8, 1), b = whole({s[1], s[2]}, t, 8, 2);
      const ndarray expected = matmul(real(a).astype(int64), real(b).astype(int64)).astype(t);
      CHECK(same(matmul(a, b), expected));
      CHECK(same(matmul(b.T(), a.T()), expected.T()));
      CHECK(same(matmul(a.T().copy().T(), b), expected));
      const ndarray by_columns = zeros({s[2], s[0]}, t);
      CHECK(same(matmul(a, b, {.out = by_columns.T()}), expected));
      const ndarray wide = zeros({s[0] + 3, s[2] + 5}, t);
      matmul(a, b, {.out = wide(slice(2, 2 + s[0]), slice(1, 1 + s[2]))});
      CHECK(same(wide(slice(2, 2 + s[0]), slice(1, 1 + s[2])), expected));
      CHECK(bool(sum(real(wide)) == sum(real(expected))));
    }
}

TEST_CASE("float32 products keep float32's precision unless TF32 is asked for") {
  if (left_out()) return;
  for (const std::int64_t n : {64, 500, 1024, 4096}) {
    const ndarray a = numbers({n, n}, float32, 1), b = numbers({n, n}, float32, 2);
    CHECK(relative_error(matmul(a, b), a, b) < 2e-6);
    CHECK(relative_error(matmul(a, b, {.tf32 = true}), a, b) < 1e-3);
    CHECK(relative_error(matmul(a.astype(float64), b.astype(float64)), a, b) == 0);
  }
  const ndarray x = numbers({1024, 1024}, complex64, 3);
  CHECK(relative_error(real(matmul(x, x)), real(x), real(x)) < 2e-6);
}

TEST_CASE("16-bit products are summed in float32 and rounded once") {
  if (left_out()) return;
  for (const auto& [t, epsilon] : {std::pair(float16, 0x1p-10), std::pair(bfloat16, 0x1p-7)})
    for (const shape_t& s : {shape_t{16, 100000, 16}, {2, 30001, 3}, {512, 512, 512}, {33, 65, 129}}) {
      const ndarray a = abs(numbers({s[0], s[1]}, t, 1)) / 64, b = abs(numbers({s[1], s[2]}, t, 2)) / 64;
      eval(a, b);
      // Tensor cores truncate their sums; in 16 bits these sums would stop growing.
      CHECK(relative_error(matmul(a, b), a, b) <= 0.5 * epsilon + static_cast<double>(s[1]) * 0x1p-24);
    }
}

TEST_CASE("a product is one call of cuBLAS, stacks too, and nothing is copied for views") {
  if (left_out()) return;
  const ndarray a = whole({6, 200, 100}, float32, 8, 1), b = whole({100, 300}, float32, 8, 2);
  eval(a, b, matmul(b, b.T()));
  const auto calls_of = [](auto&& call) {
    const auto before = launches();
    call();
    return launches() - before;
  };
  CHECK(calls_of([&] { eval(matmul(a(0), b)); }) == 1);
  CHECK(calls_of([&] { eval(matmul(b.T(), a(1).T())); }) == 1);
  CHECK(calls_of([&] { matmul(a, b); }) == 1);
  CHECK(calls_of([&] { matmul(a, a.mT()); }) == 1);
  CHECK(calls_of([&] { matmul(a(_, slice(10, 150), slice(20, 90)), b(slice(20, 90), slice(3, 50))); }) == 1);
  CHECK(calls_of([&] { matmul(a(_, newaxis), a(newaxis).mT()); }) ==
        6);                                                  // two batch axes: one call each of the outer one
  CHECK(calls_of([&] { matmul(a["..., ::-1"], b); }) == 2);  // copied first
  CHECK(calls_of([&] { eval(maximum(matmul(a, b) * 2 + 1, 0)); }) == 2);
  CHECK(same(matmul(a, a.mT())(3), matmul(a(3), a(3).T())));
}

TEST_CASE("cuBLASLt scales, adds a bias and activates within the product") {
  if (left_out()) return;
  for (const dtype t : {float16, bfloat16, float32})
    for (const shape_t& s : {shape_t{64, 32, 128}, {256, 512, 384}, {136, 72, 200}}) {
      const ndarray a = whole({s[0], s[1]}, t, 6, 1), b = whole({s[1], s[2]}, t, 6, 2), bias = whole({s[2]}, t, 20, 3);
      const ndarray c = matmul(a.astype(float64), b.astype(float64)), d = bias.astype(float64);
      const auto before = launches();
      const ndarray scaled = matmul(a, b, {.scale = 0.25});
      const ndarray shifted = matmul(a, b, {.bias = bias});
      const ndarray positive = matmul(a, b, {.scale = 2, .bias = bias, .activation = activation::relu});
      const ndarray turned = matmul(b.T(), a.T(), {.activation = activation::relu});
      const ndarray curved = matmul(a, b, {.scale = 0.015625, .bias = bias, .activation = activation::gelu});
      CHECK(launches() - before == 5);
      CHECK(same(scaled, (c * 0.25).astype(t)));  // exact in float32, then rounded once
      CHECK(same(shifted, (c + d).astype(t)));
      CHECK(same(positive, maximum(2 * c + d, 0).astype(t)));
      CHECK(same(turned, maximum(c.T(), 0).astype(t)));
      const ndarray z = c * 0.015625 + d;
      const ndarray gelu = 0.5 * z * (1 + tanh(0.7978845608028654 * (z + 0.044715 * z * z * z)));
      const double epsilon = t == float16 ? 0x1p-10 : t == bfloat16 ? 0x1p-7 : 0x1p-23;
      // Its hyperbolic tangent is an approximation.
      CHECK(bool(all(abs(curved.astype(float64) - gelu) <= (epsilon + 1e-3) * abs(z) + 1e-6)));
    }
  const ndarray stack = whole({5, 30, 40}, float32, 6, 4), right = whole({40, 24}, float32, 6, 5),
                row = whole({24}, float32, 9, 6);
  CHECK(same(matmul(stack, right, {.bias = row}), matmul(stack, right) + row));
  CHECK(same(matmul(stack, stack.mT(), {.scale = 2}), matmul(stack, stack.mT()) * 2));
  const ndarray odd = whole({33, 35}, float16, 4, 7);
  CHECK(same(matmul(odd, odd.T(), {.activation = activation::relu}), maximum(matmul(odd, odd.T()), 0)));
  CHECK(same(matmul(odd(slice(1, 20), slice(3, 30)), odd(slice(1, 20), slice(3, 30)).T(), {.scale = 2}),
             matmul(odd(slice(1, 20), slice(3, 30)), odd(slice(1, 20), slice(3, 30)).T()) * 2));
}

TEST_CASE("batches of many shapes are what their matrices are one by one") {
  if (left_out()) return;
  for (const dtype t : {float16, float32, float64, complex64}) {
    const ndarray a = whole({4, 3, 10, 20}, t, 6, 1), b = whole({3, 20, 7}, t, 6, 2), one = whole({20, 7}, t, 6, 3);
    const ndarray c = matmul(a, b), d = matmul(a, one), e = matmul(one.T(), a.mT());
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k) {
        CHECK(same(c(i, k), matmul(a(i, k), b(k))));
        CHECK(same(d(i, k), matmul(a(i, k), one)));
        CHECK(same(e(i, k), d(i, k).T()));
      }
  }
  const ndarray many = whole({20000, 4, 4}, float64, 6, 4);
  CHECK(same(matmul(many, many), matmul(many.astype(int64), many.astype(int64)).astype(float64)));
}

TEST_CASE("vectors' products are recorded and agree with cuBLAS's") {
  if (left_out()) return;
  const ndarray a = whole({3000, 2000}, float32, 8, 1), x = whole({2000}, float32, 8, 2),
                y = whole({3000}, float32, 8, 3);
  const ndarray both = matmul(a, stack({x, x}, 1)), left = matmul(stack({y, y}, 0), a);
  CHECK(same(matmul(a, x), both(_, 0)));
  CHECK(same(matmul(y, a), left(0)));
  CHECK(same(matmul(a.T(), y), left(1)));
  const ndarray wide = a.astype(float64), other = whole({2000, 1000}, float64, 8, 4);
  CHECK(same(einsum("ij,jk->k", wide, other), sum(matmul(wide, other), 0)));
}

TEST_CASE("the seed's sizes: one pass over each matrix for ij,jk->k") {
  if (left_out()) return;
  const ndarray a = whole({10000, 5000}, float32, 5, 1), b = whole({5000, 7000}, float32, 5, 2);
  runtime::backend& device = runtime::get_backend({runtime::device_kind::cuda, default_device().index});
  const auto before = device.statistics();
  const ndarray c = einsum("ij,jk->k", a, b);
  eval(c);
  CHECK(device.statistics().launches - before.launches <= 4);  // two reductions, each in two stages at most
  CHECK(device.statistics().allocations - before.allocations <= 4);
  const ndarray sums = expand_dims(sum(a.astype(float64), 0), 1), wide = b.astype(float64);
  const ndarray error = abs(c - sum(sums * wide, 0)), magnitude = sum(abs(sums) * abs(wide), 0);
  CHECK(bool(all(error <= 1e-5 * magnitude)));
}

TEST_CASE("products of few results over a long inner extent: exact where sums are, in any layout, by two launches") {
  if (left_out()) return;
  for (const dtype t : {float32, float64})
    for (const int m : {1, 3, 4, 8, 13, 16})
      for (const int n : {1, 4, 7, 16}) {
        CAPTURE(name(t));
        CAPTURE(m);
        CAPTURE(n);
        const std::int64_t inner = (1 << 15) + 77;
        const ndarray a = whole({inner, m}, t, 9, 1), b = whole({inner, n}, t, 7, 2);
        const ndarray expected = matmul(a.astype(int64).T(), b.astype(int64)).astype(t);
        CHECK(same(matmul(a.T(), b), expected));
        const ndarray rows = a.T().copy(), columns = b.T().copy();
        eval(rows, columns);
        CHECK(same(matmul(rows, b), expected));
        CHECK(same(matmul(rows, columns.T()), expected));
        CHECK(same(matmul(a.T(), columns.T()), expected));
        CHECK(same(matmul(a(slice(1, inner)).T(), b(slice(1, inner))),
                   expected - matmul(a(slice(0, 1)).T(), b(slice(0, 1)))));
      }
  const ndarray a = numbers({1 << 16, 4}, float32, 1), b = numbers({1 << 16, 3}, float32, 2);
  eval(a, b);
  const std::uint64_t before = launches();
  ndarray c = matmul(a.T(), b);
  eval(c);
  CHECK(launches() - before == 2);
  CHECK(relative_error(c, a.T(), b) < 1e-6);
}
