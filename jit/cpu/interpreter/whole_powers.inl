// Powers by whole numbers as products: by squaring, of double, and of float to negative ones, with what the roundings of the products
// leave out, of float to others in double, so that results are correctly rounded but for a hundredth of the last place. Included by
// powers.inl.
namespace sn {
namespace {

#if SINTER_ISA_LEVEL == 2
SN_FN singles narrowed(twin x) {
  const __m512 low = _mm512_castps256_ps512(_mm512_maskz_cvtpd_ps(0xff, x.a.v));
  return _mm512_maskz_insertf32x8(0xffff, low, _mm512_maskz_cvtpd_ps(0xff, x.b.v), 1);
}
SN_FN twin widened(singles x) {
  const __m256 low = _mm512_maskz_extractf32x8_ps(0xff, x.v, 0), high = _mm512_maskz_extractf32x8_ps(0xff, x.v, 1);
  return {lanes(_mm512_maskz_cvtps_pd(0xff, low)), lanes(_mm512_maskz_cvtps_pd(0xff, high))};
}
#else
SN_FN singles narrowed(twin x) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(x.a.v)), _mm256_cvtpd_ps(x.b.v), 1);
}
SN_FN twin widened(singles x) {
  return {lanes(_mm256_cvtps_pd(_mm256_castps256_ps128(x.v))), lanes(_mm256_cvtps_pd(_mm256_extractf128_ps(x.v, 1)))};
}
#endif

/// Powers by whole numbers of at most this size are products.
constexpr double most_whole = 1024;

/// How numbers of a vector look as bits.
template <class V>
struct number_bits;
template <>
struct number_bits<twin> {
  static constexpr double unit = 0x1p52;  // from which on numbers are whole
  static constexpr unsigned long long one = 0x3ff0000000000000ull, sign = 0x8000000000000000ull;
  static constexpr int last = 63;
};
template <>
struct number_bits<singles> {
  static constexpr double unit = 0x1p23;
  static constexpr unsigned one = 0x3f800000u, sign = 0x80000000u;
  static constexpr int last = 31;
};

/// The bits of |y|, a whole number: of lanes, or the same for all of them.
template <class V>
struct lane_exponents {
  typedef decltype(sf_bits(V())) word;
  typedef number_bits<V> how;
  word digits;
  explicit lane_exponents(V y) : digits(sf_bits(sf_abs(y) + V(how::unit))) {}
  auto is_odd() const {  // the last digit as a sign
    return sf_number(((digits << how::last) & word(how::sign)) | word(how::one)) < V(0.0);
  }
  word whole() const { return digits & word(0xfffu); }
  void halve() { digits = whole() >> 1; }
  bool any() const { return sf_any(sf_number(whole() | word(how::one)) > V(1.0)); }
};

/// A product and what its roundings have left out, which is far too small for what its own square would be.
template <class V>
struct whole_product {
  V hi, lo;
  SN_MEMBER whole_product of(V x) { return {x, V(0.0)}; }
  SN_MEMBER whole_product square_of(V x) {
    const V p = x * x;
    return {p, sf_fma(x, x, -p)};
  }
  whole_product squared() const {
    const V p = hi * hi;
    return {p, sf_fma(hi + hi, lo, sf_fma(hi, hi, -p))};
  }
  whole_product times(const whole_product& b) const {
    const V p = hi * b.hi;
    return {p, sf_fma(hi, b.lo, sf_fma(lo, b.hi, sf_fma(hi, b.hi, -p)))};
  }
  whole_product times(V x) const {
    const V p = hi * x;
    return {p, sf_fma(lo, x, sf_fma(hi, x, -p))};
  }
  template <class M>
  SN_MEMBER whole_product choose(M m, const whole_product& a, const whole_product& b) {
    return {sf_if(m, a.hi, b.hi), sf_if(m, a.lo, b.lo)};
  }
};
/// Of floats: their products by up to 1024 are exact enough in double.
struct wide_product {
  twin hi;
  SN_MEMBER wide_product of(twin x) { return {x}; }
  SN_MEMBER wide_product square_of(twin x) { return {x * x}; }
  wide_product squared() const { return {hi * hi}; }
  wide_product times(const wide_product& b) const { return {hi * b.hi}; }
  wide_product times(twin x) const { return {hi * x}; }
  template <class M>
  SN_MEMBER wide_product choose(M m, const wide_product& a, const wide_product& b) {
    return {sf_if(m, a.hi, b.hi)};
  }
};

