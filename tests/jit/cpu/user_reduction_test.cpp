// Users' reductions on the CPU backend: the order of sums, types of preambles, every shape, every number of threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "jit/cpu/block.hpp"
#include "sinter/error.hpp"
#include "support/users/harness.hpp"

using namespace cpu_test;

namespace {

const std::pair<std::int64_t, std::int64_t> sizes[] = {
    {1, 1},     {3, 1},      {1, 3},     {1000, 3},  {100, 63}, {70, 64},    {70, 65},
    {40, 100},  {9, 128},    {5, 257},   {3, 2048},  {2, 2049}, {300, 300},  {1, 5000},
    {4, 20000}, {1, 300000}, {130, 130}, {700, 257}, {256, 40}, {129, 1000}, {17, 6000}};

jit::user_reduction monoid(const std::string& name, const jit::user_parameter& value, const std::string& combine,
                           const std::string& identity) {
  jit::user_reduction r;
  r.name = name;
  r.value = value;
  r.combine = combine;
  r.identity = identity;
  return r;
}

/// A (results, reduced) matrix reduced along its last axis, or a (reduced, results) one along its first.
launch matrix(const program& p, std::int64_t results, std::int64_t reduced, bool rows) {
  return space(p, {results, reduced}, 1, rows);
}
dims matrix_strides(std::int64_t results, std::int64_t reduced, bool rows) {
  return rows ? dims{reduced, 1} : dims{1, results};
}

template <class T>
T element(const std::vector<T>& data, std::int64_t results, std::int64_t reduced, bool rows, std::int64_t result,
          std::int64_t e) {
  return data[static_cast<std::size_t>(rows ? result * reduced + e : e * results + result)];
}

template <class T, class Out = T>
std::vector<Out> reduced_by(const program& p, const std::vector<T>& data, std::int64_t results, std::int64_t reduced,
                            bool rows) {
  std::vector<Out> out(static_cast<std::size_t>(results));
  launch l = matrix(p, results, reduced, rows);
  l.inputs = {at(data, matrix_strides(results, reduced, rows))};
  l.outputs = {at(out, {1, 0})};
  return in_all_ways(l, out);
}

template <class T>
program by_text(const std::string& combine, const std::string& identity) {
  user_builder b;
  b.combine(monoid("text", value_of("", dtype_of<T>), combine, identity), b.load(dtype_of<T>));
  return b.reductions();
}
template <class T>
program built_in(reduce_op op) {
  builder b;
  b.reduce(op, dtype_of<T>, b.load(dtype_of<T>));
  return b.reductions();
}

}  // namespace

TEST_CASE(
    "a user's sum has the bits of the sum: the order is the same at every shape, and on every number of threads") {
  if (no_compiler()) return;
  const program mine = by_text<float>("a + b", "-0.0f"), theirs = built_in<float>(reduce_op::sum);
  const program wide = by_text<double>("a + b", "-0.0"), wide_sum = built_in<double>(reduce_op::sum);
  for (const auto& size : sizes)
    for (bool rows : {true, false}) {
      const auto results = size.first, reduced = size.second;
      CAPTURE(results);
      CAPTURE(reduced);
      CAPTURE(rows);
      auto data = random_values<float>(static_cast<std::size_t>(results * reduced), -1, 2, 1);
      CHECK(
          same_bits(reduced_by(mine, data, results, reduced, rows), reduced_by(theirs, data, results, reduced, rows)));
      std::vector<double> numbers(data.begin(), data.end());
      CHECK(same_bits(reduced_by(wide, numbers, results, reduced, rows),
                      reduced_by(wide_sum, numbers, results, reduced, rows)));
    }
}

TEST_CASE("a layout that takes other paths gives a user's reduction the same bits") {
  if (no_compiler()) return;
  const program p = by_text<float>("a + b + a * b * 0.125f", "0");
  for (const auto& size : sizes)
    for (bool rows : {true, false}) {
      const auto results = size.first, reduced = size.second;
      if (reduced % 6 != 0 && reduced > 300) continue;
      CAPTURE(results);
      CAPTURE(reduced);
      auto data = random_values<float>(static_cast<std::size_t>(results * reduced), -0.5, 0.5, 2);
      const auto expected = reduced_by(p, data, results, reduced, rows);
      std::vector<float> padded(2 * data.size() + 2), out(static_cast<std::size_t>(results));
      for (std::size_t i = 0; i < data.size(); ++i) padded[2 * i + 1] = data[i];
      launch l = matrix(p, results, reduced, rows);
      l.inputs = {at(padded, rows ? dims{2 * reduced, 2} : dims{2, 2 * results}, 1)};
      l.outputs = {at(out, {1, 0})};
      CHECK(same_bits(in_all_ways(l, out), expected));
      if (!rows || reduced % 6 != 0) continue;
      launch s = space(p, {results, reduced / 6, 6}, 1, rows);
      s.inputs = {at(padded, {2 * reduced, 12, 2}, 1)};
      s.outputs = {at(out, {1, 0, 0})};
      CHECK(same_bits(in_all_ways(s, out), expected));
    }
}

