// sinter prelude: casts among bool, integers, float and double.
//
// Policy, the same on every device (it is what NumPy's casts give on x86-64): to bool, x != 0. Integer to integer wraps.
// Integer to floating point rounds to nearest, ties to even. Floating point to integer truncates; where the value does
// not fit (NaN and infinities too), int32 and int64 get their lowest value; int8, int16, uint8 and uint16 get the low
// bits of the conversion to int32, uint32 those of the conversion to int64; uint64 gets the bits of the conversion to
// int64 below 2^63, and from there the conversion of x - 2^63 with the top bit flipped (so +infinity gives 0).
namespace sn {

template <class F> SN_FN int float_to_i32(F x) {
  // For float the two bounds are -2^31 itself and 2^31; for double -2^31 - 1 is representable.
  bool fits = sizeof(F) == 4 ? bool(int(x >= F(-2147483648.0)) & int(x < F(2147483648.0)))
                             : bool(int(x > F(-2147483649.0)) & int(x < F(2147483648.0)));
  return fits ? int(fits ? x : F(0)) : int(0x80000000u);
}
template <class F> SN_FN long long float_to_i64(F x) {
  bool fits = bool(int(x >= F(-9223372036854775808.0)) & int(x < F(9223372036854775808.0)));
  return fits ? (long long)(fits ? x : F(0)) : (long long)(0x8000000000000000ull);
}
template <class F> SN_FN unsigned long long float_to_u64(F x) {
  bool high = x >= F(9223372036854775808.0);
  unsigned long long r = (unsigned long long)(float_to_i64(high ? x - F(9223372036854775808.0) : x));
  return high ? r ^ 0x8000000000000000ull : r;
}

template <class To, class From> struct caster {
  SN_MEMBER To of(From x) {
    if constexpr (is_bool<To>::value) return x != From(0);
    else if constexpr (is_bool<From>::value) return x ? To(1) : To(0);  // GCC does not vectorise conversions of bool
    else if constexpr (!traits<To>::integer || traits<From>::integer) return To(x);
    else if constexpr (sizeof(To) < 4) return To(float_to_i32(x));
    else if constexpr (sizeof(To) == 4 && traits<To>::is_signed) return float_to_i32(x);
    else if constexpr (sizeof(To) == 4) return To(float_to_i64(x));
    else if constexpr (traits<To>::is_signed) return float_to_i64(x);
    else return float_to_u64(x);
  }
};
template <class T> struct caster<T, T> {
  SN_MEMBER T of(T x) { return x; }
};
template <class To, class From> SN_FN To cast(From x) { return caster<To, From>::of(x); }

}  // namespace sn
