// What quick division, roots and logarithms, and division out of line, are compared with: text for kernels on a GPU (tests/gpu) and for
// functions of this process (here).
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
__device__ __forceinline__ double wide_from(unsigned upper, unsigned lower) {
  return __longlong_as_double((long long)((unsigned long long)upper << 32 | lower));
}
__device__ __forceinline__ double next_to(double x, int ulps) { return __longlong_as_double(__double_as_longlong(x) + ulps); }
__device__ __forceinline__ bool wide_within(double x, double first, double last) { return x >= first && x <= last; }
__device__ __forceinline__ bool differs(double quick, double exact, bool slow, bool may_be_slow) {
  return slow ? !may_be_slow : other(quick, exact);
}
__device__ __forceinline__ bool wrong_wide_quotient(double a, double b) {
  bool slow = false;
  const double q = sn::quick_double_divide(a, b, slow), exact = a / b;
  const bool none = __double_as_longlong(a) == 0;
  const bool some = wide_within(fabs(a), 0x1p-968, 0x1p1016) && wide_within(fabs(exact), 0x1p-1021, 0x1p1016);
  return differs(q, exact, slow, !((none || some) && wide_within(fabs(b), 0x1p-1022, 0x1p1016))) |
         other(sn::any_double_divide(a, b), exact);
}
// Of float64: `x` is the upper half of the bits, and seed of the lower one and of the other operand.
struct wide_quotient {
  static __device__ bool wrong(float x, bool&) {
    bool bad = false;
    const unsigned upper = __float_as_uint(x);
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned seed = scrambled(upper * 4 + k), lower = k == 0 ? 0 : scrambled(seed + 1);
      const double b = wide_from(upper, lower), any = wide_from(seed, scrambled(seed + 2));
      bad = bad | wrong_wide_quotient(any, b) | wrong_wide_quotient(b, any);
      // Numerators beside the middle of two quotients, by a divisor of [1, 2).
      const double one = wide_from((upper & 0x000fffffu) | 0x3ff00000u, lower);
      const double q = wide_from((seed & 0x000fffffu) | 0x3ff00000u, scrambled(seed + 3));
      const double near = fma(q, one, 0x1p-53 * one);
      for (int d = -1; d <= 1; ++d) bad = bad | wrong_wide_quotient(next_to(near, d), one);
    }
    return bad;
  }
};
struct wide_edge_quotient {
  static __device__ bool wrong(float x, bool&) {
    const unsigned ends[] = {0x00000000u, 0x000fffffu, 0x00100000u, 0x001fffffu, 0x00200000u, 0x00300000u, 0x036fffffu,
                             0x03700000u, 0x3ff00000u, 0x7f6fffffu, 0x7f7fffffu, 0x7f800000u, 0x7fc00000u, 0x7fcfffffu,
                             0x7fd00000u, 0x7fdfffffu, 0x7fe00000u, 0x7fefffffu, 0x7ff00000u, 0x7ff80000u};
    const unsigned lower[] = {0u, 1u, 0xffffffffu};
    bool bad = false;
    for (unsigned k = 0; k < sizeof ends / sizeof ends[0]; ++k)
      for (unsigned j = 0; j < 3; ++j) {
        const double a = wide_from(__float_as_uint(x), lower[(k + j) % 3]), b = wide_from(ends[k], lower[j]);
        bad = bad | wrong_wide_quotient(a, b) | wrong_wide_quotient(b, a) | wrong_wide_quotient(a, -b) | wrong_wide_quotient(-b, a);
      }
    return bad;
  }
};
struct wide_reciprocal {
  static __device__ bool wrong(float x, bool&) {
    const double y = wide_from(__float_as_uint(x), scrambled(__float_as_uint(x)));
    bool slow = false;
    const double r = sn::quick_double_reciprocal(y, slow);
    return differs(r, 1.0 / y, slow, !wide_within(fabs(y), 0x1p-1016, 0x1p1016)) | other(sn::any_double_reciprocal(y), 1.0 / y);
  }
};
struct wide_root {
  static __device__ bool wrong_root(double x) {
    bool slow = false;
    const double r = sn::quick_double_sqrt(x, slow);
    return differs(r, sqrt(x), slow, !wide_within(x, 0x1p-968, 0x1p1023)) | other(sn::any_double_sqrt(x), sqrt(x));
  }
  static __device__ bool wrong(float x, bool&) {
    const unsigned upper = __float_as_uint(x), lower = scrambled(upper);
    bool bad = wrong_root(wide_from(upper, lower)) | wrong_root(wide_from(upper, 0)) | wrong_root(wide_from(upper, ~0u));
    // Squares of the middle of two roots.
    const double root = wide_from((upper & 0x000fffffu) | 0x3ff00000u, lower), near = fma(root, root, 0x1p-52 * root);
    for (int d = -1; d <= 1; ++d) bad = bad | wrong_root(next_to(near, d)) | wrong_root(2 * next_to(near, d));
    return bad;
  }
};
)";
