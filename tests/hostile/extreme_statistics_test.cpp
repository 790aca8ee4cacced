// Extremes of integers in statistics, reductions without NaN, numerics, polynomials and distributions.
#include "hostile/extreme_integers.hpp"
#include "sinter/polynomial_fit.hpp"
#include "sinter/random_multivariate.hpp"
#include "sinter/segments.hpp"
#include "sinter/special_more.hpp"

using namespace hostile;
using sinter::axes;

namespace {

ndarray cube() { return sn::reshape(sn::arange(24, {.dtype = sn::float64}), {2, 3, 4}); }
ndarray row() { return sn::arange(6); }
ndarray reals() { return sn::arange(6, {.dtype = sn::float64}); }

template <class F>
extreme_case reduction(const char* name, F f) {
  return {name, [f](int64_t k) { return f(cube(), k); }};
}

std::vector<ndarray> all_of(const sn::gradient_result& r) { return {r.begin(), r.end()}; }

}  // namespace

TEST_CASE("extreme integers: statistics") {
  check_extremes({
      reduction("quantile", [](auto x, auto k) { return sn::quantile(x, 0.5, k); }),
      reduction("quantile list",
                [](auto x, auto k) {
                  return sn::quantile(x, {0.5, 0.25}, k);
                }),
      reduction("quantile of the number", [](auto x, auto k) { return sn::quantile(x, k); }),
      reduction("quantile_kw.axis",
                [](auto x, auto k) {
                  return sn::quantile(x, 0.5, {.axis = axes{0, k}, .keepdims = true});
                }),
      reduction("percentile", [](auto x, auto k) { return sn::percentile(x, 30, k); }),
      reduction("percentile of the number", [](auto x, auto k) { return sn::percentile(x, k); }),
      reduction("nanquantile", [](auto x, auto k) { return sn::nanquantile(x, 0.5, k); }),
      reduction("nanpercentile", [](auto x, auto k) { return sn::nanpercentile(x, 30, k); }),
      reduction("median", [](auto x, auto k) { return sn::median(x, k); }),
      reduction("median_kw.axis",
                [](auto x, auto k) {
                  return sn::median(x, {.axis = axes{k, 1}});
                }),
      {"median of the number",
       [](int64_t k) {
         return sn::median(sn::array({k, k, least}));
       }},
      reduction("nanmedian", [](auto x, auto k) { return sn::nanmedian(x, k); }),
      reduction("average", [](auto x, auto k) { return sn::average(x, k).average; }),
      reduction("average_kw.axis", [](auto x, auto k) { return sn::average(x, {.axis = k, .weights = x}).average; }),
      reduction("average of axes",
                [](auto x, auto k) {
                  return sn::average(x, {.axis = axes{k, 0}, .weights = sn::ones({3, 2})}).average;
                }),
      {"cov_kw.ddof",
       [](int64_t k) {
         return sn::cov(sn::ones({2, 3}), {.ddof = k});
       }},
      {"cov_kw.ddof of counts",
       [](int64_t k) {
         return sn::cov(sn::ones({2, 3}), {.ddof = k, .fweights = sn::array({k, k, k}), .aweights = sn::ones({3})});
       }},
      reduction("nansum", [](auto x, auto k) { return sn::nansum(x, k); }),
      reduction("nanprod", [](auto x, auto k) { return sn::nanprod(x, k); }),
      reduction("nanmin", [](auto x, auto k) { return sn::nanmin(x, k); }),
      reduction("nanmax", [](auto x, auto k) { return sn::nanmax(x, k); }),
      reduction("nanargmin", [](auto x, auto k) { return sn::nanargmin(x, k); }),
      reduction("nanargmax", [](auto x, auto k) { return sn::nanargmax(x, k); }),
      reduction("nanmean", [](auto x, auto k) { return sn::nanmean(x, k); }),
      reduction("nanvar", [](auto x, auto k) { return sn::nanvar(x, k); }),
      reduction("nanstd", [](auto x, auto k) { return sn::nanstd(x, k); }),
      reduction("softmax", [](auto x, auto k) { return sn::special::softmax(x, k); }),
      reduction("log_softmax",
                [](auto x, auto k) {
                  return sn::special::log_softmax(x, axes{0, k});
                }),
      {"multigammaln", [](int64_t k) { return sn::special::multigammaln(reals(), k); }},
      {"yn", [](int64_t k) { return sn::special::yn(k, reals()); }},
      {"kn of an array", [](int64_t k) { return sn::special::kn(sn::full({6}, k, sn::int64), reals()); }},
      reduction("logsumexp", [](auto x, auto k) { return sn::special::logsumexp(x, k); }),
      reduction("logsumexp_kw.axis",
                [](auto x, auto k) {
                  return sn::special::logsumexp(x, {.axis = axes{k, 2}, .b = x, .keepdims = true});
                }),
      reduction("trace", [](auto x, auto k) { return x.trace(k); }),
      {"trace of a matrix", [](int64_t k) { return sn::eye(3).trace(k); }},
  });
}

