// Generated CUDA kernels of NumPy's smaller functions, run thread by thread on the CPU.
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"

#ifdef SINTER_HAS_CUDA

#include <complex>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

using namespace sinter;
using namespace sinter::idx;
using namespace emulated;

namespace {

template <class T>
void check_bytes(const ndarray& x) {
  const recorded r = emulate(x);
  REQUIRE_FALSE(r.launches.empty());
  const std::vector<T> expected = r.result.to_vector<T>();
  const bytes& raw = r.launches.back().emulated.back();
  REQUIRE(raw.size() == expected.size() * sizeof(T));
  CHECK(std::memcmp(raw.data(), expected.data(), raw.size()) == 0);
}

}  // namespace

TEST_CASE("emulated: coordinates that are computed in 32 bits have the CPU's bytes") {
  if (no_emulation()) return;
  const ndarray x = numbers({40, 133}, float32, 5), label = numbers({40}, int8, 3);
  const ndarray i = arange(40, {.device = "cpu"})(_, newaxis), j = arange(133, {.device = "cpu"});
  eval(x, label);
  check_bytes<float>(where((i + j) % 2 == 0, x, -x));
  check_bytes<float>(x * (square(i - 20) + square(j - 66) < 900));
  check_bytes<float>((label(_, newaxis) == j).astype(float32));
  check_bytes<std::int8_t>((floor_divide(j - 70, 9) + sign(i - j) * 3).astype(int8));
  check_bytes<float>(x * ((i * (std::int64_t{1} << 31) + j) % 7 < 3));
  check_bytes<std::int64_t>(where((i + j) % 3 == 0, i * j, i - j));
}

TEST_CASE("emulated: remainders have the CPU's bytes beside multiples, with huge quotients and of what is no number") {
  if (no_emulation()) return;
  const auto check_type = [](auto one) {
    using T = decltype(one);
    using limits = std::numeric_limits<T>;
    std::vector<T> a, b;
    const std::vector<T> some{0,
                              T(-0.0),
                              1,
                              -1,
                              3,
                              T(0.1),
                              T(-0.1),
                              limits::infinity(),
                              -limits::infinity(),
                              limits::quiet_NaN(),
                              limits::max(),
                              limits::min(),
                              limits::denorm_min(),
                              -limits::denorm_min()};
    for (const T x : some)
      for (const T y : some) a.push_back(x), b.push_back(y);
    std::mt19937_64 draw(5);
    for (int k = 0; k < 6000; ++k) {
      const T y = std::ldexp(T(1) + T(draw() >> 11) * T(0x1p-53), static_cast<int>(draw() % 40) - 20);
      const T n =
          std::floor(std::ldexp(T(1) + T(draw() >> 11) * T(0x1p-53), static_cast<int>(draw() % (limits::digits + 4))));
      const T next[] = {y * n, std::nextafter(y * n, T(0)), std::nextafter(y * n, limits::infinity())};
      a.push_back(next[k % 3] * (k % 2 ? -1 : 1));
      b.push_back(k % 5 < 2 ? -y : y);
    }
    const ndarray x = array(a).to_device("cpu"), y = array(b).to_device("cpu");
    // Which NaN is left is the processor's.
    const ndarray left = fmod(x, y);
    check_bytes<T>(where(isnan(left), 7, left));
    const ndarray ends = isfinite(x) & isfinite(y) & (y != 0);
    check_bytes<T>(where(ends, remainder(x, y), 0));
    check_bytes<T>(where(ends, floor_divide(x, y), 0));
  };
  check_type(1.0f);
  check_type(1.0);
}

