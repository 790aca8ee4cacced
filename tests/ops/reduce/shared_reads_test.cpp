// Windows, mirror images and transposed operands on the default device: the bits of the same work on copies.
#include <cstring>

#include <doctest/doctest.h>

#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;

ndarray numbers(const shape_t& shape, dtype type) {
  return (random::generator(11).standard_normal(shape, {.dtype = float32}) * 50).astype(type);
}

bool same(const ndarray& x, const ndarray& y) {
  return x.dtype() == y.dtype() && x.shape() == y.shape() && all(equal(x, y)).item<bool>();
}

}  // namespace

TEST_CASE("shared reads: reductions of windows have the bits of those of stored windows") {
  for (const dtype t : {float32, float64, float16, int32, uint8}) {
    CAPTURE(t);
    const ndarray x = numbers({4099}, t), y = numbers({61, 70}, t);
    for (const std::int64_t n : {2, 3, 8, 16, 33, 64}) {
      CAPTURE(n);
      const ndarray w = sliding_window_view(x, {n}), stored = w.copy();
      eval(stored);
      CHECK(same(sum(w, -1), sum(stored, -1)));
      CHECK(same(max(w, -1), max(stored, -1)));
      CHECK(same(mean(w(slice(_, _, 2)), -1), mean(stored(slice(_, _, 2)), -1)));
    }
    const ndarray w = sliding_window_view(y, {3, 5}), stored = w.copy();
    eval(stored);
    CHECK(same(sum(w, axes{2, 3}), sum(stored, axes{2, 3})));
    CHECK(same(min(w * 2, axes{2, 3}), min(stored * 2, axes{2, 3})));
  }
}

TEST_CASE("shared reads: arrays and their transposes have the bits of copies") {
  for (const dtype t : {float32, float64, float16, int16, uint8, bool_}) {
    CAPTURE(t);
    for (const std::int64_t n : {1, 31, 64, 257, 700}) {
      CAPTURE(n);
      const ndarray x = numbers({n, n}, t), copied = x.T().copy(), deep = numbers({3, n, n}, t);
      const ndarray turned = deep.mT().copy();
      eval(copied, turned);
      CHECK(same(x + x.T(), x + copied));
      CHECK(same(maximum(deep, deep.mT()), maximum(deep, turned)));
    }
  }
}

TEST_CASE("shared reads: reductions of transposed operands have the bits of those of copies") {
  for (const dtype t : {float32, float64, float16, int16, uint8, bool_}) {
    CAPTURE(t);
    const ndarray x = numbers({300, 517}, t), y = numbers({37, 50, 61}, t);
    const ndarray turned = x.T().copy(), deep = transpose(y).copy();
    eval(turned, deep);
    CHECK(same(sum(x.T()), sum(turned)));
    CHECK(same(sum(x.T(), 1), sum(turned, 1)));
    CHECK(same(sum(transpose(y), 2), sum(deep, 2)));
    CHECK(same(argmax(transpose(y), 2), argmax(deep, 2)));
    CHECK(same(max(transpose(y), axes{0, 2}), max(deep, axes{0, 2})));
    if (is_inexact(t))
      CHECK(same(exp(transpose(y) - max(transpose(y), 2, {.keepdims = true})),
                 exp(deep - max(deep, 2, {.keepdims = true}))));
  }
}
