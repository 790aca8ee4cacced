// Arithmetic of complex numbers in compiled loops has the bits of the block operations, which the interpreter calls one by one.
#include <doctest/doctest.h>

#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "jit/cpu/compiled_kernels.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter_test::on_host;

namespace {

template <class R>
ndarray special_numbers(int shift) {
  const R inf = std::numeric_limits<R>::infinity(), least = std::numeric_limits<R>::min();
  const std::vector<R> parts{0,
                             R(-0.0),
                             1,
                             -1,
                             R(0.1),
                             R(-3),
                             least,
                             -least / 2,
                             std::numeric_limits<R>::max(),
                             R(37),
                             inf,
                             -inf,
                             R(1) / 3,
                             std::numeric_limits<R>::quiet_NaN()};
  std::vector<std::complex<R>> all;
  const std::size_t n = parts.size();
  for (std::size_t k = 0; k < n * n * 4; ++k)
    all.emplace_back(parts[k % n], parts[(k / n + static_cast<std::size_t>(shift) * (k / n / n)) % n]);
  return on_host(array(all));
}

/// Bytes of x, in which all NaNs are alike.
std::string bytes_of(const ndarray& x) {
  const auto plain = [](const ndarray& r) {
    const auto y = on_host(where(isnan(r), 7.0, r.astype(float64))).to_vector<double>();
    return std::string(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(double));
  };
  const ndarray y = on_host(x);
  const bool is_complex = y.dtype() == complex64 || y.dtype() == complex128;
  if (is_complex) return plain(on_host(y.real().copy())) + plain(on_host(y.imag().copy()));
  return y.dtype() == bool_ ? plain(on_host(y.astype(float32))) : plain(y);
}

std::string bytes_by(cpu::tier tier, const std::function<ndarray()>& line) {
  const cpu::tier before = cpu::get_tier();
  cpu::set_tier(tier);
  const ndarray x = line();
  eval(x);
  cpu::set_tier(before);
  return bytes_of(x);
}

template <class R>
void check_lines() {
  using C = std::complex<R>;
  const ndarray z = special_numbers<R>(1), w = special_numbers<R>(5);
  const ndarray x = on_host(w.real().copy()), mask = on_host(x > 0), at = on_host((arange(z.len()) * 7) % z.len());
  const ndarray rows = on_host(z.reshape({-1, 4})), column = on_host(w(slice(_, z.len() / 4))(_, newaxis));
  struct line {
    const char* name;
    std::function<ndarray()> of;
  };
  const std::vector<line> lines{
      {"products and sums", [&] { return z * w + w - z * z; }},
      {"conjugates over squares", [&] { return z * conj(w) / (square(w.real()) + square(w.imag()) + R(1e-3)); }},
      {"quotients", [&] { return (z - C(1, 2)) / (w + C(0, 1)); }},
      {"by a number", [&] { return z / C(3, -4) + z * C(0, 1); }},
      {"negated", [&] { return -z * -conj(w); }},
      {"selected", [&] { return where(mask, z * w, where(z == w, w, -z)); }},
      {"tests", [&] { return isnan(z * w) ^ isinf(z + w) ^ isfinite(z - w) ^ (z != w); }},
      {"of real numbers and masks", [&] { return z * x + w * mask + x; }},
      {"parts", [&] { return (z * w).real() - (z / w).imag(); }},
      {"of the other precision", [&] { return (z * w).astype(sizeof(R) == 4 ? complex128 : complex64) * 3; }},
      {"moduli of products", [&] { return abs(z * w + C(1, 1)) * x; }},
      {"functions between", [&] { return exp(z * C(0, 1)) * w - sqrt(w) * z; }},
      {"read by index", [&] { return z[at] * w[at] + z; }},
      {"broadcast, backwards, apart", [&] { return rows * column - rows(_, slice(_, _, -1)); }},
      {"every other", [&] { return z["::2"] * w["1::2"] + z["1::2"]; }},
      {"summed", [&] { return sum(rows * rows + column, 1); }},
      {"written over", [&] {
         ndarray y = z.copy();
         y *= w;
         y(slice(1, _, 3)) += z(slice(1, _, 3)) * w(slice(1, _, 3));
         return y;
       }}};
  for (const line& l : lines) {
    CAPTURE(l.name);
    CHECK(bytes_by(cpu::tier::compiled, l.of) == bytes_by(cpu::tier::interpreted, l.of));
  }
}

}  // namespace

TEST_CASE("complex64 in compiled loops has the interpreter's bits, for zeros, infinities and NaN too") {
  check_lines<float>();
}

TEST_CASE("complex128 in compiled loops has the interpreter's bits, for zeros, infinities and NaN too") {
  check_lines<double>();
}
