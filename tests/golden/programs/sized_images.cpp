// Programs of any size: pictures, boards, texts, places.
#include <cmath>
#include <numbers>

#include "golden/programs/sized.hpp"
#include "sinter/linalg.hpp"
#include "sinter/segments.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace sinter::test::programs::sized {

using sn::ndarray;

namespace {

std::int64_t side_of(std::int64_t size) { return static_cast<std::int64_t>(std::sqrt(static_cast<double>(size))); }

}  // namespace

results boards(const ndarray& u) {
  const auto n = side_of(u.len());
  auto board = (u(slice(n * n)).reshape(n, n) < 0.35).astype(sn::uint8);
  std::vector<ndarray> alive;
  for (int step = 0; step < 8; ++step) {
    const auto rim = sn::pad(board, 1);
    const auto around = sn::sliding_window_view(rim, {3, 3}).sum(sn::axes{2, 3}) - board;
    board = ((around == 3) | ((board == 1) & (around == 2))).astype(sn::uint8);
    alive.push_back(board.sum());
  }
  const auto still = sn::sliding_window_view(sn::pad(board, 1), {3, 3}).reshape(n, n, 9).max(2) - board;
  return {board, sn::stack(alive), still.sum(), board.sum(0), sn::argmax(board.sum(1))};
}

results lab(const ndarray& u) {
  const auto rgb = (256 * u(slice(u.len() / 3 * 3)).reshape(-1, 3)).astype(sn::uint8);
  const auto c = rgb / 255.0;
  const auto linear = sn::where(c <= 0.04045, c / 12.92, sn::power((c + 0.055) / 1.055, 2.4));
  const auto m = sn::array(
      {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}});
  const auto white = sn::array({0.95047, 1.0, 1.08883});
  const auto t = sn::matmul(linear, m.T()) / white;
  const auto f = sn::where(t > std::pow(6.0 / 29, 3), sn::cbrt(t), t / (3 * std::pow(6.0 / 29, 2)) + 4.0 / 29);
  const auto l = 116 * f(_, 1) - 16, a = 500 * (f(_, 0) - f(_, 1)), b = 200 * (f(_, 1) - f(_, 2));
  const auto delta = sn::sqrt(sn::square(l - 53) + sn::square(a - 80) + sn::square(b - 67));
  const auto hue = sn::degrees(sn::arctan2(b, a)) % 360;
  const auto g = sn::stack({(l + 16) / 116 + a / 500, (l + 16) / 116, (l + 16) / 116 - b / 200}, 1);
  const auto xyz = sn::where(g > 6.0 / 29, sn::power(g, 3), 3 * std::pow(6.0 / 29, 2) * (g - 4.0 / 29)) * white;
  const auto lin = sn::clip(sn::matmul(xyz, sn::linalg::inv(m).T()), 0, 1);
  const auto back = sn::where(lin <= 0.0031308, 12.92 * lin, 1.055 * sn::power(lin, 1 / 2.4) - 0.055);
  const auto again = sn::rint(255 * back).astype(sn::uint8);
  return {sn::column_stack({l, a, b}), delta.min(), sn::histogram(hue, 12, {.range = std::pair(0.0, 360.0)}).hist,
          sn::array(sn::array_equal(again, rgb))};
}

results perlin(const ndarray& u) {
  const auto n = side_of(u.len());
  const auto order = sn::argsort(draws(256, 5));
  const auto p = sn::concatenate({order, order});
  const auto angle = 2 * pi * draws(256, 6);
  const auto gx = sn::cos(angle), gy = sn::sin(angle);
  auto total = sn::zeros({n, n});
  for (int octave = 0; octave < 3; ++octave) {
    const auto grid = sn::mgrid({{0, n}, {0, n}}) * (std::pow(2.0, octave) / 16);
    const auto y = grid(0), x = grid(1);
    auto xi = x.astype(sn::int64), yi = y.astype(sn::int64);
    const auto xf = x - xi, yf = y - yi;
    xi = xi & 255;
    yi = yi & 255;
    const auto fu = sn::power(xf, 3) * (xf * (xf * 6 - 15) + 10), fv = sn::power(yf, 3) * (yf * (yf * 6 - 15) + 10);
    std::vector<ndarray> corner;
    for (int j : {0, 1})
      for (int i : {0, 1}) {
        const auto h = p[p[(xi + i) & 255] + ((yi + j) & 255)];
        corner.push_back(gx[h] * (xf - i) + gy[h] * (yf - j));
      }
    const auto low = corner[0] + fu * (corner[1] - corner[0]);
    const auto high = corner[2] + fu * (corner[3] - corner[2]);
    total += (low + fv * (high - low)) / std::pow(2, octave);
  }
  const auto scaled = (total - total.min()) / sn::ptp(total);
  const auto levels = sn::digitize(scaled, sn::array({0.3, 0.5, 0.7}));
  const auto mixed = sn::where(u(slice(n * n)).reshape(n, n) < scaled, levels, 0);
  return {scaled, sn::bincount(levels.ravel()), mixed.sum(1), sn::abs(sn::fft::rfft(scaled(n / 2)))(slice(8))};
}