TEST_CASE("extreme integers: numerics and polynomials") {
  check_extremes({
      {"gradient_kw.axis", [](int64_t k) { return all_of(sn::gradient(cube(), sn::gradient_kw{.axis = k})); }},
      {"gradient_kw.axis two",
       [](int64_t k) {
         return all_of(sn::gradient(cube(), 2.0, {.axis = axes{0, k}}));
       }},
      {"gradient_kw.edge_order",
       [](int64_t k) { return all_of(sn::gradient(reals(), sn::gradient_kw{.edge_order = static_cast<int>(k)})); }},
      {"trapezoid_kw.axis", [](int64_t k) { return sn::trapezoid(cube(), {.axis = k}); }},
      {"trapezoid_kw.axis with coordinates",
       [](int64_t k) { return sn::trapezoid(cube(), sn::arange(4), {.axis = k}); }},
      {"unwrap_kw.axis", [](int64_t k) { return sn::unwrap(cube(), {.axis = k}); }},
      {"unwrap_kw.axis of integers",
       [](int64_t k) {
         return sn::unwrap(sn::array({k, 0L, k}), {.period = 4});
       }},
      {"unwrap_kw.axis period", [](int64_t k) { return sn::unwrap(row(), {.period = k}); }},
      {"bits_kw.axis",
       [](int64_t k) {
         return sn::packbits(sn::ones({2, 9}, sn::uint8), {.axis = k});
       }},
      {"bits_kw.axis unpacked",
       [](int64_t k) {
         return sn::unpackbits(sn::ones({2, 3}, sn::uint8), {.axis = k});
       }},
      {"bits_kw.count", [](int64_t k) { return sn::unpackbits(sn::ones({3}, sn::uint8), {.count = k}); }},
      {"bits_kw.count along an axis",
       [](int64_t k) {
         return sn::unpackbits(sn::ones({2, 3}, sn::uint8), {.axis = 1, .count = k});
       }},
      {"bits_kw.count of nothing", [](int64_t k) { return sn::unpackbits(sn::zeros({0}, sn::uint8), {.count = k}); }},
      {"polyder", [](int64_t k) { return sn::polyder(row(), k); }},
      {"polyder of reals", [](int64_t k) { return sn::polyder(reals(), k); }},
      {"polyint", [](int64_t k) { return sn::polyint(reals(), k); }},
      {"polyint of constants",
       [](int64_t k) {
         return sn::polyint(row(), k, sn::array({1.0, 2.0}));
       }},
      {"polyfit", [](int64_t k) { return sn::polyfit(reals(), reals(), k); }},
      {"polyfit weighted", [](int64_t k) { return sn::polyfit(reals(), reals(), k, {.w = sn::ones({6})}); }},
      {"polyfit_cov", [](int64_t k) { return sn::polyfit_cov(reals(), reals(), k).covariance; }},
      {"polyfit_full", [](int64_t k) { return sn::polyfit_full(reals(), reals(), k).coefficients; }},
      {"bitwise_and_reduce", [](int64_t k) { return sn::bitwise_and_reduce(row(), k); }},
      {"bitwise_or_reduce", [](int64_t k) { return sn::bitwise_or_reduce(row(), k); }},
      {"bitwise_xor_reduce", [](int64_t k) { return sn::bitwise_xor_reduce(row(), k); }},
      {"logical_xor_reduce", [](int64_t k) { return sn::logical_xor_reduce(cube(), k); }},
      {"gcd_reduce", [](int64_t k) { return sn::gcd_reduce(row(), k); }},
      {"lcm_reduce", [](int64_t k) { return sn::lcm_reduce(row(), k); }},
      {"add_reduceat",
       [](int64_t k) {
         return sn::add_reduceat(cube(), sn::array({0, 1}), k);
       }},
      {"add_reduceat index",
       [](int64_t k) {
         return sn::add_reduceat(row(), sn::array({k, int64_t{2}}));
       }},
      {"maximum_reduceat",
       [](int64_t k) {
         return sn::maximum_reduceat(cube(), sn::array({0, 1}), k);
       }},
      {"minimum_reduceat",
       [](int64_t k) {
         return sn::minimum_reduceat(cube(), sn::array({0, 1}), k);
       }},
      {"split at an array", [](int64_t k) { return sn::split(row(), sn::array({k})); }},
      {"array_split at an array", [](int64_t k) { return sn::array_split(cube(), sn::array({1}), k); }},
      {"vander", [](int64_t k) { return sn::vander(row(), k); }},
      {"vander of nothing", [](int64_t k) { return sn::vander(sn::zeros({0}), k); }},
      {"vander_kw.n", [](int64_t k) { return sn::vander(reals(), {.n = k, .increasing = true}); }},
  });
}

