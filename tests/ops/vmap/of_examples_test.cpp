// Functions that look at elements, for each example of a vmap: alone, differentiated, within derivatives, nested.
#include "ops/base/of_examples.hpp"
#include "ops/sparse_linalg/superlu.hpp"
#include "ops/vmap/beside_loop.hpp"
#include "sinter/grad.hpp"
#include "sinter/sparse_linalg.hpp"
#include "sinter/spatial.hpp"
#include "sinter/special_parameters.hpp"
#include "support/linalg_checks.hpp"

using namespace vmap_test;
using namespace sinter::test;
using sinter::idx::_;
namespace sl = sinter::sparse::linalg;

namespace {

bool near(const ndarray& a, const ndarray& b, double tolerance = 1e-9) {
  return a.shape() == b.shape() && allclose(a, b, tolerance, tolerance);
}

/// f, its gradient and second derivatives for each example beside a loop, and the gradient of the sum over the examples.
template <class F>
void check_all(const char* name, F f, const ndarray& x, bool twice = true) {
  CAPTURE(std::string(name));
  check_near(f, x, 1e-10);
  const auto value = [&](const ndarray& a) {
    const ndarray y = f(a);
    return sum(y * cos(arange(static_cast<double>(y.size()))).reshape(y.shape()));
  };
  const ndarray each = in_turn(grad(value), x);
  CHECK(near(vmap(grad(value))(x), each));
  CHECK(near(grad([&](const ndarray& all) { return sum(vmap(value)(all)); })(x), each));
  CHECK(near(vmap([&](const ndarray& a) { return jvp(value, a, ones_like(a)).second; })(x),
             in_turn([&](const ndarray& a) { return jvp(value, a, ones_like(a)).second; }, x)));
  if (!twice) return;
  const auto second = [&](const ndarray& a) { return hvp(value, a, cos(a)); };
  CHECK(near(vmap(second)(x), in_turn(second, x), 1e-7));
}

ndarray matrices(const shape_t& shape) {
  random::generator g(11);
  return g.uniform(-1, 1, shape);
}

}  // namespace

TEST_CASE("vmap: linear algebra that looks at elements, and its derivatives") {
  if (no_solvers()) return;
  const ndarray m = matrices({3, 4, 4}) + 3 * eye(4), tall = matrices({3, 7, 3}), b = matrices({7}),
                r = matrices({3, 4});
  check_all(
      "lstsq", [&](const ndarray& a) { return linalg::lstsq(a, b).x; }, tall);
  check_all(
      "lstsq of sides", [&](const ndarray& a) { return linalg::lstsq(tall(0)(sinter::slice(4)), a).x; }, r);
  check_all(
      "expm", [](const ndarray& a) { return linalg::expm(a * 0.3); }, m);
  check_all(
      "orth", [](const ndarray& a) { return square(linalg::orth(a)); }, m, false);
  const auto definite = [](const ndarray& a) { return matmul(a, a.T()) + 2 * eye(4); };
  check_near([&](const ndarray& a) { return linalg::sqrtm(definite(a)); }, m, 1e-9);
  check_near([&](const ndarray& a) { return linalg::logm(definite(a)); }, m, 1e-9);
  check_near([&](const ndarray& a) { return linalg::ldl(definite(a)).d; }, m, 1e-9);
  check_near([](const ndarray& a) { return linalg::qr_pivoted(a).q; }, m, 1e-9);
  check_near([](const ndarray& a) { return linalg::qr_pivoted(a).p; }, m, 0);
  check_near(
      [](const ndarray& a) {
        return linalg::solve_toeplitz(a + array({5.0, 0.0, 0.0, 0.0}), ones(4));
      },
      r, 1e-9);
  check_near([](const ndarray& a) { return linalg::solve_banded({1, 1}, a, ones(4)); }, matrices({2, 3, 4}) + 2, 1e-7);
  check_near([](const ndarray& a) { return linalg::null_space(a); }, matrices({2, 2, 4}), 1e-9);
  check_all(
      "polyfit", [](const ndarray& y) { return polyfit(arange(4.0), y, 1); }, r);
  check_all(
      "polyfit by its points", [](const ndarray& x) { return polyfit(x, arange(4.0), 1); }, sort(r, 1));
  check_all(
      "roots", [](const ndarray& p) { return real(roots(p)); }, absolute(r) + 0.5, false);
  check_near([](const ndarray& p) { return polydiv(p, array({1.0, 2.0})).quotient; }, r, 1e-12);
}

TEST_CASE("vmap: iterative solvers, and their derivatives") {
  if (no_solvers()) return;
  const ndarray s = matrices({5, 5}), a = matmul(s, s.T()) + 4 * eye(5), b = matrices({3, 5});
  check_all(
      "cg", [&](const ndarray& r) { return sl::cg(a, r, {.rtol = 1e-13}).x; }, b);
  check_all(
      "gmres", [&](const ndarray& r) { return sl::gmres(a, r * r, {.rtol = 1e-13}).x; }, b);
  check_all(
      "minres", [&](const ndarray& r) { return sl::minres(a, sin(r), {.rtol = 1e-14}).x; }, b);
  if (no_superlu()) return;
  check_all(
      "spsolve", [&](const ndarray& r) { return sl::spsolve(sparse::csr_array(a), r * r); }, b);
}

