// Programs of numerical work: systems, equations, polynomials, indices, roots and integrals.
#include <cmath>
#include <complex>
#include <numbers>

#include "golden/programs/programs.hpp"
#include "sinter/linalg.hpp"
#include "sinter/polynomial_fit.hpp"
#include "sinter/segments.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace sinter::test::programs {

using sn::ndarray;

results systems() {
  namespace la = sn::linalg;
  const auto c = sn::power(0.5, sn::arange(12));
  const auto b = sn::cos(sn::arange(12.0));
  const auto t = la::toeplitz(c);
  const auto x = la::solve_toeplitz(c, b);
  const auto residual = sn::abs(sn::matmul(t, x) - b).max() < 1e-12;
  const auto y = la::cho_solve(la::cho_factor(t), b);
  const auto root = la::sqrtm(t);
  const bool back = sn::allclose(sn::matmul(root, root), t);
  const auto grow = la::expm(sn::array({{0, 1.0}, {-1, 0}}) * pi / 3);
  const auto bands =
      sn::vstack({sn::r_({0, sn::full({11}, -1.0)}), sn::full({12}, 4.0), sn::r_({sn::full({11}, -1.0), 0})});
  const auto z = la::solve_banded({1, 1}, bands, b);
  const auto l = la::cholesky(t);
  const auto w = la::solve_triangular(l, b, {.lower = true});
  const auto ring = la::circulant(sn::array({4.0, -1, 0, 0, 0, -1}));
  const auto by_fft = sn::fft::ifft(sn::fft::fft(sn::arange(6.0)) / sn::fft::fft(ring(_, 0))).real();
  const auto large = la::block_diag({t(slice(2), slice(2)), sn::array({{7.0}}), ring(slice(2), slice(3))});
  const auto product = sn::kron(sn::eye(2), sn::array({{1, 2}, {3, 4}}));
  const auto [sign, logdet] = la::slogdet(t);
  const auto tall = sn::vander(sn::linspace(0, 1, 9), 4);
  const auto [fit, rss, rank, s] = la::lstsq(tall, sn::sin(sn::linspace(0, 3, 9)));
  const auto pinv = la::pinv(tall);
  const auto norms = sn::stack(
      {la::norm(tall), la::norm(tall, 1), la::norm(tall, INFINITY), la::norm(tall, 2), la::norm(b, 3), la::cond(t)});
  const auto values = la::eigvalsh(ring);
  const auto r = sn::abs(la::qr(tall, "r").r);
  return {x,
          residual,
          y,
          root.real(),
          sn::array(back),
          grow,
          z,
          w,
          by_fft,
          large,
          product,
          sign,
          logdet,
          fit,
          rss,
          sn::array(rank),
          s,
          pinv,
          norms,
          values,
          r,
          la::matrix_rank(sn::ones({3, 3})),
          la::inv(t(slice(3), slice(3))),
          sn::trace(t, {.offset = 1}),
          la::det(sn::stack({t(slice(2), slice(2)), t(slice(1, 3), slice(0, 2))}))};
}