results queens(const ndarray& u) {
  const auto n = u.len() / 8;
  const auto board = sn::argsort(u(slice(8 * n)).reshape(n, 8), 1);
  const auto rows = sn::arange(8);
  const auto one = sn::array(1, {.dtype = sn::uint16});
  const auto up = one << (board + rows).astype(sn::uint16), down = one << (board - rows + 7).astype(sn::uint16);
  const auto used_up = sn::bitwise_or_reduce(up, 1), used_down = sn::bitwise_or_reduce(down, 1);
  const auto free = 16 - sn::bitwise_count(used_up) - sn::bitwise_count(used_down);
  const auto solved = (sn::bitwise_count(used_up) == 8) & (sn::bitwise_count(used_down) == 8);
  const auto gap = sn::abs(board(_, _, newaxis) - board(_, newaxis, _));
  const auto attacks = (gap == sn::abs(rows(_, newaxis) - rows)).sum(sn::axes{1, 2}) - 8;
  const ndarray best = board[sn::argmin(attacks)];
  const auto code = sn::matmul(board, sn::power(8, sn::arange(8)(slice(_, _, -1))));
  return {free.sum(),
          solved.sum(),
          attacks,
          best,
          sn::array(sn::unique(code).values.size()),
          sn::bincount(sn::floor_divide(attacks, 2)),
          (attacks == 0) == solved};
}

results tokens(const ndarray& u) {
  auto text = sn::where(u < 0.2, 32, 97 + (u * 100).astype(sn::int64) % 4).astype(sn::uint8);
  const auto upper = (u * 1000).astype(sn::int64) % 7 == 0;
  text = sn::where(upper & (text != 32), text - 32, text).astype(sn::uint8);
  const auto lower = text | sn::where((text >= 65) & (text <= 90), 32, 0).astype(sn::uint8);
  const auto letter = lower != 32;
  const auto edge = sn::diff(letter.astype(sn::int8), {.prepend = 0, .append = 0});
  const auto start = sn::nonzero(edge == 1)[0], stop = sn::nonzero(edge == -1)[0];
  const auto length = stop - start;
  const auto word = sn::cumsum(edge(slice(-1)) == 1)[letter] - 1;
  const auto place = sn::arange(u.len())[letter] - start[word];
  const auto code = sn::bincount(word, {.weights = (lower[letter] - 96.0) * sn::power(5.0, sn::minimum(place, 15))})
                        .astype(sn::int64);
  const auto found = sn::unique(code, {.return_index = true, .return_counts = true});
  const auto often = sn::argsort(-found.counts)(slice(8));
  const auto both = letter(slice(-1)) & letter(slice(1, _));
  const auto pairs = sn::bincount(4 * (lower(slice(-1))[both] - 97) + lower(slice(1, _))[both] - 97, {.minlength = 16});
  const auto share = found.counts / found.counts.sum();
  return {sn::bincount(length), found.values[often], found.counts[often],
          found.index[often],   pairs.reshape(4, 4), -(share * sn::log2(share)).sum()};
}

results bicubic(const ndarray& u) {
  const auto n = side_of(u.len());
  const auto picture = sn::cumsum(u(slice(n * n)).reshape(n, n) - 0.5, 1).astype(sn::float32);
  const auto weights = [](const ndarray& t) {
    const auto t2 = t * t, t3 = t * t * t;
    return sn::stack({-t3 + 2 * t2 - t, 3 * t3 - 5 * t2 + 2, -3 * t3 + 4 * t2 + t, t3 - t2}) / 2;
  };
  const auto along = [&](const ndarray& a, std::int64_t m) {
    const auto at = (sn::arange(m) + 0.5) * a.len() / m - 0.5;
    const auto low = sn::floor(at).astype(sn::int64);
    const auto w = weights((at - low).astype(sn::float32));
    const auto taps = sn::clip(low + sn::arange(-1, 3)(_, newaxis), 0, a.len() - 1);
    return (w(_, _, newaxis) * a[taps]).sum(0);
  };
  const auto m = 3 * n / 2;
  const auto large = along(along(picture, m).T(), m).T();
  const auto small = large(slice(m / 3 * 3), slice(m / 3 * 3)).reshape(m / 3, 3, m / 3, 3).mean(sn::axes{1, 3});
  const auto slopes = sn::gradient(large);
  const auto edges = sn::hypot(slopes[0], slopes[1]);
  return {large, small, edges.max(), large.std(), sn::ptp(large, 0)};
}

