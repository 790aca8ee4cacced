// What elements are: the transforms against long double, one result on every instruction set, values that stay.
#include <bit>
#include <cstring>
#include <random>

#include "jit/cpu/block.hpp"
#include "jit/cpu/interpreter/block_ops.hpp"
#include "ops/random/reference.hpp"

using namespace sinter;
using sinter::random::draw_kw;
using sinter::random::generator;

namespace {

constexpr long double pi = 3.141592653589793238462643383279502884L;

/// -log of a uniform number that is (h | 1) / 2^bits.
long double minus_log_of(std::uint64_t h, int bits) {
  const auto odd = static_cast<long double>(h | 1), all = std::ldexp(1.0L, bits);
  return odd < all / 2 ? -std::log(odd / all) : -std::log1p(-(all - odd) / all);
}

struct pair_of {
  long double first, second;
};
/// Box and Muller's transform with the angle taken from `turn`, a signed number of 2^bits / 8 of a turn, and two bits.
pair_of box_muller(long double minus_log, long double turn, unsigned choice) {
  const long double r = std::sqrt(2 * minus_log), s = std::sin(turn * pi / 4), c = std::cos(turn * pi / 4);
  const long double either = choice & 2 ? -c : c;
  return choice & 1 ? pair_of{r * s, r * either} : pair_of{r * either, r * s};
}

double off_by(double got, long double wanted) { return double(std::fabs((got - wanted) / wanted)); }

std::vector<std::uint64_t> random_words(std::size_t n, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::uint64_t> all(n);
  for (auto& w : all) w = engine();
  return all;
}

}  // namespace

TEST_CASE("random: standard normals are Box and Muller's transform of the words") {
  double narrow = 0, wide = 0;
  for (const std::uint64_t h : random_words(300000, 1)) {
    const auto a = unsigned(h), b = unsigned(h >> 32);
    // In float32 the uniform number is rounded first.
    const long double u = float(a | 1);
    const auto n = sn::normal_pair(a, b);
    const auto x = box_muller(-std::log(u / 4294967296.0L), int(b) / 2147483648.0L, b);
    if (u < 4290000000.0L) narrow = std::max({narrow, off_by(n.first, x.first), off_by(n.second, x.second)});
    const std::uint64_t other = h * 0x9e3779b97f4a7c15u + 1;
    const auto d = sn::normal_pair(sn::random_words{a, b, unsigned(other), unsigned(other >> 32)});
    const auto y =
        box_muller(minus_log_of(h, 64), static_cast<long double>(std::int64_t(other)) / 0x1p63L, unsigned(other));
    wide = std::max({wide, off_by(d.first, y.first), off_by(d.second, y.second)});
  }
  CHECK(narrow < 4e-7);
  CHECK(wide < 6e-16);
  // Both ends of u, and around the step where it is rounded to 1: the square root's arguments are in its domain.
  for (const unsigned a : {0u, 1u, 2u, 0xffffff7eu, 0xffffff7fu, 0xffffff80u, 0xfffffffeu, 0xffffffffu}) {
    CAPTURE(a);
    const float m = sn::minus_two_log<false>(a);
    CHECK(m > 1e-8f);
    CHECK(m <= 44.3614197f);
    CHECK(std::isfinite(sn::normal_pair(a, 12345).first));
  }
}

TEST_CASE("random: exponential variates are -log of a uniform number, as exact where it is next to 1") {
  double narrow = 0, wide = 0;
  auto look = [&](std::uint64_t h) {
    const double e = 0.5 * sn::minus_two_log<true>(unsigned(h));
    narrow = std::max(narrow, off_by(e, minus_log_of(unsigned(h), 32)));
    wide = std::max(wide, off_by(sn::minus_log(unsigned(h), unsigned(h >> 32)), minus_log_of(h, 64)));
  };
  for (const std::uint64_t h : random_words(300000, 2)) look(h);
  for (std::uint64_t k = 0; k < 5000; ++k) {
    look(k);
    look(~k);
    look((k << 32) | k);
    look(~((k << 32) | k));
  }
  CHECK(narrow < 5e-7);
  CHECK(wide < 6e-16);
  CHECK(0.5f * sn::minus_two_log<true>(0) == doctest::Approx(32 * std::log(2.0)));
  CHECK(sn::minus_log(0, 0) == doctest::Approx(64 * std::log(2.0)));
}

