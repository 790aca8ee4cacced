// Loops that are one kernel, in which each element goes through all steps: the bits of steps that are called, and as few
// launches as there are kernels.
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "runtime/backend.hpp"
#include "sinter/linalg.hpp"
#include "sinter/loops.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

using many = std::vector<ndarray>;

bool on_host() { return zeros(1).device() == device(cpu); }
std::uint64_t launches() { return runtime::get_backend({}).statistics().launches; }

void check_same(const many& a, const many& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(k);
    CHECK(a[k].shape() == b[k].shape());
    CHECK(same_bits(a[k], b[k]));
  }
}

/// `kernels`: at most so many launches do all steps; 0: the loop is no kernel.
template <class F, class Xs>
void check_kernel(F f, many init, const Xs& xs, int kernels = 1, scan_loop_kw kw = {}) {
  for (ndarray& a : init) a = a.copy(), eval(a);
  const std::uint64_t before = launches();
  const auto a = scan(f, init, xs, kw);
  const std::uint64_t took = launches() - before;
  if (on_host()) {
    if (kernels > 0) CHECK(took <= static_cast<std::uint64_t>(kernels));
    else CHECK(took > 10);
  }
  kw.call_each = true;
  const auto b = scan(f, init, xs, kw);
  check_same(a.first, b.first);
  check_same(a.second, b.second);
}

