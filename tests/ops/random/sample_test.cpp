// Orders and samples: permutations, choices, weights, normal vectors.
#include <algorithm>
#include <map>
#include <numeric>

#include "ops/random/reference.hpp"
#include "ops/random/statistics.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::random::generator;
using statistics::sample;
using statistics::smallest_p;

namespace {

using longs = std::vector<std::int64_t>;
longs numbers(const ndarray& x) { return x.to_vector<std::int64_t>(); }
longs first_numbers(std::int64_t n) {
  longs all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}
longs sorted(longs x) {
  std::sort(x.begin(), x.end());
  return x;
}

}  // namespace

TEST_CASE("permutation: every number once, and every order as likely") {
  generator g(1);
  const ndarray p = g.permutation(1000);
  CHECK(p.dtype() == int64);
  CHECK(sorted(numbers(p)) == first_numbers(1000));
  CHECK(numbers(p) != first_numbers(1000));
  CHECK(g.permutation(0).size() == 0);
  CHECK_THROWS_AS(g.permutation(-1), value_error);
  std::map<longs, double> seen;
  for (int k = 0; k < 4800; ++k) ++seen[numbers(g.permutation(4))];
  CHECK(seen.size() == 24);
  sample counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  CHECK(statistics::equal_counts_p(counts) > smallest_p);
}

TEST_CASE("permutation of an array moves slices along an axis") {
  generator g(2);
  const ndarray x = reshape(arange(12), {3, 4});
  const ndarray rows = g.permutation(x), columns = g.permutation(x, -1);
  CHECK(rows.shape() == shape_t{3, 4});
  CHECK(bool(all(rows - rows(_, slice(0, 1)) == arange(4))));
  CHECK(sorted(numbers(rows(_, 0))) == longs{0, 4, 8});
  CHECK(sorted(numbers(columns(0))) == longs{0, 1, 2, 3});
  CHECK(bool(all(columns(1) - columns(0) == 4)));
  CHECK_THROWS_AS(g.permutation(x, 2), index_error);
}

