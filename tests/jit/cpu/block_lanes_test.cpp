// Block operations over whole blocks: independence of lanes, equality across instruction sets, the interpreter; and how
// instructions and programs are emitted.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "jit/cpu/interpreter/block_ops.hpp"
#include "jit/prelude_text.hpp"
#include "jit/program/fault_words.hpp"

using namespace sinter;
using namespace sinter::jit;

namespace {

/// The families of one instruction set.
struct family {
  block_op (*integer)(opcode, dtype) noexcept;
  block_op (*real)(opcode, dtype) noexcept;
  block_op (*cast)(dtype, dtype) noexcept;
  block_op (*division)(opcode, dtype) noexcept;
  block_op find(opcode op, dtype type, dtype arg) const {
    if (op == opcode::cast) return cast(type, arg);
    if (op == opcode::floor_divide || op == opcode::remainder || op == opcode::fmod) return division(op, arg);
    return (is_real_floating(arg) ? real : integer)(op, arg);
  }
};

/// Values of any dtype's register format, special ones among them.
std::vector<unsigned char> random_lanes(dtype t, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<unsigned char> bytes(std::size_t(block_lanes * lane_bytes(t)));
  for (auto& b : bytes) b = static_cast<unsigned char>(random());
  if (t == bool_)
    for (auto& b : bytes) b &= 1;
  auto fill = [&](auto sample, std::size_t count) {
    using T = decltype(sample);
    const T special[] = {0,
                         T(-0.0),
                         1,
                         -1,
                         std::numeric_limits<T>::infinity(),
                         std::numeric_limits<T>::quiet_NaN(),
                         std::numeric_limits<T>::denorm_min(),
                         std::numeric_limits<T>::max(),
                         T(1e5),
                         T(0.5)};
    for (std::size_t k = 0; k < count; ++k) {
      T v = T(std::uniform_real_distribution<double>(-4, 4)(random));
      if (random() % 8 == 0) v = special[random() % 10];
      std::memcpy(bytes.data() + k * sizeof v, &v, sizeof v);
    }
    if (t != float16 && t != bfloat16) return;
    auto* lanes = reinterpret_cast<float*>(bytes.data());
    find_block_op(opcode::cast, t, float32)(lanes, lanes, nullptr, nullptr, block_lanes, nullptr);
  };
  if (t == float64 || t == complex128) fill(double{}, bytes.size() / 8);
  else if (is_inexact(t)) fill(float{}, bytes.size() / 4);
  return bytes;
}

bool is_nan_lane(dtype t, const unsigned char* p) {
  if (t == float64 || t == complex128) {
    double v[2] = {};
    std::memcpy(v, p, std::size_t(lane_bytes(t)));
    return std::isnan(v[0]) || std::isnan(v[1]);
  }
  float v[2] = {};
  if (is_inexact(t)) std::memcpy(v, p, std::size_t(lane_bytes(t)));
  return std::isnan(v[0]) || std::isnan(v[1]);
}
/// Lanes that differ; NaN equals NaN whatever its payload.
int different_lanes(dtype t, const unsigned char* a, const unsigned char* b, int n) {
  int count = 0, width = lane_bytes(t);
  for (int l = 0; l < n; ++l, a += width, b += width)
    count += std::memcmp(a, b, std::size_t(width)) != 0 && !(is_nan_lane(t, a) && is_nan_lane(t, b));
  return count;
}

template <class F>
void for_each_operation(F&& visit) {
  for (int o = int(opcode::cast); o < opcode_count; ++o)
    for (int t = 0; t < dtype_count; ++t)
      for (int a = 0; a < dtype_count; ++a)
        if (block_op f = find_block_op(opcode(o), dtype(t), dtype(a))) visit(opcode(o), dtype(t), dtype(a), f);
}

}  // namespace

