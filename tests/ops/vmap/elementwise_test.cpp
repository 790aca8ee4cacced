// Recorded operations of one example, for all of them: bit for bit those of a loop.
#include "ops/vmap/beside_loop.hpp"

using namespace vmap_test;
using sinter::idx::_;

namespace {

struct point {
  ndarray at, weight;
  int number = 3;
};
template <class Visit>
void arrays_of(point& p, Visit visit) {
  visit(p.at, p.weight);
}

}  // namespace

TEST_CASE("vmap: every elementwise function has the bits of a loop") {
  const ndarray x = numbers({5, 3, 4}), y = numbers({5, 4}, float64, 2);
  const ndarray n = numbers({5, 3, 4}, int32), m = numbers({5, 4}, int32, 2) + 1;
#define UNARY(f)                                                                          \
  {                                                                                       \
    CAPTURE(#f);                                                                          \
    const bool whole = std::string(#f) == "invert" || std::string(#f) == "bitwise_count"; \
    check_bits([](const ndarray& a) { return sinter::f(a); }, whole ? n : x);             \
  }
  SINTER_UNARY_FUNCTIONS(UNARY)
#undef UNARY
#define BINARY(f)                                                                                                      \
  {                                                                                                                    \
    const std::string name = #f;                                                                                       \
    CAPTURE(name);                                                                                                     \
    const bool whole = name == "gcd" || name == "lcm" || name.find("bitwise") == 0 || name.find("shift") != name.npos; \
    const auto two = [](const ndarray& a, const ndarray& b) { return sinter::f(a, b); };                               \
    check_bits(two, whole ? n : x, whole ? m : y);                                                                     \
    const ndarray c = whole ? m(0).copy() : y(0).copy();                                                               \
    check_bits([&](const ndarray& a) { return sinter::f(c, a); }, whole ? n : x);                                      \
  }
  SINTER_BINARY_FUNCTIONS(BINARY)
#undef BINARY
}

TEST_CASE("vmap: dtypes, examples of rank 0, and casts") {
  for (const dtype t : {bool_, int8, uint16, int64, float16, bfloat16, float32, float64, complex64, complex128}) {
    CAPTURE(std::string(name(t)));
    check_bits([](const ndarray& a) { return a + a; }, numbers({7}, t));
    check_bits([](const ndarray& a) { return where(a == a, a, 0) * 2; }, numbers({7, 5}, t));
    check_bits([](const ndarray& a) { return a.astype(complex128); }, numbers({3, 2}, t));
  }
}

TEST_CASE("vmap: operands of fewer axes, and of other examples' shapes, line up") {
  const ndarray a = numbers({4}), b = numbers({4, 3}), c = numbers({4, 2, 1, 3}), d = numbers({5, 3});
  check_bits([](const ndarray& p, const ndarray& q) { return p * q; }, a, b);
  check_bits([](const ndarray& p, const ndarray& q) { return q - p; }, a, c);
  check_bits([](const ndarray& p, const ndarray& q) { return hypot(p, q); }, b, c);
  check_bits([&](const ndarray& p) { return p + d; }, b);
  check_bits([&](const ndarray& p) { return where(p > 0, d, p); }, a);
}

TEST_CASE("vmap: in_axes and out_axes") {
  const ndarray x = numbers({2, 3, 4}), y = numbers({3, 5});
  const auto f = [](const ndarray& a, const ndarray& b) { return expand_dims(a, -1) * b; };
  const ndarray right = [&] {
    std::vector<ndarray> all;
    for (int k = 0; k < 3; ++k) all.push_back(f(x(_, k), y(k)));
    return stack(all);
  }();
  CHECK(same_bits(vmap(f, {.in_axes = {1, 0}})(x, y), right));
  CHECK(same_bits(vmap(f, {.in_axes = {-2, -2}})(x, y), right));
  CHECK(same_bits(vmap(f, {.in_axes = {1, 0}, .out_axes = 2})(x, y), moveaxis(right, 0, 2)));
  CHECK(same_bits(vmap(f, {.in_axes = {1, 0}, .out_axes = -1})(x, y), moveaxis(right, 0, -1)));
  CHECK(same_bits(vmap(f, {.in_axes = {std::nullopt, 1}})(x, y),
                  stack({f(x, y(_, 0)), f(x, y(_, 1)), f(x, y(_, 2)), f(x, y(_, 3)), f(x, y(_, 4))})));
  CHECK(same_bits(vmap(f, {.in_axes = {_, 1}})(x, y), vmap(f, {.in_axes = {std::nullopt, -1}})(x, y)));
}

TEST_CASE("vmap: structures of arrays as arguments and results") {
  const ndarray x = numbers({4, 3}), w = numbers({2, 4});
  const auto f = [](const point& p, double scale) {
    return std::tuple(p.at * scale + p.number, std::vector<ndarray>{p.weight, p.at(0)});
  };
  const point p{x, w};
  const auto [a, list] = vmap(f, {.in_axes = {{0, 1}, std::nullopt}, .out_axes = {0, {1, 0}}})(p, 2.0);
  CHECK(same_bits(a, x * 2.0 + 3));
  CHECK(same_bits(list[0], w));
  CHECK(same_bits(list[1], x(_, 0)));
  const auto g = [](const std::pair<ndarray, ndarray>& two) { return two.first + two.second; };
  CHECK(same_bits(vmap(g)(std::pair(x, x)), x + x));
  CHECK(same_bits(vmap(g, {.in_axes = {{0, std::nullopt}}})(std::pair(x, x(0).copy())), x + x(0)));
}

TEST_CASE("vmap: what does not depend on the example") {
  const ndarray x = numbers({4, 3}), c = numbers({3});
  const auto f = [&](const ndarray& a) { return std::pair(a * 2, c + 1); };
  const auto [all, same] = vmap(f)(x);
  CHECK(same_bits(same, broadcast_to(c + 1, {4, 3})));
  const auto [each, once] = vmap(f, {.out_axes = {0, std::nullopt}})(x);
  CHECK(same_bits(once, c + 1));
  CHECK(same_bits(vmap([&](const ndarray&) { return c; }, {.in_axes = std::nullopt, .axis_size = 2})(c),
                  broadcast_to(c, {2, 3})));
  // It is computed once: the reduction of c is no reduction of four rows.
  const ndarray r = vmap([&](const ndarray& a) { return a * sum(sin(c)); })(x);
  CHECK(same_bits(r, x * sum(sin(c))));
}

TEST_CASE("vmap: no examples") {
  const ndarray x = zeros({0, 3, 2});
  CHECK(vmap([](const ndarray& a) { return sum(a, 0) + 1; })(x).shape() == shape_t{0, 2});
  CHECK(vmap([](const ndarray& a) { return max(a); })(x).shape() == shape_t{0});
  CHECK(vmap([](const ndarray& a) { return sort(a, 0); })(x).shape() == shape_t{0, 3, 2});
  CHECK(vmap([](const ndarray& a) { return matmul(a, a.T()); }, {.out_axes = 1})(x).shape() == shape_t{3, 0, 3});
  CHECK(vmap([](const ndarray& a) { return searchsorted(a(_, 0), 0.5); })(x).shape() == shape_t{0});
}

TEST_CASE("vmap: one example, and an array with an axis of extent 0") {
  check_bits([](const ndarray& a) { return sum(a * 2); }, numbers({1, 5}));
  check_bits([](const ndarray& a) { return sum(a, 0); }, zeros({3, 0, 2}));
  check_bits([](const ndarray& a) { return concatenate({a, a}); }, zeros({3, 0}));
}

TEST_CASE("vmap: nested") {
  const ndarray x = numbers({4, 3}), y = numbers({5, 3}, float64, 2);
  const auto dot_of = [](const ndarray& a, const ndarray& b) { return sum(a * b); };
  const auto over_y = vmap(dot_of, {.in_axes = {std::nullopt, 0}});
  const ndarray all = vmap(over_y, {.in_axes = {0, std::nullopt}})(x, y);
  REQUIRE(all.shape() == shape_t{4, 5});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 5; ++j) CHECK(double(all(i, j)) == double(dot_of(x(i).copy(), y(j).copy())));
  // A closure over the outer example, and three levels.
  const ndarray z = numbers({2, 3, 4, 5});
  const auto f = [](const ndarray& a) {
    return vmap([&](const ndarray& b) { return vmap([&](const ndarray& c) { return c * sum(b) + a(0, 0); })(b); })(a);
  };
  const ndarray got = vmap(f)(z);
  std::vector<ndarray> one;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) one.push_back(z(i, j, k) * sum(z(i, j).copy()) + z(i, 0, 0));
  CHECK(same_bits(got.reshape({24, 5}), stack(one)));
}

