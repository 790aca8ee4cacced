// Sampled data, polynomials, windows, elementwise functions beside the ufuncs: as NumPy 2.
#include <doctest/doctest.h>

#include "golden/calls.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using results = std::vector<ndarray>;

#define UNARY(name)                                               \
  {                                                               \
#name, [](const call& c) { return results{name(c.x.at(0))}; } \
  }
#define BINARY(name)                                                         \
  {                                                                          \
#name, [](const call& c) { return results{name(c.x.at(0), c.x.at(1))}; } \
  }
#define WITH_MODE(name)                                                                \
  {                                                                                    \
#name, [](const call& c) { return results{name(c.x.at(0), c.x.at(1), c.option)}; } \
  }
#define WINDOW(name)                                                 \
  {                                                                  \
#name, [](const call& c) { return results{name(c.integer(0))}; } \
  }

results interp_of(const call& c) {
  interp_kw kw;
  if (c.has("ends")) {
    kw.left = c.n.at(0);
    kw.right = c.n.at(1);
  }
  if (c.has("period")) kw.period = c.n.at(0);
  return {interp(c.x.at(0), c.x.at(1), c.x.at(2), kw)};
}

results trapezoid_of(const call& c) {
  if (c.x.size() == 2) return {trapezoid(c.x[0], c.x[1], {.axis = c.integer(0)})};
  return {trapezoid(c.x.at(0), {.dx = c.n.at(1), .axis = c.integer(0)})};
}

results unwrap_of(const call& c) {
  unwrap_kw kw{.axis = c.integer(0)};
  if (c.has("period")) kw.period = c.n.at(1);
  if (c.has("discont")) kw.discont = c.n.at(1);
  return {unwrap(c.x.at(0), kw)};
}

results ediff1d_of(const call& c) {
  if (c.x.size() == 1) return {ediff1d(c.x[0])};
  return {ediff1d(c.x.at(0), {.to_begin = c.x.at(1)(slice(1)), .to_end = c.x.at(1)})};
}

bits_kw bits_of(const call& c) {
  const bool counts = c.has("count");
  bits_kw kw{.bitorder = c.has("little") ? "little" : "big"};
  if (counts) kw.count = c.integer(0);
  if (c.n.size() > (counts ? 1u : 0u)) kw.axis = c.integer(c.n.size() - 1);
  return kw;
}

results vander_of(const call& c) {
  if (c.n.empty()) return {vander(c.x.at(0))};
  return {vander(c.x.at(0), c.integer(0), {.increasing = c.has("increasing")})};
}

results polyfit_of(const call& c) {
  polyfit_kw kw;
  if (c.x.size() > 2) kw.w = c.x[2];
  return {polyfit(c.x.at(0), c.x.at(1), c.integer(0), kw)};
}

}  // namespace

TEST_CASE("functions of sampled data give what NumPy's do" * doctest::test_suite(sharded_suite)) {
  check_calls("numerics.bin",
              {{"gradient",
                [](const call& c) -> results {
                  return gradient(c.x.at(0), c.n.at(1),
                                  {.axis = c.axes_from(2), .edge_order = static_cast<int>(c.n[0])});
                }},
               {"gradient at",
                [](const call& c) -> results {
                  return gradient(c.x.at(0), {spacing(c.x.at(1)), spacing(c.x.at(2))},
                                  {.edge_order = static_cast<int>(c.n[0])});
                }},
               {"interp", interp_of},
               WITH_MODE(convolve),
               WITH_MODE(correlate),
               {"trapezoid", trapezoid_of},
               {"ediff1d", ediff1d_of},
               {"unwrap", unwrap_of},
               {"select",
                [](const call& c) {
                  return results{select({c.x.at(0), c.x.at(1)}, {c.x.at(2), c.x.at(3)}, c.integer(0))};
                }},
               {"packbits", [](const call& c) { return results{packbits(c.x.at(0), bits_of(c))}; }},
               {"unpackbits", [](const call& c) { return results{unpackbits(c.x.at(0), bits_of(c))}; }},
               UNARY(isposinf),
               UNARY(isneginf),
               UNARY(isreal),
               UNARY(iscomplex),
               UNARY(bitwise_count),
               UNARY(sinc),
               BINARY(logaddexp2),
               BINARY(gcd),
               BINARY(lcm),
               BINARY(ldexp),
               {"modf",
                [](const call& c) {
                  const modf_result r = modf(c.x.at(0));
                  return results{r.fractional, r.integral};
                }},
               {"frexp",
                [](const call& c) {
                  const frexp_result r = frexp(c.x.at(0));
                  return results{r.mantissa, r.exponent};
                }},
               {"divmod",
                [](const call& c) {
                  const divmod_result r = divmod(c.x.at(0), c.x.at(1));
                  return results{r.quotient, r.remainder};
                }},
               {"array_equiv", [](const call& c) { return results{array(array_equiv(c.x.at(0), c.x.at(1)))}; }},
               {"real_if_close", [](const call& c) { return results{real_if_close(c.x.at(0), c.n.at(0))}; }},
               BINARY(polyadd),
               BINARY(polysub),
               BINARY(polymul),
               BINARY(polyval),
               UNARY(poly),
               {"polydiv",
                [](const call& c) {
                  const polydiv_result r = polydiv(c.x.at(0), c.x.at(1));
                  return results{r.quotient, r.remainder};
                }},
               {"polyder", [](const call& c) { return results{polyder(c.x.at(0), c.integer(0))}; }},
               {"polyint", [](const call& c) { return results{polyint(c.x.at(0), c.integer(0), c.n.at(1))}; }},
               {"vander", vander_of},
               {"polyfit", polyfit_of},
               {"sorted roots", [](const call& c) { return results{sort(roots(c.x.at(0)))}; }},
               WINDOW(bartlett),
               WINDOW(blackman),
               WINDOW(hamming),
               WINDOW(hanning),
               {"kaiser", [](const call& c) { return results{kaiser(c.integer(0), c.n.at(1))}; }},
               UNARY(i0)});
}

TEST_CASE("piecewise records its functions of all elements") {
  const ndarray x = array({-2.0, -1.0, 0.0, 1.0, 2.5});
  const auto twice = [](const ndarray& a) { return a * 2; };
  CHECK(array_equal(piecewise(x, {less(x, 0), greater_equal(x, 1)}, {-1, twice}), array({-1.0, -1.0, 0.0, 2.0, 5.0})));
  CHECK(
      array_equal(piecewise(x, {less(x, 0)}, {0, [](const ndarray& a) { return sqrt(a); }}), sqrt(where(x < 0, 0, x))));
  CHECK(piecewise(x.astype(int32), {less(x, 0)}, {2.5}).dtype() == int32);
  CHECK_THROWS_AS(piecewise(x, {less(x, 0)}, {1, 2, 3}), value_error);
  CHECK_THROWS_AS(piecewise(x, {array({true, false})}, {1}), shape_error);
}
