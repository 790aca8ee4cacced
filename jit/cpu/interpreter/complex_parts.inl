// Functions of complex numbers for many lanes at a time (complex_functions.inl, complex_inverses.inl) use libmvec's functions
// of their real and imaginary parts, for parts within the ranges below, where the textbook formulas neither overflow nor
// lose digits. Other lanes, one by one, are the C library's (complex_math.cpp). Which of the two computes a lane follows
// from that lane alone. Measured against the next wider type, at most 7 epsilons of the modulus.
#include "jit/cpu/interpreter/loops.inl"
#include "jit/cpu/interpreter/math.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

#if SINTER_MVEC

template <class R>
struct range;
template <>
struct range<float> {
  static constexpr float splitter = 4097, least = 1e-15f, most = 1e15f;  // squares and their errors are normal numbers
  static constexpr float exponent = 87;                                  // exp of it is finite and normal, inverted too
  static constexpr float saturate = 11;                                  // tanh is 1 but for the last digits
  static constexpr float huge = 1e8f;                                    // z * z + 1 is z * z beyond it
};
template <>
struct range<double> {
  static constexpr double splitter = 134217729, least = 1e-140, most = 1e140;
  static constexpr double exponent = 707, saturate = 22, huge = 1e16;
};

template <class R>
SN_FN bool is_within(R x, R bound) {
  return sn::absolute(x) <= bound;
}
template <class R>
SN_FN bool is_finite_part(R x) {
  return x - x == 0;
}
/// Whether the larger part is one whose square is a normal number.
template <class R>
SN_FN bool has_modulus(R x, R y) {
  const R a = sn::absolute(x), b = sn::absolute(y);
  return bool(int(a <= range<R>::most) & int(b <= range<R>::most) &
              (int(a >= range<R>::least) | int(b >= range<R>::least)));
}

template <class V, class R>
SN_FN void each_of(R* to, const R* from, int n) {
  math_unary_op<R, V>()(to, from, nullptr, nullptr, n, nullptr);
}

template <class R>
struct square_of {
  R high,
      low;  // their sum is the square: T. J. Dekker, "A floating-point technique for extending the available precision"
  SN_MEMBER square_of of(R a) {
    const R c = range<R>::splitter * a, ah = c - (c - a), al = a - ah, p = a * a;
    return {p, ((ah * ah - p) + R(2) * ah * al) + al * al};
  }
};

/// log|z| from both words of |z|^2, so that nothing is lost near 1.
template <class R>
SN_FN void log_moduli(R* to, const R* x, const R* y, int n) {
  alignas(64) R rest[block_lanes];
  R* const low = rest;
  each_lane(n, [=](int l) {
    const R a = sn::absolute(x[l]), b = sn::absolute(y[l]);
    const auto p = square_of<R>::of(a > b ? a : b), q = square_of<R>::of(a > b ? b : a);
    const R s = p.high + q.high;
    low[l] = (((p.high - s) + q.high) + (p.low + q.low)) / s;
    to[l] = s;
  });
  each_of<vector_log>(to, to, n);
  each_lane(n, [=](int l) { to[l] = R(0.5) * (to[l] + low[l]); });
}

/// What a function needs room for beside its operands and results.
template <class R>
struct scratch {
  alignas(64) R a[block_lanes], b[block_lanes];
};

/// The square root of a + ib: the part that is not small is a sum of numbers of one sign. W. Kahan, "Branch cuts for complex
/// elementary functions" (1987), as are the formulas below.
template <class R>
struct root {
  R re, im;
  SN_MEMBER root of(R a, R b) {
    const R t = sn::sqrt((sn::absolute(a) + sn::sqrt(a * a + b * b)) * R(0.5));
    const R d = sn::absolute(b) / (t > 0 ? t + t : R(1));
    return {a >= 0 ? t : d, sn::copysign(a >= 0 ? d : t, b)};
  }
};
#endif

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA
