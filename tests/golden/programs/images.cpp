// Programs of images, boards, sound and shapes.
#include <cmath>
#include <complex>
#include <numbers>

#include "golden/programs/programs.hpp"
#include "sinter/linalg.hpp"
#include "sinter/polynomial_fit.hpp"
#include "sinter/segments.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace sinter::test::programs {

using sn::ndarray;

results life() {
  auto board = sn::zeros({16, 20}, sn::bool_);
  board(slice(1, 4), slice(1, 4)) = sn::array({{0, 1, 0}, {0, 0, 1}, {1, 1, 1}}).astype(sn::bool_);
  board(10, slice(9, 12)) = true;
  const auto first = board.copy();
  std::vector<ndarray> population;
  for (int step = 0; step < 24; ++step) {
    ndarray n = sn::zeros_like(board, {.dtype = sn::uint8});
    for (int i : {-1, 0, 1})
      for (int j : {-1, 0, 1})
        if (i || j) n += sn::roll(board, {i, j}, sn::axes{0, 1}).astype(sn::uint8);
    board = (n == 3) | (board & (n == 2));
    population.push_back(sn::count_nonzero(board));
  }
  const auto around = sn::sliding_window_view(sn::pad(first, 1, {.mode = "wrap"}), {3, 3}).sum(sn::axes{2, 3}) - first;
  const bool moved =
      sn::array_equal(board(slice(9), slice(9)), sn::roll(first, {6, 6}, sn::axes{0, 1})(slice(9), slice(9)));
  const auto packed = sn::packbits(board, {.axis = -1, .bitorder = "little"});
  const auto back = sn::unpackbits(packed, {.axis = -1, .count = 20, .bitorder = "little"}).astype(sn::bool_);
  const auto found = sn::nonzero(board);
  const auto rows = found[0], columns = found[1];
  const auto box = board(slice(rows.min().item<int>(), rows.max().item<int>() + 1),
                         slice(columns.min().item<int>(), columns.max().item<int>() + 1));
  const auto hashed = sn::bitwise_xor_reduce(packed, 0);
  const auto parity = sn::logical_xor_reduce(board, 1);
  return {board,
          sn::stack(population),
          around,
          sn::array(moved),
          packed,
          (back == board).all(),
          sn::array({box.shape(0), box.shape(1)}),
          hashed,
          parity,
          sn::argmax(board, 1),
          sn::cumsum(board.sum(1)),
          sn::rot90(box, -1),
          sn::fliplr(box),
          ~box};
}

results filters() {
  const auto grid = sn::ogrid({{0, 24}, {0, 30}});
  const auto y = grid[0], x = grid[1];
  const auto image =
      (127 + 100 * sn::sin(x / 4.0) * sn::cos(y / 5.0) + 20 * draws(720, 3).reshape(24, 30)).astype(sn::uint8);
  const auto kernel = sn::array({{1, 0, -1}, {2, 0, -2}, {1, 0, -1}});
  const auto padded = sn::pad(image.astype(sn::int64), 1, "symmetric");
  const auto gx = sn::einsum("ijkl,kl->ij", sn::sliding_window_view(padded, {3, 3}), kernel);
  const auto gy = sn::tensordot(sn::sliding_window_view(padded, {3, 3}), kernel.T(), sn::axes{2, 3}, sn::axes{0, 1});
  const auto edges = sn::minimum(sn::hypot(gx, gy), 255).astype(sn::uint8);
  const auto median =
      sn::median(sn::sliding_window_view(sn::pad(image, 1, "edge"), {3, 3}), sn::axes{-2, -1}).astype(sn::uint8);
  const auto counts = sn::bincount(image.ravel(), {.minlength = 256});
  const auto cdf = sn::cumsum(counts);
  const ndarray lowest = cdf[cdf > 0](0);
  const auto table = sn::round((cdf - lowest) * 255.0 / (image.size() - lowest)).clip(0, 255).astype(sn::uint8);
  const ndarray equal = table[image];
  const auto bright = sn::clip(image.astype(sn::int16) + 60, 0, 255).astype(sn::uint8);
  const auto wrapped = image + 60;
  const auto rows = sn::linspace(0, 23, 9), columns = sn::linspace(0, 29, 11);
  const auto r = sn::floor(rows).astype(sn::int64), c = sn::floor(columns).astype(sn::int64);
  const ndarray fr = (rows - r)(_, newaxis), fc = columns - c;
  const auto r1 = sn::minimum(r + 1, 23), c1 = sn::minimum(c + 1, 29);
  const auto small = (1 - fr) * ((1 - fc) * image(sn::ix_(r, c)) + fc * image(sn::ix_(r, c1))) +
                     fr * ((1 - fc) * image(sn::ix_(r1, c)) + fc * image(sn::ix_(r1, c1)));
  auto g = sn::exp(-sn::square(sn::arange(-3, 4)) / 2.0);
  g /= g.sum();
  std::vector<ndarray> each;
  for (const auto& row : sn::unstack(image)) each.push_back(sn::convolve(row, g, "same"));
  const auto soft = sn::stack(each);
  const auto blocks = image.reshape(6, 4, 6, 5).mean(sn::axes{1, 3});
  const auto thresholded = sn::where(image > image.mean(), 255, 0).astype(sn::uint8);
  const auto tiled = sn::tile(thresholded(slice(2), slice(3)), {2, 2});
  return {image,
          gx,
          gy,
          edges,
          median,
          equal,
          bright,
          wrapped,
          small,
          soft,
          blocks,
          thresholded,
          tiled,
          sn::unique_values(thresholded),
          image.std({.dtype = sn::float32}),
          sn::ptp(image, 0),
          image.max({.initial = 250})};
}

