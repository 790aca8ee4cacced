// The calls of result_order_test.cpp, for the functions of sampled data, statistics, grids, polynomials, and special ones.
#include <doctest/doctest.h>

#include "ops/base/result_order.hpp"
#include "sinter/polynomial_fit.hpp"
#include "sinter/segments.hpp"
#include "sinter/sinter.hpp"
#include "support/linalg_checks.hpp"

using namespace sinter;
using namespace sinter::test::result_order;
using sinter::test::no_solvers;

TEST_CASE("results lie in C order: statistics, and reductions without NaN") {
  check_all({
      CALL(quantile(floats(), 0.5, 0)),
      CALL(quantile(floats(), {0.25, 0.5}, 1)),
      CALL(quantile(floats(), places() * 0.25, {.axis = axes{0, 2}, .keepdims = true})),
      CALL(quantile(floats(), 0.5, {.axis = 1, .method = "inverted_cdf", .weights = floats()})),
      CALL(percentile(floats(), {25, 50}, 0)),
      CALL(nanquantile(floats(), {0.25, 0.5}, 0)),
      CALL(nanpercentile(floats(), {25, 50}, 1)),
      CALL(median(floats(), 1)),
      CALL(median(floats(), {.axis = axes{0, 2}, .keepdims = true})),
      CALL(nanmedian(floats(), 0)),
      CALLS(two_of(average(floats(), 1))),
      CALLS(two_of(average(floats(), {.axis = 0, .weights = floats()}))),
      CALL(cov(floats()(0))),
      CALL(cov(floats()(0), {.rowvar = false})),
      CALL(cov(floats()(0), floats()(1))),
      CALL(corrcoef(floats()(0))),
      CALL(corrcoef(floats()(0), {.rowvar = false})),
      CALL(nansum(floats(), 1)),
      CALL(nanprod(floats(), 1)),
      CALL(nanmin(floats(), 0)),
      CALL(nanmax(floats(), 0)),
      CALL(nanargmin(floats(), 1)),
      CALL(nanargmax(floats(), 1)),
      CALL(nanmean(floats(), 1)),
      CALL(nanvar(floats(), 1)),
      CALL(nanstd(floats(), {.axis = 0, .keepdims = true})),
  });
}

TEST_CASE("results lie in C order: reductions by functions, and of segments") {
  using idx::_;
  check_all({
      CALL(bitwise_and_reduce(numbers())),
      CALL(bitwise_or_reduce(numbers(), 1)),
      CALL(bitwise_xor_reduce(numbers(), 2, {.keepdims = true})),
      CALL(bitwise_xor_reduce(numbers(), _, {.keepdims = true})),
      CALL(bitwise_xor_reduce(numbers()(_, slice(0, 1)), 1)),
      CALL(logical_xor_reduce(floats(), 1)),
      CALL(gcd_reduce(numbers(), 0)),
      CALL(lcm_reduce(numbers(), 1)),
      CALL(add_reduceat(floats(), places()(0), 0)),
      CALL(add_reduceat(floats(), array({0, 1}), 1)),
      CALL(maximum_reduceat(floats(), array({0, 1}), 2)),
      CALL(minimum_reduceat(floats(), array({1, 0}), 1)),
  });
}

TEST_CASE("results lie in C order: fits and what comes with them") {
  if (no_solvers()) return;
  const auto all_of = [](const polyfit_full_result& r) {
    return std::vector<ndarray>{r.coefficients, r.residuals, r.s};
  };
  const ndarray two = stack({line(), line() * line()}).T();
  for (const ndarray& r : all_of(polyfit_full(line(), two, 2))) CHECK(is_in_c_order(r));
  for (const ndarray& y : {line(), two})
    for (const bool scaled : {true, false}) {
      for (const ndarray& r : two_of(polyfit_cov(line(), y, 2, {.scaled = scaled}))) {
        CHECK(is_in_c_order(r));
        eval(r);
        CHECK(is_in_c_order(r));
      }
    }
}

