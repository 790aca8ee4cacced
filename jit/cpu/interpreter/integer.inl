// Block operations on bool and integers.
#include "jit/cpu/interpreter/loops.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

#define UNARY(op) case opcode::op: return &unary<T, T, do_##op>;
#define TEST(op) case opcode::op: return &unary<bool, T, do_##op>;
#define BINARY(op) case opcode::op: return &binary<T, T, do_##op>;
#define QUOTIENT(op) case opcode::op: return &quotients<T, do_##op, by_one_divisor<T>::op>;
#define COMPARE(op) case opcode::op: return &binary<bool, T, do_##op>;

/// Operations common to bool and integers.
template <class T>
block_op common_op(opcode op) noexcept {
  switch (op) {
    UNARY(absolute)
    UNARY(floor)
    UNARY(ceil)
    UNARY(trunc)
    UNARY(conj)
    UNARY(real)
    UNARY(imag)
    UNARY(bitwise_not)
    TEST(isnan)
    TEST(isinf)
    TEST(isfinite)
    TEST(logical_not)
    BINARY(add)
    BINARY(multiply)
    BINARY(maximum)
    BINARY(minimum)
    BINARY(bitwise_and)
    BINARY(bitwise_or)
    BINARY(bitwise_xor)
    COMPARE(equal)
    COMPARE(not_equal)
    COMPARE(less)
    COMPARE(less_equal)
    COMPARE(greater)
    COMPARE(greater_equal)
    COMPARE(logical_and)
    COMPARE(logical_or)
    COMPARE(logical_xor)
    case opcode::fmax: return &binary<T, T, do_maximum>;
    case opcode::fmin: return &binary<T, T, do_minimum>;
    case opcode::select: return &choose<T>;
    default: return nullptr;
  }
}

template <class T>
void integer_power(void* dst, const void* a, const void* b, const void*, int n, int* fault) {
  auto* r = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
  for (int l = 0; l < n; ++l) r[l] = sn::power(x[l], y[l], fault);
}

template <class U> struct twice_as_wide;
template <> struct twice_as_wide<unsigned char> { typedef unsigned short type; };
template <> struct twice_as_wide<unsigned short> { typedef unsigned type; };
template <> struct twice_as_wide<unsigned> { typedef unsigned long long type; };
template <> struct twice_as_wide<unsigned long long> { __extension__ typedef unsigned __int128 type; };

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
  SN_MEMBER U high(U factor, U x) { return U((wide(factor) * x) >> width); }
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
    if constexpr (sizeof(U) == 8) SINTER_ONE_BY_ONE(l, n) lane(l);  // no vector instruction multiplies to 128 bits
    else SINTER_LANES(l, n) lane(l);
  }
  /// The quotient rounded down, to finish(x, quotient). Of a negative quotient the complement is divided: ~x is -1 - x.
  template <class Finish>
  SN_MEMBER void rounded_down(T* to, const T* x, T d, int n, Finish finish) {
    if constexpr (!is_signed) {
      each(to, x, n, d, [](T a) { return a; }, finish);
    } else if (d > 0) {
      each(to, x, n, U(d), [](T a) { return U(a ^ (a >> (width - 1))); },
           [finish](T a, U q) { return finish(a, U(q ^ U(a >> (width - 1)))); });
    } else {
      each(to, x, n, U(U(0) - U(d)), [](T a) { return a > 0 ? U(U(a) - U(1)) : U(U(0) - U(a)); },
           [finish](T a, U q) { return finish(a, U(q ^ (a > 0 ? U(~U(0)) : U(0)))); });
    }
  }

  static void floor_divide(T* to, const T* x, T d, int n) noexcept {
    rounded_down(to, x, d, n, [](T, U q) { return T(q); });
  }
  static void remainder(T* to, const T* x, T d, int n) noexcept {
    rounded_down(to, x, d, n, [d](T a, U q) { return sn::subtract(a, sn::multiply(T(q), d)); });
  }
  static void fmod(T* to, const T* x, T d, int n) noexcept {
    if constexpr (!is_signed) {
      remainder(to, x, d, n);
    } else {
      const U divisor = d < 0 ? U(U(0) - U(d)) : U(d);
      // Signs are random in most data: no branches.
      const auto with_sign_of = [](T a, U u) { return U((u ^ U(a >> (width - 1))) - U(a >> (width - 1))); };
      each(to, x, n, divisor, [=](T a) { return with_sign_of(a, U(a)); },
           [=](T a, U q) { return T(with_sign_of(a, U(with_sign_of(a, U(a)) - sn::multiply(q, divisor)))); });
    }
  }
};

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
  if (differ != 0) return binary_by_one<T, F>(dst, a, b, nullptr, n, nullptr);
  if (d == 0) SINTER_LANES(l, n) to[l] = 0;
  else ByOne(to, static_cast<const T*>(a), d, n);
}

template <class T>
block_op whole_op(opcode op) noexcept {
  switch (op) {
    UNARY(negative)
    UNARY(sign)
    UNARY(square)
    UNARY(reciprocal)
    BINARY(subtract)
    QUOTIENT(floor_divide)
    QUOTIENT(remainder)
    QUOTIENT(fmod)
    BINARY(left_shift)
    BINARY(right_shift)
    case opcode::power: return &integer_power<T>;
    case opcode::gcd: return &binary_by_one<T, do_gcd>;
    default: return common_op<T>(op);
  }
}
#undef UNARY
#undef TEST
#undef BINARY
#undef QUOTIENT
#undef COMPARE

}  // namespace

block_op integer_op(opcode op, dtype arg) noexcept {
  switch (arg) {
    case dtype::b1: return common_op<bool>(op);
    case dtype::i8: return whole_op<signed char>(op);
    case dtype::i16: return whole_op<short>(op);
    case dtype::i32: return whole_op<int>(op);
    case dtype::i64: return whole_op<long long>(op);
    case dtype::u8: return whole_op<unsigned char>(op);
    case dtype::u16: return whole_op<unsigned short>(op);
    case dtype::u32: return whole_op<unsigned>(op);
    case dtype::u64: return whole_op<unsigned long long>(op);
    default: return nullptr;
  }
}

}  // namespace sinter::jit::tier0::SINTER_ISA
