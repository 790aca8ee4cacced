// Draws the map: an equirectangular projection between the latitudes where people live.
#include "map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "common/png.hpp"
#include "report.hpp"

namespace nearest_neighbor {
namespace {

using examples::image;
using examples::rgb;

constexpr int map_top = 92, map_bottom = map_height - 92;
constexpr double north = 81, degrees_per_pixel = 360.0 / map_width;
constexpr rgb background{13, 15, 26}, sea{17, 20, 34}, grid{31, 36, 54}, white{238, 240, 246}, grey{150, 156, 176};
// Half of all people live within some 30 km of an airport, and a few cities are 1,000 km away: equal ratios of the
// distance are equal steps of colour.
constexpr double nearest_km = 5, farthest_km = 1000;
// The darkest colours would be lost on the sea.
constexpr double darkest = 0.24;

double x_of(double longitude) { return (longitude + 180) / degrees_per_pixel; }
double y_of(double latitude) { return map_top + (north - latitude) / degrees_per_pixel; }

rgb colour_at(double km) {
  const double t = std::log(std::max(km, nearest_km) / nearest_km) / std::log(farthest_km / nearest_km);
  return examples::colour_of(examples::colour_map::inferno, darkest + (1 - darkest) * std::min(t, 1.0));
}

void draw_frame(image& to) {
  for (int y = map_top; y < map_bottom; ++y)
    for (int x = 0; x < to.width; ++x) to.at(x, y) = sea;
  for (int longitude = -150; longitude < 180; longitude += 30)
    for (int y = map_top; y < map_bottom; ++y) to.at(static_cast<int>(x_of(longitude)), y) = grid;
  for (int latitude = -30; latitude <= 60; latitude += 30)
    for (int x = 0; x < to.width; ++x) to.at(x, static_cast<int>(y_of(latitude))) = grid;
}

void draw_cities(image& to, const places& cities, const std::vector<float>& km) {
  std::vector<std::int64_t> order(km.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {  // the far ones on top
    return km[static_cast<std::size_t>(a)] < km[static_cast<std::size_t>(b)];
  });
  for (const auto i : order) {
    const auto at = static_cast<std::size_t>(i);
    const double latitude = cities.radians[2 * at] * 180 / std::numbers::pi;
    const double longitude = cities.radians[2 * at + 1] * 180 / std::numbers::pi;
    const double y = y_of(latitude);
    if (y < map_top || y >= map_bottom) continue;
    examples::draw_disc(to, x_of(longitude), y, 0.75 + 0.0008 * std::min<double>(km[at], 1000), colour_at(km[at]));
  }
}

/// Colours in steps of 8: no eye tells them apart in points so small, and the file is half as large.
void coarsen(image& to) {
  const auto coarse = [](std::uint8_t v) { return static_cast<std::uint8_t>((v & 0xf8) | v >> 5); };
  for (auto& p : to.pixels) p = {coarse(p.r), coarse(p.g), coarse(p.b)};
}

void draw_scale(image& to) {
  constexpr int width = 620, height = 12, left = (map_width - width) / 2, top = map_bottom + 26;
  for (int x = 0; x < width; ++x)
    for (int y = 0; y < height; ++y)
      to.at(left + x, top + y) = colour_at(nearest_km * std::pow(farthest_km / nearest_km, x / (width - 1.0)));
  for (const int km : {5, 10, 20, 50, 100, 200, 500, 1000}) {
    const double x = left + (width - 1) * std::log(km / nearest_km) / std::log(farthest_km / nearest_km);
    std::string text = std::to_string(km);
    if (km == 1000) text = "1,000 km";
    examples::draw_line(to, x + 0.5, top + height + 1, x + 0.5, top + height + 5, 1, grey);
    const examples::text_style style{10, grey};
    const double number = examples::text_width(km == 1000 ? "1,000" : text, style);
    examples::draw_text(to, x - number / 2, top + height + 22, text, style);
  }
}

/// Rings the city that is farthest away, and names it.
void draw_farthest(image& to, const places& cities, const result& found) {
  const auto far = std::max_element(found.distance.begin(), found.distance.end()) - found.distance.begin();
  const auto at = static_cast<std::size_t>(far);
  const double x = x_of(cities.radians[2 * at + 1] * 180 / std::numbers::pi);
  const double y = y_of(cities.radians[2 * at] * 180 / std::numbers::pi);
  if (y < map_top + 20 || y > map_bottom - 20) return;
  constexpr int corners = 32;
  for (int k = 0; k < corners; ++k) {
    const double a = 2 * std::numbers::pi * k / corners, b = 2 * std::numbers::pi * (k + 1) / corners;
    examples::draw_line(to, x + 7 * std::cos(a), y + 7 * std::sin(a), x + 7 * std::cos(b), y + 7 * std::sin(b), 1.2,
                        white);
  }
  const examples::text_style style{9.5, white};
  const auto text = cities.name(far) + ", " + grouped(std::lround(found.distance[at])) + " km";
  const double width = examples::text_width(text, style);
  examples::draw_text(to, x + 13 + width < map_width ? x + 13 : x - 13 - width, y + 5, text, style);
}

}  // namespace

void check_map(const std::string& path) {
  if (!examples::can_write_png()) examples::write_png(path, 1, 1, {});
  check_writable(path);
}

void draw_map(const std::string& path, const places& cities, const places& airports, const result& found) {
  image picture(map_width, map_height, background);
  draw_frame(picture);
  draw_cities(picture, cities, found.distance);
  coarsen(picture);
  draw_farthest(picture, cities, found);
  const auto centred = [&](double y, const std::string& text, const examples::text_style& style) {
    examples::draw_text(picture, (map_width - examples::text_width(text, style)) / 2, y, text, style);
  };
  centred(46, "How far is the nearest airport?", {21, white});
  centred(74, grouped(cities.count()) + " cities, " + grouped(airports.count()) + " airports", {11, grey});
  draw_scale(picture);
  examples::write_png(path, picture);
}

}  // namespace nearest_neighbor
