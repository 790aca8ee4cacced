// Monotone tails on the CPU: skipping what cannot win changes no bit, on ordinary and on adversarial data.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/cpu_harness.hpp"

using namespace cpu_test;

namespace {

/// min or max and their positions of scale * arcsin(sqrt(x)), as a monotone tail over x.
template <class T>
program tail_program(bool minimum, bool divide) {
  const dtype t = dtype_of<T>;
  builder b;
  auto x = b.load(t), k = b.param(t);
  auto inner = b.binary(opcode::add, t, x, x);
  auto root = b.unary(opcode::sqrt, t, inner);
  auto arc = b.unary(opcode::arcsin, t, root);
  auto scaled = b.binary(divide ? opcode::divide : opcode::multiply, t, arc, k);
  b.reduce(minimum ? reduce_op::min : reduce_op::max, t, scaled);
  b.reduce(minimum ? reduce_op::argmin : reduce_op::argmax, dtype::i64, scaled);
  for (auto& r : b.p.reductions) r.tail = 3, r.inner = inner;
  return b.reductions();
}

template <class T>
void check_tail(const std::vector<T>& data, std::int64_t results, std::int64_t reduced, double scale) {
  settings restore;
  for (bool minimum : {true, false})
    for (bool divide : {false, true})
      for (bool rows : {true, false}) {
        program p = tail_program<T>(minimum, divide);
        std::vector<T> value(static_cast<std::size_t>(results)), plain_value(value.size());
        std::vector<std::int64_t> index(value.size()), plain_index(value.size());
        launch l = space(p, {results, reduced}, 1, rows);
        l.inputs = {at(data, rows ? dims{reduced, 1} : dims{1, results})};
        l.params = {number(scale)};
        l.outputs = {at(plain_value, {1, 0}), at(plain_index, {1, 0})};
        cpu::set_skip_tails(false);
        run(l);
        cpu::set_skip_tails(true);
        l.outputs = {at(value, {1, 0}), at(index, {1, 0})};
        auto got = in_all_ways(l, value);
        CAPTURE(minimum);
        CAPTURE(divide);
        CAPTURE(rows);
        CAPTURE(scale);
        CHECK(same_bits(got, plain_value));
        CHECK(index == plain_index);
      }
}

}  // namespace

TEST_CASE_TEMPLATE("monotone tails: skipping changes no bit", T, float, double) {
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  for (double scale : {2.0, 12742.0176, -2.0, 0.0, 1e-30, 1e30, std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::infinity()}) {
    check_tail(random_values<T>(300 * 700, 0, 0.5, 41), 300, 700, scale);
    check_tail(random_values<T>(3 * 70000, 0.1, 0.1001, 42), 3, 70000, scale);
  }
  // Values an ulp apart, ties, out of the domain, NaN, infinities, zeros of both signs, subnormal numbers.
  std::mt19937 engine(43);
  for (T centre : {T(0.25), T(0.4999999), T(0.5), T(1e-7), T(0), std::numeric_limits<T>::denorm_min()}) {
    std::vector<T> data(200 * 600);
    for (auto& v : data) {
      v = centre;
      for (auto steps = engine() % 6; steps > 0; --steps) v = std::nextafter(v, engine() % 2 ? T(1) : T(-1));
    }
    check_tail(data, 200, 600, 2.0);
    for (auto& v : data)
      if (engine() % 401 == 0)
        v = engine() % 2 ? nan : engine() % 2 ? T(-0.25) : engine() % 2 ? T(0.75) : engine() % 2 ? infinity : -T(0);
    check_tail(data, 200, 600, 2.0);
  }
  // Neighbouring numbers, ascending: arcsin of libmvec steps back by an ulp here and there.
  std::vector<T> dense(500 * 2048);
  for (std::size_t r = 0; r < 500; ++r) {
    T v = static_cast<T>(std::exp(-static_cast<double>(engine() % 100000) / 3000.0) / 2);
    for (std::size_t e = 0; e < 2048; ++e) dense[r * 2048 + e] = v = std::nextafter(v, T(2));
  }
  check_tail(dense, 500, 2048, 2.0);
  std::reverse(dense.begin(), dense.end());
  check_tail(dense, 500, 2048, 0.7);
  // Descending rows: every element is a new best; ascending rows: only the first.
  std::vector<T> slope(5 * 3000);
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = T(0.4) - T(0.1) * static_cast<T>(i % 3000) / 3000;
  check_tail(slope, 5, 3000, 2.0);
}

TEST_CASE("source: the generated text of a launch names its parts") {
  program p = tail_program<float>(true, false);
  std::vector<float> data(300 * 700), value(300);
  std::vector<std::int64_t> index(300);
  launch l = space(p, {300, 700}, 1, true);
  l.inputs = {at(data, {700, 1})};
  l.params = {number(2)};
  l.outputs = {at(value, {1, 0}), at(index, {1, 0})};
  const std::string text = device().source(l);
  CHECK(text.find("_inner") != std::string::npos);
  CHECK(text.find("_tail") != std::string::npos);
  CHECK(text.find("#include") == std::string::npos);
}
