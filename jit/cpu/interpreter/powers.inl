// Powers of float and double: by whole numbers as products, by others as exp(y log x), with the logarithm and its product as pairs,
// which is faster than libmvec's and within 1.5 ulp for double, 2.5 for float. What they give for a lane does not depend on its
// neighbours.
#include <cmath>

#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/cpu/interpreter/special_twin.inl"
#include "jit/cpu/lane_loops.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/cpu/interpreter/whole_powers.inl"

namespace sn {
namespace {

/// The logarithm of x > 0 as a pair, to about 2^-65 of itself: with s = f / (2 + f), log(1 + f) = 2 s + 2/3 s^3 + s^5 B(s^2), where
/// sf_log_pair, which has 2^-60, rounds the second term. B is interpolated at Chebyshev's points in 50 digits (M. Abramowitz,
/// I. A. Stegun 4.1.27).
template <class V>
SN_FN sf_pair<V> power_log(V x) {
  const sf_pair<V> parts = sf_log_parts(x);
  const V k = parts.hi, f = parts.lo, d = f + V(2.0), d_low = f - (d - V(2.0));
  const V inverse = V(1.0) / d, s = f * inverse;
  const V s_low = sf_fma(-s, d_low, sf_fma(-s, d, f)) * inverse;
  const V z = s * s, z_low = sf_fma(s, s, -z) + V(2.0) * s * s_low;
  const V cube = s * z, cube_low = sf_fma(s, z, -cube) + sf_fma(s, z_low, z * s_low);
  const V two_thirds(0.6666666666666666), term = cube * two_thirds;
  const V term_low = sf_fma(cube, two_thirds, -term) + sf_fma(cube, V(3.700743415417188e-17), cube_low * two_thirds);
  const V rest = cube * z * sf_poly(z, 0.4, 0.2857142857142937, 0.22222222221652765, 0.18181818336099848, 0.1538459488700718,
      0.1333480879881234, 0.11706126464563398, 0.11724327060846747);
  const sf_pair<V> most = sf_sum(k * V(6.93147180369123816490e-01), s + s), all = sf_sum(most.hi, term);
  const V low = sf_fma(k, V(1.90821492927058770002e-10), (s_low + s_low) + (term_low + rest));
  return sf_sum_ordered(all.hi, all.lo + (most.lo + low));
}

/// As single_log_pair, with what s_low adds to s^3: to about 2^-30 of itself instead of 2^-28.
template <class V>
SN_FN sf_pair<V> single_power_log(V x) {
  typedef decltype(sf_bits(V())) word;
  const auto tiny = x < V(1.1754943508222875e-38);
  const word b = sf_bits(sf_if(tiny, x * V(16777216.0), x));
  const word u = b + word(0x004afb0du), biased = u >> 23;
  const V k = sf_number(biased | word(0x4b000000u)) - sf_if(tiny, V(8388608.0 + 151), V(8388608.0 + 127));
  const V f = sf_number(b - (biased << 23) + word(0x3f800000u)) - V(1.0), d = f + V(2.0), d_low = f - (d - V(2.0));
  const V inverse = V(1.0) / d, s = f * inverse;
  const V s_low = sf_fma(-s, d_low, sf_fma(-s, d, f)) * inverse, z = s * s, both = s_low + s_low;
  const V p = sf_poly(z, 0.6666666655, 0.4000012943, 0.2854996859, 0.233534276);
  const V low = sf_fma(k, V(-2.1219444005469058e-04), sf_fma(s * z, p, sf_fma(z, both, both)));
  const sf_pair<V> sum = sf_sum(k * V(0.693359375), s + s);
  return sf_sum_ordered(sum.hi, sum.lo + low);
}

/// x^y for finite x > 0 and finite y.
template <class V>
SN_FN sf_pair<V> power_exponent(const sf_pair<V>& log, V y, double beyond) {
  const V hi = y * log.hi, lo = sf_fma(y, log.lo, sf_fma(y, log.hi, -hi));
  return {hi, sf_if(sf_abs(hi) < V(beyond), lo, V(0.0))};  // there is none of an infinite product
}

}  // namespace
}  // namespace sn

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

