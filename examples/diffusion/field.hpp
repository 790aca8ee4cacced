// The field that diffuses: random, rough at every scale, and the same for the same seed everywhere.
#pragma once
#include <cstdint>

#include <sinter/sinter.hpp>

namespace diffusion {

namespace sn = sinter;
using sn::ndarray;

/// (n, n) float32 with extremes of magnitude 1. Random numbers on lattices of ever smaller cells, down to one element a
/// cell, interpolated linearly and added up, each with 1/sqrt(2) of the weight of the one before: jagged like a
/// coastline, with most of its variation at the large scales.
ndarray random_field(std::int64_t n, std::uint64_t seed);

}  // namespace diffusion
