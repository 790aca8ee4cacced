// What quick division, roots and logarithms, and division out of line, are compared with: text for kernels on a GPU (tests/gpu) and for functions of
// this process (here).
#pragma once

/// `NAME::wrong(x, slow)`: whether the quick version differs from the operation, or is slow where it should not be.
inline constexpr const char* quick_cases = R"(
__device__ __forceinline__ float from(unsigned bits) { return __uint_as_float(bits); }
__device__ __forceinline__ bool within(float x, unsigned first, unsigned last) {
  const unsigned bits = __float_as_uint(x);
  return bits >= first && bits <= last;
}
__device__ __forceinline__ bool differs(float quick, float exact, bool slow, bool may_be_slow) {
  return slow ? !may_be_slow : !(__float_as_uint(quick) == __float_as_uint(exact) || (quick != quick && exact != exact));
}

__device__ __forceinline__ bool other(double x, double exact) {
  return !(__double_as_longlong(x) == __double_as_longlong(exact) || (x != x && exact != exact));
}

struct reciprocal {  // 2^-126 to 2^125
  static __device__ bool wrong(float x, bool&) {
    bool slow = false;
    const float r = sn::quick_reciprocal(x, slow);
    return differs(r, 1.0f / x, slow, !within(fabsf(x), 0x00800000u, 0x7e000000u)) |
           differs(sn::any_reciprocal(x), 1.0f / x, false, false);
  }
};
struct root {  // 2^-100 to the largest
  static __device__ bool wrong(float x, bool&) {
    bool slow = false;
    const float r = sn::quick_sqrt(x, slow);
    return differs(r, sqrtf(x), slow, !within(x, 0x0d800000u, 0x7f7fffffu)) |
           differs(sn::root_of_float(x), sqrtf(x), false, false) | other(sn::root_of_double(x), sqrt((double)x));
  }
};
struct logarithm {  // all that are positive and normal
  static __device__ bool wrong(float x, bool&) {
    bool slow = false;
    const float r = sn::quick_log(x, slow);
    return differs(r, logf(x), slow, !within(x, 0x00800000u, 0x7f7fffffu));
  }
};
__device__ __forceinline__ unsigned scrambled(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
__device__ __forceinline__ bool wrong_quotient(float a, float b) {
  bool slow = false;
  const float q = sn::quick_divide(a, b, slow), exact = a / b;  // of 2^-125 to 2^127, and of 0
  const bool none = __float_as_uint(a) == 0, some = within(fabsf(a), 0x0d800000u, 0x7f7fffffu) && within(fabsf(exact), 0x01000000u, 0x7f000000u);
  return differs(q, exact, slow, !((none || some) && within(fabsf(b), 0x00800000u, 0x7e800000u))) |
         differs(sn::any_divide(a, b), exact, false, false) | differs(sn::quotient_of_float(a, b), exact, false, false) |
         other(sn::quotient_of_double(a, b), (double)a / (double)b);
}
// x by anything and anything by x; and numerators beside the middle of two quotients by x, where rounding is hardest.
struct quotient {
  static __device__ bool wrong(float x, bool&) {
    bool bad = false;
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned other = scrambled(__float_as_uint(x) * 4 + k);
      bad = bad | wrong_quotient(x, from(other)) | wrong_quotient(from(other), x);
      const float q = from((other & 0x007fffffu) | 0x3f800000u);  // in [1, 2)
      const float near = (float)(((double)q + 0x1p-24) * (double)x);
      const unsigned bits = __float_as_uint(near);
      bad = bad | wrong_quotient(near, x) | wrong_quotient(from(bits + 1), x) | wrong_quotient(from(bits - 1), x);
    }
    return bad;
  }
};
// Numerators whose quotients by x lie beside the middle of two subnormal numbers or of the smallest normal ones.
struct small_quotient {
  static __device__ bool wrong(float x, bool&) {
    bool bad = false;
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned number = scrambled(__float_as_uint(x) * 4 + k) >> (8 + 5 * k);  // of 2^-149
      const float near = (float)(((double)number + 0.5) * 0x1p-149 * (double)x);
      const unsigned bits = __float_as_uint(near);
      bad = bad | wrong_quotient(near, x) | wrong_quotient(from(bits + 1), x) | wrong_quotient(from(bits - 1), x);
    }
    return bad;
  }
};
// The ends of the domains.
struct edge_quotient {
  static __device__ bool wrong(float x, bool&) {
    const unsigned ends[] = {0x00000000u, 0x00000001u, 0x007fffffu, 0x00800000u, 0x00800001u, 0x01000000u, 0x0cffffffu,
                             0x0d000000u, 0x0d800000u, 0x3f800000u, 0x7e7fffffu, 0x7e800000u, 0x7e800001u, 0x7e800002u,
                             0x7effffffu, 0x7f000000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u};
    bool bad = false;
    for (unsigned k = 0; k < sizeof ends / sizeof ends[0]; ++k)
      bad = bad | wrong_quotient(x, from(ends[k])) | wrong_quotient(from(ends[k]), x) |
            wrong_quotient(x, from(ends[k] | 0x80000000u)) | wrong_quotient(from(ends[k] | 0x80000000u), x);
    return bad;
  }
};
)";