TEST_CASE(
    "a lane's result depends on neither its place nor the number of lanes, nor on sharing memory with an operand") {
  int wrong = 0, operations = 0;
  for_each_operation([&](opcode op, dtype type, dtype arg, block_op f) {
    ++operations;
    auto a = random_lanes(op == opcode::select ? bool_ : arg, 1), b = random_lanes(arg, 2), c = random_lanes(arg, 3);
    std::size_t out = std::size_t(lane_bytes(type)), in = std::size_t(lane_bytes(arg));
    std::size_t first = op == opcode::select ? 1 : in;
    std::vector<unsigned char> whole(out * block_lanes), piece(out * block_lanes);
    int fault = 0;
    f(whole.data(), a.data(), b.data(), c.data(), block_lanes, &fault);
    for (int l = 0; l < block_lanes; l += lane_multiple) {
      auto at = std::size_t(l);
      // one lane earlier within the block, where there is one
      std::vector<unsigned char> x(a.begin() + std::ptrdiff_t(at * first),
                                   a.begin() + std::ptrdiff_t((at + 16) * first));
      auto y =
          std::vector<unsigned char>(b.begin() + std::ptrdiff_t(at * in), b.begin() + std::ptrdiff_t((at + 16) * in));
      auto z =
          std::vector<unsigned char>(c.begin() + std::ptrdiff_t(at * in), c.begin() + std::ptrdiff_t((at + 16) * in));
      std::rotate(x.begin(), x.begin() + std::ptrdiff_t(first), x.end());
      std::rotate(y.begin(), y.begin() + std::ptrdiff_t(in), y.end());
      std::rotate(z.begin(), z.begin() + std::ptrdiff_t(in), z.end());
      f(piece.data() + at * out, x.data(), y.data(), z.data(), lane_multiple, &fault);
      auto begin = piece.begin() + std::ptrdiff_t(at * out);
      std::rotate(begin, begin + std::ptrdiff_t(15 * out), begin + std::ptrdiff_t(16 * out));
    }
    int bad = different_lanes(type, whole.data(), piece.data(), block_lanes);
    if (out == first) {
      auto shared = a;
      f(shared.data(), shared.data(), b.data(), c.data(), block_lanes, &fault);
      bad += different_lanes(type, whole.data(), shared.data(), block_lanes);
    }
    if (bad) MESSAGE(std::string(name(op)) << " " << name(type) << " from " << name(arg) << ": " << bad << " lanes");
    wrong += bad;
  });
  CHECK(wrong == 0);
  CHECK(operations > 900);
}