ndarray rows(const shape_t& shape, dtype t = float64) {
  ndarray x = (numbers(shape) * 3).astype(t);
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("step kernels: elements that do not need each other") {
  const auto step = [](const many& c, const ndarray& e) {
    const ndarray n = c[0] * 0.75 + e;
    return std::pair(many{n}, many{n, n - c[0], c[0], e});
  };
  for (const std::int64_t n : {1, 3, 16, 17, 255, 256, 257, 1000}) {
    CAPTURE(n);
    check_kernel(step, {zeros(n)}, rows({20, n}));
    check_kernel(step, {zeros(n)}, rows({33, n}), 1, {.reverse = true});
  }
  check_kernel(step, {zeros({})}, rows({100}));
  check_kernel(step, {zeros({5, 7, 3})}, rows({18, 5, 7, 3}));
  check_kernel(step, {rows({7, 300}).T()}, rows({18, 300, 7}), 2);
  check_kernel(step, {zeros(20000)}, rows({40, 20000}));  // several threads
}

TEST_CASE("step kernels: dtypes") {
  for (const dtype t : {float16, bfloat16, float32, float64, complex64, complex128, int8, int16, int64, uint8, uint64})
    for (const std::int64_t n : {1, 5, 300}) {
      CAPTURE(t);
      CAPTURE(n);
      check_kernel(
          [](const many& c, const ndarray& e) {
            const ndarray s = c[0] + e * e;
            return std::pair(many{s, c[0], e}, many{s, c[1] * e, c[2]});
          },
          {rows({n}, t), rows({n}, t), rows({n}, t)}, rows({40, n}, t));
    }
  const ndarray b = rows({40, 9}) > 0;
  check_kernel(
      [](const many& c, const ndarray& e) {
        return std::pair(many{c[0] ^ e}, many{c[0], ~c[0]});
      },
      {zeros(9, {.dtype = bool_})}, b.copy(), 2);
  check_kernel(
      [](const many& c, const ndarray& e) {
        const ndarray up = e > c[0];
        return std::pair(many{where(up, e, c[0] * 0.9), c[1] + up.astype(int32), up}, many{c[2], up});
      },
      {zeros(6), zeros(6, {.dtype = int32}), zeros(6, {.dtype = bool_})}, rows({50, 6}));
}

TEST_CASE("step kernels: functions of the library, for one element and for many") {
  for (const std::int64_t n : {1, 40}) {
    CAPTURE(n);
    check_kernel(
        [](const many& c, const ndarray& e) {
          const ndarray s = tanh(c[0] * 0.5 + e), w = exp(-c[1]);
          return std::pair(many{s, s * w, c[2] * 0.99}, many{log1p(absolute(s)), power(absolute(e), c[2]), sin(c[2])});
        },
        {zeros(n), ones(n), ones({})}, rows({30, n}), n == 1 ? 2 : 3);
  }
}

TEST_CASE("step kernels: arrays that change places, that stay, and that come from elsewhere") {
  const ndarray w = rows({6}), u = rows({}), m = rows({3, 6});
  check_kernel(
      [](const many& c, const ndarray& e) {
        return std::pair(many{c[1], c[2], c[0] + e}, many{c[2], c[0]});
      },
      {rows({6}), ones(6), zeros(6)}, rows({40, 6}));
  check_kernel(
      [](const many& c, const ndarray&) {
        return std::pair(many{c[1], c[0]}, many{c[0]});
      },
      {rows({6}), ones(6)}, rows({41, 6}));
  check_kernel(
      [&](const many& c, const ndarray& e) {
        return std::pair(many{c[0], w * u + c[0], e, ones(6)}, many{w, c[0], c[1], u, c[2] * m});
      },
      {rows({6}), ones(6), zeros(6), zeros(6)}, rows({40, 6}), 4);
  ndarray before = rows({6});  // a constant that is computed when the loop begins
  const ndarray pending = exp(before);
  check_kernel([&](const many& c, const ndarray& e) { return std::pair(many{c[0] * pending + e}, many{}); }, {zeros(6)},
               rows({40, 6}), 2);
}

TEST_CASE("step kernels: numbers beside wide arrays, of several shapes") {
  check_kernel(
      [](const many& c, const ndarray& e) {
        const ndarray t = c[0] + 0.01;
        return std::pair(many{t, c[1] * (1 - t) + e, c[2] - c[1](_, newaxis) * t},
                         many{t, c[1] + c[0], c[2] * 2, c[0] * 3});
      },
      {zeros({}), rows({300}), rows({300, 5})}, rows({25, 300}), 6);
}

TEST_CASE("step kernels: components of a state") {
  check_kernel(
      [](const many& c, const ndarray& e) {
        const ndarray &s = c[0], x = s(0), y = s(1);
        return std::pair(many{stack({x + 0.01 * y, y - 0.01 * x + e, s(2) * 0.5})}, many{x, s, s(slice(0, 2))});
      },
      {rows({3})}, rows({60}), 4);
  check_kernel(
      [](const many& c, const ndarray&) {
        const ndarray x = c[0](0), y = c[0](1);
        return std::pair(many{stack({x + 0.01 * (x - x * y), y + 0.01 * (x * y - y)})}, many{x + y});
      },
      {rows({2, 500})}, rows({30}), 4);
  check_kernel(  // planets about a centre: short sums
      [](const many& c, const ndarray&) {
        const ndarray &x = c[0], r2 = sum(x * x, 1) + 1.0, v = c[1] - 0.01 * x / (r2 * sqrt(r2))(_, newaxis);
        return std::pair(many{x + 0.01 * v, v}, many{r2, min(x, 1), max(x, 1), prod(x, 1)});
      },
      {rows({70, 3}), rows({70, 3})}, rows({30}), 4);
  check_kernel(  // backwards, and a write to a part
      [](const many& c, const ndarray& e) {
        ndarray n = c[0](slice(_, _, -1)) * 0.5;
        n(1) = e;
        return std::pair(many{n}, many{n(slice(_, _, -1))});
      },
      {rows({4})}, rows({50}), 3);
}

TEST_CASE("step kernels: loops that none are") {
  const auto x = rows({30, 40});
  check_kernel([](const many& c, const ndarray& e) { return std::pair(many{roll(c[0], 1) + e}, many{}); }, {zeros(40)},
               x, 0);
  check_kernel([](const many& c, const ndarray& e) { return std::pair(many{c[0] + sum(e)}, many{}); }, {zeros(40)}, x,
               0);
  check_kernel([](const many& c, const ndarray& e) { return std::pair(many{cumsum(c[0]) * 0.1 + e}, many{}); },
               {zeros(40)}, x, 0);
  const ndarray table = rows({9});
  check_kernel(
      [&](const many& c, const ndarray& e) {
        return std::pair(many{take(table, (absolute(c[0] + e)).astype(int64) % 9)}, many{});
      },
      {zeros(40)}, x, 0);
  // Nothing in it.
  check_kernel([](const many& c, const ndarray& e) { return std::pair(many{c[0] + e}, many{c[0]}); }, {zeros({0})},
               zeros({20, 0}), 99);
}

TEST_CASE("step kernels: numbered steps, of any count with one kernel") {
  const auto step = [](const ndarray& i, const ndarray& c) { return c * 0.5 + sin(i.astype(float64)) - i * 0.01; };
  for (const int n : {0, 1, 15, 16, 17, 1000}) {
    CAPTURE(n);
    for (const int first : {-5, 0, 7})
      CHECK(same_bits(fori_loop(first, first + n, step, ones(3)),
                      fori_loop(first, first + n, step, ones(3), {.call_each = true})));
  }
  const auto grow = [](const ndarray& i, const ndarray& c) { return c + i; };
  const auto all = [&](int n) { return fori_loop(0, n, grow, zeros({}, {.dtype = int64})).item<std::int64_t>(); };
  (void)all(20);
  CHECK(all(100000) == std::int64_t{100000} * 99999 / 2);
  // What was given, and what was got, does not change with the other.
  ndarray start = ones(3);
  ndarray end = fori_loop(
      0, 20, [](const ndarray&, const ndarray& c) { return c * 2.0; }, start);
  end += 1;
  CHECK(same_bits(start, ones(3)));
  start += 1;
  CHECK(double(end(0)) == 1048577);
}