TEST_CASE("shuffle works in place, and views see it") {
  generator g(3);
  const ndarray x = arange(50);
  const ndarray view = x(slice(_, _, -1));
  g.shuffle(x);
  CHECK(sorted(numbers(x)) == first_numbers(50));
  CHECK(numbers(x) != first_numbers(50));
  longs reversed = numbers(x);
  std::reverse(reversed.begin(), reversed.end());
  CHECK(numbers(view) == reversed);
  ndarray table = reshape(arange(20), {4, 5});
  g.shuffle(table(slice(0, 2)), 1);
  CHECK(numbers(table(slice(2, 4))) == longs{10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
  CHECK(sorted(numbers(table(0))) == longs{0, 1, 2, 3, 4});
  CHECK(bool(all(table(1) - table(0) == 5)));
  CHECK_THROWS_AS(g.shuffle(broadcast_to(arange(3), {2, 3})), value_error);
}

TEST_CASE("permuted gives every row an order of its own") {
  generator g(4);
  const ndarray x = broadcast_to(arange(6), {2000, 6});
  const ndarray rows = g.permuted(x, 1);
  CHECK(bool(all(sort(rows, 1) == arange(6))));
  sample firsts(6);
  for (const std::int64_t v : numbers(rows(_, 0))) ++firsts[std::size_t(v)];
  CHECK(statistics::equal_counts_p(firsts) > smallest_p);
  CHECK(bool(any(rows(0) != rows(1)) | any(rows(1) != rows(2))));
  const ndarray all_mixed = g.permuted(reshape(arange(30), {5, 6}));
  CHECK(all_mixed.shape() == shape_t{5, 6});
  CHECK(sorted(numbers(all_mixed)) == first_numbers(30));
}

TEST_CASE("choice: with and without replacement") {
  generator g(5);
  const ndarray many = g.choice(7, {100, 10});
  CHECK(many.shape() == shape_t{100, 10});
  CHECK(min(many).item<int>() == 0);
  CHECK(max(many).item<int>() == 6);
  CHECK(sorted(numbers(g.choice(8, 8, {.replace = false}))) == first_numbers(8));
  const longs some = sorted(numbers(g.choice(1000, 20, {.replace = false})));
  CHECK(std::adjacent_find(some.begin(), some.end()) == some.end());
  CHECK(g.choice(5).shape() == shape_t{});
  const ndarray names = array({10, 20, 30});
  CHECK(bool(all(g.choice(names, 50) % 10 == 0)));
  const ndarray table = reshape(arange(12), {3, 4});
  CHECK(g.choice(table, 2, {.axis = 1}).shape() == shape_t{3, 2});
  CHECK(g.choice(table, {2, 5}).shape() == shape_t{2, 5, 4});
  CHECK(g.choice(3, 0).size() == 0);
  CHECK_THROWS_AS(g.choice(3, 4, {.replace = false}), value_error);
  CHECK_THROWS_AS(g.choice(0, 1), value_error);
  CHECK_THROWS_AS(g.choice(-2, 1), value_error);
  CHECK_THROWS_AS(g.choice(table, 1, {.axis = 2}), index_error);
}

TEST_CASE("choice: few of many without replacement are different, in any order, and each as likely") {
  generator g(55);
  for (const std::int64_t n : {1023, 1024, 5000, 1 << 20})
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{2}, n / 8 - 1, n / 8, n / 8 + 1}) {
      const longs some = sorted(numbers(g.choice(n, k, {.replace = false})));
      CHECK(some.size() == static_cast<std::size_t>(k));
      CHECK(std::adjacent_find(some.begin(), some.end()) == some.end());
      CHECK(some.front() >= 0);
      CHECK(some.back() < n);
    }
  sample seen(16), firsts(16), ascending(2);
  for (int draw = 0; draw < 400; ++draw) {
    const longs some = numbers(g.choice(1024, {128}, {.replace = false}));
    for (const std::int64_t v : some) ++seen[std::size_t(v / 64)];
    ++firsts[std::size_t(some[0] / 64)];
    ++ascending[some[0] < some[127]];
  }
  CHECK(statistics::equal_counts_p(seen) > smallest_p);
  CHECK(statistics::equal_counts_p(firsts) > smallest_p);
  CHECK(statistics::equal_counts_p(ascending) > smallest_p);
  CHECK(g.choice(4096, {4, 8}, {.replace = false}).shape() == shape_t{4, 8});
}

TEST_CASE("choice: weights are obeyed") {
  generator g(6);
  const std::vector<double> p{0.1, 0.0, 0.4, 0.3, 0.2};
  sample counts(5), expected;
  for (const std::int64_t k : numbers(g.choice(5, 1 << 18, {.p = array(p)}))) ++counts[std::size_t(k)];
  for (const double x : p) expected.push_back(x * (1 << 18));
  CHECK(counts[1] == 0);
  CHECK(statistics::chi_square_p({counts[0], counts[2], counts[3], counts[4]},
                                 {expected[0], expected[2], expected[3], expected[4]}) > smallest_p);
  CHECK(bool(all(g.choice(array({5, 6}), 20, {.p = array({0.0, 1.0})}) == 6)));
  // Two of three without replacement: P(first i, then j) = p_i * p_j / (1 - p_i).
  const double q[] = {0.5, 0.3, 0.2};
  std::map<longs, double> seen;
  const int draws = 6000;
  for (int k = 0; k < draws; ++k) ++seen[numbers(g.choice(3, 2, {.replace = false, .p = array({0.5, 0.3, 0.2})}))];
  sample got, wanted;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (i != j) {
        got.push_back(seen[{i, j}]);
        wanted.push_back(draws * q[i] * q[j] / (1 - q[i]));
      }
  CHECK(statistics::chi_square_p(got, wanted) > smallest_p);
  CHECK(sorted(numbers(g.choice(4, 2, {.replace = false, .p = array({0.0, 0.5, 0.0, 0.5})}))) == longs{1, 3});
}

