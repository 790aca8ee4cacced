// Block operations on float and double, and on float16 and bfloat16 as rounded floats.
#include "jit/cpu/interpreter/loops.inl"
#include "jit/cpu/interpreter/math.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

/// As sn::logaddexp, with its two functions computed block-wise.
template <class T>
void logaddexp_lanes(void* dst, const void* a, const void* b, const void*, int n, int* fault) {
  auto* r = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
  alignas(64) T t[block_lanes];
  T* const more_by = t;
  constexpr block_op exp_op = MATH_1(exp), log1p_op = MATH_1(log1p);
  each_lane(n, [=](int l) { more_by[l] = -sn::absolute(x[l] - y[l]); });
  exp_op(t, t, nullptr, nullptr, n, fault);
  log1p_op(t, t, nullptr, nullptr, n, fault);
  each_lane(n, [=](int l) {
    T d = x[l] - y[l], more = d > 0 ? x[l] : y[l];
    T unequal = d == d ? more + more_by[l] : d;
    r[l] = x[l] == y[l] ? x[l] + T(0.69314718055994530942) : unequal;
  });
}

template <rounding R>
void half_nextafter(void* dst, const void* a, const void* b, const void*, int n, int*) {
  auto* r = static_cast<float*>(dst);
  auto* x = static_cast<const float*>(a);
  auto* y = static_cast<const float*>(b);
  for (int l = 0; l < n; ++l)
    r[l] = R == rounding::f16 ? sn::nextafter_f16(x[l], y[l]) : sn::nextafter_bf16(x[l], y[l]);
}

/// |x + iy| for float: the squares are exact in double, and nothing overflows.
SN_FN float modulus(float x, float y, unsigned& special) {
  const float size = float(__builtin_sqrt(double(x) * double(x) + double(y) * double(y)));
  special = 0;
  return bool(int(sn::isinf(x)) | int(sn::isinf(y))) ? sn::infinity(x) : size;
}
/// For double as the C library's hypot computes it (Borges, An improved algorithm for hypot(a, b), 2019, without fused
/// operations); where it would scale its arguments, and of NaN, the result is special: hypot itself gives it.
SN_FN double modulus(double x, double y, unsigned long long& special) {
  x = sn::absolute(x);
  y = sn::absolute(y);
  const double more = x < y ? y : x, less = x < y ? x : y;
  const double h = __builtin_sqrt(more * more + less * less);
  const bool near = h <= 2.0 * less;
  const double delta = h - (near ? less : more);
  const double a = near ? more * (2.0 * delta - more) : 2.0 * delta * (more - 2.0 * less);
  const double b = near ? (delta - 2.0 * (more - less)) * delta : (4.0 * delta - less) * less + delta * delta;
  const double corrected = h - (a + b) / (2.0 * h);
  const bool alone = less <= more * 0x1p-54;  // the smaller one is below the rounding of the larger one
  special = bool(int(!alone) & (int(!(more <= 0x1p511)) | int(!(less >= 0x1p-459)))) ? 1 : 0;
  return alone ? more + less : corrected;
}
// What is special is counted in words of the elements' width, and looked for again where there is any: bytes would have the
// compiler work on so many elements at a time that its registers do not hold them.
template <class R>
void moduli(void* dst, const void* a, const void*, const void*, int n, int* fault) {
  typedef decltype(sn::to_bits(R())) word;
  alignas(64) R x[block_lanes], y[block_lanes];
  auto* r = static_cast<R*>(dst);
  part_of<R, 0>(x, a, nullptr, nullptr, n, fault);
  part_of<R, 1>(y, a, nullptr, nullptr, n, fault);
  n &= -lane_multiple;
  word found = 0;
  SINTER_LANES(l, n) {
    word mine;
    r[l] = modulus(x[l], y[l], mine);
    found |= mine;
  }
  if (found == 0) return;
  for (int l = 0; l < n; ++l) {
    word mine;
    modulus(x[l], y[l], mine);
    if (mine != 0) r[l] = sn::hypot(x[l], y[l]);
  }
}