TEST_CASE("random: uniform numbers are the upper bits of a word, below 1") {
  CHECK(sn::unit_float(0) == 0);
  CHECK(sn::unit_float(0xffffffffu) == 1 - 0x1p-24f);
  CHECK(sn::unit_float(0x000001ffu) == 0x1p-24f);
  CHECK(sn::unit_double(0, 0) == 0);
  CHECK(sn::unit_double(0xffffffffu, 0xffffffffu) == 1 - 0x1p-53);
  for (const std::uint64_t h : random_words(10000, 3))
    REQUIRE(sn::unit_double(unsigned(h), unsigned(h >> 32)) == double(h >> 11) * 0x1p-53);
}

TEST_CASE("random: the logarithms, exponentials and factorials of rejections are exact enough") {
  double logs = 0, exps = 0, near = 0;
  std::mt19937_64 engine(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int k = 0; k < 200000; ++k) {
    const double t = uniform(engine), x = std::ldexp(1 + t * t, int(t * 900));
    logs = std::max(logs, std::fabs(double(sn::random_log(x) - std::log(static_cast<long double>(x)))) /
                              std::max(1.0, std::fabs(std::log(x))));
    exps = std::max(exps, off_by(sn::random_exp(t * 690), std::exp(static_cast<long double>(t * 690))));
    near = std::max(near, off_by(sn::random_log1p(t * 0.9), std::log1p(static_cast<long double>(t * 0.9))));
  }
  CHECK(logs < 3e-16);
  CHECK(exps < 3e-16);
  CHECK(near < 6e-16);
  CHECK(sn::random_exp(-701) == 0);
  CHECK(sn::random_exp(0) == 1);
  for (const double k : {0., 1., 2., 5., 9., 10., 11., 50., 1e3, 1e6}) {
    const long double n = k, rest = std::lgamma(n + 1) - (n + 0.5L) * std::log(n + 1) + (n + 1) - std::log(2 * pi) / 2;
    CHECK(std::fabs(double(sn::stirling_rest(k) - rest)) < 2e-12 + 1e-18 * k);
  }
}

TEST_CASE("random: every instruction set gives the same bits, wherever the lanes are in their draw") {
  using jit::block_op, jit::opcode;
  constexpr int n = jit::block_lanes;
  struct family {
    const char* name;
    block_op (*find)(opcode, dtype) noexcept;
  };
  std::vector<family> families{{"baseline", jit::tier0::baseline::random_op}};
#if SINTER_TIER0_X86
  const auto isa = jit::tier0::active_isa();
  if (isa >= jit::tier0::isa::avx2 && __builtin_cpu_supports("fma"))
    families.push_back({"avx2", jit::tier0::avx2::random_op});
  if (isa >= jit::tier0::isa::avx512) families.push_back({"avx512", jit::tier0::avx512::random_op});
#endif
  std::vector<std::vector<std::int64_t>> positions(5, std::vector<std::int64_t>(n));
  for (int l = 0; l < n; ++l) {
    positions[0][std::size_t(l)] = l;
    positions[1][std::size_t(l)] = 4 * 0xffffffffLL - 100 + l;  // the low word of the counter overflows
    positions[2][std::size_t(l)] = 3 * l + 1;
    positions[3][std::size_t(l)] = 1000 - l;
    positions[4][std::size_t(l)] = l < 250 ? l + 7 : 256;  // padding repeats the last lane
  }
  int compared = 0;
  for (int op = int(opcode::random_bits); op < jit::opcode_count; ++op)
    for (int t = 0; t < dtype_count; ++t) {
      const auto o = opcode(op);
      const auto type = dtype(t);
      const block_op first = families[0].find(o, type);
      if (!first) continue;
      ++compared;
      // Parameters that make every branch run: shapes below and above 1, means below and above 10, some refused.
      std::vector<std::uint64_t> b(n), c(n);
      for (int l = 0; l < n; ++l) {
        const double x = o == opcode::random_poisson ? l * l * 0.01 : 0.05 + l % 40 * 0.1, p = l / 256.0;
        if (o == opcode::random_below && type == dtype::u32) {
          const std::uint32_t range = l % 5 == 0 ? 0xffffffffu : l % 3 == 0 ? 0xc0000000u : 9u;
          std::memcpy(reinterpret_cast<char*>(b.data()) + 4 * l, &range, 4);
        } else if (o == opcode::random_below) {
          b[std::size_t(l)] = l % 5 == 0 ? ~std::uint64_t{0} : l % 3 == 0 ? 3ull << 62 : 9;
        } else if (o == opcode::random_binomial) {
          b[std::size_t(l)] = std::uint64_t(l * l);
          std::memcpy(&c[std::size_t(l)], &p, 8);
        } else if (type == dtype::f32) {
          const float y = float(x);
          std::memcpy(reinterpret_cast<char*>(b.data()) + 4 * l, &y, 4);
          std::memcpy(reinterpret_cast<char*>(c.data()) + 4 * l, &y, 4);
        } else {
          std::memcpy(&b[std::size_t(l)], &x, 8);
          std::memcpy(&c[std::size_t(l)], &x, 8);
        }
      }
      for (const auto& position : positions) {
        const jit::random_source source{position.data(), 0x123456789abcdef0u, 17, 3};
        std::vector<std::uint64_t> wanted(n), got(n);
        int fault = 0;
        first(wanted.data(), &source, b.data(), c.data(), n, &fault);
        CHECK(fault == 0);
        for (const family& f : families) {
          CAPTURE(f.name);
          CAPTURE(op);
          f.find(o, type)(got.data(), &source, b.data(), c.data(), n, &fault);
          CHECK(std::memcmp(got.data(), wanted.data(), std::size_t(n * jit::lane_bytes(type))) == 0);
        }
      }
    }
  CHECK(compared == 16);
}

