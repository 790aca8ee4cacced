// Special functions with complex results: real operations for both parts, which are joined.
#include "ops/base/errors.hpp"
#include "ops/special/special_values.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/special.hpp"

namespace sinter::inline v0::special {
namespace {

using ops::opcode;

/// re + i im for a finite im, or two NaN.
ndarray joined(const ndarray& re, const ndarray& im) {
  const dtype type = promote_types(re.dtype(), im.dtype()) == dtype::f32 ? dtype::c64 : dtype::c128;
  return re.astype(type) + im.astype(type) * std::complex<double>(0, 1);
}

}  // namespace

ndarray loggamma(const ndarray& z) {
  if (!is_complex(ops::view_of(z, "loggamma").type)) return ops::special_map("loggamma", opcode::loggamma_positive, z);
  const ndarray x = real(z), y = imag(z);
  return joined(ops::special_map("loggamma", opcode::loggamma_real, x, y),
                ops::special_map("loggamma", opcode::loggamma_imag, x, y));
}

ndarray lambertw(const ndarray& z, const operand& k) {
  const auto both = [&](const ndarray& x, const operand& y) {
    return joined(ops::special_map("lambertw", opcode::lambertw_real, x, y, k),
                  ops::special_map("lambertw", opcode::lambertw_imag, x, y, k));
  };
  return is_complex(ops::view_of(z, "lambertw").type) ? both(real(z), imag(z)) : both(z, 0.0);
}

ndarray sph_harm_y(const operand& n, const operand& m, const operand& theta, const operand& phi) {
  const dtype type = ops::special_loop("sph_harm_y", {&n, &m, &theta, &phi});
  const auto as_loop = [&](const operand& o) { return o.is_array() ? o.array().astype(type) : ndarray(); };
  const ndarray arrays[] = {as_loop(n), as_loop(m), as_loop(theta), as_loop(phi)};
  const auto from = [&](const operand& o, int k) { return o.is_array() ? operand(arrays[k]) : o; };
  const operand order = from(m, 1), azimuth = from(phi, 3);
  const auto wave = [&](opcode op) { return ops::special_map("sph_harm_y", op, order, azimuth).astype(type); };
  const ndarray p =
      ops::special_map("sph_harm_y", opcode::sph_legendre, from(n, 0), order, from(theta, 2)).astype(type);
  return joined(p * wave(opcode::cosine_of_product), p * wave(opcode::sine_of_product));
}

}  // namespace sinter::inline v0::special
