#include "programs.hpp"

namespace bench::programs {

outputs hsv(const inputs& in) {
  const ndarray& rgb = in["rgb"];
  ndarray r = rgb(ellipsis, 0), g = rgb(ellipsis, 1), b = rgb(ellipsis, 2);
  ndarray v = sn::max(rgb, -1), c = v - sn::min(rgb, -1);
  ndarray safe = sn::where(c == 0, 1, c);
  ndarray h = sn::where(v == r, ((g - b) / safe) % 6, sn::where(v == g, (b - r) / safe + 2, (r - g) / safe + 4));
  h = sn::where(c == 0, 0, h) / 6;
  ndarray s = sn::where(v == 0, 0, c / sn::where(v == 0, 1, v));
  ndarray all = sn::stack({h, s, v}, -1);
  ndarray i = sn::floor(h * 6).astype(sn::int32), f = h * 6 - i;
  ndarray p = v * (1 - s), q = v * (1 - f * s), t = v * (1 - (1 - f) * s), k = i % 6;
  ndarray back = sn::stack(
      {sn::choose(k, {v, q, p, p, t, v}), sn::choose(k, {t, v, v, q, p, p}), sn::choose(k, {p, p, t, v, v, q})}, -1);
  ndarray err = sn::max(sn::abs(back - rgb));
  auto [hues, edges] = sn::histogram(h, 36, {.range = std::pair(0.0, 1.0)});
  ndarray edit = rgb.copy();
  edit(ellipsis, 1) *= 0.5f;
  edit["100:200, :, ::-1"]["..., 0"] = 1;
  edit[(s > 0.8) & (v < 0.5)] = sn::array({1, 0, 0});
  return {{"hsv", all},   {"back", back}, {"close", err < 1e-6},
          {"hues", hues}, {"edit", edit}, {"mean", sn::mean(edit, sn::axes{0, 1})}};
}

}  // namespace bench::programs