TEST_CASE("vmap: views, slices and selections by index") {
  const ndarray x = numbers({4, 5, 6});
  check_bits([](const ndarray& a) { return a.T(); }, x);
  check_bits([](const ndarray& a) { return a["1:-1, ::-2"]; }, x);
  check_bits([](const ndarray& a) { return a(2) + a(_, slice(0, 6, 1))(0); }, x);
  check_bits([](const ndarray& a) { return (a * 2).reshape({3, 10})(1); }, x);
  check_bits([](const ndarray& a) { return diagonal(a, 1); }, x);
  check_bits([](const ndarray& a) { return a(array({3, 0, -1})); }, x);
  check_bits([](const ndarray& a) { return a(_, array({{1, 2}, {0, 5}})); }, x);
  check_bits([](const ndarray& a) { return take(a, array({7, 0, 29})); }, x);
  check_bits([](const ndarray& a) { return roll(a, 2, 1) + flip(a, 0); }, x);
  check_bits([](const ndarray& a) { return tile(a, {2, 1}); }, x);
  check_bits([](const ndarray& a) { return pad(a, 2); }, x);
  check_bits([](const ndarray& a) { return where(a > 0, a, -a)(0); }, x);
  const ndarray index = numbers({4, 3}, int64) % 5, c = numbers({5, 6});
  check_bits([](const ndarray& a, const ndarray& i) { return a(i); }, x, index);
  check_bits([&](const ndarray& i) { return c(i); }, index);
  check_bits([&](const ndarray& i) { return take_along_axis(c, expand_dims(i, 1), 0); }, index);
  check_bits([](const ndarray& a, const ndarray& i) { return a(i(0)); }, x, index);
  check_bits([](const ndarray& a) { return take_along_axis(a, argmax(a, 0, {.keepdims = true}), 0); }, x);
}

