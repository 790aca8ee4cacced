#include "distributed/scaling.hpp"

#include <algorithm>

#include "common/chart.hpp"

namespace distributed {
namespace {

constexpr int width = 560, height = 460;  // of one of the two charts
constexpr examples::rgb paper{255, 255, 255}, grey{150, 150, 150};
constexpr examples::rgb colours[] = {{31, 119, 180}, {214, 39, 40}, {44, 160, 44}, {148, 103, 189}};

void draw(examples::image& to, int x, const std::string& title, const std::vector<curve>& curves,
          std::vector<double> curve::*of, const std::vector<double>& perfect) {
  const std::vector<double>& along = curves[0].devices;
  std::vector<double> all = perfect;
  all.push_back(0);
  for (const curve& c : curves) all.insert(all.end(), (c.*of).begin(), (c.*of).end());
  // Room for names to the right of the last points.
  std::vector<double> wide = along;
  wide.push_back(along.back() * 1.3);
  const examples::chart chart(to, x, width, title, wide, all, false, false);
  chart.line(along, perfect, grey);
  chart.text(along.front(), perfect.front(), "perfect", grey);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const examples::rgb colour = colours[k % std::size(colours)];
    const std::vector<double>& up = curves[k].*of;
    chart.line(along, up, colour);
    for (std::size_t j = 0; j < up.size(); ++j) chart.dot(along[j], up[j], 4, colour);
    chart.text(along.back(), up.back(), curves[k].name, colour);
  }
}

}  // namespace

curve curve_of(const program& p, const sizes& most, const std::function<outcome(const program&, const sizes&)>& run) {
  curve out{.name = p.name, .devices = {}, .strong = {}, .weak = {}};
  double one = 0;
  for (int n = 1;; n = std::min(2 * n, most.devices)) {
    sizes s = most;
    s.devices = n;
    const outcome same = run(p, s);
    if (n == 1) one = same.one_seconds;
    s.work = n;
    const double grown = n == 1 ? same.mesh_seconds : run(p, s).mesh_seconds;
    out.devices.push_back(n);
    out.strong.push_back(one / same.mesh_seconds);
    out.weak.push_back(one / grown);
    if (n == most.devices) return out;
  }
}

void write_scaling(const std::string& path, const std::vector<curve>& curves) {
  const std::vector<double>& along = curves.at(0).devices;
  examples::image picture(2 * width, height, paper);
  draw(picture, 0, "The same work in all: times as fast as one device", curves, &curve::strong, along);
  draw(picture, width, "The same work for each: part of one device's speed", curves, &curve::weak,
       std::vector<double>(along.size(), 1.0));
  examples::write_png(path, picture);
}

}  // namespace distributed
