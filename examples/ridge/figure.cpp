#include "ridge/figure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/png.hpp"

namespace ridge {
namespace {

constexpr int width = 720, height = 520, left = 90, right = 40, top = 50, bottom = 60;
constexpr examples::rgb paper{255, 255, 255}, ink{30, 30, 30}, blue{31, 119, 180};

/// Logarithms of an axis, from its ends to pixels.
struct axis {
  double low, high;
  int first, last;
  double at(double v) const {
    return high > low ? first + (std::log10(v) - low) / (high - low) * (last - first) : 0.5 * (first + last);
  }
};
axis axis_of(const std::vector<double>& values, int first, int last) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {std::log10(*low), std::log10(*high), first, last};
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

}  // namespace

void write_figure(const std::string& path, const std::vector<point>& curve) {
  std::vector<double> residuals, sizes;
  for (const point& p : curve) {
    residuals.push_back(p.residual);
    sizes.push_back(p.size);
  }
  const axis x = axis_of(residuals, left, width - right), y = axis_of(sizes, height - bottom, top);
  examples::image picture(width, height, paper);
  const examples::text_style title{.height = 12, .colour = ink}, label{.height = 8, .colour = ink};
  examples::draw_text(picture, left, 28, "L-curve: norm of the solution over norm of the residual", title);
  examples::draw_line(picture, left, top, left, height - bottom, 1, ink);
  examples::draw_line(picture, left, height - bottom, width - right, height - bottom, 1, ink);
  for (const bool end : {false, true}) {
    const std::string along = number(std::pow(10, end ? x.high : x.low)),
                      up = number(std::pow(10, end ? y.high : y.low));
    examples::draw_text(picture, end ? width - right - examples::text_width(along, label) : left, height - bottom + 22,
                        along, label);
    examples::draw_text(picture, left - 10 - examples::text_width(up, label), end ? top + 8 : height - bottom, up,
                        label);
  }
  for (std::size_t k = 0; k < curve.size(); ++k) {
    const double px = x.at(residuals[k]), py = y.at(sizes[k]);
    if (k > 0) examples::draw_line(picture, x.at(residuals[k - 1]), y.at(sizes[k - 1]), px, py, 2, blue);
    examples::draw_disc(picture, px, py, 4, blue);
    if (k % 4 == 0) examples::draw_text(picture, px + 8, py - 6, number(curve[k].lambda), label);
  }
  examples::write_png(path, picture);
}

}  // namespace ridge