results frames() {
  const int rate = 256;
  const auto t = sn::arange(512) / rate;
  const auto x = sn::sin(2 * pi * (20 * t + 8 * sn::square(t))) * sn::kaiser(512, 3);
  const auto w = sn::hanning(65)(slice(-1));
  const auto framed = sn::sliding_window_view(x, 64)(slice(_, _, 32)) * w;
  const auto spectrum = sn::fft::rfft(framed, {.axis = 1});
  const auto decibel = 20 * sn::log10(sn::maximum(sn::abs(spectrum), 1e-6));
  const ndarray ridge = sn::fft::rfftfreq(64, 1.0 / rate)[decibel.argmax(1)];
  const auto back = sn::zeros({512});
  int k = 0;
  for (const auto& frame : sn::unstack(sn::fft::irfft(spectrum, {.axis = 1}))) {
    back(slice(k * 32, k * 32 + 64)) += frame;
    ++k;
  }
  const bool inner = sn::allclose(back(slice(32, -32)), x(slice(32, -32)), 1e-5, 1e-2);
  const auto f = sn::fft::fft(x);
  f(slice(1, 256)) *= 2;
  f(slice(257, _)) = 0;
  const auto envelope = sn::abs(sn::fft::ifft(f));
  const auto phase = sn::unwrap(sn::angle(sn::fft::ifft(f)))(slice(100, 110));
  const auto centred = sn::fft::fftshift(sn::abs(f))(slice(250, 262));
  const auto low = sn::convolve(x, sn::blackman(15) / sn::blackman(15).sum(), "valid");
  const auto half = x(slice(_, _, 2));
  const auto slower = sn::interp(sn::arange(0, 511, 1.5), sn::arange(512), x);
  const auto zero = ((x(slice(-1)) * x(slice(1, _))) < 0).sum();
  const auto rms = sn::sqrt(sn::mean(sn::square(x.reshape(8, 64)), -1));
  const auto quantised = sn::round(x * 127).astype(sn::int8);
  const auto mu = sn::sign(x) * sn::log1p(255 * sn::abs(x)) / std::log(256);
  const auto lag = sn::argmax(sn::correlate(x, x(slice(40, 140)), "valid"));
  const auto pre = sn::append(x(0), x(slice(1, _)) - 0.97 * x(slice(-1)));
  const auto bank = sn::maximum(0, 1 - sn::abs(sn::arange(33) - sn::linspace(0, 32, 6)(_, newaxis)) / 6.4);
  const auto energies = sn::log(sn::matmul(sn::square(sn::abs(spectrum)), bank.T()) + 1e-10);
  return {decibel,
          ridge,
          sn::array(inner),
          envelope,
          phase,
          centred,
          low(slice(20)),
          half(slice(4)),
          slower(slice(9)),
          zero,
          rms,
          quantised,
          mu(slice(_, _, 50)),
          lag,
          pre(slice(6)),
          energies,
          sn::bartlett(7),
          sn::sinc(sn::linspace(-2, 2, 9)),
          sn::i0(sn::array({0.0, 1, 5}))};
}