/// Arithmetic on float16: each result is rounded before it is stored.
template <class F>
void half_arithmetic(void* dst, const void* a, const void* b, const void*, int n, int*) {
  auto* r = static_cast<float*>(dst);
  auto* x = static_cast<const float*>(a);
  auto* y = static_cast<const float*>(b);
  n &= -lane_multiple;
#if SINTER_ISA_LEVEL > 0
  for (int l = 0; l < n; l += half_lanes) {
    float_lanes v, w;
    __builtin_memcpy(&v, x + l, sizeof v);
    __builtin_memcpy(&w, y + l, sizeof w);
    v = widen(narrow(F::of(v, w)));
    __builtin_memcpy(r + l, &v, sizeof v);
  }
#else
  SINTER_LANES(l, n) r[l] = sn::round_f16(F::of(x[l], y[l]));
#endif
}
// The prelude's functions take single numbers: of vectors GCC takes their barriers against contraction apart.
#define SINTER_LANES_OF(name, sign)                       \
  struct lanes_##name {                                  \
    template <class V>                                   \
    SN_MEMBER V of(V a, V b) {                           \
      return a sign b;                                   \
    }                                                    \
  };
SINTER_LANES_OF(add, +)
SINTER_LANES_OF(subtract, -)
SINTER_LANES_OF(multiply, *)
SINTER_LANES_OF(divide, /)
#undef SINTER_LANES_OF
template <class T, rounding R, class F, class Lanes>
constexpr block_op arithmetic() {
  if constexpr (R == rounding::f16) return &half_arithmetic<Lanes>;
  else return with_rounding<&binary<T, T, F>, R>();
}

#define ROUNDED(...) return with_rounding<__VA_ARGS__, R>()
#define UNARY(op) case opcode::op: ROUNDED(&unary<T, T, do_##op>);
#define BINARY(op) case opcode::op: ROUNDED(&binary<T, T, do_##op>);
#define ARITHMETIC(op) case opcode::op: return arithmetic<T, R, do_##op, lanes_##op>();
#define EXACT_UNARY(op) case opcode::op: return &unary<T, T, do_##op>;
#define EXACT_BINARY(op) case opcode::op: return &binary<T, T, do_##op>;
#define TEST(op) case opcode::op: return &unary<bool, T, do_##op>;
#define COMPARE(op) case opcode::op: return &binary<bool, T, do_##op>;

/// Operations whose result is rounded to the type.
template <class T, rounding R>
block_op rounding_op(opcode op) noexcept {
  switch (op) {
#define OP(name, operands, weight)
#define LIBM_OP(name, operands, weight, rule, function) case opcode::name: ROUNDED(MATH_##operands(name));
#include "jit/program/opcodes.def"
    UNARY(square)
    UNARY(sqrt)
    UNARY(reciprocal)
    ARITHMETIC(add)
    ARITHMETIC(subtract)
    ARITHMETIC(multiply)
    ARITHMETIC(divide)
    BINARY(ldexp)
    case opcode::power: ROUNDED(MATH_POWER);
    case opcode::logaddexp: ROUNDED(&logaddexp_lanes<T>);
    default: return nullptr;
  }
}

/// Operations whose result needs no rounding in any of the types.
template <class T>
block_op exact_op(opcode op) noexcept {
  switch (op) {
    EXACT_UNARY(negative)
    EXACT_UNARY(absolute)
    EXACT_UNARY(sign)
    EXACT_UNARY(floor)
    EXACT_UNARY(ceil)
    EXACT_UNARY(trunc)
    EXACT_UNARY(rint)
    EXACT_UNARY(conj)
    EXACT_UNARY(real)
    EXACT_UNARY(imag)
    EXACT_UNARY(frexp_mantissa)
    EXACT_UNARY(frexp_exponent)
    TEST(isnan)
    TEST(isinf)
    TEST(isfinite)
    TEST(signbit)
    TEST(logical_not)
    EXACT_BINARY(copysign)
    EXACT_BINARY(maximum)
    EXACT_BINARY(minimum)
    EXACT_BINARY(fmax)
    EXACT_BINARY(fmin)
    COMPARE(equal)
    COMPARE(not_equal)
    COMPARE(less)
    COMPARE(less_equal)
    COMPARE(greater)
    COMPARE(greater_equal)
    COMPARE(logical_and)
    COMPARE(logical_or)
    COMPARE(logical_xor)
    case opcode::select: return &choose<T>;
    default: return nullptr;
  }
}