TEST_CASE("results lie in C order: sampled data") {
  using idx::_;
  check_all({
      CALLS(gradient(floats())),
      CALLS(gradient(floats(), {.axis = axes{1, 0}, .edge_order = 2})),
      CALLS(gradient(floats(), 0.5, {.axis = axes{0}})),
      CALLS(gradient(floats(), spacing(line()(slice(0, 4))), {.axis = axes{0}})),
      CALL(interp(floats(), line(), line()(slice(_, _, -1)))),
      CALL(trapezoid(floats(), {.axis = 0})),
      CALL(trapezoid(floats(), line()(slice(0, 3)), {.axis = 1})),
      CALL(convolve(line(), line()(slice(0, 3)))),
      CALL(convolve(line(), line()(slice(0, 3)), "same")),
      CALL(correlate(line(), line()(slice(0, 3)))),
      CALL(correlate(line(), line()(slice(0, 3)), "full")),
      CALL(ediff1d(floats())),
      CALL(ediff1d(floats(), {.to_begin = line(), .to_end = places() * 1.0})),
      CALL(unwrap(floats() * 9, {.axis = 0})),
      CALL(unwrap(floats() * 9, {.axis = 1})),
      CALL(select({floats() > 0.5, floats() > 0.25}, {floats(), floats() * 2}, 7)),
      CALL(piecewise(floats(), {floats() > 0.5}, {1, [](const ndarray& x) { return x * 2; }})),
      CALL(packbits(floats() > 0.5, {.axis = 0})),
      CALL(packbits(floats() > 0.5, {.axis = 1})),
      CALL(packbits(floats() > 0.5)),
      CALL(unpackbits(numbers().astype(uint8), {.axis = 0})),
      CALL(unpackbits(numbers().astype(uint8), {.axis = 2, .count = 5})),
      CALL(real_if_close(floats() + 0.0 * imaginary)),
      CALL(bartlett(5)),
      CALL(blackman(5)),
      CALL(hamming(5)),
      CALL(hanning(5)),
      CALL(kaiser(5, 14)),
      CALL(i0(floats())),
  });
}

TEST_CASE("results lie in C order: borders, insertions, deletions, blocks") {
  using idx::_;
  check_all({
      CALL(pad(floats(), 1)),
      CALL(pad(floats(), {{1, 0}, {0, 2}, {0, 0}}, "edge")),
      CALL(pad(floats(), {1, 2}, "linear_ramp")),
      CALL(pad(floats(), {1, 2}, "maximum")),
      CALL(pad(floats(), {1, 2}, "mean")),
      CALL(pad(floats(), {1, 2}, "median")),
      CALL(pad(floats(), {1, 2}, "minimum")),
      CALL(pad(floats(), {1, 2}, "reflect")),
      CALL(pad(floats(), {1, 2}, "symmetric", {.reflect_type = "odd"})),
      CALL(pad(floats(), {1, 2}, "wrap")),
      CALL(pad(floats(), {1, 2}, "empty")),
      CALL(pad(floats(), 0)),
      CALL(append(floats(), floats(), 1)),
      CALL(append(floats(), floats())),
      CALL(insert(floats(), 1, 5, 1)),
      CALL(insert(floats(), 2, floats()(_, 0), 1)),
      CALL(insert(floats(), places()(0), 5, 0)),
      CALL(insert(floats(), 3, 5)),
      CALL(delete_(floats(), 1, 0)),
      CALL(delete_(floats(), 1, 1)),
      CALL(delete_(floats(), slice(0, 1), 1)),
      CALL(delete_(floats(), slice(0, 0), 1)),
      CALL(delete_(floats(), places()(0), 0)),
      CALL(delete_(floats(), 3)),
      CALL(resize(floats(), {5, 7})),
      CALL(resize(floats(), {4, 3, 2})),
      CALL(block({{floats(), floats()}, {floats(), floats()}})),
      CALL(block({{floats()(0), floats()(1)}})),
  });
}

TEST_CASE("results lie in C order: grids, diagonals, series") {
  using idx::_;
  check_all({
      CALL(diag(line())),
      CALL(diag(line(), -1)),
      CALL(diagflat(floats())),
      CALL(tri(4)),
      CALL(tri(4, 3, {.k = 1})),
      CALLS(mask_indices(
          4, [](const ndarray& m, std::int64_t k) { return triu(m, k); }, 1)),
      CALLS(diag_indices_from(square_matrix()(0))),
      CALLS(tril_indices_from(square_matrix()(0))),
      CALLS(triu_indices_from(square_matrix()(0), 1)),
      CALL(logspace(0, 2, 5)),
      CALL(geomspace(1, 8, 4)),
      CALL(linspace_with_step(0, 1, 5).samples),
      CALL(mgrid({grid_range(3), grid_range(1, 5, 2)})),
      CALLS(ogrid({grid_range(3), grid_range(1, 5, 2)})),
      CALL(indices({3, 2})),
      CALL(r_({line(), 1.0, grid_range(3)})),
      CALL(r_({floats(), floats()})),
      CALL(c_({line(), line()(slice(_, _, -1))})),
      CALL(c_({floats(), floats()})),
      CALL(fromfunction("i0 * 10 + i1", {3, 2})),
      CALL(fromfunction([](const std::vector<ndarray>& at) { return at[0] + 10 * at[1]; }, {3, 2})),
      CALL(ascontiguousarray(floats())),
      CALL(require(floats(), {.requirements = "C"})),
  });
}

