// The CPU backend driven directly with hand-built programs: layouts, tails of blocks, tiers, threads, gathers, text.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "support/cpu_harness.hpp"

using namespace cpu_test;

namespace {

constexpr float canary = -12345.0f;

}  // namespace

TEST_CASE("elementwise: every length around lanes and blocks is exact and stays within its output") {
  builder b;
  auto x = b.load(dtype::f32), y = b.load(dtype::f32), k = b.param(dtype::f32);
  program p = b.elementwise({b.binary(opcode::add, dtype::f32, b.binary(opcode::multiply, dtype::f32, x, k), y)});
  std::vector<int> sizes;
  for (int n = 0; n <= 40; ++n) sizes.push_back(n);
  for (int n : {127, 128, 129, 255, 256, 257, 271, 272, 511, 512, 513, 1000, 100003}) sizes.push_back(n);
  settings restore;
  for (auto tier : {cpu::tier::interpreted, cpu::tier::compiled}) {
    cpu::set_tier(tier);
    for (int n : sizes) {
      CAPTURE(n);
      auto a = random_values<float>(static_cast<std::size_t>(n), -1, 1, 1),
           c = random_values<float>(static_cast<std::size_t>(n), -1, 1, 2);
      std::vector<float> out(static_cast<std::size_t>(n) + 32, canary);
      launch l = space(p, {n});
      l.inputs = {at(a, {1}), at(c, {1})};
      l.outputs = {at(out, {1}, 16)};
      l.params = {number(3.25)};
      run(l);
      bool right = true;
      for (int i = 0; i < n; ++i) {
        const float product = a[static_cast<std::size_t>(i)] * 3.25f;
        right = right && out[static_cast<std::size_t>(i) + 16] == product + c[static_cast<std::size_t>(i)];
      }
      for (int i = 0; i < 16; ++i)
        right = right && out[static_cast<std::size_t>(i)] == canary &&
                out[out.size() - 1 - static_cast<std::size_t>(i)] == canary;
      CHECK(right);
    }
  }
}

TEST_CASE("elementwise: bits do not depend on the layout of operands") {
  builder b;
  auto x = b.load(dtype::f32), y = b.load(dtype::f32);
  program p = b.elementwise({b.binary(opcode::multiply, dtype::f32, b.unary(opcode::sin, dtype::f32, x),
                                      b.unary(opcode::exp, dtype::f32, y))});
  for (const auto& shape : {std::pair{7, 300}, {300, 3}, {41, 128}, {1, 1}, {5, 1}, {33, 17}, {3, 1000}}) {
    const int rows = shape.first, columns = shape.second;
    CAPTURE(rows);
    CAPTURE(columns);
    const auto n = static_cast<std::size_t>(rows * columns);
    auto a = random_values<float>(n, -3, 3, 3), row = random_values<float>(static_cast<std::size_t>(columns), -2, 2, 4);
    // The dense form, run as one axis, is what all others must equal.
    std::vector<float> spread(n), expected(n);
    for (std::size_t i = 0; i < n; ++i) spread[i] = row[i % static_cast<std::size_t>(columns)];
    launch dense = space(p, {rows * columns});
    dense.inputs = {at(a, {1}), at(spread, {1})};
    dense.outputs = {at(expected, {1})};
    run(dense);
    // Broadcast rows.
    std::vector<float> out(n);
    launch l = space(p, {rows, columns});
    l.inputs = {at(a, {columns, 1}), at(row, {0, 1})};
    l.outputs = {at(out, {columns, 1})};
    CHECK(same_bits(in_all_ways(l, out), expected));
    // Transposed input, reversed output.
    std::vector<float> turned(n), reversed(n);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        turned[static_cast<std::size_t>(j * rows + i)] = a[static_cast<std::size_t>(i * columns + j)];
    l.inputs[0] = at(turned, {1, rows});
    l.outputs = {at(reversed, {-columns, -1}, rows * columns - 1)};
    run(l);
    CHECK(std::equal(expected.begin(), expected.end(), reversed.rbegin()));
    // The same along the other axis: one operand has one value a block.
    std::vector<float> swapped(n);
    launch s = space(p, {columns, rows});
    s.inputs = {at(a, {1, columns}), at(row, {1, 0})};
    s.outputs = {at(swapped, {1, columns})};
    CHECK(same_bits(in_all_ways(s, swapped), expected));
    // Strided: every second element.
    std::vector<float> wide(2 * n);
    for (std::size_t i = 0; i < n; ++i) wide[2 * i] = a[i];
    l.inputs[0] = at(wide, {2 * columns, 2});
    l.outputs = {at(out, {columns, 1})};
    CHECK(same_bits(in_all_ways(l, out), expected));
  }
}

