#include "programs.hpp"

#include <numbers>

namespace bench::programs {

outputs spectrogram(const inputs& in) {
  const ndarray& x = in["x"];
  const std::int64_t n = 512, hop = 128, frames = 1 + (x.len() - n) / hop;
  ndarray idx = hop * sn::arange(frames)(_, newaxis) + sn::arange(n);
  ndarray win = (0.5 - 0.5 * sn::cos(2 * std::numbers::pi * sn::arange(n) / n)).astype(sn::float32);
  ndarray S = sn::fft::rfft(x[idx] * win, {.axis = 1});
  ndarray power = sn::square(sn::abs(S)), db = 10 * sn::log10(sn::maximum(power, 1e-10));
  db = sn::maximum(db, sn::max(db) - 80);
  ndarray f = sn::fft::rfftfreq(n, 1.0 / 16000), track = f[sn::argmax(power, 1)];
  ndarray centroid = sn::sum(power * f, 1) / sn::sum(power, 1);
  ndarray y = sn::zeros({x.len()}, sn::float32), norm = sn::zeros({x.len()}, sn::float32);
  ndarray out = sn::fft::irfft(S, {.n = n, .axis = 1}).astype(sn::float32) * win;
  sn::add_at(y, idx, out);
  sn::add_at(norm, idx, sn::broadcast_to(win * win, idx.shape()));
  ndarray rec = sn::where(norm > 1e-3, y / sn::maximum(norm, 1e-3f), 0);
  ndarray flux = sn::sum(sn::maximum(sn::diff(sn::abs(S), {.axis = 0}), 0), 1);
  std::vector<ndarray> bands;
  for (const ndarray& part : sn::split(power, {8, 32, 128}, 1)) bands.push_back(sn::sum(part, 1));
  return {{"db", db},   {"track", track}, {"centroid", centroid},
          {"rec", rec}, {"flux", flux},   {"band", sn::stack(bands, 1)}};
}

}  // namespace bench::programs
