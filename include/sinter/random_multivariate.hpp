// Draws of vectors that the generator has no method for. Not part of sinter.hpp.
#pragma once
#include <cstdint>

#include "sinter/random.hpp"

namespace sinter::inline v0::random {

/// How many of `nsample` draws without replacement are of each colour, of colors[i] of them: size + (k,), int64 unless `.dtype` is
/// another integer dtype. Colors are integers, read at the call. Draws at the call, one hypergeometric number for each colour but
/// the last (NumPy's method "marginals"). shape_error: colors are no vector. dtype_error: they are no integers. value_error:
/// negative numbers, more draws than there are, 10**9 or more in all.
ndarray multivariate_hypergeometric(generator& g, const ndarray& colors, std::int64_t nsample,
                                    const draw_size& size = {}, const draw_kw& kw = {});
inline ndarray multivariate_hypergeometric(const ndarray& colors, std::int64_t nsample, const draw_size& size = {},
                                           const draw_kw& kw = {}) {
  return multivariate_hypergeometric(default_generator(), colors, nsample, size, kw);
}

}  // namespace sinter::inline v0::random
