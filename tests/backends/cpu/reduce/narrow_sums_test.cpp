// Sums of narrow whole numbers, which are added in 32 bits where they cannot leave those.
#include "jit/program/rewrite/narrow_sums.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "backends/cpu/kernels_of.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using jit::opcode;
using sinter::test::kernels_of;

namespace {

/// The sum of an input's numbers, widened, and twice that.
jit::program sum_of(dtype from, dtype to) {
  jit::program p;
  p.kind = jit::kernel_kind::reduce;
  p.inputs = {{from}};
  p.code = {{opcode::load, from, from, 0, 0, 0, 0, 0},
            {opcode::cast, to, from, 0, 0, 0, 0, 0},
            {opcode::reduced, to, to, 0, 0, 0, 0, 0},
            {opcode::add, to, to, 0, 2, 2, 0, 0}};
  p.epilogue = 2;
  p.reductions = {{jit::reduce_op::sum, to, to, 0, 1, 1}};
  p.outputs = {{to, 0, 2}, {to, 0, 3}};
  return p;
}

ndarray all_of(std::int64_t rows, std::int64_t n, dtype t, std::int64_t value) {
  ndarray x = full({rows, n}, value, {.dtype = t, .device = device("cpu")});
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("sums of numbers of up to 16 bits are narrow as long as they fit in 32 bits") {
  struct limit {
    dtype type;
    std::int64_t most;
  };
  for (const limit c : {limit{dtype::u8, INT32_MAX / 255},
                        {dtype::i8, INT32_MAX / 128},
                        {dtype::u16, INT32_MAX / 65535},
                        {dtype::i16, INT32_MAX / 32768}})
    for (const dtype wide : {dtype::i64, dtype::u64}) {
      CAPTURE(name(c.type));
      jit::program p = sum_of(c.type, wide);
      jit::narrow_sums(p, c.most);
      CHECK(p.reductions[0].type == dtype::i32);
      CHECK(p.code[p.reductions[0].reg].type == dtype::i32);
      REQUIRE(p.outputs.size() == 2);
      CHECK(p.code[p.outputs[0].reg].op == opcode::cast);
      CHECK(p.code[p.outputs[0].reg].type == wide);
      CHECK(p.code[p.outputs[1].reg].a == p.outputs[0].reg);
      jit::program same = sum_of(c.type, wide);
      jit::narrow_sums(same, c.most + 1);
      CHECK(same.reductions[0].type == wide);
    }
  jit::program wide = sum_of(dtype::i32, dtype::i64);
  jit::narrow_sums(wide, 2);
  CHECK(wide.reductions[0].type == dtype::i64);
}

TEST_CASE("the largest narrow sums are exact, of rows, columns and blocks") {
  for (const auto tier : {cpu::tier::compiled, cpu::tier::interpreted}) {
    const kernels_of now(tier);
    const std::int64_t most = INT32_MAX / 32768;
    for (const std::int64_t n : {most, most + 1}) {
      CHECK(sum(all_of(2, n, int16, -32768), 1)(1).item<std::int64_t>() == -32768 * n);
      CHECK(sum(all_of(n, 3, int16, -32768), 0)(2).item<std::int64_t>() == -32768 * n);
    }
    const std::int64_t bytes = INT32_MAX / 255;
    CHECK(sum(all_of(1, bytes, uint8, 255)).item<std::uint64_t>() == static_cast<std::uint64_t>(255 * bytes));
    const ndarray x =
        reshape((arange(256 * 256, {.dtype = int64, .device = device("cpu")}) * 37 % 251).astype(uint8), {256, 256});
    eval(x);
    const ndarray blocks = sum(reshape(x, {32, 8, 32, 8}), axes{1, 3}),
                  wide = sum(reshape(x.astype(int64), {32, 8, 32, 8}), axes{1, 3});
    CHECK(blocks.dtype() == uint64);
    CHECK(array_equal(blocks, wide.astype(uint64)));
    CHECK(array_equal(sum(x, 0) * 3, sum(x.astype(int64), 0).astype(uint64) * 3));
    CHECK(array_equal(sum(x.astype(int8), 1), sum(x.astype(int8).astype(int64), 1)));
  }
}
