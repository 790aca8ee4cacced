// The field that diffuses: random, rough at every scale, and the same for the same seed.
#pragma once
#include <cstdint>

#include <sinter/sinter.hpp>

namespace diffusion {

namespace sn = sinter;
using sn::ndarray;

/// (n, n) float32 with extremes of magnitude 1: waves of every length and direction with normal random amplitudes that
/// fall like the length to the power 1.5, so that it is jagged like a coastline, with most of its variation at the
/// large scales. By an inverse Fourier transform, so its opposite sides fit together. The random numbers are the same
/// on every device; transforms differ in the last places.
ndarray random_field(std::int64_t n, std::uint64_t seed);

}  // namespace diffusion