TEST_CASE("vmap: writes in the function") {
  const ndarray x = numbers({4, 5, 6}), before = x.copy(), c = numbers({5, 6}), index = numbers({4, 3}, int64) % 5;
  check_bits(
      [](ndarray a) {
        a(1) = 7;
        a["2:4, ::2"] *= 3;
        return a;
      },
      x);
  check_bits(
      [](const ndarray& a) {
        ndarray z = zeros({5, 6});
        z(2) = a(0);
        z(_, 1) += a(_, 2);
        return z;
      },
      x);
  check_bits(
      [&](const ndarray& a) {
        ndarray z = c.copy();
        z(0) = a(0);
        return z + 1;
      },
      x);
  check_bits(
      [&](const ndarray& a) {
        ndarray z = a * 2;
        z(1) = c(1);
        return z;
      },
      x);
  check_bits(
      [](ndarray a) {
        a[a > 0] = 0;
        return a;
      },
      x);
  check_bits(
      [](ndarray a, const ndarray& i) {
        a(i) = 9;
        return a;
      },
      x, index);
  check_bits(
      [](ndarray a, const ndarray& i) {
        a(_, i) = expand_dims(i, 0).astype(float64);
        return a;
      },
      x, index);
  check_bits(
      [&](const ndarray& i) {
        ndarray z = c.copy();
        z(i) = c(slice(0, 3));
        return z;
      },
      index);
  check_bits(
      [](const ndarray& i) {
        ndarray z = zeros({5});
        add_at(z, i, 2.5);
        return z;
      },
      index);
  check_bits(
      [](const ndarray& i) {
        ndarray z = zeros({4, 5}, {.dtype = int64});
        add_at(z(_, i), i);
        return z;
      },
      index);
  check_bits(
      [](ndarray a, const ndarray& i) {
        scatter_max(a(i), 0.5);
        return a;
      },
      x, index);
  check_bits(
      [](ndarray a, const ndarray& i) {
        scatter_min(a(array({0, 1, 2}), i), i);
        return a;
      },
      x, index);
  CHECK(same_bits(x, before));
  // The argument's own array is not written.
  vmap([](ndarray a) {
    a() = 0;
    return a;
  })(x);
  CHECK(same_bits(x, before));
}
