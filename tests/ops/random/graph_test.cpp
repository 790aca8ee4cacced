// Draws in expressions: what fuses, and that an element is the same however it is computed.
#include "backends/cpu/kernels/hooks.hpp"
#include "graph/values/limits.hpp"
#include "ops/random/reference.hpp"
#include "runtime/hooks.hpp"
#include "runtime/parallel.hpp"
#include "support/kernel_test.hpp"

using namespace sinter;
using namespace sinter::idx;
using random_test::expected_normals;
using random_test::expected_uniform;
using sinter::random::generator;
using sinter::test::kernels_of;

namespace {

std::vector<double> values(const ndarray& x) { return x.astype(float64).to_vector<double>(); }

/// Settings of planner, backend and threads, put back at the end.
struct settings {
  graph::planner_limits before = graph::limits();
  ~settings() {
    graph::limits() = before;
    cpu::set_tier(cpu::tier::automatic);
    runtime::set_thread_count(0);
  }
};

/// A draw of rows x columns with its elements.
struct table {
  std::int64_t rows, columns;
  ndarray x;
  std::vector<double> e;
  table(std::int64_t r, std::int64_t c, dtype type = float64) : rows(r), columns(c) {
    generator g(31);
    g.advance(1000);
    const generator start = g;
    x = g.standard_normal({r, c}, {.dtype = type});
    if (type == float64) {
      e = expected_normals<double>(start, r * c);
    } else {
      for (const float v : expected_normals<float>(start, r * c)) e.push_back(double(v));
    }
  }
  double at(std::int64_t i, std::int64_t j) const { return e[static_cast<std::size_t>(i * columns + j)]; }
};

}  // namespace

TEST_CASE("random: a draw and what is done with it are one kernel that stores the result only") {
  generator g(1);
  const ndarray x = g.normal(0, 1, {300, 40}, {.dtype = float32}) * 2 + 1;
  CHECK(kernels_of(x) == 1);
  const auto z = expected_normals<float>(generator(1), 12000);
  const auto got = x.to_vector<float>();
  for (std::size_t k = 0; k < z.size(); ++k) REQUIRE(got[k] == z[k] * 2 + 1);
  const ndarray inside = square(g.random(100000)) + square(g.random(100000)) < 1.0;
  const ndarray pi = mean(inside) * 4;
  CHECK(kernels_of(pi) == 1);
  CHECK(float(pi) == doctest::Approx(3.14159).epsilon(0.01));
}

TEST_CASE("random: evaluating a draw in parts, again, or as a whole gives the same elements") {
  const table t(40, 50);
  CHECK(values(t.x(3)) == std::vector<double>(t.e.begin() + 150, t.e.begin() + 200));
  CHECK(t.x(7, 9).item<double>() == t.at(7, 9));
  const auto column = values(t.x(_, 4));
  for (std::int64_t i = 0; i < 40; ++i) CHECK(column[static_cast<std::size_t>(i)] == t.at(i, 4));
  const auto slice_got = values(t.x(slice(5, 35, 7), slice(_, _, -3)) * 2);
  std::size_t k = 0;
  for (std::int64_t i = 5; i < 35; i += 7)
    for (std::int64_t j = 49; j >= 0; j -= 3) CHECK(slice_got[k++] == t.at(i, j) * 2);
  CHECK(!test::is_evaluated(t.x));
  CHECK(values(sum(t.x * 0 + 1)) == std::vector<double>{2000});
  CHECK(values(t.x) == t.e);
  CHECK(values(t.x) == t.e);
}

TEST_CASE("random: transposed, reshaped, broadcast and gathered draws") {
  const table t(24, 30);
  const auto transposed = values(t.x.T() + 0.0);
  const auto reshaped = values(reshape(t.x, {20, 36}) * 1.0);
  const auto odd = values(reshape(t.x.T(), {36, 20}));
  for (std::int64_t k = 0; k < 720; ++k) {
    const auto at = static_cast<std::size_t>(k);
    REQUIRE(transposed[at] == t.at(k % 24, k / 24));
    REQUIRE(reshaped[at] == t.e[at]);
    REQUIRE(odd[at] == t.at(k % 24, k / 24));
  }
  generator g(2);
  const generator start = g;
  const ndarray row = g.standard_normal(30);
  const auto e = expected_normals<double>(start, 30);
  const auto outer = values(row(_, newaxis) * row);
  for (std::size_t i = 0; i < 30; ++i)
    for (std::size_t j = 0; j < 30; ++j) REQUIRE(outer[i * 30 + j] == e[i] * e[j]);
  const ndarray index = array({5, 0, 23, 5});
  const auto taken = values(take(t.x, index, 0));
  const std::int64_t rows[] = {5, 0, 23, 5};
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 30; ++j) REQUIRE(taken[static_cast<std::size_t>(i * 30 + j)] == t.at(rows[i], j));
  const auto along = values(take_along_axis(t.x(slice(0, 3)), array({{3}, {29}, {0}}), 1));
  CHECK(along == std::vector<double>{t.at(0, 3), t.at(1, 29), t.at(2, 0)});
}

TEST_CASE("random: draws beside operands with strides of their own") {
  const table t(33, 64, float32);
  const ndarray tall = arange(33, {.dtype = float32}).copy(), wide = arange(64, {.dtype = float32}).copy();
  eval(tall, wide);
  CHECK(kernels_of(t.x * wide + tall(_, newaxis)) == 1);
  const auto got = values(t.x * wide + tall(_, newaxis));
  for (std::int64_t i = 0; i < 33; ++i)
    for (std::int64_t j = 0; j < 64; ++j)
      REQUIRE(got[static_cast<std::size_t>(i * 64 + j)] == double(float(float(t.at(i, j)) * float(j)) + float(i)));
}