TEST_CASE("vmap: order statistics that look at elements, and their derivatives") {
  const ndarray x = matrices({4, 9});
  const auto holes = [](const ndarray& a) { return where(a > 0.6, NAN, a); };
  check_all(
      "nanmedian", [&](const ndarray& a) { return nanmedian(holes(a)); }, x);
  check_all(
      "nanquantile",
      [&](const ndarray& a) {
        return nanquantile(holes(a), {0.2, 0.7});
      },
      x);
  check_all(
      "nanpercentile", [&](const ndarray& a) { return nanpercentile(holes(a), 30); }, x);
  check_all(
      "weights", [&](const ndarray& a) { return quantile(a, 0.4, {.method = "inverted_cdf", .weights = exp(a)}); }, x);
  check_all(
      "quantile of each", [&](const ndarray& q) { return quantile(x(0), q); }, absolute(x));
  check_near([&](const ndarray& q) { return quantile(x(0), q, {.method = "nearest"}); }, absolute(x), 0);
}

TEST_CASE("vmap: bins whose number or edges depend on the elements") {
  const ndarray x = matrices({4, 30}), n = array({{0, 3, 1, 1}, {3, 3, 3, 3}, {2, 0, 3, 0}});
  check_near([](const ndarray& a) { return bincount(a); }, n, 0);
  check_near([](const ndarray& a) { return bincount(a % 3, {.minlength = 5}); }, n, 0);
  check_near([](const ndarray& a) { return bincount(array({0, 2, 1, 0}), {.weights = a}); }, n * 0.5, 0);
  check_near([](const ndarray& a) { return bincount(a, {.weights = sin(a)}); }, n, 0);
  check_near([](const ndarray& a) { return histogram(a, 7).hist; }, x, 0);
  check_near([](const ndarray& a) { return histogram(a, 7, {.density = true}).hist; }, x, 0);
  check_near([](const ndarray& a) { return histogram(a, 7, {.weights = a * a}).hist; }, x);
  check_near([](const ndarray& a) { return histogram(a, "sqrt").bin_edges; }, x, 0);
  check_near([](const ndarray& a) { return histogram_bin_edges(a, 4); }, x, 0);
  CHECK_THROWS_AS(vmap([](const ndarray& a) { return bincount(a); })(array({{0, 1}, {0, 3}})), vmap_error);
}

TEST_CASE("vmap: distances, sequences and parameters that are looked for") {
  const ndarray p = matrices({3, 4, 2}), q = matrices({5, 2});
  for (const char* metric : {"euclidean", "cosine", "mahalanobis", "chebyshev"}) {
    CAPTURE(metric);
    check_near([&](const ndarray& a) { return spatial::cdist(a, q, metric); }, p, 1e-9);
    check_near([&](const ndarray& a) { return spatial::pdist(a, metric); }, p, 1e-9);
  }
  check_all(
      "pdist", [](const ndarray& a) { return spatial::squareform(square(spatial::pdist(a))); }, p);
  check_all(
      "geomspace", [](const ndarray& a) { return geomspace(a + 2, 9.0, 4); }, q);
  check_near([](const ndarray& a) { return special::gdtrib(1.0, absolute(a) * 0.5, 2.0); }, q, 0);
}

TEST_CASE("vmap: nested maps of functions that look at elements, maps of none, and one operand for all") {
  const ndarray x = matrices({2, 3, 7});
  const auto inner = [](const ndarray& a) { return nanmedian(a * 2); };
  const ndarray both = vmap(vmap(inner))(x);
  for (int i = 0; i < 2; ++i) CHECK(same_bits(both(i).copy(), in_turn(inner, x(i).copy())));
  CHECK(vmap(inner)(x(0)(sinter::slice(0, 0))).shape() == shape_t{0});
  const auto slope = vmap(vmap(grad(inner)))(x);
  for (int i = 0; i < 2; ++i) CHECK(near(slope(i), in_turn(grad(inner), x(i).copy())));
  const ndarray twice = vmap(hessian([](const ndarray& a) { return square(nanmedian(a)) * a(0); }))(x(0));
  CHECK(near(twice, in_turn(hessian([](const ndarray& a) { return square(nanmedian(a)) * a(0); }), x(0).copy())));
  // A result that the example does not reach is the same for all.
  const ndarray fixed = matrices({5});
  CHECK(near(vmap([&](const ndarray& a) { return nanmedian(fixed) + a; })(x(0)), x(0) + nanmedian(fixed)));
}

TEST_CASE("vmap: only a vmap hears of functions that look at elements") {
  const ndarray x = ones({3});
  const auto again = [](std::span<const ndarray> o) { return ops::results_of(o[0]); };
  CHECK_FALSE(ops::intercept_mapped("test", {&x}, again));
  bool heard = true;
  (void)grad([&](const ndarray& a) {
    heard = ops::intercept_mapped("test", {&a}, again).has_value();
    return sum(a);
  })(x);
  CHECK_FALSE(heard);
}
