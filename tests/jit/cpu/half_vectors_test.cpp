// Operations on 16-bit floats: compiled loops over vectors give the bits of the interpreter, whatever the lanes' layout in memory.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "jit/cpu/compiled_kernels.hpp"
#include "jit/cpu/emit.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter_test::on_host;

namespace {

/// Numbers of all sizes, zeros of both signs, ends of the range, NaN.
ndarray numbers(std::int64_t n, dtype t, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x;
  const float some[] = {0.0f,
                        -0.0f,
                        1.0f,
                        -1.0f,
                        65504.0f,
                        -65504.0f,
                        6e-8f,
                        -6e-8f,
                        6.1e-5f,
                        2049.0f,
                        0.333f,
                        std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN()};
  for (std::int64_t k = 0; k < n; ++k) {
    const float size =
        std::ldexp(1.0f + static_cast<float>(random() % 2048) / 2048, static_cast<int>(random() % 30) - 20);
    x.push_back(random() % 16 == 0 ? some[random() % std::size(some)] : random() % 2 ? size : -size);
  }
  return on_host(array(x).astype(t));
}

ndarray numbers_of_all_bits(dtype t) { return on_host(arange(65536).astype(uint16).view(t)); }

std::vector<std::uint8_t> bits_of(const ndarray& x) {
  const ndarray wide = is_inexact(x.dtype()) && itemsize(x.dtype()) == 2 ? x.astype(float32) : x;
  std::vector<std::uint8_t> out;
  if (wide.dtype() == float32) {
    for (float v : ravel(wide).to_vector<float>()) {
      if (v != v) v = std::numeric_limits<float>::quiet_NaN();  // signs and payloads of NaN are open
      const auto* b = reinterpret_cast<const std::uint8_t*>(&v);
      out.insert(out.end(), b, b + sizeof v);
    }
  } else {
    for (const double v : ravel(wide.astype(float64)).to_vector<double>()) {
      const auto* b = reinterpret_cast<const std::uint8_t*>(&v);
      out.insert(out.end(), b, b + sizeof v);
    }
  }
  return out;
}

/// What all checks make, interpreted and then compiled: what has been compiled is interpreted no more.
struct comparison {
  bool compiled = false;
  std::vector<std::vector<std::uint8_t>> made;
  std::size_t at = 0;
  void operator()(const char* what, const std::function<std::vector<ndarray>()>& f) {
    CAPTURE(what);
    for (int again = 0; again < (compiled ? 2 : 1); ++again) {
      const std::size_t first = at;
      for (const ndarray& x : f()) {
        if (!compiled) made.push_back(bits_of(x));
        else CHECK(bits_of(x) == made[at]);
        ++at;
      }
      if (compiled && again == 0) at = first;
    }
  }
};

void check_all(dtype t, comparison& check) {
  CAPTURE(name(t));
  for (const std::int64_t n : {7, 16, 250, 1003, 5000}) {
    CAPTURE(n);
    const ndarray x = numbers(n, t, 1), y = numbers(n, t, 2), z = numbers(2 * n, t, 3), m = on_host(x > y);
    const ndarray f = on_host(arange(n).astype(float32) * 0.37), i = on_host(arange(n));
    check("a chain", [&] { return std::vector{2.5 * x + y - x * y}; });
    check("every operation", [&] {
      const ndarray a = x / y, b = sqrt(abs(x)) - square(y), c = maximum(x, y) + minimum(x, -y), d = reciprocal(y);
      return std::vector{
          a, b, c, d, sign(x) * y, where(abs(x) > 6, sign(x) * 6, x), floor(x) + ceil(y) + trunc(x) + rint(y)};
    });
    check("comparisons and choices", [&] {
      const ndarray less = x < y, both = (x >= 0) & (y != 0), none = logical_not(isnan(x) | (x == y));
      return std::vector{less, both, none, where(m, x, 0) * 1.1 + y, where(less, x, y), (x <= y).astype(t) * y};
    });
    check("truth of several widths", [&] {
      const ndarray half = x > 1, single = f > 3, whole = i % 3 == 0,
                    other = y.astype(t == float16 ? bfloat16 : float16);
      return std::vector{half & single,
                         single | (x == y),
                         where(half & single, x, y),
                         where(half, f, 2 * f),
                         where(single, x, 1) + x,
                         where(half, single, x < y),
                         where(single, half, y > 0),
                         where(whole, half, single),
                         half.astype(float32) + f,
                         logical_not(half) & (other > 0),
                         other + 1,
                         logical_and(x, y),
                         logical_not(x),
                         logical_or(x, f)};
    });
    check("exponentials of all numbers", [&] {
      const ndarray all = numbers_of_all_bits(t);
      return std::vector{exp(all), all / (1 + exp(-all)), exp(all * 0.5) - exp(all).astype(float32),
                         max(exp(reshape(all, {256, 256})), 1)};
    });
    check("calls between", [&] {
      return std::vector{0.5 * x * (1 + tanh(0.8 * (x + 0.04 * x * x * x))), exp(-y) + x};
    });
    check("other widths", [&] {
      return std::vector{(x.astype(float32) * f + 1).astype(t) - y,
                         (x + y).astype(float32),
                         (f * 2).astype(t),
                         x * i.astype(t),
                         (x * 2).astype(int32),
                         where(i % 3 == 0, x, y + 1),
                         (x.astype(float64) * 3).astype(t) + x,
                         (x + 1).astype(bool_)};
    });
    check("every other element, and backwards", [&] {
      return std::vector{z(slice(_, _, 2)) * x + y, z(slice(_, _, -2)) - x, x(slice(_, _, -1)) * 2};
    });
    check("elements by index", [&] { return std::vector{take(x, (i * 7) % n) * y + 1, roll(x, 3) + x}; });
    check("written where it lies", [&] {
      ndarray a = x.copy(), b = z.copy(), c = y.copy();
      a *= y;
      a += 1;
      b(slice(_, _, 2)) = x * 2;
      c(slice(1, _)) = c(slice(_, -1)) * 2;
      return std::vector{a, b, c};
    });
    check("sums", [&] {
      return std::vector{sum(x * 0.001, {.dtype = float32}), max(where(isnan(x), 0, x) * y), any(x > y)};
    });
  }
  const ndarray a = numbers(24 * 40, t, 4).reshape({24, 40}), row = numbers(40, t, 5),
                column = numbers(24, t, 6).reshape({24, 1});
  check("rows and columns", [&] { return std::vector{a * row + column, a.T() * column.T() - 1, (a + a(0)) * row(0)}; });
  const ndarray each = numbers_of_all_bits(t);
  for (const int shift : {0, 1, 77, 1024, 4097, 21845}) {
    const ndarray next = on_host(roll(each, shift));
    check("every number", [&] {
      return std::vector{each + next * 1, each - next * 1, each * (next * 1), each / (next * 1), sqrt(each * 1)};
    });
  }
  // Steps of many columns at once, more than the arrays of a block have.
  const ndarray wide = numbers(9 * 3001, t, 7).reshape({9, 3001}), other = numbers(9 * 3001, t, 8).reshape({9, 3001});
  check("few long rows", [&] {
    return std::vector{sum(wide, 0), mean(wide, 0), sum(where(abs(wide) < 100, wide, 1).astype(t) * 2 + other, 0)};
  });
  check("standardised rows", [&] {
    const ndarray tame = where(abs(a) < 100, a, 1).astype(t), d = tame - mean(tame, 1, {.keepdims = true});
    return std::vector{d / sqrt(mean(d * d, 1, {.keepdims = true}) + 0.001) * row};
  });
}

}  // namespace

