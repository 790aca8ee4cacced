// Users' functions on the CPU backend, driven with hand-built programs: values, whole arrays, effects, text around loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "jit/cpu/block.hpp"
#include "runtime/hooks.hpp"
#include "support/users/harness.hpp"

using namespace cpu_test;

namespace {

constexpr int lengths[] = {1, 2, 15, 16, 17, 100, 255, 256, 257, 300, 511, 512, 513, 1000, 5000};

std::vector<std::int64_t> upto(std::int64_t n) {
  std::vector<std::int64_t> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// A launch over n elements in a row.
launch row_of(const program& p, std::int64_t n, std::vector<jit::operand> inputs, std::vector<jit::operand> outputs,
              std::vector<jit::scalar> params = {}) {
  launch l = space(p, {n});
  l.inputs = std::move(inputs);
  l.outputs = std::move(outputs);
  l.params = std::move(params);
  return l;
}

jit::scalar whole_number(std::int64_t v) { return number(static_cast<double>(v), dtype::i64); }

const dtype all_types[] = {dtype::b1,   dtype::i8,  dtype::i16, dtype::i32, dtype::i64,
                           dtype::u8,   dtype::u16, dtype::u32, dtype::u64, dtype::f16,
                           dtype::bf16, dtype::f32, dtype::f64, dtype::c64, dtype::c128};

}  // namespace

TEST_CASE("a user's function fuses with what is around it, at every length, and writes nothing else") {
  if (no_compiler()) return;
  auto f = function_text("axpy", {value_of("a", dtype::f32), value_of("x", dtype::f32), value_of("y", dtype::f32)},
                         {value_of("z", dtype::f32)}, "z = a * x; if (x > 0) z = z + y;");
  user_builder b;
  auto a = b.param(dtype::f32), x = b.load(dtype::f32), y = b.load(dtype::f32);
  auto z = b.call(f, {a, b.unary(opcode::negative, dtype::f32, x), y});
  const program p = b.elementwise({b.binary(opcode::subtract, dtype::f32, b.unary(opcode::exp, dtype::f32, z), y)});
  for (int n : lengths) {
    CAPTURE(n);
    const auto size = static_cast<std::size_t>(n);
    auto u = random_values<float>(size, -1, 1, 1), v = random_values<float>(size, -1, 1, 2);
    std::vector<float> out(size + 2, 7.0f);
    launch l = row_of(p, n, {at(u, {1}), at(v, {1})}, {at(out, {1}, 1)}, {number(1.5)});
    auto got = in_all_ways(l, out);
    float edge;
    std::memset(&edge, 0x5a, sizeof edge);
    CHECK((got[0] == edge && got[size + 1] == edge));
    float worst = 0;
    for (std::size_t k = 0; k < size; ++k) {
      float t = 1.5f * -u[k];
      if (-u[k] > 0) t = t + v[k];
      worst = std::max(worst, std::fabs(got[k + 1] - (std::exp(t) - v[k])));
    }
    CHECK(worst < 2e-6f);
  }
}

TEST_CASE("a user's function that returns its result is the same as one that assigns it") {
  if (no_compiler()) return;
  auto f = function_text("clip", {value_of("x", dtype::f64)}, {value_of("z", dtype::f64)},
                         "if (x < 0) return 0; return x * x;");
  f.returns = true;
  auto g = function_text("clip", {value_of("x", dtype::f64)}, {value_of("z", dtype::f64)}, "z = x < 0 ? 0 : x * x");
  g.body += "\n;";
  auto u = random_values<double>(700, -1, 1, 3);
  std::vector<double> first(700), second(700);
  for (auto [text, out] : {std::pair{&f, &first}, {&g, &second}}) {
    user_builder b;
    const program p = b.elementwise({b.call(*text, {b.load(dtype::f64)})});
    launch l = row_of(p, 700, {at(u, {1})}, {at(*out, {1})});
    in_all_ways(l, *out);
  }
  CHECK(same_bits(first, second));
  CHECK(first[0] == (u[0] < 0 ? 0 : u[0] * u[0]));
}

TEST_CASE("values of every dtype reach a user's function and come back as they are") {
  if (no_compiler()) return;
  for (dtype t : all_types) {
    CAPTURE(name(t));
    auto f = function_text("same", {value_of("x", t)}, {value_of("z", t)}, "T y = x; z = y");
    f.types = std::string("typedef ") +
              (t == dtype::c64    ? "complex64"
               : t == dtype::c128 ? "complex128"
                                  : "decltype(x_type)") +
              " T;";
    if (!is_complex(t)) f.types = "", f.body = "const auto y = x; z = y;";
    f.body += ";";
    user_builder b;
    const program p = b.elementwise({b.call(f, {b.load(t)})});
    std::vector<unsigned char> in(300 * itemsize(t)), out(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<unsigned char>(t == dtype::b1 ? k % 2 : k % 60);
    launch l = row_of(p, 300, {at(in, {1})}, {at(out, {1})});
    CHECK(same_bits(in, in_all_ways(l, out)));
  }
}

TEST_CASE("results of half types are rounded to the type before anybody reads them") {
  if (no_compiler()) return;
  for (dtype t : {dtype::f16, dtype::bf16}) {
    CAPTURE(name(t));
    auto third = function_text("third", {value_of("x", t)}, {value_of("z", t)}, "z = x / 3.0f;");
    user_builder b;
    auto x = b.load(t), z = b.call(third, {x}), wide = b.emit(opcode::cast, dtype::f32, t, z);
    const program p = b.elementwise({z, wide});
    user_builder c;
    auto y = c.load(t), three = c.param(t);
    const program q = c.elementwise({c.binary(opcode::divide, t, y, three)});
    std::vector<float> numbers = random_values<float>(272, -100, 100, 4), spread(272);
    std::vector<std::uint16_t> bits(272), got(272), expected(272);
    (t == dtype::f16 ? jit::narrow_f16 : jit::narrow_bf16)(bits.data(), numbers.data(), 272);
    launch l = row_of(p, 272, {at(bits, {1})}, {at(got, {1}), at(spread, {1})});
    in_all_ways(l, got);
    run(row_of(q, 272, {at(bits, {1})}, {at(expected, {1})}, {number(3)}));
    CHECK(same_bits(got, expected));
    std::vector<float> back(272);
    (t == dtype::f16 ? jit::widen_f16 : jit::widen_bf16)(back.data(), got.data(), 272);
    CHECK(same_bits(back, spread));
  }
}

TEST_CASE("complex numbers have operators, constructors and functions in users' text") {
  if (no_compiler()) return;
  auto f = function_text(
      "turn", {value_of("x", dtype::c128), value_of("y", dtype::c64)}, {value_of("z", dtype::c128)},
      "complex128 i(0, 1); z = i * x + 2.0 * conj(x) - complex128(y) / 4.0; if (abs(x) == 0) z = exp(i);");
  user_builder b;
  const program p = b.elementwise({b.call(f, {b.load(dtype::c128), b.load(dtype::c64)})});
  std::vector<std::complex<double>> x(100), out(100);
  std::vector<std::complex<float>> y(100);
  for (int k = 0; k < 100; ++k) x[std::size_t(k)] = {k * 0.5, -1.0 * k}, y[std::size_t(k)] = {4.0f * k, 8.0f};
  launch l = row_of(p, 100, {at(x, {1}), at(y, {1})}, {at(out, {1})});
  auto got = in_all_ways(l, out);
  bool right = std::abs(got[0] - std::complex<double>(std::cos(1.0), std::sin(1.0))) < 1e-15;
  for (int k = 1; k < 100; ++k)
    right = right && got[std::size_t(k)] == std::complex<double>(k + k - k, 0.5 * k + 2 * k - 2);
  CHECK(right);
}

TEST_CASE("functions of several outputs: any of them read, in other stages, twice, or not at all") {
  if (no_compiler()) return;
  auto f = function_text("parts", {value_of("x", dtype::f64)},
                         {value_of("whole", dtype::i32), value_of("rest", dtype::f64), value_of("big", dtype::b1)},
                         "whole = int(floor(x)); rest = x - whole; big = x > 2;");
  user_builder b;
  auto x = b.load(dtype::f64);
  auto first = b.call(f, {b.unary(opcode::cbrt, dtype::f64, x)});
  auto rest = static_cast<std::uint16_t>(first + 1), big = static_cast<std::uint16_t>(first + 2);
  auto sine = b.unary(opcode::sin, dtype::f64, rest);
  auto picked = b.emit(opcode::select, dtype::f64, dtype::f64, big, rest, sine);
  const program p = b.elementwise({first, rest, picked, rest});
  auto u = random_values<double>(1000, 0, 30, 5);
  std::vector<double> rests(1000), picks(1000), again(1000);
  std::vector<std::int32_t> wholes(1000);
  launch l = row_of(p, 1000, {at(u, {1})}, {at(wholes, {1}), at(rests, {1}), at(picks, {1}), at(again, {1})});
  auto got = in_all_ways(l, picks);
  bool right = same_bits(rests, again);
  for (std::size_t k = 0; k < 1000; ++k) {
    const double c = wholes[k] + rests[k];
    right = right && std::fabs(c - std::cbrt(u[k])) < 1e-15 * 4 && rests[k] >= 0 && rests[k] < 1;
    right = right && std::fabs(got[k] - (c > 2 ? rests[k] : std::sin(rests[k]))) < 1e-15;
  }
  CHECK(right);
  // One output only.
  user_builder c;
  const program q = c.elementwise({static_cast<std::uint16_t>(c.call(f, {c.load(dtype::f64)}) + 2)});
  std::vector<unsigned char> flags(1000);
  launch m = row_of(q, 1000, {at(u, {1})}, {at(flags, {1})});
  in_all_ways(m, flags);
  bool flagged = true;
  for (std::size_t k = 0; k < 1000; ++k) flagged = flagged && flags[k] == (u[k] > 2);
  CHECK(flagged);
}

TEST_CASE("whole arrays are read by position and by coordinates, at every rank and dtype") {
  if (no_compiler()) return;
  auto f = function_text(
      "stencil",
      {whole("x", dtype::f32, 2), whole("s", dtype::f64, 0), whole("w", dtype::i16, 1), value_of("i", dtype::i64)},
      {value_of("z", dtype::f64)},
      "long long r = i / x.shape(1), c = i % x.shape(1);\n"
      "double sum = 0;\n"
      "for (int k = 0; k < w.size(); ++k) if (c + k < x.shape(1)) sum += w[k] * x(r, c + k);\n"
      "z = sum * s() + x.ndim + 100 * s.size() + x[i];");
  user_builder b;
  auto x = b.address(dtype::f32, 2), s = b.address(dtype::f64, 0), w = b.address(dtype::i16, 1);
  auto i = b.load(dtype::i64);
  const program p = b.elementwise({b.call(f, {x, s, w, i})});
  const std::int64_t rows = 20, columns = 37;
  auto data = random_values<float>(rows * columns + 3, -1, 1, 6);
  std::vector<double> scale{0, 3}, out(rows * columns);
  std::vector<std::int16_t> weights{5, 1, -2, 7};
  auto index = upto(rows * columns);
  launch l = row_of(p, rows * columns, {at(data, {0}, 3), at(scale, {0}, 1), at(weights, {0}, 1), at(index, {1})},
                    {at(out, {1})}, {whole_number(rows), whole_number(columns), whole_number(3)});
  auto got = in_all_ways(l, out);
  bool right = true;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        if (c + k < columns) sum += weights[std::size_t(k + 1)] * data[std::size_t(3 + r * columns + c + k)];
      right = right && got[std::size_t(r * columns + c)] == sum * 3 + 2 + 100 + data[std::size_t(3 + r * columns + c)];
    }
  CHECK(right);

  for (dtype t : all_types) {
    CAPTURE(name(t));
    auto turn =
        function_text("turned", {whole("x", t, 3), value_of("i", dtype::i64)}, {value_of("z", t)},
                      "const long long n = x.shape(2);\nz = x(i / n % x.shape(0), i / n / x.shape(0), n - 1 - i % n);");
    user_builder c;
    auto whole_x = c.address(t, 3);
    const program q = c.elementwise({c.call(turn, {whole_x, c.coord(0)})});
    const std::size_t each = itemsize(t);
    std::vector<unsigned char> in(4 * 5 * 6 * each), back(in.size()), expected(in.size());
    for (std::size_t k = 0; k < in.size(); ++k)
      in[k] = static_cast<unsigned char>(t == dtype::b1 ? k % 3 == 0 : (k * 7) % 60);
    for (std::size_t k = 0; k < 120; ++k) {
      const std::size_t first = k / 6 % 4, second = k / 24, third = 5 - k % 6;
      std::memcpy(&expected[k * each], &in[((first * 5 + second) * 6 + third) * each], each);
    }
    launch m = row_of(q, 120, {at(in, {0})}, {at(back, {1})}, {whole_number(4), whole_number(5), whole_number(6)});
    CHECK(same_bits(expected, in_all_ways(m, back)));
  }
}

TEST_CASE("effects happen once for each element, whatever the lengths, tiers and threads") {
  if (no_compiler()) return;
  auto f = function_text("histogram", {value_of("x", dtype::i32), value_of("i", dtype::i64)},
                         {whole("bins", dtype::i64, 1), whole("order", dtype::i32, 1)},
                         "sn::atomic_add(bins, x % bins.size(), 1); order[i] = x + 1;");
  user_builder b;
  auto x = b.load(dtype::i32), i = b.coord(0), bins = b.address(dtype::i64, 1), order = b.address(dtype::i32, 1);
  b.call(f, {x, i, bins, order});
  const program p = b.elementwise({});
  settings restore;
  for (int n : lengths)
    for (int threads : {1, 2, 7}) {
      CAPTURE(n);
      const auto size = static_cast<std::size_t>(n);
      std::vector<std::int32_t> u(size), seen(size, -1);
      for (std::size_t k = 0; k < size; ++k) u[k] = static_cast<std::int32_t>(k * 31 % 1009);
      std::vector<std::int64_t> counts(10), expected(10);
      for (std::int32_t v : u) ++expected[static_cast<std::size_t>(v % 10)];
      runtime::set_thread_count(threads);
      run(row_of(p, n, {at(u, {1}), at(counts, {0}), at(seen, {0})}, {}, {whole_number(10), whole_number(n)}));
      CHECK(counts == expected);
      bool right = true;
      for (std::size_t k = 0; k < size; ++k) right = right && seen[k] == u[k] + 1;
      CHECK(right);
    }
}

TEST_CASE("atomic sums, minima and maxima of every dtype lose nothing between threads") {
  if (no_compiler()) return;
  settings restore;
  runtime::set_thread_count(7);
  for (dtype t : all_types) {
    CAPTURE(name(t));
    auto f = function_text(
        "meet", {value_of("x", t), value_of("i", dtype::i64)}, {whole("z", t, 1)},
        is_complex(t) ? "sn::atomic_add(z, 0, x);"
                      : "sn::atomic_add(z, 0, x); sn::atomic_min(z, 1, x); sn::atomic_max(z, 2, x); z[3] = x;");
    user_builder b;
    auto i = b.coord(0),
         x = b.emit(opcode::cast, t, dtype::i64, b.binary(opcode::remainder, dtype::i64, i, b.param(dtype::i64)));
    b.call(f, {x, i, b.address(t, 1)});
    const program p = b.elementwise({});
    // As int64 there and back: 0 + 1 + 0 + 1 ..., small enough for bfloat16 to be exact.
    user_builder c;
    const program to = c.elementwise({c.emit(opcode::cast, t, dtype::i64, c.load(dtype::i64))});
    user_builder d;
    const program from = d.elementwise({d.emit(opcode::cast, dtype::i64, t, d.load(t))});
    std::vector<std::int64_t> start{3, 1, 0, 0}, got(4);
    std::vector<unsigned char> z(4 * itemsize(t));
    run(row_of(to, 4, {at(start, {1})}, {at(z, {1})}));
    run(row_of(p, 201, {at(z, {0})}, {}, {whole_number(2), whole_number(4)}));
    run(row_of(from, 4, {at(z, {1})}, {at(got, {1})}));
    CHECK(got[0] == (t == dtype::b1 ? 1 : 103));
    if (is_complex(t)) continue;
    CHECK(got[1] == 0);
    CHECK(got[2] == 1);
    CHECK((got[3] == 0 || got[3] == 1));
  }
}

TEST_CASE("whole outputs of half types round what is stored, and NaN wins atomic extremes") {
  if (no_compiler()) return;
  for (dtype t : {dtype::f16, dtype::bf16}) {
    auto f = function_text("store", {value_of("x", dtype::f32), value_of("i", dtype::i64)}, {whole("z", t, 1)},
                           "z[i] = x; z[i] += 0;");
    user_builder b;
    auto x = b.load(dtype::f32), i = b.coord(0);
    b.call(f, {x, i, b.address(t, 1)});
    const program p = b.elementwise({});
    auto u = random_values<float>(272, -3, 3, 8);
    std::vector<std::uint16_t> got(272), expected(272);
    (t == dtype::f16 ? jit::narrow_f16 : jit::narrow_bf16)(expected.data(), u.data(), 272);
    run(row_of(p, 272, {at(u, {1}), at(got, {0})}, {}, {whole_number(272)}));
    CHECK(same_bits(got, expected));
  }
  auto f = function_text("extremes", {value_of("x", dtype::f32)}, {whole("z", dtype::f32, 1)},
                         "sn::atomic_min(z, 0, x); sn::atomic_max(z, 1, x);");
  user_builder b;
  auto x = b.load(dtype::f32);
  b.call(f, {x, b.address(dtype::f32, 1)});
  const program p = b.elementwise({});
  std::vector<float> u{2, -5, 8}, z{0, 0};
  run(row_of(p, 3, {at(u, {1}), at(z, {0})}, {}, {whole_number(2)}));
  CHECK((z[0] == -5 && z[1] == 8));
  u[1] = std::numeric_limits<float>::quiet_NaN();
  run(row_of(p, 3, {at(u, {1}), at(z, {0})}, {}, {whole_number(2)}));
  CHECK((std::isnan(z[0]) && std::isnan(z[1])));
}

TEST_CASE("a function with effects may have values too, and what reads them sees no padding") {
  if (no_compiler()) return;
  // The value is an index: of padding it would be anything.
  auto f =
      function_text("count", {value_of("x", dtype::i64)}, {value_of("k", dtype::i64), whole("total", dtype::i64, 0)},
                    "sn::atomic_add(total, 0, x); k = x % 3;");
  user_builder b;
  auto x = b.load(dtype::i64), total = b.address(dtype::i64, 0);
  auto k = b.call(f, {b.unary(opcode::square, dtype::i64, x), total});
  b.p.inputs.push_back({dtype::f32, 1, {k, 0}});
  auto picked = b.emit(opcode::load, dtype::f32, dtype::f32, static_cast<int>(b.p.inputs.size()) - 1);
  const program p = b.elementwise({picked, k});
  std::vector<float> table{10, 20, 30};
  for (int n : lengths) {
    CAPTURE(n);
    auto u = upto(n);
    std::vector<float> out(u.size());
    std::vector<std::int64_t> sum{0}, keys(u.size());
    launch l = row_of(p, n, {at(u, {1}), at(sum, {0}), at(table, {0})}, {at(out, {1}), at(keys, {1})});
    l.inputs[2].gather_stride[0] = 1;
    run(l);
    std::int64_t expected = 0;
    bool right = true;
    for (std::size_t e = 0; e < u.size(); ++e) {
      const auto v = static_cast<std::int64_t>(e * e);
      expected += v;
      right = right && keys[e] == v % 3 && out[e] == table[static_cast<std::size_t>(v % 3)];
    }
    CHECK(sum[0] == expected);
    CHECK(right);
  }
}

TEST_CASE("text around the loop is run once for each block and is seen by the body") {
  if (no_compiler()) return;
  auto f =
      function_text("block_sums", {value_of("x", dtype::f64), whole("w", dtype::f64, 1), value_of("scale", dtype::f64)},
                    {value_of("z", dtype::f16), whole("sums", dtype::f64, 1), whole("blocks", dtype::i32, 0)},
                    "sum += x; a += 1; z = x * first");
  f.body += ";";
  // Names that the generated text might use itself.
  f.loop_prep = "double sum = 0; int a = 0, n = 0, l = 0;\nconst double first = w[0] * scale;";
  f.after_loop =
      "sn::atomic_add(sums, 0, sum * scale + n + l);\nsn::atomic_add(sums, 1, a);\nsn::atomic_add(blocks, 0, 1);";
  user_builder b;
  auto x = b.load(dtype::f64), w = b.address(dtype::f64, 1), scale = b.param(dtype::f64),
       sums = b.address(dtype::f64, 1), blocks = b.address(dtype::i32, 0);
  auto z = b.call(f, {b.unary(opcode::square, dtype::f64, x), w, scale, sums, blocks});
  const program p = b.elementwise({b.emit(opcode::cast, dtype::f32, dtype::f16, z)});
  settings restore;
  for (int n : lengths)
    for (int threads : {1, 7}) {
      CAPTURE(n);
      runtime::set_thread_count(threads);
      const auto size = static_cast<std::size_t>(n);
      std::vector<double> u(size), weights{0.5, 1}, total{0, 0};
      for (std::size_t k = 0; k < size; ++k) u[k] = static_cast<double>(k % 7);
      std::vector<std::int32_t> count{0};
      std::vector<float> out(size);
      run(row_of(p, n, {at(u, {1}), at(weights, {0}), at(total, {0}), at(count, {0})}, {at(out, {1})},
                 {whole_number(2), number(4), whole_number(2)}));
      double expected = 0;
      bool right = true;
      for (std::size_t k = 0; k < size; ++k) {
        expected += u[k] * u[k];
        right = right && out[k] == static_cast<float>(2 * u[k] * u[k]);
      }
      CHECK(total[0] == 4 * expected);
      CHECK(total[1] == n);
      CHECK(count[0] == (n + jit::block_lanes - 1) / jit::block_lanes);
      CHECK(right);
    }
}

TEST_CASE("a call of values that are one for a block is made once for the block; others once for each lane") {
  if (no_compiler()) return;
  auto f =
      function_text("counted", {value_of("x", dtype::f32), value_of("where", dtype::i64)}, {value_of("z", dtype::f32)},
                    "\n#ifdef __CUDACC__\natomicAdd((unsigned long long*)where, 1ull);\n#else\n"
                    "__atomic_fetch_add((long long*)where, 1, __ATOMIC_RELAXED);\n#endif\nz = x + 1;");
  user_builder b;
  auto x = b.load(dtype::f32), where = b.param(dtype::i64), y = b.load(dtype::f32);
  const program p = b.elementwise({b.binary(opcode::add, dtype::f32, b.call(f, {x, where}), y)});
  long long calls = 0;
  std::vector<float> u(1024, 2.0f), v = random_values<float>(1024, 0, 1, 9), out(1024);
  const std::vector<jit::scalar> params{
      whole_number(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&calls)))};
  settings restore;
  runtime::set_thread_count(1);
  run(row_of(p, 1024, {at(u, {0}), at(v, {1})}, {at(out, {1})}, params));
  CHECK(calls <= 1024 / jit::lane_multiple);
  CHECK(out[1000] == 3.0f + v[1000]);
  calls = 0;
  run(row_of(p, 1024, {at(u, {1}), at(v, {1})}, {at(out, {1})}, params));
  CHECK(calls == 1024);
}

