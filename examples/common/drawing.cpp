// Shapes and text with smooth edges. The letters are strokes on a small grid, so that one font serves every size.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "png.hpp"

namespace examples {
namespace {

struct point {
  double x = 0, y = 0;
};

double distance_to_segment(point p, point a, point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/// Covers pixels whose distance from some shape, as `distance(point)` gives it, is below `radius`, within the box of
/// two corners widened by it.
template <class Distance>
void cover(image& to, point low, point high, double radius, rgb colour, Distance&& distance) {
  const int left = std::max(0, static_cast<int>(std::floor(low.x - radius - 1)));
  const int right = std::min(to.width - 1, static_cast<int>(std::ceil(high.x + radius + 1)));
  const int top = std::max(0, static_cast<int>(std::floor(low.y - radius - 1)));
  const int bottom = std::min(to.height - 1, static_cast<int>(std::ceil(high.y + radius + 1)));
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const double covered = std::clamp(radius + 0.5 - distance(point{x + 0.5, y + 0.5}), 0.0, 1.0);
      if (covered > 0) to.at(x, y) = mix(to.at(x, y), colour, covered);
    }
  }
}

// One letter: its width, and strokes separated by blanks. A stroke is a list of points, two digits each: x from 0, and
// y upwards, where 2 is the baseline, 7 the height of small letters and a (10) that of capitals. Corners are rounded,
// unless the point is written twice; a point alone is a dot.
struct letter {
  char name;
  int width;
  const char* strokes;
};

constexpr letter letters[] = {{' ', 2, ""},
                              {'!', 0, "0a05 0202"},
                              {'"', 2, "0a08 2a28"},
                              {'#', 5, "121a 424a 0858 0454"},
                              {'$', 5, "58595909060656525203 3b31"},
                              {'%', 6, "1a2a28080a1a 546462424454 026a"},
                              {'&', 6, "62181a4a4705023265"},
                              {'\'', 0, "0a08"},
                              {'(', 2, "2a080422"},
                              {')', 2, "0a282402"},
                              {'*', 4, "0547 0745 2824"},
                              {'+', 4, "0646 2824"},
                              {',', 1, "1200"},
                              {'-', 3, "0535"},
                              {'.', 0, "0202"},
                              {'/', 4, "014a"},
                              {'0', 5, "3a5a52020a3a"},
                              {'1', 5, "183a3a32"},
                              {'2', 5, "080a5a57020252"},
                              {'3', 5, "090a5a5626 3656520203"},
                              {'4', 5, "424a4a040454"},
                              {'5', 5, "5a0a0a070757520203"},
                              {'6', 5, "595a0a02525707"},
                              {'7', 5, "0a5a5a22"},
                              {'8', 5, "3a5a56060a3a 365652020636"},
                              {'9', 5, "0302525a0a0555"},
                              {':', 0, "0202 0606"},
                              {';', 1, "1200 1616"},
                              {'<', 4, "48060644"},
                              {'=', 4, "0747 0545"},
                              {'>', 4, "08464604"},
                              {'?', 4, "090a4a4626262524 2222"},
                              {'A', 6, "023a3a62 1555"},
                              {'B', 5, "020a 0a5a5606 06565202"},
                              {'C', 5, "585a0a025254"},
                              {'D', 5, "020a 0a5a5202"},
                              {'E', 5, "5a0a0a020252 0646"},
                              {'F', 5, "5a0a0a02 0646"},
                              {'G', 5, "585a0a0252565636"},
                              {'H', 5, "020a 525a 0656"},
                              {'I', 0, "020a"},
                              {'J', 4, "4a420204"},
                              {'K', 5, "020a 5a05 2752"},
                              {'L', 4, "0a020242"},
                              {'M', 6, "020a0a35356a6a62"},
                              {'N', 5, "020a0a52525a"},
                              {'O', 6, "3a6a62020a3a"},
                              {'P', 5, "020a 0a5a5505"},
                              {'Q', 6, "3a6a62020a3a 4461"},
                              {'R', 5, "020a 0a5a5505 3552"},
                              {'S', 5, "595a0a0656520203"},
                              {'T', 6, "0a6a 3a32"},
                              {'U', 5, "0a02525a"},
                              {'V', 6, "0a32326a"},
                              {'W', 8, "0a22224a4a62628a"},
                              {'X', 5, "025a 0a52"},
                              {'Y', 6, "0a36366a 3632"},
                              {'Z', 5, "0a5a5a020252"},
                              {'[', 2, "2a0a0a020222"},
                              {'\\', 4, "0a41"},
                              {']', 2, "0a2a2a222202"},
                              {'^', 4, "082a2a48"},
                              {'_', 5, "0151"},
                              {'a', 4, "06074742 45050242"},
                              {'b', 4, "0a02 07474202"},
                              {'c', 4, "464707024243"},
                              {'d', 4, "4a42 47070242"},
                              {'e', 4, "04444447070242"},
                              {'f', 3, "3a1a12 0737"},
                              {'g', 4, "474000 47070242"},
                              {'h', 4, "0a02 074742"},
                              {'i', 0, "0207 0909"},
                              {'j', 1, "171000 1919"},
                              {'k', 4, "0a02 4704 1542"},
                              {'l', 1, "0a0212"},
                              {'m', 6, "0207 073732 376762"},
                              {'n', 4, "0207 074742"},
                              {'o', 4, "274742020727"},
                              {'p', 4, "0700 07474202"},
                              {'q', 4, "4740 47070242"},
                              {'r', 3, "0207 050737"},
                              {'s', 4, "4647070544420203"},
                              {'t', 3, "1a1232 0737"},
                              {'u', 4, "070242 4742"},
                              {'v', 4, "07222247"},
                              {'w', 6, "0722223636424267"},
                              {'x', 4, "0247 0742"},
                              {'y', 4, "0722 4710"},
                              {'z', 4, "074747020242"},
                              {'|', 0, "0a01"},
                              {'~', 4, "05062635354647"}};
constexpr letter degree_sign = {0, 2, "1a2a28080a1a"};
constexpr letter times_sign = {0, 4, "0448 0844"};
constexpr letter middle_dot = {0, 0, "0505"};
// U+00C0 to U+00FF: the letters without their accents.
constexpr char without_accent[] = "AAAAAAACEEEEIIIIDNOOOOO*OUUUUYPsaaaaaaaceeeeiiiidnooooo/ouuuuypy";
constexpr letter unknown_sign = {0, 4, "020a0a4a4a424202"};

/// The next letter of the text, which it shortens.
const letter& take_letter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  std::size_t length = 1;
  if (first >= 0xc0) {
    while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) ++length;
  }
  const auto sign = text.substr(0, length);
  text.remove_prefix(length);
  if (sign == "\u00b0") return degree_sign;
  if (sign == "\u00d7") return times_sign;
  if (sign == "\u00b7") return middle_dot;
  char name = sign.size() == 1 ? sign[0] : '\0';
  if (sign.size() == 2 && first == 0xc3) name = without_accent[static_cast<unsigned char>(sign[1]) & 0x3f];
  for (const auto& l : letters)
    if (l.name == name) return l;
  return unknown_sign;
}

