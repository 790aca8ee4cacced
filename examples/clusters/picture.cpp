// Two equirectangular maps, one below the other.
#include "picture.hpp"

#include <cmath>
#include <numbers>

#include "common/png.hpp"

namespace clusters {
namespace {

using examples::image;
using examples::rgb;

constexpr int width = 1200, panel = 540, title = 56;
constexpr rgb background{13, 15, 26}, sea{17, 20, 34}, grid{31, 36, 54}, white{238, 240, 246}, grey{84, 90, 110};
constexpr double north = 81, degrees_per_pixel = 360.0 / width;

/// Colours far apart for numbers that follow one another: hues by the golden ratio.
rgb colour_of_group(std::int64_t label) {
  if (label < 0) return grey;
  const double hue = std::fmod(0.11 + 0.61803398875 * static_cast<double>(label), 1.0);
  const auto part = [&](double shift) {
    const double t = std::abs(std::fmod(hue + shift, 1.0) * 6 - 3) - 1;
    const double value = t < 0 ? 0 : t > 1 ? 1 : t;
    return static_cast<std::uint8_t>(95 + 155 * value);
  };
  return {part(0), part(2.0 / 3), part(1.0 / 3)};
}

struct panel_at {
  int top;
  double x(float longitude) const { return (longitude * 180 / std::numbers::pi + 180) / degrees_per_pixel; }
  double y(float latitude) const { return top + (north - latitude * 180 / std::numbers::pi) / degrees_per_pixel; }
  bool holds(double y) const { return y >= top && y < top + panel - title; }
};

void draw_panel(image& to, const panel_at& at, const std::string& text, const places& p, const grouping& g) {
  for (int y = at.top; y < at.top + panel - title; ++y)
    for (int x = 0; x < width; ++x) to.at(x, y) = x % 100 == 0 ? grid : sea;
  examples::draw_text(to, 16, at.top - 18, text, {15, white});
  for (const bool grouped : {false, true})  // what is of no group below the others
    for (std::int64_t i = 0; i < p.count(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double y = at.y(p.radians[2 * k]);
      if ((g.labels[k] >= 0) != grouped || !at.holds(y)) continue;
      examples::draw_disc(to, at.x(p.radians[2 * k + 1]), y, 1.3, colour_of_group(g.labels[k]));
    }
}

}  // namespace

void draw(const std::string& path, const places& p, const grouping& regions, const parts_of_sphere& parts) {
  image picture(width, 2 * panel, background);
  draw_panel(picture, {title}, "DBSCAN: " + std::to_string(regions.count) + " dense regions", p, regions);
  const panel_at below{panel + title};
  draw_panel(picture, below, "k-means: " + std::to_string(parts.count) + " parts of the sphere", p, parts);
  for (std::size_t c = 0; c + 1 < parts.centers.size(); c += 2) {
    const double x = below.x(parts.centers[c + 1]), y = below.y(parts.centers[c]);
    if (!below.holds(y - 5) || !below.holds(y + 5)) continue;
    examples::draw_line(picture, x - 5, y, x + 5, y, 1.6, white);
    examples::draw_line(picture, x, y - 5, x, y + 5, 1.6, white);
  }
  examples::write_png(path, picture);
}

}  // namespace clusters