TEST_CASE("users' reductions over integers, truth values and complex numbers") {
  if (no_compiler()) return;
  for (const auto& size : sizes)
    for (bool rows : {true, false}) {
      const auto results = size.first, reduced = size.second;
      if (results * reduced > 100000) continue;
      CAPTURE(results);
      CAPTURE(reduced);
      const auto n = static_cast<std::size_t>(results * reduced);
      std::vector<std::int8_t> small(n);
      std::vector<std::uint64_t> large(n);
      std::vector<std::complex<float>> numbers(n);
      for (std::size_t k = 0; k < n; ++k) {
        small[k] = static_cast<std::int8_t>(k * 37);
        large[k] = k * 0x9e3779b97f4a7c15ull;
        numbers[k] = {static_cast<float>(k % 5), static_cast<float>(k % 3)};
      }
      const auto wrapped = reduced_by(by_text<std::int8_t>("a + b", "0"), small, results, reduced, rows);
      const auto mixed = reduced_by(by_text<std::uint64_t>("a ^ b", "0"), large, results, reduced, rows);
      const auto totals = reduced_by(by_text<std::complex<float>>("a + b", "0"), numbers, results, reduced, rows);
      user_builder b;
      auto bit = b.emit(opcode::signbit, dtype::b1, dtype::f32,
                        b.emit(opcode::cast, dtype::f32, dtype::i8, b.load(dtype::i8)));
      b.combine(monoid("parity", value_of("", dtype::b1), "a != b", "false"), bit);
      const auto odd = reduced_by<std::int8_t, unsigned char>(b.reductions(), small, results, reduced, rows);
      bool right = true;
      for (std::int64_t r = 0; r < results; ++r) {
        std::int8_t s = 0;
        std::uint64_t x = 0;
        std::complex<float> c = 0;
        bool parity = false;
        for (std::int64_t e = 0; e < reduced; ++e) {
          s = static_cast<std::int8_t>(s + element(small, results, reduced, rows, r, e));
          x ^= element(large, results, reduced, rows, r, e);
          c += element(numbers, results, reduced, rows, r, e);
          parity = parity != (element(small, results, reduced, rows, r, e) < 0);
        }
        const auto k = static_cast<std::size_t>(r);
        right = right && wrapped[k] == s && mixed[k] == x && totals[k] == c && odd[k] == parity;
      }
      CHECK(right);
    }
}

TEST_CASE("half types are combined as float32 and rounded once at the end") {
  if (no_compiler()) return;
  for (dtype t : {dtype::f16, dtype::bf16}) {
    user_builder b;
    b.combine(monoid("halves", value_of("", t), "a + b", "-0.0f"), b.load(t));
    const program mine = b.reductions();
    builder c;
    c.reduce(reduce_op::sum, t, c.load(t));
    const program theirs = c.reductions();
    for (std::int64_t reduced : {5, 80, 3000}) {
      const auto n = static_cast<std::size_t>(32 * reduced);
      auto numbers = random_values<float>(n, 0, 4, 3);
      std::vector<std::uint16_t> data(n), out(32), expected(32);
      for (std::size_t k = 0; k < n; k += 16)
        (t == dtype::f16 ? jit::narrow_f16 : jit::narrow_bf16)(&data[k], &numbers[k], 16);
      for (auto [p, to] : {std::pair{&mine, &out}, {&theirs, &expected}}) {
        launch l = matrix(*p, 32, reduced, true);
        l.inputs = {at(data, {reduced, 1})};
        l.outputs = {at(*to, {1, 0})};
        in_all_ways(l, *to);
      }
      CHECK(same_bits(out, expected));
    }
  }
}

