// Quotients and remainders of vectors against the functions for one element, bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "jit/cpu/block.hpp"
#include "jit/prelude/base.h"
#include "jit/prelude/float.h"

using namespace sinter;
using namespace sinter::jit;

namespace {

/// The prelude's type of an element: its 64-bit integers are long long.
template <class T>
using element = std::conditional_t<std::is_same_v<T, std::int64_t>, long long,
                                   std::conditional_t<std::is_same_v<T, std::uint64_t>, unsigned long long, T>>;

template <class T>
T one(opcode op, T a, T b) {
  const element<T> x = a, y = b;
  if (op == opcode::fmod) return T(sn::fmod(x, y));
  return op == opcode::remainder ? T(sn::remainder(x, y)) : T(sn::floor_divide(x, y));
}

template <class T>
bool same_bits(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// All lanes of a block; in place, too, where a lane must not lose its operands before it has been looked at again.
template <class T>
void check(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  alignas(64) T x[block_lanes], y[block_lanes], r[block_lanes];
  int fault = 0;
  for (const opcode op : {opcode::fmod, opcode::remainder, opcode::floor_divide}) {
    const block_op f = find_block_op(op, dtype_of<T>, dtype_of<T>);
    REQUIRE(static_cast<bool>(f));
    for (std::size_t at = 0; at < a.size(); at += block_lanes) {
      const int n = static_cast<int>(std::min<std::size_t>(block_lanes, (a.size() - at) & -lane_multiple));
      if (n == 0) break;
      for (int place = 0; place < 3; ++place) {
        std::memcpy(x, a.data() + at, sizeof(T) * static_cast<std::size_t>(n));
        std::memcpy(y, b.data() + at, sizeof(T) * static_cast<std::size_t>(n));
        T* const to = place == 0 ? r : place == 1 ? x : y;
        f(to, x, y, nullptr, n, &fault);
        int wrong = -1;
        for (int l = 0; l < n && wrong < 0; ++l)
          if (!same_bits(to[l], one(op, a[at + static_cast<std::size_t>(l)], b[at + static_cast<std::size_t>(l)])))
            wrong = l;
        if (wrong < 0) continue;
        const auto k = at + static_cast<std::size_t>(wrong);
        FAIL_CHECK("operation ", static_cast<int>(op), " of ", +a[k], " and ", +b[k], " gives ", +to[wrong], " for ",
                   +one(op, a[k], b[k]), " (place ", place, ")");
        return;
      }
    }
  }
}

template <class T>
void check_integers() {
  std::mt19937_64 draw(7);
  std::vector<T> some = {0,
                         1,
                         2,
                         3,
                         7,
                         T(-1),
                         T(-2),
                         T(-7),
                         std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max(),
                         T(std::numeric_limits<T>::max() - 1),
                         T(std::numeric_limits<T>::min() + 1)};
  std::vector<T> a, b;
  for (const T x : some)
    for (const T y : some) a.push_back(x), b.push_back(y);
  // Bits of all lengths; multiples of the divisor and their neighbours, where a quotient is easily one off. Blocks of
  // 64-bit numbers that are all small take another path: the first half.
  for (int k = 0; k < 40000; ++k) {
    const int most = k < 20000 ? std::min<int>(8 * sizeof(T), 50) : 8 * static_cast<int>(sizeof(T));
    const auto number = [&] {
      const std::uint64_t bits = draw() >> (64 - 1 - draw() % static_cast<unsigned>(most));
      return std::is_signed_v<T> && draw() % 2 ? T(0 - bits) : T(bits);
    };
    const T d = number();
    const element<T> q = number(), multiple = sn::multiply(element<T>(d), q);
    a.push_back(draw() % 2 ? number() : T(sn::add(multiple, element<T>(T(draw() % 3) - T(1)))));
    b.push_back(d);
  }
  check(a, b);
  // One divisor for all.
  for (const T d : some) check(a, std::vector<T>(a.size(), d));
  for (int shift = 1; shift + 1 < static_cast<int>(8 * sizeof(T)); ++shift)
    check(a, std::vector<T>(a.size(), T(T(1) << shift)));
}

/// Blocks of numbers below 2^50 by one divisor, and of some that are just below and above it: multiples and their neighbours.
void check_products() {
  std::mt19937_64 draw(13);
  constexpr std::int64_t limit = std::int64_t{1} << 50;
  for (const std::int64_t d :
       {std::int64_t{3}, std::int64_t{7}, std::int64_t{10}, std::int64_t{86400}, std::int64_t{1000003},
        std::int64_t{3600000000}, (std::int64_t{1} << 49) + 1, limit - 1, limit, limit + 1}) {
    std::vector<std::int64_t> a;
    for (int k = 0; k < 40 * block_lanes; ++k) {
      const std::int64_t most = std::max<std::int64_t>(limit / d, 1);
      const auto q = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(2 * most)) - most;
      const std::int64_t near =
          std::clamp(q * std::min(d, limit) + static_cast<std::int64_t>(draw() % 3) - 1, 1 - limit, limit - 1);
      a.push_back(k % 97 == 0 ? (k % 2 ? limit - 1 : 1 - limit) : near);
    }
    for (int k = 20 * block_lanes; k < 40 * block_lanes; k += block_lanes)
      a[static_cast<std::size_t>(k + k / block_lanes)] = k % 3 == 0 ? limit : k % 3 == 1 ? -limit : -limit - 1;
    check(a, std::vector<std::int64_t>(a.size(), d));
    check(a, std::vector<std::int64_t>(a.size(), -d));
  }
}

template <class T, class Word>
void check_reals() {
  std::mt19937_64 draw(11);
  using limits = std::numeric_limits<T>;
  const std::vector<T> some = {T(0),
                               T(-0.0),
                               T(1),
                               T(-1),
                               T(3),
                               T(0.1),
                               T(-0.1),
                               T(360),
                               limits::infinity(),
                               -limits::infinity(),
                               limits::quiet_NaN(),
                               limits::max(),
                               limits::min(),
                               limits::denorm_min(),
                               -limits::denorm_min(),
                               T(1) / limits::epsilon(),
                               T(2) / limits::epsilon(),
                               T(0.25) / limits::epsilon()};
  std::vector<T> a, b;
  for (const T x : some)
    for (const T y : some) a.push_back(x), b.push_back(y);
  const auto any = [&] {
    const Word bits = static_cast<Word>(draw());
    T x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  };
  const auto near = [&](T size) {
    return std::ldexp(T(1) + T(draw() >> 11) * T(0x1p-53), static_cast<int>(draw() % 60) - 30) * size;
  };
  for (int k = 0; k < 40000; ++k) {
    const T d = near(draw() % 2 ? T(1) : T(-1));
    // Multiples of the divisor and their neighbours, quotients around the largest that are computed at once.
    const T q =
        std::floor(std::ldexp(T(1) + T(draw() >> 11) * T(0x1p-53), static_cast<int>(draw() % (limits::digits + 4))));
    a.push_back(k % 3 == 0   ? any()
                : k % 3 == 1 ? near(T(1))
                             : std::nextafter(d * q, draw() % 2 ? limits::infinity() : T(0)));
    b.push_back(k % 5 == 0 ? any() : d);
    if (k % 7 == 0) a.back() = d * q;
  }
  // Blocks without a special lane, and with them.
  check(a, b);
  for (const T d : some) check(a, std::vector<T>(a.size(), d));
  std::vector<T> large, small;
  for (int k = 0; k < 20000; ++k) {  // next to overflow and underflow
    const T up = std::ldexp(near(T(1)), limits::max_exponent - 40),
            down = std::ldexp(near(T(1)), limits::min_exponent + 5);
    large.push_back(k % 2 ? up : down), small.push_back(k % 4 < 2 ? up / T(3) : down * T(0.3));
  }
  check(large, small);
}

}  // namespace

TEST_CASE("quotients and remainders of integers are those of one element, whatever the lanes hold") {
  check_integers<std::int8_t>();
  check_integers<std::uint8_t>();
  check_integers<std::int16_t>();
  check_integers<std::uint16_t>();
  check_integers<std::int32_t>();
  check_integers<std::uint32_t>();
  check_integers<std::int64_t>();
  check_integers<std::uint64_t>();
}

TEST_CASE("quotients and remainders of real numbers are those of one element, whatever the lanes hold") {
  check_reals<float, std::uint32_t>();
  check_reals<double, std::uint64_t>();
}

TEST_CASE("division of 64-bit integers by one number is exact on both sides of where it is by products") {
  check_products();
}