results shapes() {
  const auto corners = sn::array({{0, 0}, {4, 0}, {5, 3}, {2, 5}, {-1, 3.0}});
  const auto xy = sn::unstack(corners.T());
  const auto x = xy[0], y = xy[1];
  const auto area = 0.5 * sn::abs(sn::dot(x, sn::roll(y, -1)) - sn::dot(y, sn::roll(x, -1)));
  const auto sides = sn::roll(corners, -1, 0) - corners;
  const auto lengths = sn::linalg::norm(sides, {.axis = 1});
  const auto directions = sides / sn::linalg::norm(sides, {.axis = 1, .keepdims = true});
  const auto turns = sn::degrees(sn::arccos(sn::clip(sn::sum(directions * sn::roll(directions, -1, 0), 1), -1, 1)));
  const auto grid = sn::meshgrid({sn::arange(-1, 6), sn::arange(0, 6)});
  const auto px = grid[0], py = grid[1];
  auto inside = sn::zeros(px.shape(), sn::bool_);
  const auto next = sn::roll(corners, -1, 0);
  for (int k = 0; k < corners.len(); ++k) {
    const auto x0 = corners(k, 0), y0 = corners(k, 1), x1 = next(k, 0), y1 = next(k, 1);
    const auto crosses = (y0 > py) != (y1 > py);
    const auto at = (x1 - x0) * (py - y0) / (y1 - y0) + x0;
    inside ^= crosses & (px < at);
  }
  const auto points = sn::stack({sn::cos(sn::arange(6)), sn::sin(sn::arange(6) * 2), sn::arange(6) / 5.0}, -1);
  const ndarray triangles = points[sn::array({{0, 1, 2}, {2, 3, 4}, {3, 4, 5}})];
  const auto normals = sn::cross(triangles(_, 1) - triangles(_, 0), triangles(_, 2) - triangles(_, 0));
  const auto volumes = sn::linalg::det(triangles);
  const auto centroids = triangles.mean(1);
  const double angle = pi / 6;
  const auto turn =
      sn::array({{std::cos(angle), -std::sin(angle), 0}, {std::sin(angle), std::cos(angle), 0}, {0, 0, 1}});
  const auto turned = sn::einsum("ij,nj->ni", turn, points);
  const auto distances = sn::sqrt(sn::square(points(_, newaxis) - points(newaxis)).sum(-1));
  const ndarray pairs = distances(sn::triu_indices(6, 1));
  const auto near = sn::where(distances == 0, INFINITY, distances).argmin(1);
  const ndarray centre = sn::average(corners, 0, {.weights = lengths});
  const auto bearing = sn::mod(sn::degrees(sn::arctan2(corners(_, 0) - centre(0), corners(_, 1) - centre(1))), 360);
  const auto box = sn::stack({corners.min(0), corners.max(0)});
  const auto [u, s, vt] = sn::linalg::svd(points - points.mean(0), {.full_matrices = false});
  const auto homogeneous =
      sn::matmul(sn::c_({corners, sn::ones({5})}), sn::array({{1, 0, 2}, {0, 1, 3}, {0, 0, 1.0}}).T());
  return {area,
          lengths,
          turns,
          inside,
          inside.sum(0),
          normals,
          volumes,
          centroids,
          turned,
          pairs,
          near,
          centre,
          bearing,
          box,
          s,
          homogeneous,
          sn::hypot(sides(_, 0), sides(_, 1)),
          sn::sort(corners, _),
          corners[sn::lexsort(corners.T())]};
}

}  // namespace sinter::test::programs