constexpr double units_of_capitals = 8, baseline = 2, letter_gap = 2.6, corner = 2.4;

double grid(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

std::vector<point> points_of(std::string_view stroke) {
  std::vector<point> out;
  for (std::size_t k = 0; k + 1 < stroke.size(); k += 2) out.push_back({grid(stroke[k]), grid(stroke[k + 1])});
  return out;
}

/// Replaces every corner by a curve that begins and ends at most `corner` away from it.
std::vector<point> rounded(const std::vector<point>& p) {
  std::vector<point> out;
  if (p.empty()) return out;
  out.push_back(p.front());
  for (std::size_t k = 1; k + 1 < p.size(); ++k) {
    const point a = p[k - 1], b = p[k], c = p[k + 1];
    const double before = std::hypot(a.x - b.x, a.y - b.y), after = std::hypot(c.x - b.x, c.y - b.y);
    // An end of the stroke gives its whole segment to the curve.
    const double cut = std::min({corner, k == 1 ? before : before / 2, k + 2 == p.size() ? after : after / 2});
    if (cut <= 0) {
      out.push_back(b);
      continue;
    }
    const point from{b.x + (a.x - b.x) * cut / before, b.y + (a.y - b.y) * cut / before};
    const point to{b.x + (c.x - b.x) * cut / after, b.y + (c.y - b.y) * cut / after};
    constexpr int steps = 8;
    for (int s = 0; s <= steps; ++s) {
      // Between a parabola and a corner: closer to a circle's quarter than the parabola is.
      const double t = static_cast<double>(s) / steps, u = 1 - t, w = 1.3 * t * u;
      const double sum = u * u + 2 * w + t * t;
      out.push_back(
          {(u * u * from.x + 2 * w * b.x + t * t * to.x) / sum, (u * u * from.y + 2 * w * b.y + t * t * to.y) / sum});
    }
  }
  out.push_back(p.back());
  return out;
}

void draw_path(image& to, const std::vector<point>& path, double radius, rgb colour) {
  if (path.empty()) return;
  point low = path[0], high = path[0];
  for (const auto& p : path) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  cover(to, low, high, radius, colour, [&](point p) {
    double nearest = distance_to_segment(p, path[0], path[0]);
    for (std::size_t k = 1; k < path.size(); ++k)
      nearest = std::min(nearest, distance_to_segment(p, path[k - 1], path[k]));
    return nearest;
  });
}

void draw_letter(image& to, double x, double y, const letter& l, const text_style& style) {
  const double unit = style.height / units_of_capitals;
  std::string_view rest = l.strokes;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    auto path = rounded(points_of(rest.substr(0, end)));
    for (auto& p : path) p = {x + p.x * unit, y - (p.y - baseline) * unit};
    // A dot as thin as a stroke would be lost.
    const bool dot = path.size() == 2 && path[0].x == path[1].x && path[0].y == path[1].y;
    draw_path(to, path, style.height * style.weight * (dot ? 0.7 : 0.5), style.colour);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace

void draw_disc(image& to, double x, double y, double radius, rgb colour) { draw_path(to, {{x, y}}, radius, colour); }

void draw_line(image& to, double x0, double y0, double x1, double y1, double width, rgb colour) {
  draw_path(to, {{x0, y0}, {x1, y1}}, width / 2, colour);
}

void draw_colour_bar(image& to, int x, int y, int width, int height, colour_map map) {
  const bool upwards = height > width;
  const int steps = std::max(1, (upwards ? height : width) - 1);
  for (int j = 0; j < height; ++j)
    for (int i = 0; i < width; ++i)
      if (to.has(x + i, y + j))
        to.at(x + i, y + j) = colour_of(map, static_cast<double>(upwards ? height - 1 - j : i) / steps);
}

double text_width(std::string_view text, const text_style& style) {
  double units = 0;
  while (!text.empty()) units += take_letter(text).width + letter_gap;
  return std::max(0.0, units - letter_gap) * style.height / units_of_capitals;
}

void draw_text(image& to, double x, double y, std::string_view text, const text_style& style) {
  while (!text.empty()) {
    const auto& l = take_letter(text);
    draw_letter(to, x, y, l, style);
    x += (l.width + letter_gap) * style.height / units_of_capitals;
  }
}

}  // namespace examples
