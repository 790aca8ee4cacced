// The steps by array expressions, and by plain loops.
#include "replay/systems.hpp"

#include <cmath>

namespace replay {
namespace {

using namespace sn::idx;

constexpr double sigma = 10, rho = 28, beta = 8.0 / 3;

points slope(const points& p) { return {sigma * (p.y - p.x), p.x * (rho - p.z) - p.y, p.x * p.y - beta * p.z}; }

points moved(const points& p, const points& by, double h) { return {p.x + h * by.x, p.y + h * by.y, p.z + h * by.z}; }

ndarray weighted(const ndarray& from, double h, const ndarray& a, const ndarray& b, const ndarray& c,
                 const ndarray& d) {
  return from + h / 6 * (a + 2 * b + 2 * c + d);
}

ndarray laplacian(const ndarray& u) {
  return u[":-2, 1:-1"] + u["2:, 1:-1"] + u["1:-1, :-2"] + u["1:-1, 2:"] - 4 * u["1:-1, 1:-1"];
}

struct point {
  double x, y, z;
};
point slope(const point& p) { return {sigma * (p.y - p.x), p.x * (rho - p.z) - p.y, p.x * p.y - beta * p.z}; }
point moved(const point& p, const point& by, double h) { return {p.x + h * by.x, p.y + h * by.y, p.z + h * by.z}; }

}  // namespace

points start_points(std::int64_t count, const sn::device& on) {
  const ndarray k = sn::arange(count, {.dtype = sn::float64, .device = on}) / static_cast<double>(count);
  const points p{1 + k, 1 - k, 20 + 2 * k};
  sn::eval(p.x, p.y, p.z);
  return p;
}

void runge_kutta_step(const points& p, double h) {
  const points a = slope(p), b = slope(moved(p, a, h / 2)), c = slope(moved(p, b, h / 2)), d = slope(moved(p, c, h));
  const ndarray x = weighted(p.x, h, a.x, b.x, c.x, d.x), y = weighted(p.y, h, a.y, b.y, c.y, d.y),
                z = weighted(p.z, h, a.z, b.z, c.z, d.z);
  p.x(_) = x;
  p.y(_) = y;
  p.z(_) = z;
  sn::eval(p.x, p.y, p.z);
}

field start_field(std::int64_t n, const sn::device& on) {
  const ndarray i = sn::arange(n, {.dtype = sn::float32, .device = on}) * (40.0 / static_cast<double>(n));
  ndarray u = sn::sin(i(_, newaxis) * 1.7) * sn::cos(i * 2.3);
  sn::eval(u);
  return {u, sn::array(u)};
}

void two_diffusion_steps(const field& f, float rate) {
  f.next["1:-1, 1:-1"] = f.now["1:-1, 1:-1"] + rate * laplacian(f.now);
  sn::eval(f.next);
  f.now["1:-1, 1:-1"] = f.next["1:-1, 1:-1"] + rate * laplacian(f.next);
  sn::eval(f.now);
}

void plain_runge_kutta_step(std::vector<double>& x, std::vector<double>& y, std::vector<double>& z, double h) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    const point p{x[k], y[k], z[k]};
    const point a = slope(p), b = slope(moved(p, a, h / 2)), c = slope(moved(p, b, h / 2)), d = slope(moved(p, c, h));
    x[k] += h / 6 * (a.x + 2 * b.x + 2 * c.x + d.x);
    y[k] += h / 6 * (a.y + 2 * b.y + 2 * c.y + d.y);
    z[k] += h / 6 * (a.z + 2 * b.z + 2 * c.z + d.z);
  }
}

void plain_diffusion_step(std::vector<double>& u, std::int64_t n, double rate) {
  const std::vector<double> old = u;
  const auto at = [&](std::int64_t i, std::int64_t j) { return old[static_cast<std::size_t>(i * n + j)]; };
  for (std::int64_t i = 1; i + 1 < n; ++i)
    for (std::int64_t j = 1; j + 1 < n; ++j)
      u[static_cast<std::size_t>(i * n + j)] =
          at(i, j) + rate * (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) - 4 * at(i, j));
}

}  // namespace replay