TEST_CASE("emulated: integers divided by a number have the CPU's bytes, for the least and the greatest and for 0") {
  if (no_emulation()) return;
  const auto check_type = [](auto one) {
    using T = decltype(one);
    using limits = std::numeric_limits<T>;
    std::vector<T> a, by;
    for (int k = 0; k < limits::digits; ++k)
      for (const int near : {-1, 0, 1}) by.push_back(static_cast<T>((T{1} << k) + static_cast<T>(near)));
    for (const int n : {3, 5, 7, 10, 60, 100, 121}) by.push_back(static_cast<T>(n));
    by.insert(by.end(), {limits::min(), static_cast<T>(limits::min() + 1), static_cast<T>(limits::max() - 1),
                         limits::max(), static_cast<T>(limits::max() / 3 * 2)});
    std::mt19937_64 draw(7);
    for (int k = 0; k < 20; ++k) by.push_back(static_cast<T>(draw() >> (draw() % 64)));
    if (std::is_signed_v<T>)
      for (std::size_t k = by.size(); k-- > 0;) by.push_back(static_cast<T>(0 - static_cast<std::uint64_t>(by[k])));
    for (const T d : by)
      for (const int times : {-3, -1, 0, 1, 2, 77})
        for (const int near : {-1, 0, 1})
          a.push_back(static_cast<T>(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(times) +
                                     static_cast<std::uint64_t>(near)));
    const ndarray x = array(a).to_device("cpu");
    for (const T d : by) {
      CAPTURE(+d);
      check_bytes<T>(floor_divide(x, d));
      check_bytes<T>(remainder(x, d));
      check_bytes<T>(fmod(x, d));
    }
  };
  check_type(std::int8_t{});
  check_type(std::int16_t{});
  check_type(std::int32_t{});
  check_type(std::int64_t{});
  check_type(std::uint8_t{});
  check_type(std::uint16_t{});
  check_type(std::uint32_t{});
  check_type(std::uint64_t{});
}

TEST_CASE("emulated: divisors, powers of two and complex numbers from parts have the CPU's bytes") {
  if (no_emulation()) return;
  const shape_t shape{40, 33};
  const ndarray a = numbers(shape, int32, 7), b = numbers(shape, int32, 12), small = numbers(shape, int8, 3);
  const ndarray x = numbers(shape, float32, 5), y = numbers(shape, float64, 31), z = numbers(shape, complex64, 9);
  eval(a, b, small, x);
  eval(y, z);
  check_bytes<std::int32_t>(gcd(a - 50, b));
  check_bytes<std::int64_t>(gcd(a.T().astype(int64) * 6, 84));
  check_bytes<std::int8_t>(lcm(small - 50, 12));
  check_bytes<float>(ldexp(x / 7, a * 3 - 150));
  check_bytes<double>(ldexp(y / 7, a * 43 - 2150));
  check_bytes<float>(frexp(x * 1e-38f - 1e-38f).mantissa);
  check_bytes<double>(frexp(y * 5e-324).mantissa);
  check_bytes<std::int32_t>(frexp(y * 5e-324).exponent);
  ndarray w = z.copy();
  w.imag() = x / 0.0f - x;
  check_bytes<std::complex<float>>(w);
}

TEST_CASE(
    "emulated: special functions have the CPU's bytes, computed in float32, in float64, and by pieces that are "
    "called") {
  if (no_emulation()) return;
  const shape_t shape{64, 33};
  const ndarray t = numbers(shape, float32, 97) / 97.0f, x = t * 24.0f - 12.0f, y = t.astype(float64) * 12.0 + 0.01;
  const ndarray z = numbers(shape, float64, 31) / 31.0 + 0.005;
  eval(t, x, y, z);
  for (const ndarray& of_x : {special::erf(x), special::erfc(x), special::ndtr(x), special::gammaln(x),
                              special::expit(x), special::log_expit(x), special::i0(x), special::i1e(x)})
    check_bytes<float>(of_x);
  for (const ndarray& of_t : {special::ndtri(t), special::erfinv(t), special::logit(t)}) check_bytes<float>(of_t);
  check_bytes<double>(special::erf(y));
  check_bytes<double>(special::kl_div(y, z));
  check_bytes<double>(special::betainc(y, z + 1.0, z));
  check_bytes<double>(special::betaincinv(y, z + 1.0, z));
  check_bytes<double>(special::jv(floor(y), z * 9.0));
}

#endif