TEST_CASE("random: draws inside of reductions, along each axis, and after them") {
  const table t(37, 52);
  const ndarray least = min(t.x, 1), most = max(t.x, 0), where_least = argmin(t.x);
  CHECK(kernels_of(least) == 1);
  CHECK(kernels_of(most) == 1);
  const auto a = values(least), b = values(most);
  for (std::int64_t i = 0; i < 37; ++i) {
    double x = INFINITY;
    for (std::int64_t j = 0; j < 52; ++j) x = std::min(x, t.at(i, j));
    CHECK(a[static_cast<std::size_t>(i)] == x);
  }
  for (std::int64_t j = 0; j < 52; ++j) {
    double x = -INFINITY;
    for (std::int64_t i = 0; i < 37; ++i) x = std::max(x, t.at(i, j));
    CHECK(b[static_cast<std::size_t>(j)] == x);
  }
  CHECK(where_least.item<std::int64_t>() == std::min_element(t.e.begin(), t.e.end()) - t.e.begin());
  // A draw of the results' shape in the epilogue of a reduction.
  generator g(8);
  const generator start = g;
  const ndarray counts = array({{1, 2, 3}, {4, 5, 6}}).astype(float64);
  const ndarray noisy = sum(counts, 1) + g.standard_normal(2);
  CHECK(kernels_of(noisy) == 1);
  const auto z = expected_normals<double>(start, 2);
  CHECK(values(noisy) == std::vector<double>{6 + z[0], 15 + z[1]});
  const ndarray table_of_sums = sum(reshape(arange(24.0), {2, 3, 4}), -1) + g.standard_normal({2, 3});
  CHECK(table_of_sums.shape() == shape_t{2, 3});
}

TEST_CASE("random: the same bits fused and unfused, interpreted and compiled, with any number of threads") {
  settings restore;
  const auto run = [](bool fuse, cpu::tier tier, int threads) {
    graph::limits().fuse = fuse;
    cpu::set_tier(tier);
    runtime::set_thread_count(threads);
    generator g(55);
    std::vector<std::vector<double>> all;
    for (const dtype type : {float32, float64}) {
      const random::draw_kw kw{.dtype = type};
      all.push_back(values(g.standard_normal({71, 53}, kw) * g.random({71, 53}, kw) + g.standard_exponential(53, kw)));
      all.push_back(values(sqrt(g.gamma(g.random({40, 1}, kw) * 3, 2.0, {40, 30}, kw))));
      all.push_back(values(g.laplace(g.random(77, kw), 0.5, {3, 77}, kw)(_, slice(_, _, 2))));
    }
    all.push_back(values(g.poisson(g.random(500) * 40) + g.integers(0, 7, 500)));
    all.push_back(values(g.binomial(arange(300), 0.3) - g.integers(arange(300), 1000)));
    all.push_back(values(g.beta(0.4, g.random(200) + 0.1)));
    all.push_back(values(g.standard_normal(1000)(slice(3, 997)) + 1));
    return all;
  };
  const auto first = run(true, cpu::tier::interpreted, 1);
  for (const bool fuse : {true, false})
    for (const auto tier : {cpu::tier::interpreted, cpu::tier::compiled})
      for (const int threads : {1, 3}) {
        CAPTURE(fuse);
        CAPTURE(threads);
        CHECK(run(fuse, tier, threads) == first);
      }
}

TEST_CASE("random: a draw that is needed for a second time is stored") {
  generator g(3);
  const ndarray x = g.standard_normal(10000);
  eval(x * 2);
  CHECK(!test::is_evaluated(x));
  eval(x * 3);
  CHECK(test::is_evaluated(x));
  CHECK(values(x) == expected_normals<double>(generator(3), 10000));
}

TEST_CASE("random: draws are written into parts of arrays") {
  generator g(4);
  const ndarray x = zeros({6, 5});
  x(slice(1, 4), slice(0, 2)) = g.random({3, 2});
  const auto e = expected_uniform<double>(generator(4), 6);
  const auto got = values(x);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 5; ++j) CHECK(got[i * 5 + j] == (i >= 1 && i < 4 && j < 2 ? e[(i - 1) * 2 + j] : 0.0));
  ndarray y = zeros(8);
  y += g.random(8);
  CHECK(max(y).item<double>() < 1);
}

TEST_CASE("random: places that are counted beside a draw go on from block to block in compiled kernels") {
  const settings restore;
  for (const cpu::tier tier : {cpu::tier::interpreted, cpu::tier::compiled}) {
    cpu::set_tier(tier);
    for (const std::int64_t n : {200, 300, 5000}) {
      CAPTURE(n);
      const auto drawn = expected_uniform<double>(generator(4), n);
      const auto product = (generator(4).random(n) * arange(n)).to_vector<double>();
      for (std::size_t k = 0; k < drawn.size(); ++k) REQUIRE(product[k] == drawn[k] * static_cast<double>(k));
      const ndarray draws = generator(5).integers(0, n, n), places = arange(n);
      eval(draws, places);
      const auto counted = places.to_vector<std::int64_t>();
      for (std::size_t k = 0; k < counted.size(); ++k) REQUIRE(counted[k] == static_cast<std::int64_t>(k));
    }
  }
}