results sphere(const ndarray& u) {
  const auto n = u.len() / 2;
  const auto lat = sn::arcsin(2 * u(slice(n)) - 1), lon = 2 * pi * u(slice(n, 2 * n)) - pi;
  const auto h = sn::square(sn::sin((lat(_, newaxis) - lat) / 2)) +
                 sn::cos(lat)(_, newaxis) * sn::cos(lat) * sn::square(sn::sin((lon(_, newaxis) - lon) / 2));
  const auto d = 12742 * sn::arcsin(sn::sqrt(sn::minimum(h, 1)));
  const auto near = sn::sort(sn::partition(d, 5, 1)(_, slice(6)), 1)(_, slice(1, _));
  const auto within = (d < 1500).sum(1) - 1;
  const auto place = sn::unravel_index(d.argmax(), d.shape());
  const auto &i = place[0], &j = place[1];
  const auto p = sn::stack({sn::cos(lat) * sn::cos(lon), sn::cos(lat) * sn::sin(lon), sn::sin(lat)}, 1);
  const auto cosine = sn::clip(sn::matmul(p, p.T()), -1, 1);
  const auto middle = p.mean(0);
  const auto centre = sn::degrees(
      sn::stack({sn::arctan2(middle(2), sn::hypot(middle(0), middle(1))), sn::arctan2(middle(1), middle(0))}));
  return {near, within, d(i, j), i + j, centre, cosine.mean(1), d.mean()};
}

results blur(const ndarray& u) {
  const auto n = side_of(u.len());
  auto picture = u(slice(n * n)).reshape(n, n).copy();
  picture(slice(n / 4, n / 2), slice(n / 4, n / 2)) += 2;
  const auto r = sn::arange(-8, 9);
  auto kernel = sn::exp(-(sn::square(r(_, newaxis)) + sn::square(r)) / 18);
  kernel /= kernel.sum();
  const sn::shape_t size{n + 16, n + 16};
  const auto k = sn::fft::rfft2(kernel, {.s = size});
  const auto full = sn::fft::irfft2(sn::fft::rfft2(picture, {.s = size}) * k, {.s = size});
  const auto same = full(slice(8, -8), slice(8, -8));
  const auto wiener = sn::conj(k) / (sn::square(sn::abs(k)) + 1e-3);
  const auto back = sn::fft::irfft2(sn::fft::rfft2(full) * wiener, {.s = size})(slice(n), slice(n));
  const auto energy = sn::square(sn::abs(sn::fft::fftshift(sn::fft::fft2(same))));
  const auto grid = sn::indices({n, n}) - n / 2;
  const auto y = grid(0), x = grid(1);
  const auto ring = sn::hypot(x, y).astype(sn::int64).ravel();
  const auto radial = sn::bincount(ring, {.weights = energy.ravel()}) / sn::bincount(ring);
  return {same, sn::sqrt(sn::mean(sn::square(back - picture))), sn::log10(radial(slice(n / 4))), same.max(),
          same.argmax()};
}

results stretch(const ndarray& u) {
  const auto n = side_of(u.len() / 3);
  const auto image = (255 * sn::power(u(slice(3 * n * n)).reshape(n, n, 3), sn::array({1, 2, 3}))).astype(sn::uint8);
  const auto both = sn::percentile(image, {2, 98}, sn::axes{0, 1});
  const auto low = both(0), high = both(1);
  const auto clipped = sn::clip((image - low) / (high - low), 0, 1);
  const auto table = (255 * sn::power(sn::arange(256) / 255.0, 1 / 2.2)).astype(sn::uint8);
  const ndarray bright = table[(255 * clipped).astype(sn::uint8)];
  const auto found = sn::unique(image(ellipsis, 2).ravel(), {.return_inverse = true, .return_counts = true});
  const auto [goal, goals] = sn::unique_counts(image(ellipsis, 0).ravel());
  const auto matched = sn::interp(sn::cumsum(found.counts) / found.inverse.size(),
                                  sn::cumsum(goals) / found.inverse.size(), goal)[found.inverse]
                           .reshape(n, n);
  const auto gray = sn::matmul(image, sn::array({0.299, 0.587, 0.114}));
  const auto cut = sn::histogram(gray, 64, {.range = std::pair(0.0, 256.0)}).hist.astype(sn::float64);
  const auto w = sn::cumsum(cut), m = sn::cumsum(cut * sn::arange(64));
  const auto between = sn::nan_to_num(sn::square(m(-1) * w / w(-1) - m) / (w * (w(-1) - w)));
  const auto best = between.argmax();
  return {bright, low, high, matched, best, (gray > 4 * (best + 1)).mean(), bright.mean(sn::axes{0, 1})};
}

results hampel(const ndarray& u) {
  const auto x = sn::sin(sn::arange(u.len()) / 50) + 0.2 * (u - 0.5);
  x(slice(_, _, 97)) += 4 * u(slice(_, _, 97));
  const auto w = sn::sliding_window_view(sn::pad(x, 3, "reflect"), 7);
  const auto middle = sn::median(w, 1);
  const auto mad = 1.4826 * sn::median(sn::abs(w - middle(_, newaxis)), 1);
  const auto odd = sn::abs(x - middle) > 3 * mad;
  const auto clean = sn::where(odd, middle, x);
  const auto rank = sn::argsort(sn::argsort(clean));
  const auto low = w.min(1), high = w.max(1);
  return {clean, sn::flatnonzero(odd), rank, sn::quantile(clean, {0.05, 0.5, 0.95}), (high - low).mean(), mad.max()};
}

}  // namespace sinter::test::programs::sized
