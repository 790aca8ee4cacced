// Rows on chip whose groups of four elements are not aligned vectors in memory: the threads of a warp pass elements on through
// shared memory, and the bits are those of separate kernels.
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"

#ifdef SINTER_HAS_CUDA

#include "emulated/quick_cases.hpp"

using namespace emulated;
using namespace sinter;
using namespace sinter::idx;

namespace {

const reduce_kw rows{.axis = -1, .keepdims = true};

ndarray centred(const ndarray& x) { return x - min(x, rows); }
ndarray normalised(const ndarray& x) {
  const ndarray d = x - mean(x, rows);
  return d / (sum(d * d, rows) + 1);
}

/// What the last stage reads is the row and what a stage has made of it, which costs too much to compute twice.
ndarray of_two(const ndarray& x) {
  const ndarray d = x - max(x, rows), t = sqrt(d * d + 1) / (d * d + 2);
  return t / (sum(t, rows) + 1) + d / (max(t, rows) + 1);
}

void check(ndarray (*of)(const ndarray&), const ndarray& x, bool strips = true) {
  eval(x);
  const recorded joined = emulate(of(x));
  REQUIRE(joined.launches.size() == 1);
  CHECK(joined.launches[0].shape == jit::cuda_shape::staged_rows);
  CHECK(joined.launches[0].strips == strips);
  REQUIRE(joined.launches[0].emulated.size() == 1);  // what only the joined kernels read is not stored
  graph::limits().fuse = false;
  const recorded separate = emulate(of(x));
  graph::limits().fuse = true;
  CHECK((joined.launches[0].emulated[0] == separate.launches.back().emulated.back()));
}

}  // namespace

TEST_CASE("emulated: rows on chip of odd lengths have the bits of separate kernels") {
  if (no_emulation()) return;
  const device_guard on(device("cpu"));
  cpu::set_least_staged(0);
  // Threads of a row: 1, 2, 2, 4, 8, 16, 256, 32 and 256. Blocks have more rows than the last ones of an array.
  const std::int64_t shapes[][2] = {{1061, 9},   {1027, 14}, {1031, 23},  {1029, 50}, {1026, 90},
                                    {1025, 191}, {5, 255},   {1024, 301}, {3, 1531}};
  for (const auto& [n, length] : shapes) {
    CAPTURE(length);
    const bool some = length == 9 || length == 50 || length == 301;
    for (const dtype type : {float32, int16, uint8, float64, complex128, float16, bfloat16}) {
      if (type != float32 && !some) continue;
      CAPTURE(name(type));
      const ndarray x = numbers({n, length}, type, 7);
      check(centred, x);
      if (type == float32 || type == float64) check(normalised, x);
    }
    // Whole groups, whose rows begin anywhere.
    if (some) check(normalised, numbers({n, length + 9}, float32, 5)(_, slice(1, length / 4 * 4 + 1)));
  }
  cpu::set_least_staged(-1);
}

TEST_CASE(
    "emulated: rows on chip that keep two values of an element have the bits of separate kernels, also in shared "
    "memory") {
  if (no_emulation()) return;
  const device_guard on(device("cpu"));
  cpu::set_least_staged(0);
  for (const std::int64_t length : {301, 1024, 1531, 10240}) {
    CAPTURE(length);
    for (const dtype type : {float32, float64}) {
      CAPTURE(name(type));
      check(of_two, numbers({3, length}, type, 7), length % 4 != 0);
    }
  }
  cpu::set_least_staged(-1);
}

#endif
