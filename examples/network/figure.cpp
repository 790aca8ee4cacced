#include "network/figure.hpp"

#include <algorithm>

#include "common/chart.hpp"

namespace network {
namespace {

constexpr int side = 520;
constexpr examples::rgb paper{255, 255, 255}, ink{30, 30, 30}, blue{31, 119, 180}, red{214, 39, 40};

/// The probability of label 1 over the square of +-1.2, by colours, and the points.
void draw_plane(examples::image& picture, int left, int top, int size, const layers& n, const data_set& d) {
  using namespace sn::idx;
  const ndarray at = sn::linspace(-1.2, 1.2, size), grid = sn::zeros({size, size});
  const ndarray points = sn::reshape(sn::stack({at + grid, -at(_, newaxis) + grid}, 2), {size * size, 2});
  const auto likely = sn::special::expit(logits(n, points)).to_vector<double>();
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x)
      picture.at(left + x, top + y) = examples::mix(
          paper, examples::colour_of(examples::colour_map::coolwarm, likely[static_cast<std::size_t>(y * size + x)]),
          0.6);
  const auto where = d.points.to_vector<double>(), labels = d.labels.to_vector<double>();
  const auto pixel = [size](double v) { return (v / 1.2 + 1) / 2 * (size - 1); };
  for (std::size_t k = 0; k < std::min<std::size_t>(labels.size(), 1000); ++k) {
    const double x = pixel(where[2 * k]), y = pixel(-where[2 * k + 1]);
    if (x < 3 || y < 3 || x > size - 4 || y > size - 4) continue;
    examples::draw_disc(picture, left + x, top + y, 2, labels[k] > 0 ? red : blue);
  }
}

}  // namespace

void write_figure(const std::string& path, const std::vector<double>& of_line, const std::vector<double>& of_layers,
                  const layers& n, const data_set& d) {
  examples::image picture(2 * side + 40, side, paper);
  std::vector<double> times, both = of_line;
  for (std::size_t k = 0; k < of_layers.size(); ++k) times.push_back(static_cast<double>(k + 1));
  both.insert(both.end(), of_layers.begin(), of_layers.end());
  const examples::chart chart(picture, 0, side, "Cross-entropy over epochs", times, both, false, true);
  chart.line(times, of_line, blue);
  chart.line(times, of_layers, red);
  chart.text(times[times.size() / 4], of_line[times.size() / 4], "logistic regression", blue);
  chart.text(times[times.size() / 4], of_layers[times.size() / 4], "two layers", red);
  examples::draw_text(picture, side + 20, 28, "Probability by two layers", {.height = 12, .colour = ink});
  draw_plane(picture, side + 20, examples::chart::top, side - examples::chart::top - 10, n, d);
  examples::write_png(path, picture);
}

}  // namespace network