TEST_CASE("chains of float16 and bfloat16 have the bits of the interpreter") {
  const cpu::tier before = cpu::get_tier();
  comparison check;
  for (const cpu::tier t : {cpu::tier::interpreted, cpu::tier::compiled}) {
    cpu::set_tier(t);
    check.compiled = t == cpu::tier::compiled;
    check.at = 0;
    check_all(float16, check);
    check_all(bfloat16, check);
  }
  cpu::set_tier(before);
}

TEST_CASE("chains of float16 are loops over vectors that call nothing") {
  if (!jit::has_half_vectors()) return;
  jit::program p;
  p.kind = jit::kernel_kind::elementwise;
  p.inputs.resize(2);
  p.inputs[0].type = p.inputs[1].type = dtype::f16;
  const auto add = [&](jit::opcode op, std::uint16_t a, std::uint16_t b) {
    jit::instr i{};
    i.op = op, i.type = i.arg = dtype::f16, i.a = a, i.b = b;
    p.code.push_back(i);
  };
  add(jit::opcode::load, 0, 0);
  add(jit::opcode::load, 1, 0);
  add(jit::opcode::multiply, 0, 1);
  add(jit::opcode::add, 2, 1);
  p.outputs.resize(1);
  p.outputs[0].type = dtype::f16, p.outputs[0].reg = 3;
  CHECK(jit::external_operations(p, {}).empty());
  CHECK(jit::takes_halves(p, {}));
  const jit::cpu_definition one{&p, {}, nullptr, "chain"};
  const std::string text = jit::emit_cpu({&one, 1});
  CHECK(text.find("sn_round_half(sn_add(") != std::string::npos);
}
