// Loops as they are written every day, beside the same loops whose steps are called.
#include <cmath>
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "sinter/linalg.hpp"
#include "sinter/loops.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

using many = std::vector<ndarray>;

void check_same(const many& a, const many& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(k);
    CHECK(a[k].shape() == b[k].shape());
    CHECK(same_bits(a[k], b[k]));
  }
}

template <class Condition, class F>
many check_while(Condition goes_on, F f, const many& init) {
  const many a = while_loop(goes_on, f, init);
  check_same(a, while_loop(goes_on, f, init, {.call_each = true}));
  return a;
}

template <class F>
std::pair<many, many> check_scan(F f, const many& init, const many& xs) {
  const auto a = scan(f, init, xs), b = scan(f, init, xs, {.call_each = true});
  check_same(a.first, b.first);
  check_same(a.second, b.second);
  return a;
}

ndarray sigmoid(const ndarray& x) { return 1 / (1 + exp(-x)); }

}  // namespace

TEST_CASE("everyday loops: until something is small") {
  SUBCASE("damped oscillator") {
    const many r = check_while([](const many& c) { return c[0] * c[0] + c[1] * c[1] > 1e-3; },
                               [](const many& c) {
                                 const ndarray v = c[1] - 0.01 * (c[0] + 0.2 * c[1]);
                                 return many{c[0] + 0.01 * v, v, c[2] + 1};
                               },
                               {ones({}), zeros({}), zeros({})});
    CHECK(double(r[0] * r[0] + r[1] * r[1]) <= 1e-3);
    CHECK(double(r[2]) > 300);
  }
  SUBCASE("PageRank") {
    ndarray p = numbers({20, 20}) + 2;
    p = p / sum(p, {.axis = 0});
    const many r = check_while([](const many& c) { return sum(absolute(c[0] - c[1])) > 1e-14; },
                               [&](const many& c) {
                                 return many{0.85 * matmul(p, c[0]) + 0.15 / 20, c[0]};
                               },
                               {full({20}, 0.05), zeros(20)});
    CHECK(double(sum(r[0])) == doctest::Approx(1));
  }
  SUBCASE("bisection") {
    const ndarray n = linspace(1, 100, 300);
    const many r = check_while([](const many& c) { return c[2] > 1e-12; },
                               [&](const many& c) {
                                 const ndarray m = (c[0] + c[1]) * 0.5, low = m * m * m < n;
                                 return many{where(low, m, c[0]), where(low, c[1], m), c[2] * 0.5};
                               },
                               {zeros(300), full({300}, 100.0), full({}, 100.0)});
    CHECK(double(max(absolute(r[0] - cbrt(n)))) < 1e-11);
    const auto root = [](const ndarray& a) {
      return while_loop([](const many& c) { return c[1] - c[0] > 1e-12; },
                        [&](const many& c) {
                          const ndarray m = (c[0] + c[1]) * 0.5, low = m * m * m < a;
                          return many{where(low, m, c[0]), where(low, c[1], m)};
                        },
                        many{zeros({}), full({}, 100.0)})[0];
    };
    CHECK(double(max(absolute(vmap(root)(n) - cbrt(n)))) < 1e-11);
  }
  SUBCASE("secant, damped") {
    const many r = check_while([](const many& c) { return (absolute(c[1] - c[0]) > 1e-13) & (c[2] < 5000); },
                               [](const many& c) {
                                 const ndarray f = c[0] * c[0] * c[0] - 2, g = c[1] * c[1] * c[1] - 2;
                                 return many{c[1], c[1] - 0.01 * g * (c[1] - c[0]) / (g - f), c[2] + 1};
                               },
                               {ones({}), full({}, 2.0), zeros({})});
    CHECK(double(r[1]) == doctest::Approx(std::cbrt(2.0)).epsilon(1e-10));
  }
  SUBCASE("Collatz") {
    const many r = check_while([](const many& c) { return c[0] != 1; },
                               [](const many& c) {
                                 return many{where(c[0] % 2 == 0, floor_divide(c[0], 2), 3 * c[0] + 1), c[1] + 1};
                               },
                               {full({}, 837799, {.dtype = int64}), zeros({}, {.dtype = int64})});
    CHECK(r[1].item<std::int64_t>() == 524);
  }
}

TEST_CASE("everyday loops: over a sequence") {
  SUBCASE("Metropolis") {
    check_scan(
        [](const many& c, const many& d) {
          const ndarray y = c[0] + d[0];
          const ndarray next = where(log(d[1]) < 0.5 * (c[0] * c[0] - y * y), y, c[0]);
          return std::pair(many{next}, many{next});
        },
        {zeros(2)}, {numbers({300, 2}), absolute(numbers({300, 2}, float64, 3)) + 0.01});
  }
  SUBCASE("GRU") {
    const ndarray w = numbers({16, 16}) * 0.1, u = numbers({16, 16}, float64, 5) * 0.1;
    check_scan(
        [&](const many& c, const many& x) {
          const ndarray z = sigmoid(matmul(w, c[0]) + x[0]), r = sigmoid(matmul(u, c[0]) - x[0]);
          const ndarray next = (1 - z) * c[0] + z * tanh(matmul(w, r * c[0]) + x[0]);
          return std::pair(many{next}, many{next});
        },
        {zeros(16)}, {numbers({40, 16})});
  }
  SUBCASE("cumulative logsumexp") {
    const ndarray x = linspace(-3, 3, 400);
    const auto r = check_scan(
        [](const many& c, const many& e) {
          const ndarray next = logaddexp(c[0], e[0]);
          return std::pair(many{next}, many{next});
        },
        {full({}, -1e30)}, {x});
    CHECK(allclose(r.second[0], log(cumsum(exp(x))), 1e-12));
  }
  SUBCASE("Viterbi") {
    const ndarray t = numbers({16, 16});
    check_scan(
        [&](const many& c, const many& o) {
          const ndarray s = c[0](_, newaxis) + t;
          return std::pair(many{max(s, {.axis = 0}) + o[0]}, many{argmax(s, {.axis = 0})});
        },
        {zeros(16)}, {numbers({60, 16})});
  }
  SUBCASE("Euler-Maruyama") {
    check_scan(
        [](const many& c, const many& d) {
          const ndarray next = c[0] + 0.01 * (1 - c[0]) + 0.1 * sqrt(absolute(c[0])) * d[0];
          return std::pair(many{next}, many{next});
        },
        {ones(300)}, {numbers({100, 300})});
  }
  SUBCASE("a bank of filters") {
    const ndarray a = linspace(-1.8, -0.2, 8);
    check_scan(
        [&](const many& c, const many& x) {
          const ndarray y = x[0] - a * c[0] - 0.81 * c[1];
          return std::pair(many{y, c[0]}, many{y});
        },
        {zeros(8), zeros(8)}, {numbers({500})});
  }
}