TEST_CASE("users' mathematical functions give libm's bits for every lane") {
  if (no_compiler()) return;
  auto f = function_text(
      "functions", {value_of("x", dtype::f32), value_of("d", dtype::f64), value_of("k", dtype::i32)},
      {value_of("a", dtype::f32), value_of("b", dtype::f64), value_of("c", dtype::f64), value_of("e", dtype::f32)},
      "a = sin(x) + expf(x) + pow(x, 1.5f); b = sin(d) * exp(d) + hypot(d, 2) + erf(d);\n"
      "c = sqrt(k) + max(k, 3) + abs(-k) + fmax(d, k); e = fma(x, x, min(x, 0.5f)) + rsqrt(x + 1) + lgamma(x + 2);");
  user_builder b;
  auto first = b.call(f, {b.load(dtype::f32), b.load(dtype::f64), b.load(dtype::i32)});
  const program p = b.elementwise({first, static_cast<std::uint16_t>(first + 1), static_cast<std::uint16_t>(first + 2),
                                   static_cast<std::uint16_t>(first + 3)});
  for (int n : {1, 7, 33, 256, 1000}) {
    CAPTURE(n);
    const auto size = static_cast<std::size_t>(n);
    auto x = random_values<float>(size, 0, 3, 10);
    auto d = random_values<double>(size, -3, 3, 11);
    std::vector<std::int32_t> k(size);
    for (std::size_t i = 0; i < size; ++i) k[i] = static_cast<std::int32_t>(i);
    std::vector<float> out_a(size), out_e(size);
    std::vector<double> out_b(size), out_c(size);
    launch l = row_of(p, n, {at(x, {1}), at(d, {1}), at(k, {1})},
                      {at(out_a, {1}), at(out_b, {1}), at(out_c, {1}), at(out_e, {1})});
    in_all_ways(l, out_b);
    bool right = true;
    for (std::size_t i = 0; i < size; ++i) {
      const double kd = k[i];
      right = right && out_a[i] == sinf(x[i]) + expf(x[i]) + powf(x[i], 1.5f);
      right = right && out_b[i] == std::sin(d[i]) * std::exp(d[i]) + std::hypot(d[i], 2) + std::erf(d[i]);
      right = right && out_c[i] == std::sqrt(kd) + std::max(k[i], 3) + std::abs(-k[i]) + std::fmax(d[i], kd);
      right = right &&
              out_e[i] == std::fma(x[i], x[i], std::min(x[i], 0.5f)) + 1.0f / std::sqrt(x[i] + 1) + lgammaf(x[i] + 2);
    }
    CHECK(right);
  }
}