TEST_CASE("results lie in C order: polynomials") {
  using idx::_;
  check_all({
      CALL(polyval(line(), floats())),
      CALL(polyval(line(), line())),
      CALL(polyadd(line(), line()(slice(0, 3)))),
      CALL(polysub(line(), line()(slice(0, 3)))),
      CALL(polymul(line(), line()(slice(0, 3)))),
      CALLS(two_of(polydiv(line() + 1.0, line()(slice(1, 4))))),
      CALL(polyder(line(), 2)),
      CALL(polyint(line(), 2)),
      CALL(polyint(line(), 2, line()(slice(0, 2)))),
      CALL(poly(line())),
      CALL(vander(line())),
      CALL(vander(line(), 3)),
      CALL(vander(line(), {.n = 3, .increasing = true})),
  });
  if (no_solvers()) return;
  check_all({
      CALL(poly(square_matrix()(0))),
      CALL(roots(line() + 1.0)),
      CALL(polyfit(line(), line() * line(), 2)),
      CALL(polyfit(line()(slice(0, 4)), square_matrix()(0), 2)),
      CALL(polyfit(line()(slice(0, 4)), floats()(_, 0), 1, {.w = line()(slice(1, 5))})),
  });
}

TEST_CASE("results lie in C order: special functions") {
  check_all({
      CALL(special::erf(floats())),
      CALL(special::erfc(floats())),
      CALL(special::erfcx(floats())),
      CALL(special::erfinv(floats())),
      CALL(special::erfcinv(floats())),
      CALL(special::ndtr(floats())),
      CALL(special::ndtri(floats())),
      CALL(special::log_ndtr(floats())),
      CALL(special::gamma(floats())),
      CALL(special::gammaln(floats())),
      CALL(special::digamma(floats())),
      CALL(special::expit(floats())),
      CALL(special::logit(floats())),
      CALL(special::log_expit(floats())),
      CALL(special::entr(floats())),
      CALL(special::exprel(floats())),
      CALL(special::cosm1(floats())),
      CALL(special::j0(floats())),
      CALL(special::j1(floats())),
      CALL(special::y0(floats())),
      CALL(special::y1(floats())),
      CALL(special::i0(floats())),
      CALL(special::i0e(floats())),
      CALL(special::i1(floats())),
      CALL(special::i1e(floats())),
      CALL(special::k0(floats())),
      CALL(special::k0e(floats())),
      CALL(special::k1(floats())),
      CALL(special::k1e(floats())),
      CALL(special::exp1(floats())),
      CALL(special::expi(floats())),
      CALL(special::ellipk(floats())),
      CALL(special::ellipe(floats())),
      CALL(special::xlogy(floats(), 2)),
      CALL(special::xlog1py(floats(), 2)),
      CALL(special::rel_entr(floats(), 2)),
      CALL(special::kl_div(floats(), 2)),
      CALL(special::gammainc(floats(), 2)),
      CALL(special::gammaincc(floats(), 2)),
      CALL(special::pdtr(floats(), 2)),
      CALL(special::pdtrc(floats(), 2)),
      CALL(special::chdtr(floats(), 2)),
      CALL(special::chdtrc(floats(), 2)),
      CALL(special::gammainc(numbers(), floats())),
      CALL(special::logsumexp(floats(), 1)),
      CALL(special::logsumexp(floats(), {.axis = 0, .b = floats(), .keepdims = true})),
      CALL(special::softmax(floats(), 0)),
      CALL(special::softmax(floats(), axes{0, 1})),
      CALL(special::log_softmax(floats(), 1)),
      CALLS(two_of(special::sici(floats()))),
  });
}