TEST_CASE("random: the values of a seed stay") {
  const draw_kw f32{.dtype = float32};
  auto bits = [](const ndarray& x) {
    std::vector<std::uint64_t> out;
    if (x.dtype() == float32)
      for (const float v : x.to_vector<float>()) out.push_back(std::bit_cast<std::uint32_t>(v));
    else if (x.dtype() == float64)
      for (const double v : x.to_vector<double>()) out.push_back(std::bit_cast<std::uint64_t>(v));
    else
      for (const std::int64_t v : x.to_vector<std::int64_t>()) out.push_back(std::uint64_t(v));
    return out;
  };
  using list = std::vector<std::uint64_t>;
  generator g(20260101);
  CHECK(bits(g.random(3, f32)) == list{0x3eda7246, 0x3f0af7b2, 0x3eff18d2});
  CHECK(bits(g.random(3)) == list{0x3fe9b67971789d13, 0x3fe523d2e95a79c4, 0x3fde3d83420e5666});
  CHECK(bits(g.standard_normal(4, f32)) == list{0x3fee03bf, 0xbebacacd, 0x3e086f5a, 0x3f962fda});
  CHECK(bits(g.standard_normal(4)) ==
        list{0xbfadd5291f10d2b6, 0x3fe3b8f8d817aeaf, 0x3fd3b86740868a04, 0xbfe46291cae75d3f});
  CHECK(bits(g.standard_exponential(3, f32)) == list{0x3eaf5914, 0x3f7f6e14, 0x3faec797});
  CHECK(bits(g.standard_exponential(3)) == list{0x4004bb16f6f21a87, 0x3fe4a524616a5a4a, 0x3ffe69021938c39f});
  CHECK(bits(g.integers(-5, 1000, 4)) == list{0x1d6, 0x2c5, 0x297, 0x37});
  CHECK(bits(g.integers(0, 0xc000000000000000u, 3, {.dtype = uint64}).astype(int64)) ==
        list{0x1e61fdc80bd41c0, 0x81d04b10b24afef3, 0xae91b22c8331f35f});
  CHECK(bits(g.laplace(0, 1, 3)) == list{0x3ff93014aaec74d0, 0xbfe23eb19c9792ce, 0x3fd92f2eab4d610e});
  CHECK(bits(g.gamma(0.3, 1, 3)) == list{0x3fb14cbdd65b5997, 0x3f241f784bf6d5bf, 0x3fb4d5b57af9d993});
  CHECK(bits(g.gamma(7.5, 1, 3)) == list{0x400ea2d31bb26f35, 0x4015fb6bb8ea9061, 0x401b0ce2b35e10e8});
  CHECK(bits(g.beta(0.5, 2.5, 3)) == list{0x3fbfc2e45042d005, 0x3fb574b7c6a7eca1, 0x3fc5a0a8ddfc0eb4});
  CHECK(bits(g.poisson(4.5, 4)) == list{0x5, 0x3, 0x3, 0x3});
  CHECK(bits(g.poisson(1234.5, 4)) == list{0x4dd, 0x4e2, 0x4a5, 0x4e4});
  CHECK(bits(g.binomial(20, 0.7, 4)) == list{0xf, 0xd, 0xd, 0xd});
  CHECK(bits(g.binomial(1000000, 0.4, 4)) == list{0x61a68, 0x61a9a, 0x619fa, 0x61bcd});
}

