// Powers of the block operations: beside long double over all exponents, special values as C's, the same bits at every instruction set
// and whatever the neighbours are.
#include "jit/cpu/interpreter/powers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "jit/cpu/own_function_cases.hpp"

using namespace sinter;
using namespace sinter::jit;
using sinter_test::has_own_functions;
using sinter_test::same_bits;

namespace {

template <class T>
struct arguments {
  std::vector<T> x, y;
  void add(T a, T b) {
    x.push_back(a);
    y.push_back(b);
  }
};

/// Bases of all exponents and near 1, with exponents for results over the whole range and beyond both ends.
template <class T>
arguments<T> drawn() {
  arguments<T> all;
  std::mt19937_64 engine(12);
  const auto number = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  const double most = std::numeric_limits<T>::max_exponent, least = std::numeric_limits<T>::min_exponent - 20;
  for (int k = 0; k < 40000; ++k) {
    const T far = static_cast<T>(std::exp2(number(least, most - 1))), near = static_cast<T>(std::exp2(number(-1, 1)));
    for (const T x : {far, near, static_cast<T>(1 + number(-1e-3, 1e-3))}) {
      const double log2 = std::log2(static_cast<double>(x));
      all.add(x, static_cast<T>(number(-4, 4)));
      if (log2 != 0) all.add(x, static_cast<T>(number(least - 10, most + 10) / log2));
    }
  }
  while (all.x.size() % lane_multiple != 0) all.add(1, 1);
  return all;
}

template <class T>
std::vector<T> computed(block_op op, const arguments<T>& a, int lanes = lane_multiple) {
  return sinter_test::computed(op, a.x, lanes, &a.y);
}

template <class T>
void check(dtype type) {
  const arguments<T> a = drawn<T>();
  const block_op op = find_block_op(opcode::power, type, type);
  const std::vector<T> r = computed(op, a);
  double worst = 0;
  for (std::size_t k = 0; k < r.size(); ++k) {
    const long double exact = std::pow(static_cast<long double>(a.x[k]), static_cast<long double>(a.y[k]));
    const T wanted = static_cast<T>(exact);
    if (r[k] == wanted) continue;
    const T beside = std::isfinite(wanted) ? wanted : std::numeric_limits<T>::max();
    const long double ulp =
        std::isfinite(wanted)
            ? static_cast<long double>(std::nextafter(beside, std::numeric_limits<T>::infinity())) - beside
            : static_cast<long double>(beside) - std::nextafter(beside, T(0));
    const double off = std::isfinite(r[k]) ? static_cast<double>(std::abs(r[k] - exact) / ulp)
                                           : static_cast<double>((std::numeric_limits<T>::max() - exact) / ulp);
    worst = std::max(worst, off);
  }
  MESSAGE("the worst of ", r.size(), " is ", worst, " ulp");
  CHECK(worst < (!has_own_functions() ? 4.0 : type == dtype::f64 ? 1.5 : 2.5));
  CHECK(same_bits(computed(op, a, 1), r));
#if SINTER_TIER0_X86
  if (has_own_functions()) CHECK(same_bits(computed(tier0::avx2::power_op(type), a), r));
#endif
}

/// Bases of both signs to whole numbers, where the result is far from the ends of the range.
template <class T>
void check_whole(dtype type) {
  std::mt19937_64 engine(8);
  const double most = type == dtype::f64 ? 950 : 126;
  const block_op op = find_block_op(opcode::power, type, type);
  double worst = 0;
  int unlike = 0;
  for (int n = -1024; n <= 1024; n = n < -130 || n > 130 ? n + 37 : n + 1) {
    arguments<T> a;
    for (int k = 0; k < 256; ++k) {
      const double range = most / std::max(std::abs(n), 1);
      const double size = std::exp2(std::uniform_real_distribution<double>(-range, range)(engine));
      a.add(static_cast<T>(engine() % 2 ? size : -size), static_cast<T>(n));
    }
    const std::vector<T> r = computed(op, a, 256);
    for (std::size_t k = 0; k < r.size(); ++k) {
      const long double exact = std::pow(static_cast<long double>(a.x[k]), static_cast<long double>(n));
      const T size = std::abs(static_cast<T>(exact));
      const long double ulp = static_cast<long double>(std::nextafter(size, std::numeric_limits<T>::infinity())) - size;
      worst = std::max(worst, static_cast<double>(std::abs(r[k] - exact) / ulp));
    }
    // Among lanes to other powers they have the same bits.
    arguments<T> mixed = a;
    for (std::size_t k = 0; k < mixed.y.size(); k += 3) mixed.y[k] = k % 2 ? T(2.5) : static_cast<T>(k % 7);
    const std::vector<T> among = computed(op, mixed, 256);
    for (std::size_t k = 0; k < r.size(); ++k) unlike += k % 3 != 0 && std::memcmp(&r[k], &among[k], sizeof(T)) != 0;
    unlike += !same_bits(computed(op, a, 1), r);
#if SINTER_TIER0_X86
    if (has_own_functions()) unlike += !same_bits(computed(tier0::avx2::power_op(type), a), r);
#endif
  }
  MESSAGE("the worst to whole numbers is ", worst, " ulp");
  CHECK(worst < (has_own_functions() ? 0.52 : 4.0));
  CHECK(unlike == 0);
}

template <class T>
void check_specials(dtype type) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T tiny = std::numeric_limits<T>::denorm_min(), large = std::numeric_limits<T>::max();
  const std::vector<T> some{0,      T(-0.0), 1,    -1,  2,    -2,    T(0.5), T(-0.5), 3,          -3,
                            T(2.5), inf,     -inf, nan, tiny, -tiny, large,  -large,  T(1e7) + 1, -(T(1e7) + 1)};
  arguments<T> a;
  for (const T x : some)
    for (const T y : some) a.add(x, y);
  while (a.x.size() % lane_multiple != 0) a.add(T(1.5), T(2.5));
  const block_op op = find_block_op(opcode::power, type, type);
  const std::vector<T> r = computed(op, a);
  for (std::size_t k = 0; k < r.size(); ++k) {
    CAPTURE(a.x[k]);
    CAPTURE(a.y[k]);
    const T wanted = std::pow(a.x[k], a.y[k]);
    if (std::isnan(wanted)) {
      CHECK(std::isnan(r[k]));
      continue;
    }
    CHECK(std::signbit(r[k]) == std::signbit(wanted));
    if (wanted == 0 || std::abs(wanted) == 1 || std::isinf(wanted)) CHECK(r[k] == wanted);
    else CHECK(std::abs(r[k] - wanted) <= 2 * std::abs(std::nextafter(wanted, inf) - wanted));
  }
  CHECK(same_bits(computed(op, a, 1), r));  // no lane depends on its neighbours
}

}  // namespace