TEST_CASE("elementwise: scalars, empty spaces, coordinates, several outputs, in-place operands") {
  builder b;
  auto x = b.load(dtype::f64);
  program square = b.elementwise({b.unary(opcode::square, dtype::f64, x)});
  std::vector<double> in{3}, out{0};
  const dims scalar_space;
  launch l = space(square, scalar_space);
  l.inputs = {at(in, {})};
  l.outputs = {at(out, {})};
  run(l);
  CHECK(out[0] == 9);
  launch none = space(square, {4, 0, 3});
  none.inputs = {at(in, {0, 0, 0})};
  none.outputs = {at(out, {0, 0, 0})};
  run(none);
  CHECK(out[0] == 9);

  builder c;
  auto i = c.coord(0), j = c.coord(2);
  program coordinates =
      c.elementwise({c.binary(opcode::subtract, dtype::i64, c.binary(opcode::multiply, dtype::i64, i, j), i)});
  for (std::int64_t inner : {3, 200}) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(5 * 4 * inner));
    launch k = space(coordinates, {5, 4, inner});
    k.outputs = {at(index, {4 * inner, inner, 1})};
    auto got = in_all_ways(k, index);
    bool right = true;
    for (std::int64_t e = 0; e < 5 * 4 * inner; ++e) {
      const std::int64_t first = e / (4 * inner), last = e % inner;
      right = right && got[static_cast<std::size_t>(e)] == first * last - first;
    }
    CHECK(right);
  }

  // Two outputs, the first of which overwrites an input that the second still needs after a call.
  builder d;
  auto u = d.load(dtype::f32), v = d.load(dtype::f32);
  auto s = d.unary(opcode::sin, dtype::f32, u);
  auto first = d.binary(opcode::add, dtype::f32, u, v);
  auto second = d.binary(opcode::add, dtype::f32, s, v);
  program both = d.elementwise({first, second});
  settings restore;
  for (auto tier : {cpu::tier::interpreted, cpu::tier::compiled}) {
    cpu::set_tier(tier);
    auto a = random_values<float>(777, -1, 1, 5), e = random_values<float>(777, -1, 1, 6);
    std::vector<float> sums(777), other(777);
    launch apart = space(both, {777});
    apart.inputs = {at(a, {1}), at(e, {1})};
    apart.outputs = {at(sums, {1}), at(other, {1})};
    run(apart);
    launch in_place = apart;
    std::vector<float> again(777);
    in_place.outputs = {at(e, {1}), at(again, {1})};
    run(in_place);
    CHECK(same_bits(e, sums));
    CHECK(same_bits(again, other));
  }
}

TEST_CASE("elementwise: float16 and bfloat16 are widened and rounded, bool and small integers stay") {
  for (dtype t : {dtype::f16, dtype::bf16}) {
    builder b;
    auto x = b.load(t), k = b.param(t);
    program p = b.elementwise({b.binary(opcode::multiply, t, x, k)});
    for (int n : {5, 300}) {
      std::vector<std::uint16_t> in(static_cast<std::size_t>(n)), out(in.size());
      for (int i = 0; i < n; ++i)
        in[static_cast<std::size_t>(i)] =
            t == dtype::f16 ? half(static_cast<float>(i)).bits : bfloat(static_cast<float>(i)).bits;
      launch l = space(p, {n});
      l.inputs = {at(in, {1})};
      l.outputs = {at(out, {1})};
      l.params = {number(0.1)};
      auto got = in_all_ways(l, out);
      bool right = true;
      for (int i = 0; i < n; ++i) {
        const auto e = static_cast<std::size_t>(i);
        if (t == dtype::f16) {
          half h;
          h.bits = in[e];
          right = right && got[e] == half(float(h) * float(half(0.1f))).bits;
        } else {
          bfloat h;
          h.bits = in[e];
          right = right && got[e] == bfloat(float(h) * float(bfloat(0.1f))).bits;
        }
      }
      CHECK(right);
    }
  }
  builder b;
  auto x = b.load(dtype::b1), y = b.load(dtype::i8);
  auto add = b.binary(opcode::add, dtype::i8, y, b.emit(opcode::cast, dtype::i8, dtype::b1, x));
  program p = b.elementwise({b.unary(opcode::logical_not, dtype::b1, x), add});
  std::vector<std::uint8_t> flags(1000), negated(1000);
  std::vector<std::int8_t> small(1000), sums(1000);
  for (std::size_t i = 0; i < 1000; ++i) flags[i] = i % 3 == 0, small[i] = static_cast<std::int8_t>(i);
  launch l = space(p, {1000});
  l.inputs = {at(flags, {1}), at(small, {1})};
  l.outputs = {at(negated, {1}), at(sums, {1})};
  in_all_ways(l, sums);
  bool right = true;
  for (std::size_t i = 0; i < 1000; ++i)
    right = right && negated[i] == !flags[i] && sums[i] == static_cast<std::int8_t>(small[i] + flags[i]);
  CHECK(right);
}

TEST_CASE("elementwise: gathers read at checked indices and report what is out of range") {
  builder b;
  auto raw = b.load(dtype::i64);
  b.p.param_types.push_back(dtype::i64);
  b.p.params = 1;
  auto index = b.emit(opcode::checked_index, dtype::i64, dtype::i64, raw, 0);
  b.p.inputs.push_back({dtype::f32, 1, {index, 0}});
  auto value = b.emit(opcode::load, dtype::f32, dtype::f32, 1);
  program p = b.elementwise({b.binary(opcode::add, dtype::f32, value, value)});
  const int rows = 6, columns = 37;
  for (std::int64_t width : {5, 300}) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(rows * width));
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i * 7 % 74) - 37;
    auto data = random_values<float>(rows * columns, -1, 1, 7);
    std::vector<float> out(indices.size());
    launch l = space(p, {rows, width});
    l.inputs = {at(indices, {width, 1}), at(data, {columns, 0})};
    l.inputs[1].gather_stride[0] = 1;
    l.outputs = {at(out, {width, 1})};
    l.params = {number(columns, dtype::i64)};
    auto got = in_all_ways(l, out);
    bool right = true;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::int64_t k = (indices[i] + columns) % columns, row = static_cast<std::int64_t>(i) / width;
      right = right && got[i] == 2 * data[static_cast<std::size_t>(row * columns + k)];
    }
    CHECK(right);
    CHECK(device().take_fault() == runtime::data_fault::none);
    indices[3] = columns;
    run(l);
    CHECK(device().take_fault() == runtime::data_fault::index_out_of_range);
    CHECK(device().take_fault() == runtime::data_fault::none);
  }
}