struct double_power {
  using type = double;
  using vector = sn::twin;
  static constexpr int step = int(sizeof(sn::twin) / sizeof(double)), together = 1;
  SN_MEMBER vector load(const double* from) { return sn::load_twin(from); }
  SN_MEMBER void store(double* to, vector x) { sn::store_twin(to, x); }
  SN_MEMBER vector with_sign_of(vector x, vector sign) { return sn::sf_copysign(x, sign); }
  /// Of finite x > 0 and finite y.
  SN_MEMBER vector positive(vector x, vector y) {
    const sn::sf_pair<vector> e = sn::power_exponent(sn::power_log(x), y, 1000.0);
    return sn::sf_exp(e.hi, e.lo);
  }
  /// x^y from the product x^|y|; `known`: where nothing of it may have been lost to an overflow or underflow.
  template <class M>
  SN_MEMBER vector finish(const sn::whole_product& p, vector x, vector y, M& known) {
    const vector size = sf_abs(p.hi);
    const M exact = (size >= vector(0x1p-960)) & (size <= vector(0x1p1000)), falls = y < vector(0.0);
    vector r = sf_if(exact, p.hi + p.lo, p.hi);
    if (sf_any(falls)) {
      const vector q = vector(1.0) / p.hi, rest = sf_fma(-q, p.hi, vector(1.0)) - q * p.lo;
      r = sf_if(falls, sf_if(exact, sf_fma(q, rest, q), q), r);
    }
    known = exact | (x == vector(0.0)) | !(sf_abs(x) < sn::sf_inf(x)) | (sf_abs(y) <= vector(1.0));
    return r;
  }
  template <class M>
  SN_MEMBER vector whole(const double*, vector x, vector y, M& known) {
    return finish(sn::whole_power<sn::whole_product>(x, y), x, y, known);
  }
};
struct single_power {
  using type = float;
  using vector = sn::singles;
  static constexpr int step = int(sizeof(sn::singles) / sizeof(float)), together = 2;  // vectors of one power
  SN_MEMBER vector load(const float* from) { return sn::load_singles(from); }
  SN_MEMBER void store(float* to, vector x) { sn::store_singles(to, x); }
  SN_MEMBER vector with_sign_of(vector x, vector sign) { return sn::single_copysign(x, sign); }
  SN_MEMBER vector positive(vector x, vector y) {
    const sn::sf_pair<vector> e = sn::power_exponent(sn::single_power_log(x), y, 200.0);
    return sn::single_exp(e.hi, e.lo, vector(1.0));
  }
  /// A division of floats and a step of Newton's take less than a division of doubles; where floats end there is one.
  SN_MEMBER sn::twin reciprocal(sn::twin p) {
    const sn::twin q = sn::widened(vector(1.0) / sn::narrowed(p)), size = sf_abs(p);
    const auto within = (size >= sn::twin(0x1p-120)) & (size <= sn::twin(0x1p120));
    const sn::twin better = sf_fma(q, sf_fma(-q, p, sn::twin(1.0)), q);
    return sf_any(!within) ? sf_if(within, better, sn::twin(1.0) / p) : better;
  }
  SN_MEMBER sn::twin finish(const sn::wide_product& p, sn::twin y) {
    const auto falls = y < sn::twin(0.0);
    return sf_any(falls) ? sf_if(falls, reciprocal(p.hi), p.hi) : p.hi;
  }
  /// All is known: products of floats that overflow or underflow in double do so in float.
  template <class M>
  SN_MEMBER vector whole(const float* from, vector, vector y, M& known) {
    const sn::twin by = sn::widened(y);
    known = y == y;
    return sn::narrowed(finish(sn::whole_power<sn::wide_product>(sn::load_twin(from), by), by));
  }
};

/// Where y is infinite or NaN.
template <class F>
[[gnu::noinline, gnu::cold]] void infinite_powers(typename F::type* r, const typename F::type* x,
                                                  const typename F::type* y) {
  for (int l = 0; l < F::step; ++l)
    if (!std::isfinite(y[l])) r[l] = std::pow(x[l], y[l]);
}