TEST_CASE("types of a preamble live between a mapping, its reduction and what finishes the results") {
  if (no_compiler()) return;
  const std::string preamble =
      "struct best { double value; long long at; };\n"
      "__device__ best better(best a, best b) { return b.value < a.value || (b.value == a.value && b.at < a.at) ? b : "
      "a; }";
  auto map = function_text("pair_up", {value_of("x", dtype::f32), value_of("i", dtype::i64)},
                           {opaque_value("p", "best")}, "p = best{x * x, i};");
  auto finish =
      function_text("take_apart", {opaque_value("p", "best"), value_of("scale", dtype::f64)},
                    {value_of("value", dtype::f64), value_of("at", dtype::i64)}, "value = p.value * scale; at = p.at;");
  auto combined = monoid("lowest", opaque_value("", "best"), "better(a, b)", "best{1e300, 0x7fffffffffffffff}");
  for (std::string* text : {&map.preamble, &finish.preamble, &combined.preamble}) *text = preamble;
  user_builder b;
  auto x = b.load(dtype::f32), i = b.coord(1);
  b.combine(combined, b.call(map, {x, i}));
  b.end_elements();
  auto value = b.call(finish, {b.reduced(0), b.param(dtype::f64)});
  const program p = b.results({b.unary(opcode::sqrt, dtype::f64, value), static_cast<std::uint16_t>(value + 1)});
  for (const auto& size : sizes)
    for (bool rows : {true, false}) {
      const auto results = size.first, reduced = size.second;
      CAPTURE(results);
      CAPTURE(reduced);
      CAPTURE(rows);
      auto data = random_values<float>(static_cast<std::size_t>(results * reduced), -9, 9, 4);
      for (auto& v : data) v = std::round(v * 50) / 50;  // ties
      std::vector<double> values(static_cast<std::size_t>(results));
      std::vector<std::int64_t> where(values.size());
      launch l = matrix(p, results, reduced, rows);
      l.inputs = {at(data, matrix_strides(results, reduced, rows))};
      l.outputs = {at(values, {1, 0}), at(where, {1, 0})};
      l.params = {number(4)};
      const auto got = in_all_ways(l, where);
      bool right = true;
      for (std::int64_t r = 0; r < results; ++r) {
        double lowest = 1e300;
        std::int64_t at_element = 0;
        for (std::int64_t e = 0; e < reduced; ++e) {
          const float v = element(data, results, reduced, rows, r, e);
          if (const double square = static_cast<float>(v * v); square < lowest) lowest = square, at_element = e;
        }
        const auto k = static_cast<std::size_t>(r);
        right = right && got[k] == at_element && values[k] == std::sqrt(lowest * 4);
      }
      CHECK(right);
    }
}

TEST_CASE("types of a preamble from 1 to 32 bytes, beside other reductions, are combined lane by lane") {
  if (no_compiler()) return;
  const std::pair<const char*, int> types[] = {{"struct lane { unsigned char v[1]; };", 1},
                                               {"struct lane { unsigned char v[3]; };", 3},
                                               {"struct lane { unsigned char v[12]; };", 12},
                                               {"struct lane { unsigned char v[32]; };", 32}};
  for (const auto& type : types) {
    CAPTURE(type.second);
    const std::string count = std::to_string(type.second);
    const std::string preamble = std::string(type.first) +
                                 "\n__device__ lane sum(lane a, lane b) { lane c; for (int k = 0; k < " + count +
                                 "; ++k) c.v[k] = a.v[k] + b.v[k]; return c; }";
    auto map = function_text("spread", {value_of("x", dtype::u8)}, {opaque_value("p", "lane")},
                             "for (int k = 0; k < " + count + "; ++k) p.v[k] = x * (k + 1);");
    auto finish = function_text(
        "check", {opaque_value("p", "lane")}, {value_of("z", dtype::i32)},
        "z = p.v[0]; for (int k = 0; k < " + count + "; ++k) if (p.v[k] != (unsigned char)(p.v[0] * (k + 1))) z = -1;");
    auto combined = monoid("sums", opaque_value("", "lane"), "sum(a, b)", "lane{}");
    for (std::string* text : {&map.preamble, &finish.preamble, &combined.preamble}) *text = preamble;
    user_builder b;
    auto x = b.load(dtype::u8);
    auto mapped = b.call(map, {x});
    b.combine(combined, mapped);
    b.reduce(reduce_op::sum, dtype::u8, x);
    b.combine(monoid("highest", value_of("", dtype::u8), "max(a, b)", "0"), x);
    b.end_elements();
    auto z = b.call(finish, {b.reduced(0)});
    auto sum = b.reduced(1), highest = b.reduced(2);
    const program p = b.results({z, sum, highest});
    for (const auto& size : {std::pair<std::int64_t, std::int64_t>{40, 10}, {3, 5000}, {300, 200}, {1, 70000}})
      for (bool rows : {true, false}) {
        const auto results = size.first, reduced = size.second;
        CAPTURE(results);
        CAPTURE(reduced);
        std::vector<unsigned char> data(static_cast<std::size_t>(results * reduced));
        for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<unsigned char>(k * 11 + k / 256);
        std::vector<std::int32_t> sums(static_cast<std::size_t>(results));
        std::vector<unsigned char> expected(sums.size()), most(sums.size());
        launch l = matrix(p, results, reduced, rows);
        l.inputs = {at(data, matrix_strides(results, reduced, rows))};
        l.outputs = {at(sums, {1, 0}), at(expected, {1, 0}), at(most, {1, 0})};
        in_all_ways(l, sums);
        bool right = true;
        for (std::int64_t r = 0; r < results; ++r) {
          unsigned char s = 0, m = 0;
          for (std::int64_t e = 0; e < reduced; ++e) {
            const unsigned char v = element(data, results, reduced, rows, r, e);
            s = static_cast<unsigned char>(s + v);
            m = std::max(m, v);
          }
          const auto k = static_cast<std::size_t>(r);
          right = right && sums[k] == s && expected[k] == s && most[k] == m;
        }
        CHECK(right);
      }
  }
}