TEST_CASE("choice: probabilities are checked") {
  generator g(7);
  CHECK_THROWS_AS(g.choice(3, 2, {.p = array({0.5, 0.5})}), shape_error);
  CHECK_THROWS_AS(g.choice(2, 2, {.p = array({0.5, 0.6})}), value_error);
  CHECK_THROWS_AS(g.choice(2, 2, {.p = array({1.5, -0.5})}), value_error);
  CHECK_THROWS_AS(g.choice(2, 2, {.p = array({NAN, 1.0})}), value_error);
  CHECK_THROWS_AS(g.choice(3, 2, {.replace = false, .p = array({1.0, 0.0, 0.0})}), value_error);
  CHECK_NOTHROW(g.choice(3, 2, {.p = array({0.333333, 0.333333, 0.333334}, {.dtype = float32})}));
}

TEST_CASE("multivariate_normal: mean and covariance are as asked for") {
  generator g(8);
  const std::vector<double> mean_wanted{1, -2, 0.5}, cov{2, 0.6, -0.3, 0.6, 1, 0.2, -0.3, 0.2, 0.5};
  const std::int64_t n = 1 << 18;
  const ndarray x = g.multivariate_normal(array(mean_wanted), reshape(array(cov), {3, 3}), n);
  CHECK(x.shape() == shape_t{n, 3});
  CHECK(x.dtype() == float64);
  std::vector<sample> columns;
  for (int i = 0; i < 3; ++i) columns.push_back(x(_, i).to_vector<double>());
  for (std::size_t i = 0; i < 3; ++i) {
    const double deviation = std::sqrt(cov[i * 3 + i]);
    CHECK(statistics::mean_p(columns[i], mean_wanted[i], deviation) > smallest_p);
    CHECK(statistics::kolmogorov_p(columns[i], [&](double v) {
            return statistics::normal_cdf((v - mean_wanted[i]) / deviation);
          }) > smallest_p);
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < columns[i].size(); ++k)
        sum += (columns[i][k] - mean_wanted[i]) * (columns[j][k] - mean_wanted[j]);
      const double c = cov[i * 3 + j], error_of_sum = std::sqrt(cov[i * 4] * cov[j * 4] + c * c);
      CHECK(statistics::two_sided((sum / double(n) - c) / error_of_sum * std::sqrt(double(n))) > smallest_p);
    }
  }
}

TEST_CASE("multivariate_normal: shapes, singular and refused covariances") {
  generator g(9);
  const ndarray unit = eye(2);
  CHECK(g.multivariate_normal(zeros(2), unit).shape() == shape_t{2});
  CHECK(g.multivariate_normal(zeros(2), unit, {4, 5}, {.dtype = float32}).shape() == shape_t{4, 5, 2});
  CHECK(g.multivariate_normal(zeros(2), unit, 3, {.dtype = float32}).dtype() == float32);
  const ndarray line = g.multivariate_normal(zeros(2), array({{1.0, 1.0}, {1.0, 1.0}}), 1000);
  CHECK(max(absolute(line(_, 0) - line(_, 1))).item<double>() < 1e-7);
  CHECK(max(absolute(line)).item<double>() > 2);
  CHECK_THROWS_AS(g.multivariate_normal(zeros(2), array({{1.0, 2.0}, {2.0, 1.0}})), value_error);
  CHECK_THROWS_AS(g.multivariate_normal(zeros(2), array({{1.0, 0.5}, {0.0, 1.0}})), value_error);
  CHECK_NOTHROW(g.multivariate_normal(zeros(2), array({{1.0, 0.5}, {0.0, 1.0}}), {}, {.check_valid = false}));
  CHECK_THROWS_AS(g.multivariate_normal(zeros(3), unit), shape_error);
  CHECK_THROWS_AS(g.multivariate_normal(zeros({2, 1}), unit), shape_error);
}
