// Block operations that divide to whole numbers: floor_divide, remainder and fmod of integers and real numbers.
#include "jit/cpu/interpreter/loops.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

template <class U>
struct twice_as_wide;
template <>
struct twice_as_wide<unsigned char> {
  typedef unsigned short type;
};
template <>
struct twice_as_wide<unsigned short> {
  typedef unsigned type;
};
template <>
struct twice_as_wide<unsigned> {
  typedef unsigned long long type;
};
template <>
struct twice_as_wide<unsigned long long> {
  __extension__ typedef unsigned __int128 type;
};

/// Unsigned division by one divisor as a multiplication and shifts, exact for every dividend (Granlund and Montgomery, 1994).
template <class U>
class reciprocal_of {
 public:
  explicit reciprocal_of(U d) noexcept {
    int bits = 0;  // 2^bits is the least power of two that is no less than d
    while (bits < width && (wide(1) << bits) < d) ++bits;
    factor_ = U(((((wide(1) << bits) - d) << width) / d) + 1);
    first_ = bits > 0 ? 1 : 0;
    second_ = bits > 0 ? bits - 1 : 0;
  }
  /// The upper half of a product. No vector instruction multiplies to 128 bits, so that is done by halves.
  SN_MEMBER U high(U factor, U x) {
    if constexpr (width == 64) {
      constexpr U low = 0xffffffff;
      const U f0 = factor & low, f1 = factor >> 32, x0 = x & low, x1 = x >> 32;
      const U middle = f1 * x0 + (f0 * x0 >> 32), other = f0 * x1 + (middle & low);
      return f1 * x1 + (middle >> 32) + (other >> 32);
    } else {
      return U((wide(factor) * x) >> width);
    }
  }
  U factor() const noexcept { return factor_; }
  int first_shift() const noexcept { return first_; }
  int second_shift() const noexcept { return second_; }

 private:
  typedef typename twice_as_wide<U>::type wide;
  static constexpr int width = 8 * sizeof(U);
  U factor_;
  int first_, second_;
};

/// Lanes divided by one divisor other than 0.
template <class T>
struct by_one_divisor {
  typedef typename sn::traits<T>::bits U;
  static constexpr bool is_signed = sn::traits<T>::is_signed;
  static constexpr int width = sn::traits<T>::width;

  /// to[l] = finish(x[l], quotient of the unsigned number start(x[l])).
  template <class Start, class Finish>
  SN_MEMBER void each(T* to, const T* x, int n, U divisor, Start start, Finish finish) {
    const reciprocal_of<U> by(divisor);
    const U factor = by.factor();
    const int first = by.first_shift(), second = by.second_shift();
    const auto lane = [&](int l) {
      const T dividend = x[l];
      const U u = start(dividend), high = reciprocal_of<U>::high(factor, u);
      to[l] = finish(dividend, U(U(high + U(U(u - high) >> first)) >> second));
    };
    n &= -lane_multiple;
    SINTER_LANES(l, n) lane(l);
  }
  /// The quotient rounded down, to finish(x, quotient). Of a negative quotient the complement is divided: ~x is -1 - x.
  template <class Finish>
  SN_MEMBER void rounded_down(T* to, const T* x, T d, int n, Finish finish) {
    if constexpr (!is_signed) {
      each(
          to, x, n, d, [](T a) { return a; }, finish);
    } else if (d > 0) {
      each(
          to, x, n, U(d), [](T a) { return U(a ^ (a >> (width - 1))); },
          [finish](T a, U q) { return finish(a, U(q ^ U(a >> (width - 1)))); });
    } else {
      each(
          to, x, n, U(U(0) - U(d)), [](T a) { return a > 0 ? U(U(a) - U(1)) : U(U(0) - U(a)); },
          [finish](T a, U q) { return finish(a, U(q ^ (a > 0 ? U(~U(0)) : U(0)))); });
    }
  }

  /// Of a power of two 0 and more: by how many bits it shifts; otherwise -1.
  static int shift_of(T d) noexcept {
    return d > 0 && (U(d) & U(U(d) - 1)) == 0 ? __builtin_ctzll(static_cast<unsigned long long>(d)) : -1;
  }

