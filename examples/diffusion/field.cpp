// Makes the random field: normal amplitudes of waves, and their inverse Fourier transform.
#include "diffusion/field.hpp"

#include <complex>

namespace diffusion {

using namespace sn::idx;

ndarray random_field(std::int64_t n, std::uint64_t seed) {
  sn::random::generator random(seed);
  const sn::random::draw_kw in_float32{.dtype = sn::float32};
  // Waves over the field along each axis; of a real field half of them say all.
  const double count = static_cast<double>(n);
  const ndarray down = sn::fft::fftfreq(n, {.dtype = sn::float32}) * count;
  const ndarray across = sn::fft::rfftfreq(n, {.dtype = sn::float32}) * count;
  const ndarray squared = sn::square(down)(_, newaxis) + sn::square(across);
  const ndarray amplitude = sn::where(squared > 0, sn::power(sn::maximum(squared, 1), -0.75), 0);
  const ndarray re = random.standard_normal(squared.shape(), in_float32);
  const ndarray im = random.standard_normal(squared.shape(), in_float32);
  const ndarray waves = amplitude * (re + im * std::complex<float>(0, 1));
  const ndarray field = sn::fft::irfft2(waves, {.s = sn::shape_t{n, n}});
  return field / sn::max(sn::absolute(field));
}

}  // namespace diffusion
