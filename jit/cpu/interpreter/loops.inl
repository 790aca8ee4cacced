// The loops over lanes, and the operations of the prelude as types that the loops can be instantiated with.
#include "jit/cpu/lane_loops.inl"
#include "jit/prelude/base.h"
#include "jit/prelude/float.h"
#include "jit/prelude/half.h"
#include "jit/prelude/convert.h"
#include "jit/prelude/complex.h"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

// do_add::of(x, y) is sn::add(x, y); a name without operands is not a function of the prelude.
#define SN_DO_0(name)
#define SN_DO_1(name)                                \
  struct do_##name {                                 \
    template <class... A>                            \
    SN_MEMBER auto of(A... a) { return sn::name(a...); } \
  };
#define SN_DO_2(name) SN_DO_1(name)
#define SN_DO_3(name) SN_DO_1(name)
#define OP(name, operands, weight) SN_DO_##operands(name)
#define RANDOM_OP(name, operands, weight)
#define SPECIAL_OP(family, name, operands, weight)
#include "jit/program/opcodes.def"

enum class rounding { none, f16, bf16 };
template <rounding R>
SN_FN float rounded(float x) {
  if constexpr (R == rounding::f16) return sn::round_f16(x);
  else if constexpr (R == rounding::bf16) return sn::round_bf16(x);
  else return x;
}

// GCC does not vectorise loads of bool next to wider lanes, but does vectorise bytes that are compared with 0.
template <class T> struct lane { typedef T type; };
template <> struct lane<bool> { typedef unsigned char type; };

/// f(l) for each lane; the lanes are independent. `n`: 1, or rounded down to whole groups of lanes, so that there is no tail.
template <class F>
SN_FN void each_lane(int n, F f) {
  if (n == 1) return f(0);
  n &= -lane_multiple;
  SINTER_LANES(l, n) f(l);
}

