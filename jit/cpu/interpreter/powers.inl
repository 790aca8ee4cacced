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
  SN_MEMBER vector whole(const double*, vector x, vector y, M& known) {
    const auto p = sn::whole_power<sn::whole_product<vector>>(x, y);
    const M exact = is_exact(p), falls = y < vector(0.0);
    vector r = sf_if(exact, p.hi + p.lo, p.hi);
    if (sf_any(falls)) r = sf_if(falls, sf_if(exact, reciprocal_of(p), vector(1.0) / p.hi), r);
    known = exact | (x == vector(0.0)) | !(sf_abs(x) < sn::sf_inf(x)) | (sf_abs(y) <= vector(1.0));
    return r;
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
  /// From doubles, which hold all products. All is known: what overflows or underflows in them does so in float.
  SN_MEMBER vector finish(const sn::wide_product& p, sn::twin y) {
    const auto falls = y < sn::twin(0.0);
    return sn::narrowed(sf_any(falls) ? sf_if(falls, sn::twin(1.0) / p.hi, p.hi) : p.hi);
  }
  template <class M>
  SN_MEMBER vector whole(const float* from, vector x, vector y, M& known) {
    const sn::twin by = sn::widened(y);
    known = y == y;
    const vector r = finish(sn::whole_power<sn::wide_product>(sn::load_twin(from), by), by);
    const auto falls = y < vector(0.0);
    if (!sf_any(falls)) return r;
    const auto p = sn::whole_power<sn::whole_product<vector>>(x, y);
    return sf_if(falls & is_exact(p), reciprocal_of(p), r);
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
/// Where some lane of a vector is as no product gives it.
template <class F>
[[gnu::noinline, gnu::cold]] void rare_powers(typename F::type* to, const typename F::type* from, typename F::type y) {
  alignas(64) typename F::type by[F::step];
  for (auto& each : by) each = y;
  some_powers<F>(to, from, by);
}
/// The vector of lanes `x` as no product gives them.
template <class F>
SN_FN void put_rare(typename F::type* to, typename F::vector x, typename F::type y) {
  alignas(64) typename F::type from[F::step];
  F::store(from, x);
  rare_powers<F>(to, from, y);
}

/// The lanes of some vectors to a power by the same whole number: `n` is its size.
template <class F, int count, bool falls>
SN_FN void exact_powers(typename F::type* to, const typename F::type* from, typename F::type y, int n) {
  using V = typename F::vector;
  sn::whole_product<V> p[count];
  V x[count];
  for (int k = 0; k < count; ++k) x[k] = F::load(from + k * F::step);
  sn::whole_power(p, x, n);
  for (int k = 0; k < count; ++k) {
    const V found = falls ? reciprocal_of(p[k]) : p[k].hi + p[k].lo;
    const auto exact = is_exact(p[k]);
    F::store(to + k * F::step, found);
    if (!sf_any(!exact)) continue;
    const auto known = exact | (x[k] == V(0.0)) | !(sf_abs(x[k]) < sn::sf_inf(x[k]));
    F::store(to + k * F::step, sf_if(exact, found, falls ? V(1.0) / p[k].hi : p[k].hi));
    if (sf_any(!known)) put_rare<F>(to + k * F::step, x[k], y);
  }
}
template <int count, bool falls>
SN_FN void whole_powers(double* to, const double* from, double y, int n) {
  exact_powers<double_power, count, falls>(to, from, y, n);
}
template <int count, bool falls>
SN_FN void whole_powers(float* to, const float* from, float y, int n) {
  if (falls) return exact_powers<single_power, count, falls>(to, from, y, n);
  constexpr int step = single_power::step;
  sn::wide_product r[count];
  sn::twin x[count];
  for (int k = 0; k < count; ++k) x[k] = sn::load_twin(from + k * step);
  sn::whole_power(r, x, n);
  for (int k = 0; k < count; ++k) sn::store_singles(to + k * step, sn::narrowed(r[k].hi));
}
template <class F, bool falls>
void powers_by(typename F::type* to, const typename F::type* from, typename F::type y, int lanes) {
  const int whole = int(std::abs(y));
  int l = 0;
  for (; l + F::together * F::step <= lanes; l += F::together * F::step)
    whole_powers<F::together, falls>(to + l, from + l, y, whole);
  for (; l < lanes; l += F::step) whole_powers<1, falls>(to + l, from + l, y, whole);
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
  first < 0 ? powers_by<F, true>(r, x, first, n) : powers_by<F, false>(r, x, first, n);
}

}  // namespace

block_op power_op(dtype type) noexcept {
  return type == dtype::f64 ? &powers<double_power> : type == dtype::f32 ? &powers<single_power> : nullptr;
}

}  // namespace sinter::jit::tier0::SINTER_ISA