TEST_CASE("a user's reduction of nothing is its identity, finished as every other result") {
  if (no_compiler()) return;
  user_builder b;
  b.combine(monoid("products", value_of("", dtype::f64), "a * b", "1.5 - 0.5"), b.load(dtype::f64));
  b.end_elements();
  const program p = b.results({b.call(
      function_text("twice", {value_of("x", dtype::f64)}, {value_of("z", dtype::f64)}, "z = 2 * x;"), {b.reduced(0)})});
  for (bool rows : {true, false}) {
    std::vector<double> none, out(5);
    launch l = matrix(p, 5, 0, rows);
    l.inputs = {at(none, {0, 0})};
    l.outputs = {at(out, {1, 0})};
    CHECK(in_all_ways(l, out) == std::vector<double>(5, 2.0));
  }
}

TEST_CASE("a type of a preamble that is too large, and a reduction that does not compile, are refused by name") {
  if (no_compiler()) return;
  auto message = [](const jit::user_reduction& r, const jit::user_function& map) {
    user_builder b;
    b.combine(r, b.call(map, {b.load(dtype::f32)}));
    b.end_elements();
    auto f = function_text("finish", {r.value}, {value_of("z", dtype::f32)}, "z = 1;");
    f.inputs[0].name = "p";
    f.preamble = r.preamble;
    const program p = b.results({b.call(f, {b.reduced(0)})});
    std::vector<float> data(10), out(1);
    launch l = matrix(p, 1, 10, true);
    l.inputs = {at(data, {10, 1})};
    l.outputs = {at(out, {1, 0})};
    try {
      run(l);
    } catch (const compile_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  auto large = monoid("too_large", opaque_value("", "big"), "a", "big{}");
  auto map = function_text("make_big", {value_of("x", dtype::f32)}, {opaque_value("p", "big")}, "p = big{};");
  large.preamble = map.preamble = "struct big { double v[5]; };";
  const std::string text = message(large, map);
  CAPTURE(text);
  CHECK(text.find("at most 32 bytes") != std::string::npos);
  auto wrong = monoid("wrong_sum", value_of("", dtype::f32), "a +\n b + c", "0");
  const std::string second =
      message(wrong, function_text("same", {value_of("x", dtype::f32)}, {value_of("z", dtype::f32)}, "z = x;"));
  CAPTURE(second);
  CHECK(second.rfind("[wrong_sum] ", 0) == 0);
  CHECK(second.find("wrong_sum reduction:2:") != std::string::npos);
}

TEST_CASE("a user's reduction reads arrays whole, and its mapping and finishing fuse with other operations") {
  if (no_compiler()) return;
  auto map = function_text(
      "distance",
      {value_of("i", dtype::i64), value_of("j", dtype::i64), whole("x", dtype::f64, 1), whole("y", dtype::f64, 1)},
      {value_of("d", dtype::f64)}, "d = fabs(x[i] - y(j));");
  user_builder b;
  auto i = b.coord(0), j = b.coord(1), x = b.address(dtype::f64, 1), y = b.address(dtype::f64, 1);
  b.combine(monoid("nearest", value_of("", dtype::f64), "min(a, b)", "1e308"),
            b.unary(opcode::exp, dtype::f64, b.call(map, {i, j, x, y})));
  b.end_elements();
  const program p = b.results({b.unary(opcode::log, dtype::f64, b.reduced(0))});
  auto u = random_values<double>(37, 0, 9, 5), v = random_values<double>(500, 0, 9, 6);
  std::vector<double> out(37);
  launch l = matrix(p, 37, 500, true);
  l.inputs = {at(u, {0, 0}), at(v, {0, 0})};
  l.outputs = {at(out, {1, 0})};
  l.params = {number(37, dtype::i64), number(500, dtype::i64)};
  in_all_ways(l, out);
  for (std::size_t k = 0; k < 37; ++k) {
    double least = 1e308;
    for (double w : v) least = std::min(least, std::fabs(u[k] - w));
    CHECK(std::fabs(out[k] - least) < 1e-14);
  }
}
