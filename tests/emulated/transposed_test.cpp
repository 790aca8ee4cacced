// Transposed operands of many axes: elementwise kernels go by tiles of two axes that lie apart, and reductions give neighbouring
// threads results that read neighbouring memory. The bits are the CPU's.
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"

#ifdef SINTER_HAS_CUDA

using namespace emulated;
using namespace sinter;

namespace {

bytes bytes_of(const ndarray& x) {
  const auto raw = x.copy().host<char>();
  return bytes(raw.begin(), raw.end());
}

void check(const std::string& what, const ndarray& x, jit::cuda_shape shape) {
  CAPTURE(what);
  const recorded found = emulate(x);
  REQUIRE(found.launches.size() == 1);
  CHECK(found.launches[0].shape == shape);
  const ndarray raw = found.result.view(uint8);
  CHECK((found.launches[0].emulated.back() == bytes_of(raw.view(int8))));
}

}  // namespace

TEST_CASE("emulated: reductions of transposed arrays of many axes have neighbouring results in neighbouring threads") {
  if (no_emulation()) return;
  const device_guard on(device("cpu"));
  const shape_t shapes[] = {{33, 31, 70}, {9, 20, 13, 33}, {5, 9, 8, 6, 34}, {4, 6, 5, 7, 3, 32}};
  for (const shape_t& shape : shapes) {
    CAPTURE(to_string(shape));
    const ndarray x = numbers(shape, float32, 7) / 7;
    eval(x);
    check("sum", sum(x.T(), -1), jit::cuda_shape::crossed_rows);
    check("mean", mean(x.T().astype(float64), -1), jit::cuda_shape::crossed_rows);
    // Any order of their elements gives the same bits: rows or columns, but not elements that lie apart.
    for (const ndarray& free : {argmin(x.T(), {.axis = -1}), max(x.T() * 2 - 1, axes{-1, -2})}) {
      const recorded found = emulate(free);
      CHECK(found.launches.back().shape != jit::cuda_shape::reduce_rows);
      CHECK((found.launches.back().emulated.back() == bytes_of(found.result.view(int8))));
    }
  }
  // Places in the space are those of the axes as they were recorded.
  const ndarray x = numbers({33, 31, 70}, float32, 7);
  eval(x);
  const ndarray i = arange(70)(idx::_, idx::newaxis, idx::newaxis), moved = sum(x.T() * (i % 3), -1);
  const recorded found = emulate(moved);
  CHECK((found.launches.back().emulated.back() == bytes_of(found.result.view(int8))));
}

TEST_CASE("emulated: transposed arrays of many short axes go by tiles") {
  if (no_emulation()) return;
  const device_guard on(device("cpu"));
  for (const shape_t& shape : {shape_t{9, 7, 5, 8, 6, 10}, shape_t{21, 9, 4, 8, 33}}) {
    CAPTURE(to_string(shape));
    for (const dtype type : {float32, uint8, complex128}) {
      CAPTURE(name(type));
      const ndarray x = numbers(shape, type, 7), y = numbers(shape, type, 5);
      eval(x, y);
      check("+", x.T() + y.T(), jit::cuda_shape::tiled);
    }
  }
}

#endif
