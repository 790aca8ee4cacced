// Reductions of the CPU backend: both classes, every split, against long double arithmetic and plain loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "support/cpu_harness.hpp"

using namespace cpu_test;

namespace {

/// Reduces a (results, reduced) matrix along its last axis in row class, or a (reduced, results) one in column class.
template <class T, class Out>
std::vector<Out> reduce_all_ways(reduce_op op, const std::vector<T>& data, std::int64_t results, std::int64_t reduced,
                                 bool rows) {
  builder b;
  b.reduce(op, dtype_of<Out>, b.load(dtype_of<T>));
  program p = b.reductions();
  std::vector<Out> out(static_cast<std::size_t>(results));
  launch l = space(p, {results, reduced}, 1, rows);
  l.inputs = {at(data, rows ? dims{reduced, 1} : dims{1, results})};
  l.outputs = {at(out, {1, 0})};
  auto got = in_all_ways(l, out);
  // A padded copy takes other paths and must give the same bits.
  std::vector<T> padded(2 * data.size() + 2);
  for (std::size_t i = 0; i < data.size(); ++i) padded[2 * i + 1] = data[i];
  l.inputs = {at(padded, rows ? dims{2 * reduced, 2} : dims{2, 2 * results}, 1)};
  run(l);
  CHECK(same_bits(got, out));
  std::vector<T> transposed(data.size());
  for (std::int64_t r = 0; r < results; ++r)
    for (std::int64_t e = 0; e < reduced; ++e)
      transposed[static_cast<std::size_t>(rows ? e * results + r : r * reduced + e)] =
          data[static_cast<std::size_t>(rows ? r * reduced + e : e * results + r)];
  l.inputs = {at(transposed, rows ? dims{1, results} : dims{reduced, 1})};
  run(l);
  CHECK(same_bits(got, out));
  if (rows && reduced % 6 == 0) {  // the reduced axis in two pieces
    launch s = space(p, {results, reduced / 6, 6}, 1, rows);
    s.inputs = {at(padded, {2 * reduced, 12, 2}, 1)};
    s.outputs = {at(out, {1, 0, 0})};
    run(s);
    CHECK(same_bits(got, out));
  }
  return got;
}

template <class T>
T element(const std::vector<T>& data, std::int64_t results, std::int64_t reduced, bool rows, std::int64_t result,
          std::int64_t e) {
  return data[static_cast<std::size_t>(rows ? result * reduced + e : e * results + result)];
}

const std::pair<std::int64_t, std::int64_t> reduction_sizes[] = {
    {1, 1},     {3, 1},      {1, 3},     {1000, 3},  {100, 63}, {70, 64},    {70, 65},
    {40, 100},  {9, 128},    {5, 257},   {3, 2048},  {2, 2049}, {300, 300},  {1, 5000},
    {4, 20000}, {1, 300000}, {130, 130}, {700, 257}, {256, 40}, {129, 1000}, {17, 6000}};

}  // namespace

TEST_CASE("reductions: sums, products and moments agree with long double arithmetic in both classes") {
  for (const auto& size : reduction_sizes)
    for (bool rows : {true, false}) {
      const std::int64_t results = size.first, reduced = size.second;
      CAPTURE(results);
      CAPTURE(reduced);
      CAPTURE(rows);
      auto data = random_values<float>(static_cast<std::size_t>(results * reduced), -1, 2, 11);
      auto sums = reduce_all_ways<float, float>(reduce_op::sum, data, results, reduced, rows);
      auto moments = reduce_all_ways<float, float>(reduce_op::moment2, data, results, reduced, rows);
      bool right = true, stable = true;
      for (std::int64_t r = 0; r < results; ++r) {
        long double sum = 0, size = 0, moment = 0;
        for (std::int64_t e = 0; e < reduced; ++e) {
          const long double v = element(data, results, reduced, rows, r, e);
          sum += v;
          size += std::fabs(v);
        }
        for (std::int64_t e = 0; e < reduced; ++e) {
          const long double d = element(data, results, reduced, rows, r, e) - sum / reduced;
          moment += d * d;
        }
        right = right && std::fabs(static_cast<double>(sums[static_cast<std::size_t>(r)] - sum)) <=
                             2e-6 * static_cast<double>(size);
        stable = stable && std::fabs(static_cast<double>(moments[static_cast<std::size_t>(r)] - moment)) <=
                               2e-7 * static_cast<double>(moment) + 1e-30;
      }
      CHECK(right);
      CHECK(stable);
    }
}