TEST_CASE("extreme integers: distributions of sizes") {
  namespace random = sn::random;
  check_extremes({
      {"chisquare", [](int64_t k) { return random::chisquare(2, k); }},
      {"chisquare df", [](int64_t k) { return random::chisquare(k, 3); }},
      {"noncentral_chisquare", [](int64_t k) { return random::noncentral_chisquare(2, 1, k); }},
      {"noncentral_chisquare numbers", [](int64_t k) { return random::noncentral_chisquare(k, k, 3); }},
      {"f", [](int64_t k) { return random::f(2, 3, k); }},
      {"f numbers", [](int64_t k) { return random::f(k, k, 3); }},
      {"noncentral_f", [](int64_t k) { return random::noncentral_f(2, 3, 1, k); }},
      {"noncentral_f numbers", [](int64_t k) { return random::noncentral_f(k, k, k, 3); }},
      {"gumbel", [](int64_t k) { return random::gumbel(0, 1, k); }},
      {"gumbel numbers", [](int64_t k) { return random::gumbel(k, k, 3); }},
      {"logistic", [](int64_t k) { return random::logistic(0, 1, k); }},
      {"logistic numbers", [](int64_t k) { return random::logistic(k, k, 3); }},
      {"pareto", [](int64_t k) { return random::pareto(2, k); }},
      {"pareto number", [](int64_t k) { return random::pareto(k, 3); }},
      {"power", [](int64_t k) { return random::power(2, k); }},
      {"power number", [](int64_t k) { return random::power(k, 3); }},
      {"rayleigh", [](int64_t k) { return random::rayleigh(1, k); }},
      {"rayleigh number", [](int64_t k) { return random::rayleigh(k, 3); }},
      {"standard_cauchy", [](int64_t k) { return random::standard_cauchy(k); }},
      {"standard_t", [](int64_t k) { return random::standard_t(2, k); }},
      {"standard_t number", [](int64_t k) { return random::standard_t(k, 3); }},
      {"triangular", [](int64_t k) { return random::triangular(0, 1, 2, k); }},
      {"triangular numbers", [](int64_t k) { return random::triangular(least, k, most, 3); }},
      {"vonmises", [](int64_t k) { return random::vonmises(0, 1, k); }},
      {"vonmises numbers", [](int64_t k) { return random::vonmises(k, k, 3); }},
      {"wald", [](int64_t k) { return random::wald(1, 1, k); }},
      {"wald numbers", [](int64_t k) { return random::wald(k, k, 3); }},
      {"weibull", [](int64_t k) { return random::weibull(2, k); }},
      {"weibull number", [](int64_t k) { return random::weibull(k, 3); }},
      {"dirichlet", [](int64_t k) { return random::dirichlet(sn::ones({3}), k); }},
      {"dirichlet numbers",
       [](int64_t k) {
         return random::dirichlet(sn::array({k, int64_t{1}}), 3);
       }},
      {"geometric", [](int64_t k) { return random::geometric(0.5, k); }},
      {"geometric number", [](int64_t k) { return random::geometric(k, 3); }},
      {"logseries", [](int64_t k) { return random::logseries(0.5, k); }},
      {"logseries number", [](int64_t k) { return random::logseries(k, 3); }},
      {"negative_binomial", [](int64_t k) { return random::negative_binomial(2, 0.5, k); }},
      {"negative_binomial number", [](int64_t k) { return random::negative_binomial(k, 0.5, 3); }},
      {"zipf", [](int64_t k) { return random::zipf(2, k); }},
      {"zipf number", [](int64_t k) { return random::zipf(k, 3); }},
      {"hypergeometric", [](int64_t k) { return random::hypergeometric(5, 6, 4, k); }},
      {"hypergeometric ngood", [](int64_t k) { return random::hypergeometric(k, 6, 4, 3); }},
      {"hypergeometric nbad", [](int64_t k) { return random::hypergeometric(5, k, 4, 3); }},
      {"hypergeometric nsample", [](int64_t k) { return random::hypergeometric(5, 6, k, 3); }},
      {"multinomial",
       [](int64_t k) {
         return random::multinomial(k, sn::array({0.25, 0.75}));
       }},
      {"multinomial size",
       [](int64_t k) {
         return random::multinomial(3, sn::array({0.25, 0.75}), {k, k});
       }},
      {"multivariate_hypergeometric",
       [](int64_t k) {
         return random::multivariate_hypergeometric(sn::array({5, 6}), k);
       }},
      {"multivariate_hypergeometric size",
       [](int64_t k) {
         return random::multivariate_hypergeometric(sn::array({5, 6}), 3, {k, k});
       }},
      {"multivariate_hypergeometric colour",
       [](int64_t k) { return random::multivariate_hypergeometric(sn::full({2}, k, sn::int64), 3); }},
      {"bytes", [](int64_t k) { random::bytes(k); }},
  });
}

TEST_CASE("extreme integers: what large orders and parameters give") {
  // All that zipf draws of a large parameter is 1: powers of the parameter were infinite once, and it drew forever.
  CHECK(sn::all(sn::random::zipf(two_to_32, 100) == 1).item<bool>());
  // Many powers are one scan, few are products.
  for (const bool increasing : {false, true}) {
    const ndarray many = sn::vander(row(), {.n = 70, .increasing = increasing});
    const ndarray few = sn::vander(row(), {.n = 60, .increasing = increasing});
    CHECK(many.shape() == sn::shape_t{6, 70});
    CHECK(many.dtype() == few.dtype());
    CHECK(sn::array_equal(
        increasing ? ndarray(many(sn::idx::_, sn::slice(0, 60))) : ndarray(many(sn::idx::_, sn::slice(10, 70))), few));
  }
  CHECK_THROWS_AS(sn::polyint(reals(), 1001), sn::value_error);
  CHECK(sn::polyint(reals(), 1000).shape() == sn::shape_t{1006});
}