/// x^n for n >= 0, of several vectors side by side: while one waits for a product the others compute theirs. Products with what no
/// rounding has left anything out of have fewer steps.
template <class P, class V, int count>
SN_FN void whole_power(P (&r)[count], const V (&x)[count], int n) {
  P square[count];
  if (n < 2) {
    for (int k = 0; k < count; ++k) r[k] = P::of(n == 0 ? V(1.0) : x[k]);
    return;
  }
  for (int k = 0; k < count; ++k) square[k] = P::square_of(x[k]);
  const int low = n & -n;  // the lowest digit: from which on there is a product
  for (int digit = 2; digit < low; digit *= 2)
    for (int k = 0; k < count; ++k) square[k] = square[k].squared();
  for (int k = 0; k < count; ++k) r[k] = square[k];
  if (low == 1 && (n & 2) != 0)
    for (int k = 0; k < count; ++k) r[k] = square[k].times(x[k]);
  else if (low == 1)
    for (int k = 0; k < count; ++k) r[k] = P::of(x[k]);
  for (int digit = low < 2 ? 4 : 2 * low; digit <= n; digit *= 2) {
    for (int k = 0; k < count; ++k) square[k] = square[k].squared();
    if ((n & digit) != 0)
      for (int k = 0; k < count; ++k) r[k] = square[k].times(r[k]);
  }
}
/// x^|y| for whole y, each lane with its own, in the same steps: a product with 1 changes nothing.
template <class P, class V>
SN_FN P whole_power(V x, V y) {
  lane_exponents<V> n(y);
  P square = P::of(x), r = P::choose(n.is_odd(), square, P::of(V(1.0)));
  for (n.halve(); n.any(); n.halve()) {
    square = square.squared();
    r = P::choose(n.is_odd(), square.times(r), r);
  }
  return r;
}

/// 1 / (hi + lo). Of doubles without a division, which would take as long as sixteen products: from the bits of hi as its logarithm,
/// which is off by a twentieth at most, by two steps that cube what they are off by, and one that squares it. For |hi| from 2^-960 to
/// 2^1000.
SN_FN twin reciprocal_of(const whole_product<twin>& p) {
  typedef decltype(sf_bits(twin())) word;
  const twin one(1.0), less = -p.hi;
  twin q = sf_number(word(0x7fde6238e0000000ull) - sf_bits(p.hi)), rest = sf_fma(q, less, one);
  q = sf_fma(q, sf_fma(rest, rest, rest), q);
  rest = sf_fma(q, less, one);
  q = sf_fma(q, sf_fma(rest, rest, rest), q);
  return sf_fma(q, sf_fma(q, -p.lo, sf_fma(q, less, one)), q);
}
/// Of floats for |hi| from 2^-100 to 2^100.
SN_FN singles reciprocal_of(const whole_product<singles>& p) {
  const singles one(1.0), q = one / p.hi;
  return sf_fma(q, sf_fma(q, -p.lo, sf_fma(q, -p.hi, one)), q);
}
/// Whether nothing of a product has been lost, and its reciprocal is one of reciprocal_of.
SN_FN auto is_exact(const whole_product<twin>& p) {
  const twin size = sf_abs(p.hi);
  return (size >= twin(0x1p-960)) & (size <= twin(0x1p1000));
}
SN_FN auto is_exact(const whole_product<singles>& p) {
  const singles size = sf_abs(p.hi);
  return (size >= singles(0x1p-100)) & (size <= singles(0x1p100));
}

}  // namespace
}  // namespace sn
