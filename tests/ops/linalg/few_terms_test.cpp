// Products with few terms on the host: the bits of recorded sums of products, whatever the layout.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/few_terms.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;

bool on_host() { return zeros(1).device() == device(cpu); }

bool same_bits(const ndarray& a, const ndarray& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         bool(all(ravel(a).copy().view(uint8) == ravel(b).copy().view(uint8)));
}

ndarray numbers(const shape_t& shape, dtype t, int seed) {
  random::generator g(seed);
  return (g.standard_normal(shape) * exp2(g.integers(-8, 9, shape).astype(float64))).astype(t);
}

ndarray sums(const ndarray& a, const ndarray& b) { return sum(expand_dims(a, -1) * expand_dims(b, -3), {.axis = -2}); }

/// The same elements by columns, as every second one, and backwards.
std::vector<ndarray> layouts(const ndarray& x) {
  ndarray apart = zeros({2 * x.shape(0), 2 * x.shape(1)}, {.dtype = x.dtype()});
  apart(slice(_, _, 2), slice(_, _, 2)) = x;
  const ndarray back = x(slice(_, _, -1), slice(_, _, -1)).copy();
  return {x, x.T().copy().T(), apart(slice(_, _, 2), slice(_, _, 2)), back(slice(_, _, -1), slice(_, _, -1))};
}

}  // namespace

TEST_CASE("products with few terms have the bits of short sums, in every layout") {
  if (!on_host()) return;
  for (const dtype t : {float64, float32})
    for (const std::int64_t terms : {1, 2, 3, 4, 5, 6, 7, 8})
      for (const auto& s : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {2, 2}, {2, 3}, {8, 8}, {3, 21}, {32, 2}, {1000, 3}, {20000, 4}, {5, 7}, {7, 5}, {2, 6}, {4, 16}}) {
        const std::int64_t rows = s.first, columns = s.second;
        CAPTURE(t);
        CAPTURE(terms);
        CAPTURE(rows);
        CAPTURE(columns);
        REQUIRE(core::has_few_terms(rows, columns, terms));
        const ndarray a = numbers({rows, terms}, t, 1), b = numbers({terms, columns}, t, 2), right = sums(a, b);
        for (const ndarray& x : layouts(a))
          for (const ndarray& y : layouts(b)) CHECK(same_bits(matmul(x, y), right));
        ndarray out = zeros({columns, rows}, {.dtype = t});
        matmul(a, b, {.out = out.T()});
        CHECK(same_bits(out.T().copy(), right));
      }
}

TEST_CASE("products with few terms: stacks, one matrix for many, and what special numbers give") {
  if (!on_host()) return;
  const ndarray s = numbers({6, 300, 3, 4}, float64, 3), r = numbers({300, 4, 2}, float64, 4);
  CHECK(same_bits(matmul(s, r), sums(s, r)));
  CHECK(same_bits(matmul(s, r(0)), sums(s, r(0))));
  CHECK(same_bits(matmul(s(0, 0), r), sums(s(0, 0), r)));
  CHECK(same_bits(matmul(s.mT(), s), sums(s.mT().copy(), s)));
  const ndarray z = full({2, 2}, -0.0);
  CHECK(same_bits(matmul(z, ones({2, 2})), sums(z, ones({2, 2}))));
  CHECK(bool(all(signbit(matmul(z, ones({2, 2}))))));
  CHECK(bool(all(isnan(matmul(full({2, 2}, INFINITY), zeros({2, 2}))))));
}

TEST_CASE("products are of few terms up to a number of elements") {
  CHECK(core::has_few_terms(8, 8, 8));
  CHECK(core::has_few_terms(1 << 30, 4, 8));
  CHECK_FALSE(core::has_few_terms(8, 8, 9));
  CHECK_FALSE(core::has_few_terms(13, 5, 8));
}