namespace {

/// Lanes of arguments in the domains of most special functions: shapes, many of them small, and in the last operand, every other
/// time, probabilities.
template <class T>
std::vector<T> special_lanes(int seed, bool chances) {
  std::mt19937_64 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<T> lanes(block_lanes);
  for (T& x : lanes) {
    const double u = unit(random);
    x = static_cast<T>(chances ? u : u < 0.25 ? 4 * u : 25 * u);
  }
  return lanes;
}

/// How many lanes of a special function differ from the same lane among its own copies.
template <class T>
int lanes_that_differ_alone(opcode op, block_op f) {
  const int operands = operand_count(op);
  int wrong = 0, fault = 0;
  for (const bool chances : {false, true}) {
    std::vector<T> x[3], whole(block_lanes), alone(lane_multiple), copies[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = special_lanes<T>(k, chances && k + 1 == operands);
      copies[k].resize(lane_multiple);
    }
    f(whole.data(), x[0].data(), x[1].data(), x[2].data(), block_lanes, &fault);
    for (std::size_t l = 0; l < whole.size(); ++l) {
      for (int k = 0; k < 3; ++k) std::fill(copies[k].begin(), copies[k].end(), x[k][l]);
      f(alone.data(), copies[0].data(), copies[1].data(), copies[2].data(), lane_multiple, &fault);
      wrong += std::memcmp(&alone[0], &whole[l], sizeof(T)) != 0 && !(std::isnan(alone[0]) && std::isnan(whole[l]));
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("a lane of a special function does not depend on its neighbours, wherever in the domain these are") {
  std::vector<tier0::isa> levels{tier0::isa::baseline};
#if SINTER_TIER0_X86
  if (tier0::active_isa() >= tier0::isa::avx2 && __builtin_cpu_supports("fma")) levels.push_back(tier0::isa::avx2);
  if (tier0::active_isa() >= tier0::isa::avx512) levels.push_back(tier0::isa::avx512);
#endif
  int functions = 0;
  for (int o = 0; o < opcode_count; ++o) {
    if (!is_special(opcode(o))) continue;
    ++functions;
    CAPTURE(std::string(name(opcode(o))));
    for (const tier0::isa level : levels) {
      CAPTURE(static_cast<int>(level));
      CHECK(lanes_that_differ_alone<float>(opcode(o), tier0::special_op(level, opcode(o), float32)) == 0);
      CHECK(lanes_that_differ_alone<double>(opcode(o), tier0::special_op(level, opcode(o), float64)) == 0);
    }
  }
  CHECK(functions > 70);
}

TEST_CASE("a lane alone has the bits that it has among others, and nothing beside it is written") {
  int wrong = 0, operations = 0;
  for_each_operation([&](opcode op, dtype type, dtype arg, block_op f) {
    if (!takes_one_lane(op, type, arg)) return;
    ++operations;
    auto a = random_lanes(op == opcode::select ? bool_ : arg, 7), b = random_lanes(arg, 8), c = random_lanes(arg, 9);
    const auto out = std::size_t(lane_bytes(type)), in = std::size_t(lane_bytes(arg));
    const std::size_t first = op == opcode::select ? 1 : in;
    std::vector<unsigned char> whole(out * block_lanes), alone(out * (block_lanes + 1), 0xa5);
    int fault = 0, bad = 0;
    f(whole.data(), a.data(), b.data(), c.data(), block_lanes, &fault);
    for (std::size_t l = 0; l < block_lanes; ++l) {
      f(alone.data() + l * out, a.data() + l * first, b.data() + l * in, c.data() + l * in, 1, &fault);
      for (std::size_t k = 0; k < out; ++k) bad += alone[(l + 1) * out + k] != 0xa5;
    }
    bad += different_lanes(type, whole.data(), alone.data(), block_lanes);
    if (bad) MESSAGE(std::string(name(op)) << " " << name(type) << " from " << name(arg) << ": " << bad << " lanes");
    wrong += bad;
  });
  CHECK(wrong == 0);
  CHECK(operations > 500);
}

#if SINTER_TIER0_X86
TEST_CASE("all instruction sets agree to the bit on everything that is not a libmvec function") {
  auto level = tier0::active_isa();
  int wrong = 0;
  auto compare = [&](dtype type, dtype arg, block_op f, block_op g, opcode op) {
    auto a = random_lanes(op == opcode::select ? bool_ : arg, 4), b = random_lanes(arg, 5), c = random_lanes(arg, 6);
    std::vector<unsigned char> r(std::size_t(lane_bytes(type) * block_lanes)), s = r;
    int fault = 0;
    f(r.data(), a.data(), b.data(), c.data(), block_lanes, &fault);
    g(s.data(), a.data(), b.data(), c.data(), block_lanes, &fault);
    int bad = different_lanes(type, r.data(), s.data(), block_lanes);
    if (bad) MESSAGE(std::string(name(op)) << " " << name(type) << " from " << name(arg) << ": " << bad << " lanes");
    wrong += bad;
  };
  auto by_libmvec = [](opcode op, dtype arg) {
    return is_real_floating(arg) &&
           ((op >= opcode::cbrt && op <= opcode::arctanh && op != opcode::reciprocal) || op == opcode::power ||
            op == opcode::arctan2 || op == opcode::hypot || op == opcode::logaddexp);
  };
  for_each_operation([&](opcode op, dtype type, dtype arg, block_op) {
    if (by_libmvec(op, arg)) return;
    if (is_special(op)) {
      block_op plain = tier0::special_op(tier0::isa::baseline, op, type);
      if (level >= tier0::isa::avx2 && __builtin_cpu_supports("fma"))
        compare(type, arg, plain, tier0::special_op(tier0::isa::avx2, op, type), op);
      if (level >= tier0::isa::avx512) compare(type, arg, plain, tier0::special_op(tier0::isa::avx512, op, type), op);
      return;
    }
    if (is_complex(arg) && op != opcode::cast) {
      block_op plain = tier0::baseline::complex_op(op, arg);
      if (plain && level >= tier0::isa::avx2) compare(type, arg, plain, tier0::avx2::complex_op(op, arg), op);
      return;
    }
#define FAMILY(isa) family{tier0::isa::integer_op, tier0::isa::real_op, tier0::isa::cast_op, tier0::isa::division_op}
    block_op plain = FAMILY(baseline).find(op, type, arg);
    if (!plain) return;
    if (level >= tier0::isa::avx2) compare(type, arg, plain, FAMILY(avx2).find(op, type, arg), op);
    if (level >= tier0::isa::avx512) compare(type, arg, plain, FAMILY(avx512).find(op, type, arg), op);
#undef FAMILY
  });
  CHECK(wrong == 0);
}
#endif

namespace {

instr make(opcode op, dtype type, dtype arg, int a = 0, int b = 0, int c = 0) {
  instr i{op, type, arg};
  i.a = std::uint16_t(a), i.b = std::uint16_t(b), i.c = std::uint16_t(c);
  return i;
}

}  // namespace

TEST_CASE("the interpreter: loads, uniform inputs, parameters, gathers, coordinates and the epilogue of a reduction") {
  program p;
  p.params = 2;
  p.param_types = {float32, int64};
  p.inputs.resize(3);
  p.inputs[0].type = p.inputs[1].type = float32;
  p.inputs[2].type = float16;
  p.code = {make(opcode::load, float32, float32, 0), make(opcode::load, float32, float32, 1),
            make(opcode::param, float32, float32, 0), make(opcode::coord, int64, int64, 0),
            make(opcode::checked_index, int64, int64, 3, 1, 1)};
  p.inputs[2].gathers = 1;
  p.inputs[2].gather[0] = 4;
  p.code.push_back(make(opcode::load, float16, float16, 2));         // 5
  p.code.push_back(make(opcode::multiply, float32, float32, 0, 1));  // 6
  p.code.push_back(make(opcode::add, float32, float32, 6, 2));       // 7
  p.code.push_back(make(opcode::cast, float32, float16, 5));         // 8
  p.code.push_back(make(opcode::add, float32, float32, 7, 8));       // 9
  p.outputs = {{float32, 0, 9}, {int64, 0, 4}};
  p.epilogue = std::uint16_t(p.code.size());

  float x[32], uniform = 3, scalar = 0.5f, out[32];
  std::int64_t coordinate[32], offset[32], index[32], extent = 8;
  std::uint16_t table[8];
  float values[8];
  for (int k = 0; k < 8; ++k) values[k] = float(k) * 0.25f;
  narrow_f16(table, values, 8);
  for (int l = 0; l < 32; ++l) x[l] = float(l), coordinate[l] = l % 8 - 8 * (l % 2), offset[l] = 0;
  const void* inputs[] = {x, &uniform, table};
  const std::int64_t* offsets[] = {nullptr, nullptr, offset};
  const std::int64_t strides[3][2] = {{0, 0}, {0, 0}, {1, 0}};
  const void* params[] = {&scalar, &extent};
  const std::int64_t* coords[] = {coordinate};
  void* outputs[] = {out, index};
  int faults[fault_words] = {};
  int& fault = faults[0];
  block_args args{inputs, offsets, strides, params, coords, outputs, nullptr, faults, 32};
  std::vector<std::uint64_t> scratch(interpreter_scratch_bytes(p) / 8 + 8);
  block_variant v;
  v.uniform = 2;
  for (int repeat = 0; repeat < 2; ++repeat) interpret(p, v, args, nullptr, scratch.data());
  CHECK(fault == 0);
  for (int l = 0; l < 32; ++l) {
    CHECK(index[l] == (coordinate[l] + 8) % 8);
    CHECK(out[l] == float(l) * 3 + 0.5f + float(l % 8) * 0.25f);
  }
  extent = 4;
  interpret(p, v, args, nullptr, scratch.data());
  CHECK(fault == 1);
  CHECK(faults[1] == 4);  // the axis is a parameter; here the extent's
  std::int64_t value = 0, size = 0;
  std::memcpy(&value, faults + 2, sizeof value);
  std::memcpy(&size, faults + 4, sizeof size);
  CHECK((value < -4 || value >= 4));
  CHECK(size == 4);

  program r;
  r.kind = kernel_kind::reduce;
  r.inputs.resize(1);
  r.inputs[0].type = float32;
  r.code = {make(opcode::load, float32, float32, 0), make(opcode::square, float32, float32, 0),
            make(opcode::reduced, float32, float32, 0), make(opcode::sqrt, float32, float32, 2)};
  r.epilogue = 2;
  r.reductions = {{reduce_op::sum, float32, float32, 0, 1}};
  r.outputs = {{float32, 0, 3}};
  void* one[] = {out};
  args.outputs = one;
  interpret(r, {}, args, nullptr, scratch.data());
  CHECK(out[7] == 49);
  const void* reduced[] = {x};
  interpret(r, {true, 0}, args, reduced, scratch.data());
  CHECK(out[16] == 4);
}

TEST_CASE("instructions are spelt with the rounding of their dtype") {
  CHECK(call_expression(make(opcode::add, float32, float32), "a", "b") == "sn::add(a, b)");
  CHECK(call_expression(make(opcode::add, float16, float16), "a", "b") == "sn::round_f16(sn::add(a, b))");
  CHECK(call_expression(make(opcode::maximum, bfloat16, bfloat16), "a", "b") == "sn::maximum(a, b)");
  CHECK(call_expression(make(opcode::nextafter, bfloat16, bfloat16), "a", "b") == "sn::nextafter_bf16(a, b)");
  CHECK(call_expression(make(opcode::cast, float16, float64), "a") == "sn::to_f16(a)");
  CHECK(call_expression(make(opcode::cast, bfloat16, float16), "a") == "sn::round_bf16(a)");
  CHECK(call_expression(make(opcode::cast, float16, complex64), "a") == "sn::round_f16(sn::real(a))");
  CHECK(call_expression(make(opcode::cast, bool_, int8), "a") == "sn::cast<bool>(a)");
  CHECK(call_expression(make(opcode::power, int32, int32), "a", "b") == "sn::power(a, b, fault)");
  CHECK(call_expression(make(opcode::less, bool_, float16), "a", "b") == "sn::less(a, b)");
  CHECK(needed_parts(make(opcode::add, int32, int32)) == prelude_base);
  CHECK((needed_parts(make(opcode::sin, complex64, complex64)) & prelude_complex_math) != 0);
  CHECK(prelude_source(prelude_half).find("round_f16") != std::string::npos);
  CHECK(prelude_text("no such part").empty());
}

TEST_CASE("the key of a program tells apart whatever changes its code, and its label names it") {
  program p;
  p.code = {make(opcode::load, float32, float32), make(opcode::sin, float32, float32),
            make(opcode::subtract, float32, float32, 0, 1)};
  p.epilogue = 3;
  p.outputs = {{float32, 0, 2}};
  program q = p;
  std::string a, b;
  p.append_key(a);
  q.append_key(b);
  CHECK(a == b);
  q.flags.fast_math = true;
  b.clear();
  q.append_key(b);
  CHECK(a != b);
  CHECK(p.label() == "sin_sub");
  q.clear();
  CHECK(q.label() == "copy");
  for (int k = 0; k < 40; ++k) p.code.push_back(make(k % 2 ? opcode::multiply : opcode::logaddexp, float32, float32));
  CHECK(p.label().size() <= 60);
}