/// x^y, by exp(y log|x|).
template <class F, class V = typename F::vector>
SN_FN V any_power(V x, V y) {
  const V size = sf_abs(x), inf = sn::sf_inf(x), none(0.0), one(1.0);
  const auto ordinary = (size > none) & (size < inf) & (sf_abs(y) < inf);
  if (!sf_any(!(ordinary & (x > none)))) return F::positive(x, y);
  const auto zero = size == none, beyond = size == inf, whole = sf_rint(y) == y;
  const V half = y * V(0.5), found = F::positive(sf_if(ordinary, size, one), sf_if(ordinary, y, one));
  V r = sf_if(zero | beyond, sf_if((zero & (y > none)) | (beyond & (y < none)), none, inf), found);
  r = sf_if((F::with_sign_of(one, x) < none) & whole & !(sf_rint(half) == half), -r, r);
  r = sf_if((x < none) & !beyond & !whole, sn::sf_nan(x), r);
  r = sf_if(y == none, one, sf_if(x == x, r, x));
  if (!sf_any(!(sf_abs(y) < inf))) return r;
  alignas(64) typename F::type of[F::step], by[F::step], to[F::step];
  F::store(of, x), F::store(by, y), F::store(to, r);
  infinite_powers<F>(to, of, by);
  return F::load(to);
}

/// The lanes of a vector.
template <class F>
SN_FN void some_powers(typename F::type* to, const typename F::type* from, const typename F::type* by) {
  using V = typename F::vector;
  const V x = F::load(from), y = F::load(by);
  const auto whole = (sf_abs(y) <= V(sn::most_whole)) & (sf_rint(y) == y);
  if (!sf_any(whole)) return F::store(to, any_power<F>(x, y));
  auto known = whole;
  const V product = F::whole(from, x, sf_if(whole, y, V(1.0)), known);
  known = known & whole;
  F::store(to, sf_any(!known) ? sf_if(known, product, any_power<F>(x, y)) : product);
}
/// The lanes of some vectors to a power by the same whole number.
template <int count>
SN_FN void whole_powers(double* to, const double* from, double y, int n) {
  constexpr int step = double_power::step;
  sn::whole_product r[count];
  sn::twin x[count];
  for (int k = 0; k < count; ++k) x[k] = sn::load_twin(from + k * step);
  sn::whole_power(r, x, n);
  for (int k = 0; k < count; ++k) {
    const sn::twin by(y);
    auto known = by == by;
    const sn::twin product = double_power::finish(r[k], x[k], by, known);
    sn::store_twin(to + k * step,
                   sf_any(!known) ? sf_if(known, product, any_power<double_power>(x[k], by)) : product);
  }
}
template <int count>
SN_FN void whole_powers(float* to, const float* from, float y, int n) {
  constexpr int step = single_power::step;
  sn::wide_product r[count];
  sn::twin x[count];
  for (int k = 0; k < count; ++k) x[k] = sn::load_twin(from + k * step);
  sn::whole_power(r, x, n);
  for (int k = 0; k < count; ++k) sn::store_twin(to + k * step, single_power::finish(r[k], sn::twin(double(y))));
}

template <class F>
void powers(void* dst, const void* a, const void* b, const void*, int n, int*) {
  using T = typename F::type;
  auto* r = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
  if (n == 1) {
    alignas(64) T base[F::step], exponent[F::step];
    for (int l = 0; l < F::step; ++l) base[l] = *x, exponent[l] = *y;
    some_powers<F>(base, base, exponent);
    *r = base[0];
    return;
  }
  const T first = *y;
  int others = !(std::abs(first) <= T(sn::most_whole)) || std::rint(first) != first;
  if (!others) SINTER_LANES(l, n & -lane_multiple) others |= y[l] != first;
  if (others) {
    for (int l = 0; l < n; l += F::step) some_powers<F>(r + l, x + l, y + l);
    return;
  }
  const int whole = int(std::abs(first));
  int l = 0;
  for (; l + F::together * F::step <= n; l += F::together * F::step) whole_powers<F::together>(r + l, x + l, first, whole);
  for (; l < n; l += F::step) whole_powers<1>(r + l, x + l, first, whole);
}

}  // namespace

block_op power_op(dtype type) noexcept {
  return type == dtype::f64 ? &powers<double_power> : type == dtype::f32 ? &powers<single_power> : nullptr;
}

}  // namespace sinter::jit::tier0::SINTER_ISA
