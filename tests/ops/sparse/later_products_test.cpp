// Products with dense operands that are done when they are first used: what they then are, and what becomes part of them.
#include "sinter/sparse.hpp"

#include "dist/meshes.hpp"
#include "support/kernel_test.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
namespace sp = sinter::sparse;

/// The same dtype and elements, bit by bit but for the sign of zeros.
void check_same(const ndarray& a, const ndarray& b) {
  CHECK(a.dtype() == b.dtype());
  CHECK(a.shape() == b.shape());
  CHECK(all(a == b).item<bool>());
}

struct operands {
  sp::sparse_array a;
  ndarray x, y, product;  // y and the evaluated product alike
};
template <class F>
void for_operands(F&& f) {
  for (const dtype t : {float32, float64})
    for (const bool by_columns : {false, true})
      for (const std::int64_t width : {0, 3}) {
        const sp::sparse_array rows = sp::random(60, 40, 0.2).astype(t), a = by_columns ? rows.tocsc() : rows;
        const auto vectors = [&](std::int64_t n) {
          return random::normal(0, 1, width ? shape_t{n, width} : shape_t{n}).astype(t);
        };
        operands o{a, vectors(40), vectors(60), {}};
        eval(o.x, o.y);
        o.product = a.dot(o.x).copy();
        eval(o.product);
        f(o);
      }
}

}  // namespace

TEST_CASE("sparse products: scales, signs and sums in their statement give the bits of separate operations") {
  for_operands([](const operands& o) {
    const ndarray &p = o.product, &y = o.y;
    const auto product = [&] { return o.a.dot(o.x); };
    ndarray q = 2 * product() - 3 * y;
    check_same(q, 2 * p - 3 * y);
    q = y - product();
    check_same(q, y - p);
    q = -product();
    check_same(q, -p);
    q = product() + y;
    check_same(q, p + y);
    q = y - 0.3 * product();
    check_same(q, y - 0.3 * p);
    q = -(0.3 * product());
    check_same(q, -(0.3 * p));
    q = product() * 0.3 * 0.7;
    check_same(q, p * 0.3 * 0.7);
    q = product() - product();
    check_same(q, p - p);
    q = product() + y + y;
    check_same(q, p + y + y);
    q = -(product() - y);
    check_same(q, -(p - y));
  });
}

TEST_CASE("sparse products: what does not become part of them") {
  for_operands([](const operands& o) {
    const ndarray &p = o.product, &y = o.y;
    const auto product = [&] { return o.a.dot(o.x); };
    ndarray q = product() + y.astype(complex128);
    check_same(q, p + y.astype(complex128));
    q = product() + y.astype(float64);
    check_same(q, p + y.astype(float64));
    q = product() + 1;
    check_same(q, p + 1);
    q = product() * y;
    check_same(q, p * y);
    q = product() * std::complex<double>(0, 1);
    check_same(q, p * std::complex<double>(0, 1));
    q = product() - y(slice(1));
    check_same(q, p - y(slice(1)));
    CHECK_THROWS_AS(product() + zeros({7}), shape_error);
    CHECK_THROWS_AS(o.a.dot(zeros({7})), shape_error);  // at the call
  });
}

TEST_CASE("sparse products: handles that are used again, written, or dropped") {
  for_operands([](const operands& o) {
    const ndarray &p = o.product, &y = o.y;
    ndarray named = o.a.dot(o.x);
    const ndarray sum = 2 * named + y, difference = named - y, square = named * named, none = named - named;
    check_same(sum, 2 * p + y);
    check_same(difference, p - y);
    check_same(square, p * p);
    check_same(none, p - p);
    check_same(named, p);

    named = o.a.dot(o.x);
    ndarray twice = 2 * named;
    const ndarray both = twice - y;
    named = ndarray();
    check_same(both, 2 * p - y);
    check_same(twice, 2 * p);

    ndarray x = o.x.copy(), z = y.copy();
    ndarray q = o.a.dot(x) + z;
    x(0) = 100;
    z(0) = 100;
    check_same(q, p + y);

    q = o.a.dot(o.x);
    q += y;
    check_same(q, p + y);
    q = o.a.dot(o.x);
    const ndarray copy = q, part = q(slice(1, 5));
    q(2) = 9;
    CHECK(all(part(1) == 9).item<bool>());
    CHECK(all(copy(2) == 9).item<bool>());
    ndarray expected = p.copy();
    expected(2) = 9;
    check_same(q, expected);
  });
}

TEST_CASE("sparse products: nothing is computed before the first use, also where there are meshes") {
  const ndarray elsewhere = dist::shard(arange(6), sinter::test::mesh_of({2}), {dist::shard(0)});
  const sp::sparse_array a = sp::identity(1 << 16);
  const ndarray x = ones(1 << 16);
  eval(x);
  eval(a.data());
  eval(a.dot(x));
  const std::size_t before = memory_pool().figures().used;
  const ndarray y = a.dot(x), r = x - 2 * a.dot(x);
  CHECK(memory_pool().figures().used == before);
  eval(r);
  CHECK(memory_pool().figures().used == before + (sizeof(double) << 16));  // the product alone is nowhere
  CHECK(all(y == 1).item<bool>());
  CHECK(all(r == -1).item<bool>());
  const std::size_t then = memory_pool().figures().used;
  const ndarray s = 2 * a.dot(x) - 3 * x;  // nor are the multiples
  eval(s);
  CHECK(memory_pool().figures().used == then + (sizeof(double) << 16));
  CHECK(all(s == -1).item<bool>());
}