results membrane() {
  const int n = 20;
  const auto x = sn::linspace(-1, 1, n);
  const auto grid = sn::meshgrid({x, x}, {.indexing = "xy"});
  const auto xx = grid[0], yy = grid[1];
  auto u = sn::exp(-10 * (sn::square(xx) + sn::square(yy)));
  auto before = u.copy();
  std::vector<ndarray> energy;
  for (int k = 0; k < 15; ++k) {
    const auto lap = sn::zeros_like(u);
    lap(slice(1, -1), slice(1, -1)) = u(slice(2, _), slice(1, -1)) + u(slice(-2), slice(1, -1)) +
                                      u(slice(1, -1), slice(2, _)) + u(slice(1, -1), slice(-2)) -
                                      4 * u(slice(1, -1), slice(1, -1));
    const auto next = 2 * u - before + 0.2 * lap;
    before = u;
    u = next;
    u[sn::list{0, -1}] = 0;
    u(_, sn::list{0, -1}) = 0;
    energy.push_back(sn::sum(sn::square(u - before)));
  }
  auto v = sn::zeros({12, 12});
  v(0) = 1;
  v(_, -1) = sn::linspace(1, 0, 12);
  int steps = 0;
  while (true) {
    const auto old = v.copy();
    v(slice(1, -1), slice(1, -1)) = 0.25 * (v(slice(-2), slice(1, -1)) + v(slice(2, _), slice(1, -1)) +
                                            v(slice(1, -1), slice(-2)) + v(slice(1, -1), slice(2, _)));
    steps += 1;
    if (sn::max(sn::abs(v - old)) < 1e-3 || steps == 200) break;
  }
  auto w = sn::where(sn::abs(sn::arange(40) - 10) < 4, 1.0, 0.0);
  for (int k = 0; k < 20; ++k) w = w - 0.5 * (w - sn::roll(w, 1));
  const auto slopes = sn::gradient(v, {0.1, 0.2}, {.edge_order = 2});
  const auto gy = slopes[0], gx = slopes[1];
  const auto divergence = ndarray(sn::gradient(gx, {.axis = 1})) + ndarray(sn::gradient(gy, {.axis = 0}));
  const auto volume = sn::trapezoid(sn::trapezoid(u, x, {.axis = 1}), x);
  const auto profile = u(n / 2, slice(_, _, 3));
  const auto ring = (sn::sqrt(sn::square(xx) + sn::square(yy)) / 0.2).astype(sn::int64);
  const auto radial = sn::bincount(ring.ravel(), {.weights = u.ravel()}) / sn::bincount(ring.ravel());
  return {u,      sn::stack(energy),
          v,      sn::array(steps),
          w,      gx,
          gy,     divergence,
          volume, profile,
          radial, sn::stack(sn::unravel_index(sn::argmax(v(slice(1, -1), slice(1, -1))), {10, 10}))};
}

results polynomials() {
  const auto p = sn::array({1.0, -6, 11, -6}), q = sn::array({1.0, -1});
  const auto [quotient, rest] = sn::polydiv(p, q);
  const auto product = sn::polymul(p, q);
  const auto total = sn::polyadd(p, sn::array({2, 3}));
  const auto less = sn::polysub(p, q);
  const auto slope = sn::polyder(p), area = sn::polyint(p, 1, 2);
  const auto zeros = sn::sort(sn::roots(p).real());
  const auto again = sn::poly(sn::array({1, 2, 3}));
  const auto x = sn::linspace(-1, 1, 25);
  const auto y = sn::exp(x) + 0.01 * sn::cos(40 * x);
  const auto fit = sn::polyfit(x, y, 4, {.w = 1 / (1 + sn::abs(x))});
  const auto [both, covariance] = sn::polyfit_cov(x, y, 2);
  const auto [coefficients, residuals, rank, singular, rcond] = sn::polyfit_full(x, y, 3);
  const auto two = sn::polyfit(x, sn::column_stack({y, sn::square(y)}), 2);
  const auto values = sn::polyval(fit, x);
  const auto nodes = sn::cos((2 * sn::arange(8) + 1) * pi / 16);
  const auto f = 1 / (1 + 25 * sn::square(nodes));
  const auto others = nodes(_, newaxis) - nodes;
  sn::fill_diagonal(others, 1);
  const auto weights = 1 / sn::prod(others, 1);
  const auto at = sn::array({-0.9, 0.05, 0.7});
  const auto terms = weights / (at(_, newaxis) - nodes);
  const auto lagrange = sn::sum(terms * f, 1) / sn::sum(terms, 1);
  std::vector<ndarray> table{sn::ones_like(x), x};
  for (int k = 2; k < 6; ++k) table.push_back(2 * x * table[k - 1] - table[k - 2]);
  const auto chebyshev = sn::linalg::lstsq(sn::stack(table).T(), y).x;
  const auto companion = sn::diag(sn::ones({2}), -1).copy();
  companion(0) = -p(slice(1, _)) / p(0);
  const auto eigen = sn::sort(sn::linalg::eigvals(companion).real());
  const auto r2 = 1 - sn::sum(sn::square(y - values)) / sn::sum(sn::square(y - y.mean()));
  return {quotient,
          rest,
          product,
          total,
          less,
          slope,
          area,
          zeros,
          again,
          fit,
          both,
          covariance,
          coefficients,
          residuals,
          sn::array(rank),
          singular,
          two,
          values,
          lagrange,
          chebyshev,
          eigen,
          r2,
          sn::polyval(p, sn::array({{1, 2}, {3, 4}})),
          sn::polyval(sn::array({1, 2, 3}), 2),
          sn::trim_zeros(sn::array({0, 0, 1, 2, 0}), "f")};
}

