// Powers by whole numbers as products: by squaring, of float in double, of double with what the roundings of the products leave out,
// so that results are correctly rounded but for a hundredth of the last place. Included by powers.inl.
namespace sn {
namespace {

#if SINTER_ISA_LEVEL == 2
SN_FN singles narrowed(twin x) {
  const __m512 low = _mm512_zextps256_ps512(_mm512_maskz_cvtpd_ps(0xff, x.a.v));
  return _mm512_maskz_insertf32x8(0xffff, low, _mm512_maskz_cvtpd_ps(0xff, x.b.v), 1);
}
SN_FN twin widened(singles x) {
  const __m256 high = _mm512_maskz_extractf32x8_ps(0xff, x.v, 1);
  return {lanes(_mm512_maskz_cvtps_pd(0xff, _mm512_castps512_ps256(x.v))), lanes(_mm512_maskz_cvtps_pd(0xff, high))};
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

/// The bits of |y|, a whole number: of lanes, or the same for all of them.
struct lane_exponents {
  typedef decltype(sf_bits(twin())) word;
  word digits;
  bool more;
  explicit lane_exponents(twin y) : digits(sf_bits(sf_abs(y) + twin(4503599627370496.0))), more(true) {}
  SN_MEMBER auto is_odd(word w) {  // the last digit as a sign
    return sf_number(((w << 63) & word(0x8000000000000000ull)) | word(0x3ff0000000000000ull)) < twin(0.0);
  }
  auto odd() const { return is_odd(digits); }
  void halve() { digits = (digits & word(0xffful)) >> 1; }
  bool any() const {
    return sf_any(sf_number((digits & word(0xffful)) | word(0x3ff0000000000000ull)) > twin(1.0));
  }
};

/// A product and what its roundings have left out, which is far too small for what its own square would be.
struct whole_product {
  twin hi, lo;
  SN_MEMBER whole_product of(twin x) { return {x, twin(0.0)}; }
  whole_product squared() const {
    const twin p = hi * hi;
    return {p, sf_fma(hi + hi, lo, sf_fma(hi, hi, -p))};
  }
  whole_product times(const whole_product& b) const {
    const twin p = hi * b.hi;
    return {p, sf_fma(hi, b.lo, sf_fma(lo, b.hi, sf_fma(hi, b.hi, -p)))};
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
  wide_product squared() const { return {hi * hi}; }
  wide_product times(const wide_product& b) const { return {hi * b.hi}; }
  template <class M>
  SN_MEMBER wide_product choose(M m, const wide_product& a, const wide_product& b) {
    return {sf_if(m, a.hi, b.hi)};
  }
};

/// x^n for n >= 0, of several vectors side by side: while one waits for a product the others compute theirs.
template <class P, int count>
SN_FN void whole_power(P (&r)[count], const twin (&x)[count], int n) {
  P square[count];
  for (int k = 0; k < count; ++k) square[k] = P::of(x[k]), r[k] = P::of(twin(1.0));
  for (bool first = true; n != 0; n >>= 1) {
    if ((n & 1) != 0) {
      for (int k = 0; k < count; ++k) r[k] = first ? square[k] : r[k].times(square[k]);
      first = false;
    }
    if (n > 1)
      for (int k = 0; k < count; ++k) square[k] = square[k].squared();
  }
}
/// x^|y| for whole y, each lane with its own, in the same steps: a product with 1 changes nothing.
template <class P>
SN_FN P whole_power(twin x, twin y) {
  lane_exponents n(y);
  P square = P::of(x), r = P::choose(n.odd(), square, P::of(twin(1.0)));
  for (n.halve(); n.any(); n.halve()) {
    square = square.squared();
    r = P::choose(n.odd(), r.times(square), r);
  }
  return r;
}

}  // namespace
}  // namespace sn
