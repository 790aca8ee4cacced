// Functions of complex numbers for many lanes at a time: their bounds, the C library's special values, lanes that do not
// depend on each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "jit/cpu/interpreter/block_ops.hpp"

using namespace sinter;
using namespace sinter::jit;

namespace {

using wide = std::complex<long double>;
using finder = block_op (*)(opcode, dtype) noexcept;

struct function {
  std::string name;
  opcode op;
  wide (*of)(const wide&);
};

constexpr long double ln2 = 0.693147180559945309417232121458L, ln10 = 2.30258509299404568401799145468L;

const function functions[] = {
    {"sqrt", opcode::sqrt, [](const wide& z) { return std::sqrt(z); }},
    {"exp", opcode::exp, [](const wide& z) { return std::exp(z); }},
    {"expm1", opcode::expm1,
     [](const wide& z) {
       const long double s = std::sin(z.imag() / 2);
       return wide(std::expm1(z.real()) * std::cos(z.imag()) - 2 * s * s, std::exp(z.real()) * std::sin(z.imag()));
     }},
    {"log", opcode::log, [](const wide& z) { return std::log(z); }},
    {"log2", opcode::log2, [](const wide& z) { return std::log(z) / ln2; }},
    {"log10", opcode::log10, [](const wide& z) { return std::log(z) / ln10; }},
    {"sin", opcode::sin, [](const wide& z) { return std::sin(z); }},
    {"cos", opcode::cos, [](const wide& z) { return std::cos(z); }},
    {"tan", opcode::tan, [](const wide& z) { return std::tan(z); }},
    {"sinh", opcode::sinh, [](const wide& z) { return std::sinh(z); }},
    {"cosh", opcode::cosh, [](const wide& z) { return std::cosh(z); }},
    {"tanh", opcode::tanh, [](const wide& z) { return std::tanh(z); }},
    {"arcsin", opcode::arcsin, [](const wide& z) { return std::asin(z); }},
    {"arccos", opcode::arccos, [](const wide& z) { return std::acos(z); }},
    {"arctan", opcode::arctan, [](const wide& z) { return std::atan(z); }},
    {"arcsinh", opcode::arcsinh, [](const wide& z) { return std::asinh(z); }},
    {"arccosh", opcode::arccosh, [](const wide& z) { return std::acosh(z); }},
    {"arctanh", opcode::arctanh, [](const wide& z) { return std::atanh(z); }},
};

template <class R>
constexpr dtype type_of = sizeof(R) == sizeof(float) ? complex64 : complex128;

template <class R>
struct lanes_of {
  alignas(64) std::complex<R> at[block_lanes];
};

/// How parts are drawn: near 0 and 1, over some orders of magnitude, over nearly all, and special ones.
enum spread { normal, small, some_orders, all_orders, special, spreads };

template <class R>
R draw(std::mt19937_64& random, int how) {
  const double u = std::uniform_real_distribution<double>(-1, 1)(random);
  const double exponent = sizeof(R) == sizeof(float) ? 80 : 600;
  const double specials[] = {0,     -0.0,  1,   -1,  INFINITY, -INFINITY,         NAN, 0.5, 1e30,
                             -1e30, 1e-30, 700, -88, 1e300,    3.141592653589793, 22,  -11};
  switch (how) {
    case normal: return R(std::normal_distribution<double>()(random));
    case small: return R(u * 1e-3);
    case some_orders: return R(std::copysign(std::exp(10 * u), random() % 2 ? u : -u));
    case all_orders: return R(std::copysign(std::exp(exponent * u), random() % 2 ? u : -u));
    default: return R(specials[random() % std::size(specials)]);
  }
}
template <class R>
void fill(lanes_of<R>& z, std::mt19937_64& random, int how, int other) {
  for (auto& v : z.at) v = {draw<R>(random, how), draw<R>(random, other)};
  if (how == normal && other == normal && random() % 2)
    for (auto& v : z.at) v /= std::abs(v);  // on the unit circle, where logarithms cancel
}

bool is_finite(auto z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

template <class R>
bool same_special(R a, R b) {
  return (std::isnan(a) && std::isnan(b)) || (std::isinf(a) && a == b) ||
         (std::isfinite(a) && std::isfinite(b) && (b != 0 || (a == 0 && std::signbit(a) == std::signbit(b))));
}

/// In epsilons of the modulus; 0 where the exact value is no ordinary number of the type.
template <class R>
double error_of(std::complex<R> got, const wide& exact) {
  const long double size = std::abs(exact);
  if (!is_finite(exact) || size < 4 * std::numeric_limits<R>::min() || size > std::numeric_limits<R>::max() / 4)
    return 0;
  const double e =
      static_cast<double>(std::abs(wide(got.real(), got.imag()) - exact) / size / std::numeric_limits<R>::epsilon());
  return e == e ? e : INFINITY;
}

template <class R>
void check_function(const function& f, block_op op) {
  const block_op one = tier0::complex_math_op(f.op, type_of<R>);
  std::mt19937_64 random(7);
  double worst = 0;
  int wrong = 0, neighbours = 0;
  lanes_of<R> z, got, expected, again;
  for (int how = 0; how < spreads; ++how)
    for (int other = 0; other < spreads; ++other)
      for (int repeat = 0; repeat < 12; ++repeat) {
        fill(z, random, how, other);
        op(got.at, z.at, nullptr, nullptr, block_lanes, nullptr);
        one(expected.at, z.at, nullptr, nullptr, block_lanes, nullptr);
        for (int l = 0; l < block_lanes; ++l) {
          const auto g = got.at[l], e = expected.at[l];
          if (!is_finite(e) || how == special || other == special)
            wrong += !same_special(g.real(), e.real()) || !same_special(g.imag(), e.imag());
          if (is_finite(e)) worst = std::max(worst, error_of(g, f.of(wide(z.at[l].real(), z.at[l].imag()))));
        }
        std::reverse_copy(z.at, z.at + block_lanes, again.at);  // in place, and beside other lanes
        op(again.at, again.at, nullptr, nullptr, block_lanes, nullptr);
        std::reverse(again.at, again.at + block_lanes);
        for (int l = 0; l < block_lanes; ++l)
          neighbours += is_finite(got.at[l]) && std::memcmp(&again.at[l], &got.at[l], sizeof got.at[l]) != 0;
      }
  CHECK(worst < 8);
  CHECK(wrong == 0);
  CHECK(neighbours == 0);
}

template <class R>
void check_powers(block_op op) {
  const block_op one = tier0::complex_math_op(opcode::power, type_of<R>);
  std::mt19937_64 random(11);
  double worst = 0;
  int wrong = 0;
  lanes_of<R> a, b, got, expected;
  for (int how = 0; how < spreads; ++how)
    for (int repeat = 0; repeat < 40; ++repeat) {
      fill(a, random, how, how);
      fill(b, random, repeat % 2 ? how : normal, normal);
      if (repeat % 5 == 0)
        for (auto& v : b.at) v = {std::rint(5 * v.real()), 0};
      op(got.at, a.at, b.at, nullptr, block_lanes, nullptr);
      one(expected.at, a.at, b.at, nullptr, block_lanes, nullptr);
      for (int l = 0; l < block_lanes; ++l) {
        const auto g = got.at[l], e = expected.at[l];
        if (!is_finite(e)) {
          wrong += !same_special(g.real(), e.real()) || !same_special(g.imag(), e.imag());
          continue;
        }
        if (repeat % 5 == 0 && std::abs(b.at[l].real()) < 100)
          wrong += std::memcmp(&g, &e, sizeof g) != 0;  // products, as one by one
        const wide exponent = wide(b.at[l].real(), b.at[l].imag()) * std::log(wide(a.at[l].real(), a.at[l].imag()));
        if (std::abs(exponent) < 80) worst = std::max(worst, error_of(g, std::exp(exponent)));
      }
    }
  CHECK(worst < 512);
  CHECK(wrong == 0);
}

void check_all(const std::string& level, finder find) {
  CAPTURE(level);
  if (!find(opcode::exp, complex64)) return;  // a C library without vector functions: the scalar ones serve
  for (const function& f : functions) {
    CAPTURE(f.name);
    const bool found = find(f.op, complex64) != nullptr;
    REQUIRE(found);
    check_function<float>(f, find(f.op, complex64));
    check_function<double>(f, find(f.op, complex128));
  }
  check_powers<float>(find(opcode::power, complex64));
  check_powers<double>(find(opcode::power, complex128));
}

}  // namespace

TEST_CASE("complex functions of many lanes: bounds, special values, independent lanes") {
  check_all("baseline", &tier0::baseline::complex_function_op);
#if SINTER_TIER0_X86
  if (tier0::active_isa() >= tier0::isa::avx2) check_all("avx2", &tier0::avx2::complex_function_op);
  if (tier0::active_isa() >= tier0::isa::avx512) check_all("avx512", &tier0::avx512::complex_function_op);
#endif
}

TEST_CASE("complex functions of many lanes: log1p and exp2 are the logarithm of 1 + z and the exponential of z log 2") {
  std::mt19937_64 random(3);
  lanes_of<double> z, shifted, got, expected;
  fill(z, random, normal, normal);
  const auto run = [](opcode op, const lanes_of<double>& from, lanes_of<double>& to) {
    find_block_op(op, complex128, complex128)(to.at, from.at, nullptr, nullptr, block_lanes, nullptr);
  };
  const auto far = [&](double bound) {
    int n = 0;
    for (int l = 0; l < block_lanes; ++l)
      n += std::abs(got.at[l] - expected.at[l]) > bound * 0x1p-52 * std::abs(expected.at[l]);
    return n;
  };
  for (int l = 0; l < block_lanes; ++l) shifted.at[l] = z.at[l] + 1.0;
  run(opcode::log1p, z, got), run(opcode::log, shifted, expected);
  CHECK(far(0) == 0);
  for (int l = 0; l < block_lanes; ++l) shifted.at[l] = z.at[l] * static_cast<double>(ln2);
  run(opcode::exp2, z, got), run(opcode::exp, shifted, expected);
  CHECK(far(8) == 0);
}