results tensors() {
  const auto a = sn::arange(24.0).reshape(2, 3, 4) / 10;
  const auto b = sn::sin(sn::arange(40.0)).reshape(2, 4, 5);
  const auto v = sn::arange(4.0);
  const auto stack = sn::einsum("bij,bjk->bik", a, b);
  const bool same = sn::allclose(stack, sn::matmul(a, b));
  const auto diagonal = sn::einsum("ii->i", stack(0)(_, slice(3)));
  const auto trace = sn::einsum("ii", stack(0)(_, slice(3)));
  const auto outer = sn::einsum("i,j->ij", v, v(slice(2)));
  const auto last = sn::einsum("...i,i->...", a, v);
  const auto swapped = sn::einsum("abc->cab", a);
  const auto quadratic = sn::einsum("i,ij,j->", v, sn::eye(4) * 2, v);
  const auto hadamard = sn::einsum("ij,ij->i", a(0), a(1));
  const auto dotted = sn::tensordot(a, b, sn::axes{0, 2}, sn::axes{0, 1});
  const auto inner = sn::inner(a, v);
  const auto between = sn::dot(a, b(0));
  const auto moved = sn::moveaxis(b, sn::axes{0, 1}, sn::axes{-1, 0});
  const auto rolled = sn::rollaxis(a, 2);
  const auto back = sn::swapaxes(a, 0, -1).transpose(sn::axes{2, 1, 0});
  const auto chain = sn::linalg::multi_dot({a(0), b(0), b(1).T()});
  const auto bilinear = sn::einsum("bi,ijk,bk->bj", a(_, 0), sn::ones({4, 2, 5}), b(_, 0));
  const auto gram = sn::einsum("nij,mij->nm", a, a);
  const auto batch = sn::matmul(a, v);
  const auto squared = sn::vecdot(a, a);
  const auto cosine = gram / sn::sqrt(sn::outer(sn::diag(gram), sn::diag(gram)));
  const auto total = a.sum(sn::axes{0, 2}, {.keepdims = true});
  const auto ratio = a / sn::where(total == 0, 1, total);
  const auto padded = sn::pad(a(0), {{1, 0}, {0, 2}}, {.constant_values = {{9, 8}, {7, 6}}});
  const auto grid = sn::block({{sn::eye(2), sn::zeros({2, 3})}, {sn::ones({1, 5})}});
  const auto levi = sn::zeros({3, 3, 3});
  levi(sn::list{0, 1, 2}, sn::list{1, 2, 0}, sn::list{2, 0, 1}) = 1;
  levi(sn::list{0, 2, 1}, sn::list{2, 1, 0}, sn::list{1, 0, 2}) = -1;
  const auto cross = sn::einsum("ijk,j,k->i", levi, sn::array({1.0, 2, 3}), sn::array({4.0, 5, 6}));
  const auto shape = [](const ndarray& x) {
    const sn::shape_t s = x.shape();
    return sn::array(std::vector<std::int64_t>(s.begin(), s.end()));
  };
  return {stack,
          sn::array(same),
          diagonal,
          trace,
          outer,
          last,
          swapped,
          quadratic,
          hadamard,
          dotted,
          inner,
          between,
          moved,
          rolled,
          (back == a).all(),
          chain,
          bilinear,
          gram,
          batch,
          squared,
          cosine,
          ratio,
          padded,
          grid,
          cross,
          sn::vdot(a, a),
          shape(sn::atleast_2d(v)),
          shape(sn::expand_dims(v, sn::axes{0, 2})),
          shape(sn::squeeze(a(slice(1), slice(1))))};
}