  /// Of numbers below 2^50 the quotient that is rounded down: no number is as close to a whole one from below as the product's
  /// rounding errors, which are at most a quarter of 1/d, after half of one has been added to it.
  static constexpr bool by_products = SINTER_ISA_LEVEL == 2 && is_signed && width == 64;
  static bool suits_products(const T* x, T d, int n) noexcept {
    U high = 0;
    n &= -lane_multiple;
    SINTER_LANES(l, n) high |= U(x[l]) + (U(1) << 50);
    return d > 0 && U(d) >> 50 == 0 && high >> 51 == 0;
  }
  SN_MEMBER double product_quotient(T x, double inverse) { return __builtin_floor((double(x) + 0.5) * inverse); }

  static void floor_divide(T* to, const T* x, T d, int n) noexcept {
    if (const int shift = shift_of(d); shift >= 0) {
      n &= -lane_multiple;
      SINTER_LANES(l, n) to[l] = T(x[l] >> shift);
      return;
    }
    if constexpr (by_products)
      if (suits_products(x, d, n)) {
        const double inverse = 1 / double(d);
        n &= -lane_multiple;
        SINTER_LANES(l, n) to[l] = T(product_quotient(x[l], inverse));
        return;
      }
    rounded_down(to, x, d, n, [](T, U q) { return T(q); });
  }
  static void remainder(T* to, const T* x, T d, int n) noexcept {
    if (shift_of(d) >= 0) {
      n &= -lane_multiple;
      SINTER_LANES(l, n) to[l] = T(x[l] & T(d - 1));
      return;
    }
    if constexpr (by_products)
      if (suits_products(x, d, n)) {
        const double by = double(d), inverse = 1 / by;
        n &= -lane_multiple;
        SINTER_LANES(l, n) to[l] = T(double(x[l]) - product_quotient(x[l], inverse) * by);
        return;
      }
    rounded_down(to, x, d, n, [d](T a, U q) { return sn::subtract(a, sn::multiply(T(q), d)); });
  }
  static void fmod(T* to, const T* x, T d, int n) noexcept {
    if constexpr (!is_signed) {
      remainder(to, x, d, n);
    } else {
      const U divisor = d < 0 ? U(U(0) - U(d)) : U(d);
      // Signs are random in most data: no branches.
      const auto with_sign_of = [](T a, U u) { return U((u ^ U(a >> (width - 1))) - U(a >> (width - 1))); };
      each(
          to, x, n, divisor, [=](T a) { return with_sign_of(a, U(a)); },
          [=](T a, U q) { return T(with_sign_of(a, U(with_sign_of(a, U(a)) - sn::multiply(q, divisor)))); });
    }
  }
};

/// Lanes divided by several divisors. No instruction set divides vectors of integers, but the quotient of numbers of half as many bits
/// as the mantissa has is truncated correctly: a/b is 1/b away from a whole number that it does not reach, and is rounded by
/// less.
template <class T>
struct quotient_type {
  typedef double type;
};
template <>
struct quotient_type<signed char> {
  typedef float type;
};
template <>
struct quotient_type<unsigned char> {
  typedef float type;
};
template <>
struct quotient_type<short> {
  typedef float type;
};
template <>
struct quotient_type<unsigned short> {
  typedef float type;
};

/// a / b towards 0, and the remainder with the sign of a. By 0: 0 both; by -1, where the lowest value has no quotient: it wraps. Either
/// divides by 1, which leaves nothing, and multiplies afterwards. Masks, since two selections by one condition become branches.
template <class T>
SN_FN T truncated_quotient(T a, T b, T& rest) {
  typedef typename quotient_type<T>::type real;
  typedef typename sn::traits<T>::bits bits;
  const T plain =
      bits(bits(b) + (sn::traits<T>::is_signed ? 1 : 0)) > (sn::traits<T>::is_signed ? 1 : 0) ? T(-1) : T(0);
  const T d = T((b & plain) | (1 & ~plain)), factor = T((1 & plain) | (b & ~plain));
  const real exact = real(a) / real(d);
  T q;
  if constexpr (sizeof(T) == 8 || (sizeof(T) == 4 && !sn::traits<T>::is_signed)) q = T((long long)(exact));
  else q = T(int(exact));
  rest = sn::subtract(a, sn::multiply(q, d));
  return sn::multiply(q, factor);
}