TEST_CASE("reductions: integers wrap, truth values and counts, complex by parts") {
  for (const auto& size : reduction_sizes)
    for (bool rows : {true, false}) {
      const std::int64_t results = size.first, reduced = size.second;
      CAPTURE(results);
      CAPTURE(reduced);
      const auto n = static_cast<std::size_t>(results * reduced);
      std::vector<std::int32_t> ints(n);
      std::vector<std::complex<float>> numbers(n);
      std::mt19937 engine(5);
      for (std::size_t i = 0; i < n; ++i) {
        ints[i] = static_cast<std::int32_t>(engine());
        numbers[i] = {static_cast<float>(engine() % 16), static_cast<float>(engine() % 16)};
      }
      auto sums = reduce_all_ways<std::int32_t, std::int32_t>(reduce_op::sum, ints, results, reduced, rows);
      auto products = reduce_all_ways<std::int32_t, std::int32_t>(reduce_op::prod, ints, results, reduced, rows);
      auto complex_sums =
          reduce_all_ways<std::complex<float>, std::complex<float>>(reduce_op::sum, numbers, results, reduced, rows);
      bool right = true;
      for (std::int64_t r = 0; r < results; ++r) {
        std::uint32_t sum = 0, product = 1;
        std::complex<float> complex_sum = 0;  // exact: small integers
        for (std::int64_t e = 0; e < reduced; ++e) {
          sum += static_cast<std::uint32_t>(element(ints, results, reduced, rows, r, e));
          product *= static_cast<std::uint32_t>(element(ints, results, reduced, rows, r, e));
          complex_sum += element(numbers, results, reduced, rows, r, e);
        }
        const auto k = static_cast<std::size_t>(r);
        right = right && static_cast<std::uint32_t>(sums[k]) == sum &&
                static_cast<std::uint32_t>(products[k]) == product && complex_sums[k] == complex_sum;
      }
      CHECK(right);
    }
  std::vector<std::uint8_t> flags(300 * 1000);
  for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = i / 1000 < 100 ? 0 : i / 1000 < 200 ? i % 1000 == 777 : 1;
  for (reduce_op op : {reduce_op::any, reduce_op::all, reduce_op::count}) {
    builder b;
    b.reduce(op, op == reduce_op::count ? dtype::i64 : dtype::b1, b.load(dtype::b1));
    program p = b.reductions();
    launch l = space(p, {300, 1000}, 1, true);
    l.inputs = {at(flags, {1000, 1})};
    std::vector<std::int64_t> counts(300);
    std::vector<std::uint8_t> truths(300);
    l.outputs = {op == reduce_op::count ? at(counts, {1, 0}) : at(truths, {1, 0})};
    run(l);
    bool right = true;
    for (std::size_t r = 0; r < 300; ++r) {
      const std::int64_t count = r < 100 ? 0 : r < 200 ? 1 : 1000;
      if (op == reduce_op::count) right = right && counts[r] == count;
      else right = right && truths[r] == (op == reduce_op::any ? count > 0 : count == 1000);
    }
    CHECK(right);
  }
}

TEST_CASE("reductions: extremes with ties and NaN give the first, whatever the chunks") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& size : reduction_sizes)
    for (bool rows : {true, false})
      for (int kind = 0; kind < 3; ++kind) {
        const std::int64_t results = size.first, reduced = size.second;
        CAPTURE(results);
        CAPTURE(reduced);
        CAPTURE(rows);
        CAPTURE(kind);
        std::vector<float> data(static_cast<std::size_t>(results * reduced));
        std::mt19937 engine(static_cast<unsigned>(9 + kind));
        for (auto& v : data) {
          v = kind == 2 ? std::numeric_limits<float>::infinity()
                        : static_cast<float>(static_cast<int>(engine() % 50) - 25);
          if (kind == 1 && engine() % 997 == 0) v = nan;
        }
        auto least = reduce_all_ways<float, float>(reduce_op::min, data, results, reduced, rows);
        auto first_least = reduce_all_ways<float, std::int64_t>(reduce_op::argmin, data, results, reduced, rows);
        auto first_most = reduce_all_ways<float, std::int64_t>(reduce_op::argmax, data, results, reduced, rows);
        bool right = true;
        for (std::int64_t r = 0; r < results; ++r) {
          std::int64_t low = 0, high = 0;
          for (std::int64_t e = 1; e < reduced; ++e) {
            const float v = element(data, results, reduced, rows, r, e);
            const float l = element(data, results, reduced, rows, r, low),
                        h = element(data, results, reduced, rows, r, high);
            if (l == l && !(v >= l)) low = e;
            if (h == h && !(v <= h)) high = e;
          }
          const float value = element(data, results, reduced, rows, r, low);
          const auto k = static_cast<std::size_t>(r);
          right = right && first_least[k] == low && first_most[k] == high &&
                  (least[k] == value || (value != value && least[k] != least[k]));
        }
        CHECK(right);
      }
}

