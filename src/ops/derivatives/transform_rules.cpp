// Rules of Fourier transforms, which are linear. Numbers: the kind (0 complex, 1 real to complex, 2 complex to real),
// whether it is inverse, then axis and points of each axis. Nothing is scaled.
#include "ops/base/axes.hpp"
#include "ops/derivatives/opaque_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/fft.hpp"

namespace sinter::ops::derivatives {
namespace {

struct axis_points {
  std::int64_t axis, points;
};
std::vector<axis_points> axes_of(const opaque_case& c) {
  std::vector<axis_points> out;
  for (std::size_t k = 2; k + 1 < c.call.numbers.size(); k += 2) out.push_back({c.number(k), c.number(k + 1)});
  return out;
}

/// A complex transform along an axis, unscaled; shorter axes are filled up with zeros.
ndarray along(const ndarray& x, const axis_points& a, bool inverse) {
  if (inverse) return fft::ifft(x, {.n = a.points, .axis = a.axis, .norm = "forward"});
  return fft::fft(x, {.n = a.points, .axis = a.axis, .norm = "backward"});
}

std::vector<ndarray> fft_forward(const opaque_case& c, std::span<const ndarray> t) {
  const ndarray one[] = {t[0]};
  return c.call.again(one);
}

std::vector<ndarray> fft_backward(const opaque_case& c, std::span<const ndarray> g) {
  const std::vector<axis_points> all = axes_of(c);
  const bool inverse = c.number(1) != 0;
  ndarray d = g[0];
  if (c.number(0) != 2) {  // the matrix of a transform is symmetric; of half of its rows the others are 0
    for (const axis_points& a : all) d = along(d, a, inverse);
    return {c.number(0) == 1 ? real(d).copy() : d};
  }
  // Each frequency of the halved axis but the first, and the last of an even number of points, stands for two.
  const axis_points last = all.back();
  const std::int64_t n = last.points, half = n / 2 + 1;
  d = conj(fft::rfft(d, {.n = n, .axis = last.axis, .norm = "backward"}));
  const value v = value_of(d);
  dims shape(v->shape.size(), 1);
  shape[static_cast<int>(last.axis)] = half;
  const ndarray k = wrap(graph::record_iota(shape, static_cast<int>(last.axis), v->device));
  const ndarray single = n % 2 == 0 ? logical_or(equal(k, 0), equal(k, half - 1)) : equal(k, 0);
  d = where(single, d, 2 * d);
  for (std::size_t a = 0; a + 1 < all.size(); ++a) d = along(d, all[a], inverse);
  return {d};
}

}  // namespace

std::span<const opaque_rule> opaque_rules_of_transforms() {
  static constexpr opaque_rule rules[] = {
      {"fft", fft_forward, fft_backward},
  };
  return rules;
}

}  // namespace sinter::ops::derivatives
