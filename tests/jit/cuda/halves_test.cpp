// float16 and bfloat16 in generated CUDA kernels: what the emulator computes with 16 bits has the bits of the CPU's kernels, which
// compute with float.
#ifdef SINTER_HAS_CUDA

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulated/recorded.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using emulated::no_emulation;

namespace {

/// Numbers of all sizes, signs and kinds.
ndarray numbers_with_specials(const shape_t& shape, dtype type, std::int64_t factor) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray bits = (arange(n) * factor % 65521).astype(uint16);
  const ndarray x = bits.view(float16);
  const ndarray some = where(arange(n) % 7 == 3, x, (arange(n) * factor % 1999 / 500.0 - 2).astype(float16));
  const ndarray all = reshape(some, shape).astype(type).to_device("cpu");
  eval(all);
  return all;
}
ndarray evaluated(const ndarray& x) {
  eval(x);
  return x;
}

bool is_nan(std::uint16_t bits, dtype type) { return (bits & 0x7fffu) > (type == float16 ? 0x7c00u : 0x7f80u); }

/// `x`: of float16 or bfloat16. Bits, but for those of NaN.
void check_bits(const ndarray& x, std::size_t kernels = 1) {
  const emulated::recorded run = emulated::emulate(x);
  const auto found = emulated::emulated_as<std::uint16_t>(run), wanted = x.view(uint16).to_vector<std::uint16_t>();
  CHECK(run.launches.size() == kernels);
  REQUIRE(found.size() == wanted.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (is_nan(found[k], x.dtype()) && is_nan(wanted[k], x.dtype())) continue;
    CAPTURE(k);
    REQUIRE(found[k] == wanted[k]);
  }
}

}  // namespace

TEST_CASE("halves: arithmetic of kernels has the bits of float's, rounded") {
  if (no_emulation()) return;
  for (const dtype type : {float16, bfloat16}) {
    CAPTURE(type);
    const ndarray x = numbers_with_specials({5000}, type, 7919), y = numbers_with_specials({5000}, type, 10007);
    check_bits(x * y + x);
    check_bits((x - y) * 0.3 + square(x) - 1);
    check_bits(x / y);
    check_bits(x / 3 - y / 0);
    check_bits(sqrt(x) - abs(y) + -x);
    check_bits(clip(x + y, -1, 1));
    check_bits(maximum(x, 0) - minimum(y, x));
    check_bits(where(x > y, x, 0.01 * y));
    check_bits(floor(x) + sign(y) * rint(x * 2));
    check_bits(fmod(x, y) + remainder(y, 3));
    check_bits(x * x * x * 0.5 + x.astype(float32).astype(type) - y);
  }
}

TEST_CASE("halves: numbers of other dtypes become halves and the other way round") {
  if (no_emulation()) return;
  for (const dtype type : {float16, bfloat16}) {
    CAPTURE(type);
    const ndarray x = numbers_with_specials({3000}, type, 7919);
    const ndarray d = evaluated((arange(3000) * 1.00048828125 - 1500.37).to_device("cpu")),
                  i = evaluated((arange(3000) * 41 - 60000).to_device("cpu"));
    check_bits(d.astype(type) + x);
    check_bits(d.astype(float32).astype(type) * x);
    check_bits(i.astype(type) - x);
    check_bits(i.astype(int16).astype(type) - x);
    check_bits((x.astype(float64) * d).astype(type));
    check_bits((x > 0).astype(type) * x);
    check_bits(x.astype(type == float16 ? bfloat16 : float16).astype(type) + x);
    check_bits(real(x.astype(complex64) * std::complex<float>(1, 2)).astype(type));
  }
}

TEST_CASE("halves: rows on chip, sums, extremes, strided and transposed operands and windows") {
  if (no_emulation()) return;
  const reduce_kw keep{.keepdims = true};
  cpu::set_least_staged(0);
  for (const dtype type : {float16, bfloat16}) {
    CAPTURE(type);
    const ndarray x = evaluated(emulated::numbers({40, 600}, type, 7) / 64),
                  y = evaluated(emulated::numbers({600, 40}, type, 11) / 32);
    check_bits((x - max(x, 1, keep)) / (sum(x, 1, keep) + 1));
    check_bits((x - mean(x, 1, keep)) * 0.5 / sqrt(mean(x * x, 1, keep) + 1));
    check_bits(sum(x * 0.25, 0));
    check_bits(max(x - 1, 1));
    check_bits(x + transpose(y));
    check_bits(x(_, slice(1, 600)) - x(_, slice(0, 599)));
    check_bits(x(slice(_, _, 2), slice(_, _, -1)) * 3);
    check_bits(sum(x(newaxis, _, slice(0, 32)) * x(_, newaxis, slice(0, 32)), 2));
    check_bits(roll(x, 3, 1) * 2 - x);
  }
  cpu::set_least_staged(-1);
}

TEST_CASE("halves: steps that repeat") {
  if (no_emulation()) return;
  for (const dtype type : {float16, bfloat16}) {
    CAPTURE(type);
    ndarray a = evaluated(emulated::numbers({2000}, type, 7) / 128);
    const ndarray x = a;
    for (int k = 0; k < 40; ++k) a = a * 0.75 + x * 0.125 - 0.0625;
    check_bits(a);
  }
}

#endif
