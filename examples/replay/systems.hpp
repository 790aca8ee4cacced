// Two loops of small steps, written as NumPy would write them: many Lorenz systems at once, and a five-point stencil. Each
// step writes in place, so that it can be captured once and launched again.
#pragma once
#include <string>
#include <vector>

#include <sinter/sinter.hpp>

namespace replay {

namespace sn = sinter;
using sn::ndarray;

/// Points of the Lorenz system: x' = s (y - x), y' = x (r - z) - y, z' = x y - b z; float64, of one shape.
struct points {
  ndarray x, y, z;
};
/// `count` points near the origin, apart from each other, on a device.
points start_points(std::int64_t count, const sn::device& on);
/// A step of the classical Runge-Kutta method, in place.
void runge_kutta_step(const points& p, double h);

/// A field (n, n), float32, and room for the next one.
struct field {
  ndarray now, next;
};
field start_field(std::int64_t n, const sn::device& on);
/// Two explicit steps of the heat equation with a fixed border, forth to `next` and back to `now`.
void two_diffusion_steps(const field& f, float rate);

/// The same by plain loops in float64; (n) and (n, n) in C order.
void plain_runge_kutta_step(std::vector<double>& x, std::vector<double>& y, std::vector<double>& z, double h);
void plain_diffusion_step(std::vector<double>& u, std::int64_t n, double rate);

}  // namespace replay