TEST_CASE("a body may keep arrays, loop and leave early; its layout changes no bit") {
  if (no_compiler()) return;
  auto f = function_text("sorted", {value_of("x", dtype::i32), value_of("y", dtype::i32)}, {value_of("z", dtype::i32)},
                         "int v[4] = {x % 7, y % 5, x % 3, y % 11};\n"
                         "for (int a = 0; a < 4; ++a) for (int b = a + 1; b < 4; ++b) if (v[b] < v[a]) { int t = v[a]; "
                         "v[a] = v[b]; v[b] = t; }\n"
                         "z = -1;\nif (v[0] == v[1]) return;\nwhile (z < v[y & 3]) ++z;\nz = z * 100 + v[x & 3];");
  user_builder b;
  const program p = b.elementwise({b.call(f, {b.load(dtype::i32), b.load(dtype::i32)})});
  std::vector<std::int32_t> x(900), y(900), out(900), wide(1800);
  for (int k = 0; k < 900; ++k) x[std::size_t(k)] = k * 7919 % 1000, y[std::size_t(k)] = k * 104729 % 997;
  for (std::size_t k = 0; k < 900; ++k) wide[2 * k] = x[k];
  launch l = row_of(p, 900, {at(x, {1}), at(y, {1})}, {at(out, {1})});
  const auto got = in_all_ways(l, out);
  bool right = true;
  for (std::size_t k = 0; k < 900; ++k) {
    std::vector<int> v{x[k] % 7, y[k] % 5, x[k] % 3, y[k] % 11};
    std::sort(v.begin(), v.end());
    const int z = v[0] == v[1] ? -1 : std::max(-1, v[std::size_t(y[k] & 3)]) * 100 + v[std::size_t(x[k] & 3)];
    right = right && got[k] == z;
  }
  CHECK(right);
  l.inputs[0] = at(wide, {2});
  CHECK(same_bits(got, in_all_ways(l, out)));
  launch folded = space(p, {30, 30});
  folded.inputs = {at(wide, {60, 2}), at(y, {30, 1})};
  folded.outputs = {at(out, {30, 1})};
  CHECK(same_bits(got, in_all_ways(folded, out)));
}