TEST_CASE("reductions: of nothing, with zeros of both signs, with an epilogue, in float16") {
  std::vector<float> empty{1}, out(5, -1);
  for (bool rows : {true, false}) {
    builder b;
    auto x = b.load(dtype::f32);
    b.reduce(reduce_op::sum, dtype::f32, x);
    b.reduce(reduce_op::prod, dtype::f32, x);
    b.reduce(reduce_op::moment2, dtype::f32, x);
    program p = b.reductions();
    std::vector<float> products(5), moments(5);
    launch l = space(p, {5, 0}, 1, rows);
    l.inputs = {at(empty, {0, 0})};
    l.outputs = {at(out, {1, 0}), at(products, {1, 0}), at(moments, {1, 0})};
    run(l);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK((out[i] == 0 && !std::signbit(out[i])));
      CHECK(products[i] == 1);
      CHECK(moments[i] == 0);
    }
  }
  // Zeros: the order in which they come does not matter.
  for (std::int64_t n : {2, 70, 5000}) {
    std::vector<float> zeros(static_cast<std::size_t>(n), 0.0f);
    zeros[static_cast<std::size_t>(n) / 2] = -0.0f;
    CHECK(std::signbit(reduce_all_ways<float, float>(reduce_op::min, zeros, 1, n, true)[0]));
    CHECK(!std::signbit(reduce_all_ways<float, float>(reduce_op::max, zeros, 1, n, true)[0]));
    std::vector<float> negative(static_cast<std::size_t>(n), -0.0f);
    CHECK(std::signbit(reduce_all_ways<float, float>(reduce_op::sum, negative, 1, n, true)[0]));
  }
  // mean + input of the results, several reductions in one pass.
  for (const auto& size : reduction_sizes)
    for (bool rows : {true, false}) {
      const std::int64_t results = size.first, reduced = size.second;
      builder b;
      auto x = b.load(dtype::f32);
      auto twice = b.binary(opcode::add, dtype::f32, x, x);
      b.reduce(reduce_op::sum, dtype::f32, twice);
      b.reduce(reduce_op::max, dtype::f32, x);
      b.p.epilogue = static_cast<std::uint16_t>(b.p.code.size());
      auto sum = b.emit(opcode::reduced, dtype::f32, dtype::f32, 0),
           most = b.emit(opcode::reduced, dtype::f32, dtype::f32, 1);
      auto y = b.load(dtype::f32), n = b.param(dtype::f32);
      auto mean = b.binary(opcode::divide, dtype::f32, sum, n);
      auto shifted = b.binary(opcode::add, dtype::f32, b.unary(opcode::exp, dtype::f32, mean), y);
      for (auto reg : {shifted, most}) b.p.outputs.push_back({dtype::f32, 0, reg});
      auto data = random_values<float>(static_cast<std::size_t>(results * reduced), -1, 1, 21);
      auto shift = random_values<float>(static_cast<std::size_t>(results), -1, 1, 22);
      std::vector<float> first(shift.size()), second(shift.size());
      launch l = space(b.p, {results, reduced}, 1, rows);
      l.inputs = {at(data, rows ? dims{reduced, 1} : dims{1, results}), at(shift, {1, 0})};
      l.outputs = {at(first, {1, 0}), at(second, {1, 0})};
      l.params = {number(static_cast<double>(reduced))};
      auto got = in_all_ways(l, first);
      bool right = true;
      for (std::int64_t r = 0; r < results; ++r) {
        double total = 0, best = -2;
        for (std::int64_t e = 0; e < reduced; ++e) {
          total += 2.0 * element(data, results, reduced, rows, r, e);
          best = std::max<double>(best, element(data, results, reduced, rows, r, e));
        }
        const auto k = static_cast<std::size_t>(r);
        const double expected = std::exp(total / static_cast<double>(reduced)) + shift[k];
        right = right && std::fabs(got[k] - expected) < 1e-5 * (1 + std::fabs(expected)) &&
                second[k] == static_cast<float>(best);
      }
      CHECK(right);
    }
  // float16 sums in float32 and rounds once.
  std::vector<half> ones(4096, half(1.0f));
  CHECK(float(reduce_all_ways<half, half>(reduce_op::sum, ones, 1, 4096, true)[0]) == 4096);
  std::vector<half> wide(4096 * 2, half(1.0f));
  CHECK(float(reduce_all_ways<half, half>(reduce_op::sum, wide, 2, 4096, false)[1]) == 4096);
}

TEST_CASE("reductions: spread values keep their moment, outliers included") {
  auto data = random_values<double>(100000, 1e9, 1e9 + 1, 31);
  data[0] = -1e12;
  long double mean = 0, moment = 0;
  for (double v : data) mean += v;
  mean /= static_cast<long double>(data.size());
  for (double v : data) moment += (v - mean) * (v - mean);
  for (bool rows : {true, false}) {
    auto got = reduce_all_ways<double, double>(reduce_op::moment2, data, 1, 100000, rows);
    CHECK(std::fabs(static_cast<double>(got[0] / moment - 1)) < 1e-12);
  }
  auto near = random_values<double>(50000, 1e6, 1e6 + 1e-3, 32);
  mean = moment = 0;
  for (double v : near) mean += v;
  mean /= static_cast<long double>(near.size());
  for (double v : near) moment += (v - mean) * (v - mean);
  auto got = reduce_all_ways<double, double>(reduce_op::moment2, near, 1, 50000, true);
  CHECK(std::fabs(static_cast<double>(got[0] / moment - 1)) < 1e-6);
}
