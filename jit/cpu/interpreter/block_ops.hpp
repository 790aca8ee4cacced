// jit/cpu/interpreter: the block operations and the loop over a program's instructions. Only kernels' loops: their
// files are compiled with separate flags.
//
// The block operations, compiled once for each instruction set; find_block_op selects the best that the machine has.
// Each family is a header of loops (*.inl), which src/isa_loops.cmake makes a source of for every instruction set.
#pragma once
#include <cstdint>

#include "jit/cpu/block.hpp"

#if defined(__x86_64__)
#define SINTER_TIER0_X86 1
#else
#define SINTER_TIER0_X86 0
#endif

namespace sinter::jit::tier0 {

#define SINTER_TIER0_DECLARE(isa)                                         \
  namespace isa {                                                         \
  block_op integer_op(opcode op, dtype arg) noexcept;                     \
  block_op real_op(opcode op, dtype arg) noexcept;                        \
  block_op division_op(opcode op, dtype arg) noexcept;                    \
  block_op modulus_op(dtype arg) noexcept;                                \
  block_op cast_op(dtype to, dtype from) noexcept;                        \
  block_op complex_function_op(opcode op, dtype arg) noexcept;            \
  block_op random_op(opcode op, dtype type) noexcept;                     \
  block_op special_error_op(opcode op, dtype type) noexcept;              \
  block_op special_gamma_op(opcode op, dtype type) noexcept;              \
  block_op special_logistic_op(opcode op, dtype type) noexcept;           \
  block_op special_bessel_op(opcode op, dtype type) noexcept;             \
  block_op special_integrals_op(opcode op, dtype type) noexcept;          \
  block_op special_incomplete_op(opcode op, dtype type) noexcept;         \
  block_op special_beta_op(opcode op, dtype type) noexcept;               \
  block_op special_inverse_op(opcode op, dtype type) noexcept;            \
  block_op special_order_op(opcode op, dtype type) noexcept;              \
  block_op special_legendre_op(opcode op, dtype type) noexcept;           \
  block_op special_complex_op(opcode op, dtype type) noexcept;            \
  block_op special_zeta_op(opcode op, dtype type) noexcept;               \
  void widen_f16(float* to, const std::uint16_t* from, int n) noexcept;   \
  void narrow_f16(std::uint16_t* to, const float* from, int n) noexcept;  \
  void widen_bf16(float* to, const std::uint16_t* from, int n) noexcept;  \
  void narrow_bf16(std::uint16_t* to, const float* from, int n) noexcept; \
  }
SINTER_TIER0_DECLARE(baseline)
#if SINTER_TIER0_X86
SINTER_TIER0_DECLARE(avx2)
SINTER_TIER0_DECLARE(avx512)
#endif
#undef SINTER_TIER0_DECLARE

// Complex arithmetic stops at AVX2: if fused operations exist, GCC 12 generates them for complex products (vfmaddsub)
// even under -ffp-contract=off.
namespace baseline {
block_op complex_op(opcode op, dtype arg) noexcept;
}
#if SINTER_TIER0_X86
namespace avx2 {
block_op complex_op(opcode op, dtype arg) noexcept;
}
#endif

/// Functions of complex numbers one by one: scalar code, one copy. complex_function_op has those that are computed for many
/// lanes at a time, and calls these for lanes out of its range.
block_op complex_math_op(opcode op, dtype arg) noexcept;

enum class isa : std::uint8_t { baseline, avx2, avx512 };
/// The instruction set in use.
isa active_isa() noexcept;

/// A special function on float32 or float64 for an instruction set that the machine has, fused multiply-adds included; else
/// null. All of them give the same bits.
block_op special_op(isa level, opcode op, dtype type) noexcept;

}  // namespace sinter::jit::tier0
