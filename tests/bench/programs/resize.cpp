#include "programs.hpp"

namespace bench::programs {

outputs resize(const inputs& in) {
  const ndarray& image = in["image"];
  const auto h = image.shape(0), w = image.shape(1);
  const auto size = in["size"].to_vector<std::int64_t>();
  const auto H = size[0], W = size[1];
  ndarray y = sn::clip((sn::arange(H) + 0.5) * (double(h) / double(H)) - 0.5, 0, h - 1);
  ndarray x = sn::clip((sn::arange(W) + 0.5) * (double(w) / double(W)) - 0.5, 0, w - 1);
  ndarray y0 = sn::floor(y).astype(sn::int64), x0 = sn::floor(x).astype(sn::int64);
  ndarray y1 = sn::minimum(y0 + 1, h - 1), x1 = sn::minimum(x0 + 1, w - 1);
  ndarray fy = (y - y0)(_, newaxis, newaxis).astype(sn::float32),
          fx = (x - x0)(newaxis, _, newaxis).astype(sn::float32);
  ndarray f = image.astype(sn::float32);
  ndarray top = f(y0(_, newaxis), x0) * (1 - fx) + f(y0(_, newaxis), x1) * fx;
  ndarray low = f(y1(_, newaxis), x0) * (1 - fx) + f(y1(_, newaxis), x1) * fx;
  ndarray out = sn::clip(sn::rint(top * (1 - fy) + low * fy), 0, 255).astype(sn::uint8);
  ndarray near = sn::take(sn::take(image, sn::rint(y).astype(sn::int64), 0), sn::rint(x).astype(sn::int64), 1);
  ndarray half = sn::mean(sn::reshape(image, {240, 2, 320, 2, 3}), sn::axes{1, 3});
  ndarray grey = sn::matmul(f, sn::array({0.299, 0.587, 0.114}, {.dtype = sn::float32}));
  return {{"out", out},
          {"near", near},
          {"half", half},
          {"grey", grey},
          {"flipped", out["::-1, ::-1"]["0:5"]},
          {"border", sn::take(image, sn::arange(-3, 483), 0, {.mode = "wrap"})(_, 0)}};
}

}  // namespace bench::programs