TEST_CASE("random: float16 and bfloat16 are float32 draws, rounded; other dtypes are refused") {
  generator g(6);
  const auto narrow = g.normal(1, 2, 100, {.dtype = float32});
  CHECK(array_equal(generator(6).normal(1, 2, 100, {.dtype = float16}), narrow.astype(float16)));
  CHECK(array_equal(generator(6).normal(1, 2, 100, {.dtype = bfloat16}), narrow.astype(bfloat16)));
  CHECK(generator(6).random(3, {.dtype = float16}).dtype() == float16);
  CHECK(generator(6).random(3).dtype() == float64);
  CHECK_THROWS_AS(g.random(3, {.dtype = int32}), dtype_error);
  CHECK_THROWS_AS(g.gamma(1, 1, 3, {.dtype = complex64}), dtype_error);
}

TEST_CASE("random: sizes, parameters and devices are checked") {
  generator g(7);
  CHECK(g.random().shape() == shape_t{});
  CHECK(g.random({}).shape() == shape_t{});
  CHECK(g.random(0).shape() == shape_t{0});
  CHECK(g.random({2, 0, 3}).size() == 0);
  CHECK(g.random(std::vector<int>{2, 3}).shape() == shape_t{2, 3});
  CHECK(g.normal(zeros({3, 1}), ones(4)).shape() == shape_t{3, 4});
  CHECK(g.normal(zeros(4), 1.0, {3, 4}).shape() == shape_t{3, 4});
  CHECK_THROWS_AS(g.normal(zeros({3, 4}), 1.0, {4}), shape_error);
  CHECK_THROWS_AS(g.normal(zeros(3), zeros(4)), shape_error);
  CHECK_THROWS_AS(g.random({2, -1}), shape_error);
  CHECK_THROWS_WITH_AS(g.normal(0, -1.0, 3), doctest::Contains("[normal] scale"), value_error);
  CHECK_THROWS_AS(g.exponential(-1.0, 3), value_error);
  CHECK_THROWS_AS(g.laplace(0, -0.5), value_error);
  CHECK_THROWS_AS(g.lognormal(0, -0.5), value_error);
  CHECK_THROWS_AS(g.uniform(1, 0), value_error);
  CHECK_THROWS_AS(g.uniform(0, INFINITY), value_error);
  CHECK_THROWS_AS(g.gamma(-1), value_error);
  CHECK_THROWS_AS(g.gamma(NAN), value_error);
  CHECK_THROWS_AS(g.beta(0, 1), value_error);
  CHECK_THROWS_AS(g.poisson(-1.0), value_error);
  CHECK_THROWS_AS(g.poisson(1e19), value_error);
  CHECK_THROWS_AS(g.binomial(-1, 0.5), value_error);
  CHECK_THROWS_AS(g.binomial(1, 1.5), value_error);
  CHECK_THROWS_AS(g.binomial(1.0, 0.5), dtype_error);
  CHECK_THROWS_AS(g.random(3, {.device = "nowhere"}), device_error);
}

TEST_CASE("random: a refused element of an array of parameters is reported at the next synchronisation") {
  generator g(8);
  for (const auto& draw : {g.gamma(array({1.0, -1.0})), g.beta(array({1.0, 0.0}), 1.0), g.poisson(array({3.0, NAN})),
                           g.binomial(array({3, -3}), 0.5), g.binomial(3, array({0.5, 1.5}))})
    CHECK_THROWS_WITH_AS(draw.to_vector<double>(), doctest::Contains("[random]"), value_error);
  CHECK(g.gamma(array({0.0, 2.0})).to_vector<double>()[0] == 0);
  CHECK_NOTHROW(synchronize());
}
