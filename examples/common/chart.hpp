// Curves with two axes, for pictures.
#pragma once
#include <string>
#include <vector>

#include "common/png.hpp"

namespace examples {

/// The ends of an axis in numbers and in pixels.
struct chart_axis {
  double low, high;
  int first, last;
  bool logarithmic;

  /// From the least to the greatest of the values, which are positive if the axis is logarithmic.
  static chart_axis of(const std::vector<double>& values, int first, int last, bool logarithmic);
  double at(double v) const;
};

/// A frame with a title in an image, and what is drawn in it.
class chart {
 public:
  static constexpr int left = 90, right = 40, top = 50, bottom = 60;

  /// In the columns from `x` on, `width` wide, over the whole height of the image. The ends of both axes are written.
  chart(image& picture, int x, int width, const std::string& title, const std::vector<double>& along,
        const std::vector<double>& up, bool logarithmic_along, bool logarithmic_up);

  void line(const std::vector<double>& along, const std::vector<double>& up, rgb colour) const;
  void dot(double along, double up, double radius, rgb colour) const;
  void text(double along, double up, const std::string& words, rgb colour) const;

 private:
  image& picture_;
  chart_axis x_, y_;
};

}  // namespace examples