template <class T, class F>
struct whole_division;
template <class T>
struct whole_division<T, do_fmod> {
  SN_MEMBER T of(T a, T b) {
    T rest;
    truncated_quotient(a, b, rest);
    return rest;
  }
};
/// All bits where rest is not 0 and has another sign than b: compilers do not vectorise branches on both.
template <class T>
SN_FN T differs_in_sign(T rest, T b) {
  return T((T(rest | sn::negative(rest)) & T(rest ^ b)) >> (sn::traits<T>::width - 1));
}
template <class T>
struct whole_division<T, do_remainder> {
  SN_MEMBER T of(T a, T b) {
    T rest;
    truncated_quotient(a, b, rest);
    if constexpr (!sn::traits<T>::is_signed) return rest;
    else return T(rest + (b & differs_in_sign(rest, b)));
  }
};
template <class T>
struct whole_division<T, do_floor_divide> {
  SN_MEMBER T of(T a, T b) {
    T rest;
    const T q = truncated_quotient(a, b, rest);
    if constexpr (!sn::traits<T>::is_signed) return q;
    else return sn::add(q, differs_in_sign(rest, b));
  }
};

/// Whether all are below 2^51, so that their quotients in double are right.
template <class T>
SN_FN bool are_small(const T* a, const T* b, int n) {
  typedef typename sn::traits<T>::bits bits;
  constexpr bits half = sn::traits<T>::is_signed ? bits(1) << 50 : bits(0);
  bits high = 0;
  SINTER_LANES(l, n) high |= (bits(a[l]) + half) | (bits(b[l]) + half);
  return high >> 51 == 0;
}

template <class T, class F>
void by_several(T* to, const T* a, const T* b, int n) noexcept {
  // Whole numbers of 64 bits and unsigned ones of 32 are converted by AVX-512 only.
  if constexpr (SINTER_ISA_LEVEL < 2 && (sizeof(T) == 8 || (sizeof(T) == 4 && !sn::traits<T>::is_signed)))
    return binary_by_one<T, F>(to, a, b, nullptr, n, nullptr);
  if constexpr (sizeof(T) == 8)
    if (!are_small(a, b, n)) return binary_by_one<T, F>(to, a, b, nullptr, n, nullptr);
  SINTER_LANES(l, n) to[l] = whole_division<T, F>::of(a[l], b[l]);
}

/// Quotients and remainders: most programs divide all elements by one number.
template <class T, class F, void (*ByOne)(T*, const T*, T, int) noexcept>
void quotients(void* dst, const void* a, const void* b, const void*, int n, int*) {
  auto* to = static_cast<T*>(dst);
  auto* divisors = static_cast<const T*>(b);
  if (n == 1) return binary_by_one<T, F>(dst, a, b, nullptr, n, nullptr);
  const T d = divisors[0];
  T differ = 0;
  n &= -lane_multiple;
  SINTER_LANES(l, n) differ = T(differ | (divisors[l] ^ d));
  if (differ != 0) return by_several<T, F>(to, static_cast<const T*>(a), divisors, n);
  if (d == 0) SINTER_LANES(l, n) to[l] = 0;
  else ByOne(to, static_cast<const T*>(a), d, n);
}

/// Where simple_modulus is exact: quotients below `most`, and neither overflow nor a product that is not normal.
template <class T>
struct modulus_limits;
template <>
struct modulus_limits<float> {
  static constexpr float split = 4097.0f, whole = 0x1p23f, most = 0x1p21f, large = 0x1p100f, small = 0x1p-90f;
};
template <>
struct modulus_limits<double> {
  static constexpr double split = 134217729.0, whole = 0x1p52, most = 0x1p50, large = 0x1p990, small = 0x1p-900;
};

/// |a| modulo |b|, as exact as fmod's, unless `special`. The product of the quotient and the divisor is a sum of two numbers (T. J. Dekker,
/// A floating-point technique for extending the available precision, 1971), so that the difference has no error. A quotient
/// that was rounded up to a whole number is one too large.
template <class T>
SN_FN T simple_modulus(T a, T b, decltype(sn::to_bits(T()))& special) {
  typedef modulus_limits<T> limits;
  const T x = sn::absolute(a), y = sn::absolute(b), exact = x / y;
  const bool simple =
      bool(int(exact < limits::most) & int(y <= limits::large) & (int(x >= limits::small) | int(x == T(0))));
  special = simple ? 0 : 1;
  const T nearest = (exact + limits::whole) - limits::whole;
  const T q = nearest - (nearest > exact ? T(1) : T(0));
  const T qc = q * limits::split, yc = y * limits::split;
  const T qh = qc - (qc - q), ql = q - qh, yh = yc - (yc - y), yl = y - yh;
  const T product = q * y, error = ((qh * yh - product) + qh * yl + ql * yh) + ql * yl;
  const T m = (x - product) - error;
  return m + (m < T(0) ? y : T(0));
}

