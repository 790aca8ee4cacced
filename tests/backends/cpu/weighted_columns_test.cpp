// Sums of columns each step of which is multiplied by one number, as those of a product with a vector: the bits are those of
// the sum of the products in memory.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sinter::idx;
using sn::ndarray;

namespace {

const sn::device cpu("cpu");

ndarray draws(const sn::shape_t& shape, sn::dtype type, std::int64_t salt) {
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  const ndarray i = sn::arange(count, {.dtype = sn::float64, .device = cpu});
  ndarray x = sn::reshape(sn::sin(i * 1.7 + salt) * sn::exp(sn::cos(i * 0.9) * 6), shape).astype(type);
  sn::eval(x);
  return x;
}

bool same_bits(const ndarray& a, const ndarray& b) {
  const auto x = a.astype(sn::float64).to_vector<double>(), y = b.astype(sn::float64).to_vector<double>();
  REQUIRE(x.size() == y.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool equal = std::isnan(x[k]) ? std::isnan(y[k]) : std::memcmp(&x[k], &y[k], sizeof(double)) == 0;
    if (!equal) return false;
  }
  return true;
}

/// The sum over the axes of the product as one kernel and of the product in memory.
void check(const ndarray& x, const ndarray& w, const sn::axes& over) {
  ndarray product = x * w;
  sn::eval(product);
  const ndarray expected = sn::sum(product, over);
  const ndarray y = sn::sum(x * w, over), z = sn::sum(w * x, over);
  sn::eval(y);
  CHECK(same_bits(y, expected));
  CHECK(same_bits(z, expected));
  // With a plain sum of the same elements in the same kernel.
  const ndarray both = sn::sum(x * w, over), plain = sn::sum(x, over);
  sn::eval(both, plain);
  CHECK(same_bits(both, expected));
  CHECK(same_bits(plain, sn::sum(x.copy(), over)));
}

}  // namespace

TEST_CASE("weighted columns: the bits of the sum of the products, for all extents and layouts") {
  for (const sn::dtype type : {sn::float32, sn::float64})
    for (const std::int64_t rows : {1, 3, 4, 5, 18, 64, 1003, 4099})
      for (const std::int64_t columns : {1, 3, 15, 16, 17, 64, 128, 129, 300, 1100}) {
        if (rows * columns > (1 << 20)) continue;
        CAPTURE(rows);
        CAPTURE(columns);
        const ndarray x = draws({rows, columns}, type, 1), w = draws({rows, 1}, type, 2);
        check(x, w, 0);
        // Every second row, some of the columns, weights from the last to the first.
        const ndarray all = draws({2 * rows, columns + 5}, type, 3);
        check(all(slice(_, _, 2), slice(2, columns + 2)), w(slice(_, _, -1)), 0);
      }
}

TEST_CASE("weighted columns: several axes, weights of some of them, operands that are no such sums") {
  const ndarray x = draws({6, 35, 7, 40}, sn::float32, 1);
  check(x, draws({6, 35, 7, 1}, sn::float32, 2), {0, 1, 2});
  check(x, draws({6, 1, 7, 1}, sn::float32, 3), {0, 2});
  check(x, draws({1, 35, 1, 1}, sn::float32, 4), 1);
  check(x, draws({6, 35, 7, 40}, sn::float32, 5), {0, 1});
  check(x, draws({40}, sn::float32, 6), {0, 1});
  check(x(_, _, _, slice(_, _, 2)), draws({6, 35, 7, 1}, sn::float32, 7), {0, 1, 2});
  check(sn::roll(x, 3, 1), draws({6, 35, 7, 1}, sn::float32, 8), {0, 1, 2});
  for (const sn::dtype type : {sn::float16, sn::bfloat16}) {
    const ndarray h = draws({90, 33}, type, 9), v = draws({90, 1}, type, 10);
    const ndarray wide = sn::sum(h.astype(sn::float32) * v.astype(sn::float32), 0);
    ndarray product = h.astype(sn::float32) * v.astype(sn::float32);
    sn::eval(product);
    CHECK(same_bits(wide, sn::sum(product, 0)));
  }
}

TEST_CASE("weighted columns: infinities, NaN and zeros multiply as everywhere") {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> special{0, -0.0, inf, -inf, nan, 1, -1, 1e300};
  const ndarray w = sn::array(special).to_device(cpu).reshape({8, 1});
  ndarray x = sn::broadcast_to(sn::repeat(sn::array(special).to_device(cpu), 4), {8, 32}).copy();
  sn::eval(x);
  check(x, w, 0);
  for (std::int64_t k = 0; k < 8; ++k) check(x(slice(k, k + 1)), w(slice(k, k + 1)), 0);
}

TEST_CASE("weighted rows: products of a transposed matrix with a vector have the bits of the sum of the products") {
  for (const sn::dtype type : {sn::float32, sn::float64})
    for (const std::int64_t elements : {2, 3, 4, 5, 18, 64, 127, 300, 1003, 5000})
      for (const std::int64_t results : {15, 16, 20, 33, 256, 300}) {
        if (elements * results > (1 << 20)) continue;
        CAPTURE(elements);
        CAPTURE(results);
        const ndarray x = draws({elements, results}, type, 1), w = draws({elements}, type, 2);
        check(x.T(), w, 1);
        const ndarray all = draws({2 * elements, results + 5}, type, 3);
        check(all(slice(_, _, 2), slice(2, results + 2)).T(), w(slice(_, _, -1)), 1);
      }
  // Stacks, two reduced axes, and weights that differ from result to result.
  const ndarray x = draws({6, 35, 7, 40}, sn::float64, 1);
  check(sn::moveaxis(x, 3, 0), draws({6, 35, 7}, sn::float64, 2), {1, 2, 3});
  check(sn::moveaxis(x, 3, 1), draws({6, 1, 35, 7}, sn::float64, 3), {2, 3});
  check(sn::moveaxis(x, 3, 1), draws({1, 1, 35, 1}, sn::float64, 4), {2, 3});
  check(sn::moveaxis(x, 3, 1), draws({6, 40, 1, 1}, sn::float64, 5), {2, 3});
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const ndarray special = sn::array({0.0, -0.0, inf, -inf, nan, 1.0, -1.0, 1e300}).to_device(cpu);
  ndarray rows = sn::broadcast_to(sn::repeat(special, 4), {8, 32}).copy();
  sn::eval(rows);
  check(rows.T(), special, 1);
}
