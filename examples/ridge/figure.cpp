#include "ridge/figure.hpp"

#include <cstdio>

#include "common/chart.hpp"

namespace ridge {
namespace {

constexpr int width = 720, height = 520;
constexpr examples::rgb paper{255, 255, 255}, ink{30, 30, 30}, blue{31, 119, 180};

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
  examples::image picture(width, height, paper);
  const examples::chart chart(picture, 0, width, "L-curve: norm of the solution over norm of the residual", residuals,
                              sizes, true, true);
  chart.line(residuals, sizes, blue);
  for (std::size_t k = 0; k < curve.size(); ++k) {
    chart.dot(residuals[k], sizes[k], 4, blue);
    if (k % 4 == 0) chart.text(residuals[k], sizes[k], number(curve[k].lambda), ink);
  }
  examples::write_png(path, picture);
}

}  // namespace ridge