// What sn::fmod, sn::remainder and sn::floor_divide are (jit/prelude/float.h), from the modulus m with the sign of a. Conditions are
// masks of bits, since compilers do not vectorise branches on two of them.
template <class T, class F>
struct real_division;
template <class T>
struct real_division<T, do_fmod> {
  SN_MEMBER T of(T, T, T m) { return m; }
};
/// All bits where the signs differ.
template <class T>
SN_FN auto sign_mask(T a, T b) {
  typedef decltype(sn::to_bits(a)) word;
  return word(0) - word((sn::to_bits(a) ^ sn::to_bits(b)) >> (8 * sizeof(word) - 1));
}
/// 0 with the sign of a quotient.
template <class T>
SN_FN T signed_zero(T a, T b) {
  typedef decltype(sn::to_bits(a)) word;
  return sn::from_bits(word((sn::to_bits(a) ^ sn::to_bits(b)) & (word(1) << (8 * sizeof(word) - 1))));
}
template <class T>
struct real_division<T, do_remainder> {
  SN_MEMBER T of(T, T b, T m) {
    const T r = m + sn::from_bits(sn::to_bits(b) & sign_mask(b, m));
    return m == T(0) ? signed_zero(b, T(0)) : r;
  }
};
template <class T>
struct real_division<T, do_floor_divide> {
  SN_MEMBER T of(T a, T b, T m) {
    typedef decltype(sn::to_bits(a)) word;
    const T down = m == T(0) ? T(0) : sn::from_bits(word(sn::to_bits(T(1)) & sign_mask(b, m)));
    const T q = (a - m) / b - down, f = sn::floor(q);
    const T near = f + (q - f > T(0.5) ? T(1) : T(0));
    return q == T(0) ? signed_zero(a, b) : near;
  }
};

template <class T, class F>
void divide_reals(void* dst, const void* a, const void* b, const void*, int n, int*) {
  typedef decltype(sn::to_bits(T())) word;
  auto* to = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
  if (n == 1 || SINTER_ISA_LEVEL == 0) return binary_by_one<T, F>(dst, a, b, nullptr, n, nullptr);
  n &= -lane_multiple;
  alignas(64) T kept[2][block_lanes];  // `dst` may be an operand
  word found = 0;
  SINTER_LANES(l, n) {
    word mine;
    const T p = x[l], d = y[l], m = sn::copysign(simple_modulus(p, d, mine), p);
    kept[0][l] = p;
    kept[1][l] = d;
    to[l] = real_division<T, F>::of(p, d, m);
    found |= mine;
  }
  if (found == 0) return;
  for (int l = 0; l < n; ++l) {
    word mine;
    simple_modulus(kept[0][l], kept[1][l], mine);
    if (mine != 0) to[l] = F::of(kept[0][l], kept[1][l]);
  }
}

template <class T>
block_op whole_division_op(opcode op) noexcept {
  switch (op) {
    case opcode::floor_divide: return &quotients<T, do_floor_divide, by_one_divisor<T>::floor_divide>;
    case opcode::remainder: return &quotients<T, do_remainder, by_one_divisor<T>::remainder>;
    case opcode::fmod: return &quotients<T, do_fmod, by_one_divisor<T>::fmod>;
    default: return nullptr;
  }
}

template <class T, rounding R>
block_op real_division_op(opcode op) noexcept {
  switch (op) {
    case opcode::floor_divide: return with_rounding<&divide_reals<T, do_floor_divide>, R>();
    case opcode::remainder: return with_rounding<&divide_reals<T, do_remainder>, R>();
    case opcode::fmod: return &divide_reals<T, do_fmod>;
    default: return nullptr;
  }
}

}  // namespace

block_op division_op(opcode op, dtype arg) noexcept {
  switch (arg) {
    case dtype::i8: return whole_division_op<signed char>(op);
    case dtype::i16: return whole_division_op<short>(op);
    case dtype::i32: return whole_division_op<int>(op);
    case dtype::i64: return whole_division_op<long long>(op);
    case dtype::u8: return whole_division_op<unsigned char>(op);
    case dtype::u16: return whole_division_op<unsigned short>(op);
    case dtype::u32: return whole_division_op<unsigned>(op);
    case dtype::u64: return whole_division_op<unsigned long long>(op);
    case dtype::f16: return real_division_op<float, rounding::f16>(op);
    case dtype::bf16: return real_division_op<float, rounding::bf16>(op);
    case dtype::f32: return real_division_op<float, rounding::none>(op);
    case dtype::f64: return real_division_op<double, rounding::none>(op);
    default: return nullptr;
  }
}

}  // namespace sinter::jit::tier0::SINTER_ISA
