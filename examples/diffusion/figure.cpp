// Draws the panels with the examples' picture helpers.
#include "diffusion/figure.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "common/png.hpp"

namespace diffusion {
namespace {

using examples::colour_map;
using examples::image;

constexpr int most_pixels = 320, fewest_pixels = 200;  // along a side of a panel
constexpr int gap = 20, header = 34, footer = 46, bar_height = 10;
constexpr examples::rgb paper{255, 255, 255}, ink{30, 30, 30};

struct panel {
  std::string title;
  std::vector<float> elements;  // side * side
  int side = 0;
  int zoom = 1;
  double low = 0, high = 0;  // values at the ends of the colours
  colour_map colours = colour_map::viridis;
  int width() const { return side * zoom; }
};

/// Means of squares, so that a side has at most `most_pixels`; what is left over at the end is cut off.
panel panel_of(const std::string& title, const ndarray& u) {
  using namespace sn::idx;
  const std::int64_t n = u.shape(0), square = (n + most_pixels - 1) / most_pixels, side = n / square;
  const ndarray whole = u(slice(side * square), slice(side * square));
  const ndarray means = sn::mean(sn::reshape(whole, {side, square, side, square}), sn::axes{1, 3});
  panel p{title, means.to_vector<float>(), static_cast<int>(side)};
  p.zoom = std::max(1, fewest_pixels / p.side);
  const auto [low, high] = std::minmax_element(p.elements.begin(), p.elements.end());
  p.low = static_cast<double>(*low), p.high = static_cast<double>(*high);
  return p;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

void draw(image& to, const panel& p, int left) {
  const examples::text_style title{.height = 12, .colour = ink}, label{.height = 8, .colour = ink};
  examples::draw_text(to, left, header - 12, p.title, title);
  const double range = p.high > p.low ? p.high - p.low : 1;
  for (int y = 0; y < p.width(); ++y)
    for (int x = 0; x < p.width(); ++x) {
      const auto at = static_cast<std::size_t>(y / p.zoom) * static_cast<std::size_t>(p.side) +
                      static_cast<std::size_t>(x / p.zoom);
      to.at(left + x, header + y) =
          examples::colour_of(p.colours, (static_cast<double>(p.elements[at]) - p.low) / range);
    }
  const int under = header + p.width() + 10;
  examples::draw_colour_bar(to, left, under, p.width(), bar_height, p.colours);
  const std::string low = number(p.low), high = number(p.high);
  examples::draw_text(to, left, under + bar_height + 14, low, label);
  examples::draw_text(to, left + p.width() - examples::text_width(high, label), under + bar_height + 14, high, label);
}

}  // namespace

void write_figure(const std::string& path, const ndarray& before, const ndarray& after, int steps) {
  panel panels[] = {panel_of("Before", before),
                    panel_of("After " + std::to_string(steps) + (steps == 1 ? " step" : " steps"), after),
                    panel_of("Laplacian after", laplacian(after))};
  panels[1].low = panels[0].low = std::min(panels[0].low, panels[1].low);
  panels[1].high = panels[0].high = std::max(panels[0].high, panels[1].high);
  panels[2].colours = colour_map::coolwarm;
  panels[2].high = std::max(-panels[2].low, panels[2].high);
  panels[2].low = -panels[2].high;

  int width = gap, height = 0;
  for (const panel& p : panels) {
    width += p.width() + gap;
    height = std::max(height, header + p.width() + footer);
  }
  image picture(width, height, paper);
  int left = gap;
  for (const panel& p : panels) {
    draw(picture, p, left);
    left += p.width() + gap;
  }
  examples::write_png(path, picture);
}

}  // namespace diffusion