TEST_CASE(
    "powers are within 1.5 and 2.5 ulp where there are fused multiply-adds, with the same bits in vectors of every "
    "width") {
  check<double>(dtype::f64);
  check<float>(dtype::f32);
}

TEST_CASE("powers by whole numbers are correctly rounded but for a fiftieth of the last place") {
  check_whole<double>(dtype::f64);
  check_whole<float>(dtype::f32);
}

TEST_CASE("powers of zeros, negative numbers, infinities and NaN are C's") {
  check_specials<double>(dtype::f64);
  check_specials<float>(dtype::f32);
}

TEST_CASE("powers by whole numbers over what they are computed from") {
  const auto check = [](auto some, dtype type) {
    using T = decltype(some);
    const block_op op = find_block_op(opcode::power, type, type);
    for (const T n : {T(3), T(-3), T(8), T(-8)}) {
      arguments<T> a;
      // Beside ordinary ones, in the same vectors: zeros, and powers that overflow, underflow and come near either.
      for (int k = 0; k < 256; ++k)
        a.add(k % 5 == 0 ? T(k % 2 ? 0.0 : -0.0)
                         : std::ldexp(T(1 + k), k % 7 == 0 ? (k % 2 ? 1 : -1) * (sizeof(T) == 4 ? 40 : 300) : -4),
              n);
      const std::vector<T> apart = computed(op, a, 256);
      arguments<T> over = a;
      int fault = 0;
      op(over.x.data(), over.x.data(), over.y.data(), nullptr, 256, &fault);
      CHECK(same_bits(over.x, apart));
      CHECK(same_bits(computed(op, a, 1), apart));
      for (std::size_t k = 0; k < apart.size(); k += 5) CHECK(apart[k] == std::pow(a.x[k], n));
    }
  };
  check(1.0f, dtype::f32);
  check(1.0, dtype::f64);
}
