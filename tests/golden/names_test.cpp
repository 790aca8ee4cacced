// Systems of a structure, factorisations and functions of matrices; orders, views, complex parts, masked functions: as NumPy 2
// and SciPy.
#include <doctest/doctest.h>

#include "golden/calls.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using results = std::vector<ndarray>;
using sinter::idx::_;

char order_of(const call& c) { return static_cast<char>(c.integer(0)); }

results ldl_of(const call& c) {
  const linalg::ldl_result r = linalg::ldl(c.x.at(0), {.lower = c.n.at(0) != 0, .hermitian = c.n.at(1) != 0});
  return {r.lu, r.d, r.perm};
}
results toeplitz_of(const call& c) {
  if (c.x.size() == 2) return {linalg::solve_toeplitz(c.x[0], c.x[1])};
  return {linalg::solve_toeplitz({c.x.at(0), c.x.at(1)}, c.x.at(2))};
}
results pivoted_of(const call& c) {
  const auto [q, r, p] = linalg::qr_pivoted(c.x.at(0), c.option);
  return {q, r, p};
}
results raw_of(const call& c) {
  const auto [h, tau] = linalg::qr(c.x.at(0), "raw");
  return {h, tau};
}

results reshaped(const call& c) { return {reshape(c.x.at(0), shape_t(c.integers_from(1)), {.order = order_of(c)})}; }

/// A function of a copy of the first array, and the copy afterwards.
template <class F>
std::function<results(const call&)> written(F f) {
  return [f](const call& c) -> results {
    ndarray z = c.x.at(0).copy();
    f(z, c);
    return {z};
  };
}

template <class F>
std::function<results(const call&)> masked(F f) {
  return [f](const call& c) -> results {
    const ndarray out = c.x.back().copy();
    f(c, out_kw{.out = out, .where = c.x[c.x.size() - 2]});
    return {out};
  };
}

quantile_kw quantile_of(const call& c) { return {.axis = c.axes_from(1), .method = c.option}; }

}  // namespace

TEST_CASE("matrices of a structure and of SciPy's functions, orders, views and parts are NumPy's" *
          doctest::test_suite(sharded_suite)) {
  check_calls(
      "names.bin",
      {{"solve_banded",
        [](const call& c) -> results {
          return {linalg::solve_banded({c.integer(0), c.integer(1)}, c.x.at(0), c.x.at(1))};
        }},
       {"solveh_banded",
        [](const call& c) -> results {
          return {linalg::solveh_banded(c.x.at(0), c.x.at(1), {.lower = c.n.at(0) != 0})};
        }},
       {"solve_toeplitz", toeplitz_of},
       {"ldl", ldl_of},
       {"qr_pivoted", pivoted_of},
       {"qr_pivoted r",
        [](const call& c) {
          const linalg::pivoted_qr_result f = linalg::qr_pivoted(c.x.at(0), "r");
          return results{f.r, f.p};
        }},
       {"qr raw", raw_of},
       {"sqrtm", [](const call& c) { return results{linalg::sqrtm(c.x.at(0))}; }},
       {"logm", [](const call& c) { return results{linalg::logm(c.x.at(0))}; }},
       {"ravel", [](const call& c) { return results{ravel(c.x.at(0), {.order = order_of(c)})}; }},
       {"flatten", [](const call& c) { return results{c.x.at(0).flatten({.order = order_of(c)})}; }},
       {"copy", [](const call& c) { return results{c.x.at(0).copy({.order = order_of(c)})}; }},
       {"reshape", reshaped},
       {"view", [](const call& c) { return results{c.x.at(0).copy().view(c.x.at(1).dtype())}; }},
       {"real =", written([](ndarray& z, const call& c) { real(z) = c.x.at(1); })},
       {"imag =", written([](ndarray& z, const call& c) { z.imag() = c.x.at(1); })},
       {"real +=", written([](ndarray& z, const call& c) { z.real() += c.x.at(1); })},
       {"imag +=", written([](ndarray& z, const call& c) { imag(z) += c.x.at(1); })},
       {"real[:, 1:3] =", written([](ndarray& z, const call& c) { z.real()(_, slice(1, 3)) = c.x.at(1); })},
       {"imag[:, 1:3] =", written([](ndarray& z, const call& c) { imag(z)[":, 1:3"] = c.x.at(1); })},
       {"real[mask] =", written([](ndarray& z, const call& c) { z.real()[c.x.at(1)] = 7; })},
       {"imag[mask] =", written([](ndarray& z, const call& c) { z.imag()[c.x.at(1)] = 7; })},
       {"real[at] =", written([](ndarray& z, const call& c) { z.real()[c.x.at(1)] = c.x.at(2); })},
       {"imag[at] =", written([](ndarray& z, const call& c) { z.imag()[c.x.at(1)] = c.x.at(2); })},
       {"where add", masked([](const call& c, const out_kw& kw) { add(c.x[0], c.x[1], kw); })},
       {"where multiply", masked([](const call& c, const out_kw& kw) { multiply(c.x[0], c.x[1], kw); })},
       {"where maximum", masked([](const call& c, const out_kw& kw) { maximum(c.x[0], c.x[1], kw); })},
       {"where less", masked([](const call& c, const out_kw& kw) { less(c.x[0], c.x[1], kw); })},
       {"where sqrt", masked([](const call& c, const out_kw& kw) { sqrt(c.x[0], kw); })},
       {"where negative", masked([](const call& c, const out_kw& kw) { negative(c.x[0], kw); })},
       {"where sin", masked([](const call& c, const out_kw& kw) { sin(c.x[0], kw); })},
       {"where alone", [](const call& c) { return results{add(c.x.at(0), c.x.at(1), {.where = c.x.at(2)})}; }},
       {"nanquantile", [](const call& c) { return results{nanquantile(c.x.at(0), c.n.at(0), quantile_of(c))}; }},
       {"nanmedian", [](const call& c) { return results{nanmedian(c.x.at(0), {.axis = c.axes_from(0)})}; }}});
}