template <class R, class A, class F>
void unary(void* dst, const void* a, const void*, const void*, int n, int*) {
  auto* r = static_cast<R*>(dst);
  auto* x = static_cast<const typename lane<A>::type*>(a);
  each_lane(n, [=](int l) { put_lane<R>(r, l, F::of(static_cast<A>(get_lane(x, l)))); });
}
template <class R, class A, class F>
void binary(void* dst, const void* a, const void* b, const void*, int n, int*) {
  auto* r = static_cast<R*>(dst);
  auto* x = static_cast<const A*>(a);
  auto* y = static_cast<const A*>(b);
  each_lane(n, [=](int l) { put_lane<R>(r, l, F::of(get_lane(x, l), get_lane(y, l))); });
}
// Operations that call the C library, select between two computations for each element, or divide integers, for which
// no instruction set has vector instructions.
template <class R, class A, class F>
void unary_by_one(void* dst, const void* a, const void*, const void*, int n, int*) {
  SINTER_ONE_BY_ONE(l, n) static_cast<R*>(dst)[l] = F::of(static_cast<const A*>(a)[l]);
}
template <class T, class F>
void binary_by_one(void* dst, const void* a, const void* b, const void*, int n, int*) {
  SINTER_ONE_BY_ONE(l, n)
  static_cast<T*>(dst)[l] = F::of(static_cast<const T*>(a)[l], static_cast<const T*>(b)[l]);
}
/// Operations on complex numbers that are the same operation on each part.
template <block_op Part>
void in_parts(void* dst, const void* a, const void* b, const void*, int n, int* fault) {
  Part(dst, a, b, nullptr, 2 * n, fault);
}
/// Tests on complex numbers that are true if they are for both parts, or for one of them.
enum class of_parts { both, one };
template <block_op Part, of_parts Which>
void test_parts(void* dst, const void* a, const void* b, const void*, int n, int* fault) {
  alignas(64) unsigned short pairs[block_lanes];  // of truth values, a byte each
  auto* r = static_cast<bool*>(dst);
  n &= -lane_multiple;
  Part(pairs, a, b, nullptr, 2 * n, fault);
  SINTER_LANES(l, n) r[l] = Which == of_parts::both ? pairs[l] == 0x0101 : pairs[l] != 0;
}
/// The real (0) or imaginary (1) parts. Four or two elements at a time: clang's vectoriser would gather them one by
/// one.
template <class R, int Which>
void part_of(void* dst, const void* a, const void*, const void*, int n, int*) {
  typedef R vector __attribute__((vector_size(16)));
  auto* r = static_cast<R*>(dst);
  auto* x = static_cast<const R*>(a);
  constexpr int width = int(sizeof(vector) / sizeof(R));
  if (n == 1) return static_cast<void>(*r = x[Which]);
  n &= -lane_multiple;
  for (int l = 0; l < n; l += width) {
    vector low, high, parts;
    __builtin_memcpy(&low, x + 2 * l, sizeof low);
    __builtin_memcpy(&high, x + 2 * l + width, sizeof high);
    if constexpr (width == 4) parts = __builtin_shufflevector(low, high, Which, 2 + Which, 4 + Which, 6 + Which);
    else parts = __builtin_shufflevector(low, high, Which, 2 + Which);
    __builtin_memcpy(r + l, &parts, sizeof parts);
  }
}
template <class T>
void choose(void* dst, const void* c, const void* a, const void* b, int n, int*) {
  auto* r = static_cast<T*>(dst);
  auto* k = static_cast<const lane<bool>::type*>(c);
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
  each_lane(n, [=](int l) { r[l] = sn::select(k[l] != 0, x[l], y[l]); });
}
#if SINTER_ISA_LEVEL == 1
typedef short half_vector __attribute__((vector_size(16)));
typedef float float_lanes __attribute__((vector_size(32)));
SN_FN float_lanes widen(half_vector h) { return __builtin_ia32_vcvtph2ps256(h); }
SN_FN half_vector narrow(float_lanes x) { return __builtin_ia32_vcvtps2ph256(x, 0); }  // to nearest, ties to even
#elif SINTER_ISA_LEVEL == 2
typedef short half_vector __attribute__((vector_size(32)));
typedef float float_lanes __attribute__((vector_size(64)));
SN_FN float_lanes widen(half_vector h) {
  return __builtin_ia32_vcvtph2ps512_mask(h, float_lanes{}, (unsigned short)(-1), 4);
}
SN_FN half_vector narrow(float_lanes x) {
  return __builtin_ia32_vcvtps2ph512_mask(x, 0, half_vector{}, (unsigned short)(-1));
}
#endif
#if SINTER_ISA_LEVEL > 0
constexpr int half_lanes = int(sizeof(half_vector) / sizeof(short));
#else
constexpr int half_lanes = 1;
#endif

/// Each lane rounded to float16; `to` may be `from`.
SN_FN void round_to_f16(float* to, const float* from, int n) {
  n &= -lane_multiple;
#if SINTER_ISA_LEVEL > 0
  for (int l = 0; l < n; l += half_lanes) {
    float_lanes v;
    __builtin_memcpy(&v, from + l, sizeof v);
    v = widen(narrow(v));
    __builtin_memcpy(to + l, &v, sizeof v);
  }
#else
  SINTER_LANES(l, n) to[l] = sn::round_f16(from[l]);
#endif
}

/// A float operation, then the rounding of each lane to a half type.
template <block_op F, rounding R>
void then_round(void* dst, const void* a, const void* b, const void* c, int n, int* fault) {
  F(dst, a, b, c, n, fault);
  auto* r = static_cast<float*>(dst);
  n &= -lane_multiple;
  if constexpr (R == rounding::f16) round_to_f16(r, r, n);
  else SINTER_LANES(l, n) r[l] = rounded<R>(r[l]);
}
template <block_op F, rounding R>
constexpr block_op with_rounding() {
  if constexpr (R == rounding::none) return F;
  else return &then_round<F, R>;
}

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA
