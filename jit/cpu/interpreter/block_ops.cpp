// The block operation of an instruction, and which instructions generated CPU code computes inline.
#include "jit/cpu/interpreter/block_ops.hpp"

#include "jit/cpu/interpreter/exponential.hpp"
#include "jit/cpu/interpreter/powers.hpp"

#if SINTER_TIER0_X86
#include <cpuid.h>
#endif

namespace sinter::jit {
namespace tier0 {
namespace {

#if SINTER_TIER0_X86
/// Conversions of float16; __builtin_cpu_supports does not know them everywhere.
bool has_f16c() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

isa detect() noexcept {
#if SINTER_TIER0_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return isa::avx512;
  if (__builtin_cpu_supports("avx2") && has_f16c()) return isa::avx2;
#endif
  return isa::baseline;
}

}  // namespace

isa active_isa() noexcept {
  static const isa found = detect();
  return found;
}

#if SINTER_TIER0_X86
#define SINTER_DISPATCH(call)              \
  switch (active_isa()) {                  \
    case isa::avx512: return avx512::call; \
    case isa::avx2: return avx2::call;     \
    default: return baseline::call;        \
  }
#else
#define SINTER_DISPATCH(call) return baseline::call;
#endif

namespace {

block_op plain_op(opcode op, dtype arg) noexcept {
  if (op == opcode::floor_divide || op == opcode::remainder || op == opcode::fmod) SINTER_DISPATCH(division_op(op, arg))
  if (is_bool(arg) || is_integer(arg)) SINTER_DISPATCH(integer_op(op, arg))
  if (is_real_floating(arg)) SINTER_DISPATCH(real_op(op, arg))
  if (op == opcode::absolute) SINTER_DISPATCH(modulus_op(arg))
#if SINTER_TIER0_X86
  if (active_isa() != isa::baseline) return avx2::complex_op(op, arg);
#endif
  return baseline::complex_op(op, arg);
}
block_op complex_function(opcode op, dtype arg) noexcept {SINTER_DISPATCH(complex_function_op(op, arg))} block_op
    conversion(dtype to, dtype from) noexcept {SINTER_DISPATCH(cast_op(to, from))}

// clang-format off
/// The result dtype of the operation for these operands.
dtype result_type(opcode op, dtype arg) noexcept {
  switch (op) {
    case opcode::isnan: case opcode::isinf: case opcode::isfinite: case opcode::signbit: case opcode::logical_not:
    case opcode::equal: case opcode::not_equal: case opcode::less: case opcode::less_equal: case opcode::greater:
    case opcode::greater_equal: case opcode::logical_and: case opcode::logical_or: case opcode::logical_xor:
      return dtype::b1;
    case opcode::absolute: case opcode::real: case opcode::imag:
      return arg == dtype::c64 ? dtype::f32 : arg == dtype::c128 ? dtype::f64 : arg;
    case opcode::make_complex:
      return arg == dtype::f32 ? dtype::c64 : dtype::c128;
    default:
      return arg;
  }
}
// clang-format on

}  // namespace
}  // namespace tier0

namespace tier0 {
namespace {

/// The instruction set of special functions, which use explicit fused multiply-adds as random numbers do.
isa special_isa() noexcept {
#if SINTER_TIER0_X86
  if (active_isa() == isa::avx2 && !__builtin_cpu_supports("fma")) return isa::baseline;
#endif
  return active_isa();
}

}  // namespace

block_op special_op(isa level, opcode op, dtype type) noexcept {
#if SINTER_TIER0_X86
#define SINTER_FAMILY(find)                                             \
  if (block_op found = level == isa::avx512 ? avx512::find(op, type)    \
                       : level == isa::avx2 ? avx2::find(op, type)      \
                                            : baseline::find(op, type)) \
    return found;
#else
#define SINTER_FAMILY(find) \
  if (block_op found = baseline::find(op, type)) return found;
#endif
  SINTER_FAMILY(special_error_op)
  SINTER_FAMILY(special_gamma_op)
  SINTER_FAMILY(special_logistic_op)
  SINTER_FAMILY(special_bessel_op)
  SINTER_FAMILY(special_integrals_op)
  SINTER_FAMILY(special_incomplete_op)
  SINTER_FAMILY(special_beta_op)
  SINTER_FAMILY(special_inverse_op)
  SINTER_FAMILY(special_order_op)
  SINTER_FAMILY(special_legendre_op)
  SINTER_FAMILY(special_complex_op)
  SINTER_FAMILY(special_zeta_op)
#undef SINTER_FAMILY
  (void)level;
  return nullptr;
}

namespace {

/// What there is where there are fused multiply-adds; null where libmvec's or the C library's serves.
#if SINTER_TIER0_X86
#define SINTER_OWN(find, ...)                                                    \
  (tier0::special_isa() == tier0::isa::avx512 ? tier0::avx512::find(__VA_ARGS__) \
   : tier0::special_isa() == tier0::isa::avx2 ? tier0::avx2::find(__VA_ARGS__)   \
                                              : nullptr)
#else
#define SINTER_OWN(find, ...) nullptr
#endif
block_op own_power(dtype type) noexcept { return SINTER_OWN(power_op, type); }
block_op own_exponential(dtype type) noexcept { return SINTER_OWN(exponential_op, type); }
block_op own_function(opcode op, dtype type, dtype arg) noexcept { return SINTER_OWN(own_function_op, op, type, arg); }

}  // namespace
}  // namespace tier0

block_op find_exponential_of_difference(dtype type) noexcept { return SINTER_OWN(exponential_of_difference_op, type); }
#undef SINTER_OWN
bool is_own_exponential(opcode op, dtype type, dtype arg) noexcept {
  return op == opcode::exp && type == arg && tier0::own_exponential(arg) != nullptr;
}

block_op find_block_op(opcode op, dtype type, dtype arg) noexcept {
  if (is_special(op)) return type == arg ? tier0::special_op(tier0::special_isa(), op, type) : nullptr;
  if (op == opcode::cast) return tier0::conversion(type, arg);
  if (type != tier0::result_type(op, arg)) return nullptr;
  if (op == opcode::power)
    if (block_op found = tier0::own_power(arg)) return found;
  if (op == opcode::exp)
    if (block_op found = tier0::own_exponential(arg)) return found;
  if (block_op found = tier0::own_function(op, type, arg)) return found;
  if (block_op found = tier0::plain_op(op, arg)) return found;
  if (!is_complex(arg)) return nullptr;
  if (block_op found = tier0::complex_function(op, arg)) return found;
  return tier0::complex_math_op(op, arg);
}

// Uses explicit fused multiply-adds; every relevant processor with AVX2 has them.
block_op find_random_op(opcode op, dtype type) noexcept {
#if SINTER_TIER0_X86
  if (tier0::active_isa() == tier0::isa::avx512) return tier0::avx512::random_op(op, type);
  if (tier0::active_isa() == tier0::isa::avx2 && __builtin_cpu_supports("fma")) return tier0::avx2::random_op(op, type);
#endif
  return tier0::baseline::random_op(op, type);
}

namespace {

bool is_plain(dtype t) noexcept { return is_bool(t) || is_integer(t) || t == dtype::f32 || t == dtype::f64; }
bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

/// What compilers make vectors of, whose parts are apart: neither roots nor branches.
bool is_complex_arithmetic(opcode op) noexcept {
  switch (op) {
    case opcode::cast:
    case opcode::negative:
    case opcode::conj:
    case opcode::square:
    case opcode::add:
    case opcode::subtract:
    case opcode::multiply:
    case opcode::divide:
    case opcode::equal:
    case opcode::not_equal:
    case opcode::isnan:
    case opcode::isinf:
    case opcode::isfinite:
    case opcode::select: return true;
    default: return false;
  }
}

}  // namespace

bool takes_one_lane(opcode op, dtype type, dtype arg) noexcept {
  return is_plain(type) && is_plain(arg) && !is_special(op) && !is_random(op);
}

bool has_half_vectors() noexcept { return tier0::active_isa() != tier0::isa::baseline; }

// clang-format off
bool is_inline_on_cpu(opcode op, dtype type, dtype arg) noexcept {
  if (is_complex(type) || is_complex(arg)) return is_complex_arithmetic(op) && !is_half(type) && !is_half(arg);
  if (!is_plain(type) || !is_plain(arg)) return false;
  switch (op) {
    case opcode::cast: case opcode::negative: case opcode::absolute: case opcode::square: case opcode::sqrt:
    case opcode::add: case opcode::subtract: case opcode::multiply: case opcode::divide: case opcode::maximum:
    case opcode::minimum: case opcode::equal: case opcode::not_equal: case opcode::less: case opcode::less_equal:
    case opcode::greater: case opcode::greater_equal: case opcode::logical_not: case opcode::logical_and:
    case opcode::logical_or: case opcode::logical_xor: case opcode::bitwise_not: case opcode::bitwise_and:
    case opcode::bitwise_or: case opcode::bitwise_xor: case opcode::left_shift: case opcode::right_shift:
    case opcode::select: case opcode::isnan: case opcode::isinf: case opcode::isfinite: case opcode::signbit:
    case opcode::floor: case opcode::ceil: case opcode::trunc: case opcode::rint: case opcode::copysign:
      return true;
    default:
      return false;
  }
}
// clang-format on

using namespace tier0;

#if SINTER_TIER0_X86
#define SINTER_CONVERT(function)                            \
  switch (active_isa()) {                                   \
    case isa::avx512: return avx512::function(to, from, n); \
    case isa::avx2: return avx2::function(to, from, n);     \
    default: return baseline::function(to, from, n);        \
  }
#else
#define SINTER_CONVERT(function) baseline::function(to, from, n);
#endif

void widen_f16(float* to, const std::uint16_t* from, int n) noexcept { SINTER_CONVERT(widen_f16) }
void narrow_f16(std::uint16_t* to, const float* from, int n) noexcept { SINTER_CONVERT(narrow_f16) }
void widen_bf16(float* to, const std::uint16_t* from, int n) noexcept { SINTER_CONVERT(widen_bf16) }
void narrow_bf16(std::uint16_t* to, const float* from, int n) noexcept { SINTER_CONVERT(narrow_bf16) }

}  // namespace sinter::jit