/// Complex numbers from their parts; as part_of (loops.inl), which takes them apart.
template <class T>
void joined_parts(void* dst, const void* a, const void* b, const void*, int n, int*) {
  typedef T vector __attribute__((vector_size(16)));
  auto* r = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
  constexpr int width = int(sizeof(vector) / sizeof(T));
  if (n == 1) {
    r[0] = *x;
    r[1] = *y;
    return;
  }
  n &= -lane_multiple;
  for (int l = 0; l < n; l += width) {
    vector re, im, low, high;
    __builtin_memcpy(&re, x + l, sizeof re);
    __builtin_memcpy(&im, y + l, sizeof im);
    if constexpr (width == 4) {
      low = __builtin_shufflevector(re, im, 0, 4, 1, 5);
      high = __builtin_shufflevector(re, im, 2, 6, 3, 7);
    } else {
      low = __builtin_shufflevector(re, im, 0, 2);
      high = __builtin_shufflevector(re, im, 1, 3);
    }
    __builtin_memcpy(r + 2 * l, &low, sizeof low);
    __builtin_memcpy(r + 2 * l + width, &high, sizeof high);
  }
}

template <class T, rounding R>
block_op floating_op(opcode op) noexcept {
  if (op == opcode::make_complex) return R == rounding::none ? &joined_parts<T> : nullptr;
  if (op == opcode::nextafter) {
    if constexpr (R == rounding::none) return &binary_by_one<T, do_nextafter>;
    else return &half_nextafter<R>;
  }
  if (block_op found = exact_op<T>(op)) return found;
  return rounding_op<T, R>(op);
}

}  // namespace

block_op real_op(opcode op, dtype arg) noexcept {
  switch (arg) {
    case dtype::f16: return floating_op<float, rounding::f16>(op);
    case dtype::bf16: return floating_op<float, rounding::bf16>(op);
    case dtype::f32: return floating_op<float, rounding::none>(op);
    case dtype::f64: return floating_op<double, rounding::none>(op);
    default: return nullptr;
  }
}

block_op modulus_op(dtype arg) noexcept { return arg == dtype::c64 ? &moduli<float> : &moduli<double>; }

void widen_f16(float* to, const std::uint16_t* from, int n) noexcept {
  int done = 0;
#if SINTER_ISA_LEVEL > 0
  for (; done + half_lanes <= n; done += half_lanes) {
    half_vector h;
    __builtin_memcpy(&h, from + done, sizeof h);
    const float_lanes v = widen(h);
    __builtin_memcpy(to + done, &v, sizeof v);
  }
#endif
  for (int l = done; l < n; ++l) to[l] = sn::f16_to_float(from[l]);
}
void narrow_f16(std::uint16_t* to, const float* from, int n) noexcept {
  int done = 0;
#if SINTER_ISA_LEVEL > 0
  for (; done + half_lanes <= n; done += half_lanes) {
    float_lanes v;
    __builtin_memcpy(&v, from + done, sizeof v);
    const half_vector h = narrow(v);
    __builtin_memcpy(to + done, &h, sizeof h);
  }
#endif
  for (int l = done; l < n; ++l) to[l] = sn::float_to_f16(from[l]);
}
void widen_bf16(float* to, const std::uint16_t* from, int n) noexcept {
  SINTER_LANES(l, n) to[l] = sn::bf16_to_float(from[l]);
}
void narrow_bf16(std::uint16_t* to, const float* from, int n) noexcept {
  SINTER_LANES(l, n) to[l] = sn::float_to_bf16(from[l]);
}

}  // namespace sinter::jit::tier0::SINTER_ISA