results numerics() {
  const auto c = sn::linspace(1, 9, 5);
  auto x = sn::ones_like(c);
  for (int k = 0; k < 30; ++k) {
    const auto step = (sn::power(x, 3) - c) / (3 * sn::square(x));
    x -= step;
    if (sn::all(sn::abs(step) < 1e-14)) break;
  }
  const auto cubes = sn::cbrt(c);
  const auto t = sn::linspace(0, pi, 21);
  const auto f = sn::sin(t);
  const auto h = t(1) - t(0);
  const auto simpson = h / 3 * (f(0) + 4 * f(slice(1, -1, 2)).sum() + 2 * f(slice(2, -2, 2)).sum() + f(-1));
  const auto coarse = sn::trapezoid(f(slice(_, _, 2)), t(slice(_, _, 2))), fine = sn::trapezoid(f, t);
  const auto richardson = fine + (fine - coarse) / 3;
  const auto cumulative =
      sn::concatenate({sn::array({0}), sn::cumsum((f(slice(1, _)) + f(slice(-1))) / 2 * sn::diff(t))});
  const auto mean = sn::linspace(0, 6, 7);
  auto e = mean.copy();
  for (int k = 0; k < 20; ++k) e = e - (e - 0.3 * sn::sin(e) - mean) / (1 - 0.3 * sn::cos(e));
  const auto anomaly = 2 * sn::arctan2(std::sqrt(1.3) * sn::sin(e / 2), std::sqrt(0.7) * sn::cos(e / 2));
  auto state = sn::array({1.0, 0.0});
  const auto slope = [](const ndarray& s) { return sn::stack({s(1), -s(0)}); };
  std::vector<ndarray> orbit{state};
  for (int k = 0; k < 10; ++k) {
    const auto k1 = slope(state);
    const auto k2 = slope(state + 0.05 * k1);
    const auto k3 = slope(state + 0.05 * k2);
    const auto k4 = slope(state + 0.1 * k3);
    state = state + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    orbit.push_back(state);
  }
  const auto low = sn::zeros({3}), high = sn::full({3}, 3.0);
  for (int k = 0; k < 40; ++k) {
    const auto middle = (low + high) / 2;
    const auto above = sn::cosh(middle) > sn::array({2, 3, 5});
    high[above] = middle[above];
    low[~above] = middle[~above];
  }
  const auto hours =
      sn::interp(sn::array({350, 10, 725}), sn::array({0, 90, 180}), sn::array({1.0, 3, 2}), {.period = 360});
  const auto shape = sn::piecewise(t - 1, {t < 1, t >= 2}, {[](const ndarray& v) { return sn::square(v); }, -1, 0.5});
  const auto step = sn::heaviside(sn::array({-1.0, 0, 2}), 0.5);
  const auto [m, ex] = sn::frexp(sn::array({8.0, 0.15, -3}));
  const auto [fraction, whole] = sn::modf(sn::array({2.75, -1.25}));
  const auto big = sn::logaddexp(sn::array({1000.0, 0}), sn::array({1000.5, -800}));
  const auto near = sn::nextafter(sn::array(1, {.dtype = sn::float32}), 2) - 1;
  const auto signs = sn::copysign(sn::array({1.0, 2}), sn::array({-0.0, 3}));
  const auto cleaned = sn::nan_to_num(sn::array({NAN, INFINITY, -INFINITY, 1}), 7.0, 9, -9);
  const auto nodes = sn::array({-0.7745966692414834, 0, 0.7745966692414834}), weights = sn::array({5, 8, 5}) / 9;
  const auto integral = sn::sum(weights * sn::exp(nodes));
  const auto monte = sn::mean(sn::sum(sn::square(draws(1000, 23).reshape(2, -1)), 0) < 1) * 4;
  return {x,
          cubes,
          simpson,
          richardson,
          cumulative,
          e,
          anomaly,
          sn::stack(orbit),
          high,
          hours,
          shape,
          step,
          m,
          ex,
          fraction,
          whole,
          big,
          near,
          signs,
          sn::geomspace(1, 256, 9),
          sn::logspace(-1, 1, 3),
          sn::arange(1, 2, 0.25),
          cleaned,
          integral,
          monte,
          sn::fix(sn::array({-1.7, 1.7})),
          sn::trunc(sn::array({-1.7, 1.7})),
          sn::round(sn::array({0.5, 1.5, 2.675, -2.5}), 0),
          sn::around(sn::array(1234.567), -2),
          sn::floor_divide(sn::array(7.5), 2),
          sn::float_power(sn::array(2), -1)};
}

}  // namespace sinter::test::programs
