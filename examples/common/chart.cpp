#include "common/chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace examples {
namespace {

constexpr rgb ink{30, 30, 30};
constexpr text_style title_style{.height = 12, .colour = ink}, label_style{.height = 8, .colour = ink};

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

}  // namespace

chart_axis chart_axis::of(const std::vector<double>& values, int first, int last, bool logarithmic) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high, first, last, logarithmic};
}

double chart_axis::at(double v) const {
  const auto scale = [this](double x) { return logarithmic ? std::log10(x) : x; };
  if (!(high > low)) return 0.5 * (first + last);
  return first + (scale(v) - scale(low)) / (scale(high) - scale(low)) * (last - first);
}

chart::chart(image& picture, int x, int width, const std::string& title, const std::vector<double>& along,
             const std::vector<double>& up, bool logarithmic_along, bool logarithmic_up)
    : picture_(picture),
      x_(chart_axis::of(along, x + left, x + width - right, logarithmic_along)),
      y_(chart_axis::of(up, picture.height - bottom, top, logarithmic_up)) {
  draw_text(picture_, x_.first, 28, title, title_style);
  draw_line(picture_, x_.first, y_.last, x_.first, y_.first, 1, ink);
  draw_line(picture_, x_.first, y_.first, x_.last, y_.first, 1, ink);
  for (const bool end : {false, true}) {
    const std::string words = number(end ? x_.high : x_.low), upright = number(end ? y_.high : y_.low);
    draw_text(picture_, end ? x_.last - text_width(words, label_style) : x_.first, y_.first + 22, words, label_style);
    draw_text(picture_, x_.first - 10 - text_width(upright, label_style), end ? y_.last + 8 : y_.first, upright,
              label_style);
  }
}

void chart::line(const std::vector<double>& along, const std::vector<double>& up, rgb colour) const {
  for (std::size_t k = 1; k < along.size(); ++k)
    draw_line(picture_, x_.at(along[k - 1]), y_.at(up[k - 1]), x_.at(along[k]), y_.at(up[k]), 2, colour);
}
void chart::dot(double along, double up, double radius, rgb colour) const {
  draw_disc(picture_, x_.at(along), y_.at(up), radius, colour);
}
void chart::text(double along, double up, const std::string& words, rgb colour) const {
  text_style style = label_style;
  style.colour = colour;
  draw_text(picture_, x_.at(along) + 8, y_.at(up) - 6, words, style);
}

}  // namespace examples
