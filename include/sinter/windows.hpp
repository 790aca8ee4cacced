// Window functions: `count` weights that taper to both ends, float64 unless said otherwise. They record and take no memory
// until needed. Empty for counts below 1; of one, 1.
#pragma once
#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

ndarray bartlett(std::int64_t count, const create_kw& kw = {});
ndarray blackman(std::int64_t count, const create_kw& kw = {});
ndarray hamming(std::int64_t count, const create_kw& kw = {});
ndarray hanning(std::int64_t count, const create_kw& kw = {});
/// I0(beta sqrt(1 - t^2)) / I0(beta) for t from -1 to 1.
ndarray kaiser(std::int64_t count, double beta, const create_kw& kw = {});
/// The modified Bessel function of the first kind and order 0; integers give float64. dtype_error: complex.
ndarray i0(const ndarray& x);

}  // namespace sinter::inline v0
