// Block operations for functions of complex numbers. The C library computes them one by one, so one copy serves all
// instruction sets.
#include "jit/cpu/interpreter/block_ops.hpp"

#define SINTER_ISA complex_functions
#define SINTER_ISA_LEVEL 0
#include "jit/cpu/interpreter/loops.inl"
#include "jit/prelude/complex_math.h"

namespace sinter::jit::tier0 {
namespace complex_functions {
namespace {

#define FUNCTION(op)                                                                             \
  case opcode::op:                                                                               \
    return [](void* dst, const void* a, const void*, const void*, int n, int*) {                 \
      for (int l = 0; l < n; ++l) static_cast<T*>(dst)[l] = sn::op(static_cast<const T*>(a)[l]); \
    };

template <class T>
block_op function(opcode op) noexcept {
  switch (op) {
    FUNCTION(sqrt)
#define LOOP_floating(op) FUNCTION(op)
#define LOOP_real_floating(op)
#define OP(name, operands, weight)
#define LIBM_OP(name, operands, weight, rule, function) LOOP_##rule(name)
#include "jit/program/opcodes.def"
    case opcode::power:
      return [](void* dst, const void* a, const void* b, const void*, int n, int*) {
        auto* x = static_cast<const T*>(a);
        auto* y = static_cast<const T*>(b);
        for (int l = 0; l < n; ++l) static_cast<T*>(dst)[l] = sn::power(x[l], y[l]);
      };
    default: return nullptr;
  }
}

}  // namespace
}  // namespace complex_functions

block_op complex_math_op(opcode op, dtype arg) noexcept {
  if (arg == dtype::c64) return complex_functions::function<sn::c64>(op);
  return arg == dtype::c128 ? complex_functions::function<sn::c128>(op) : nullptr;
}

}  // namespace sinter::jit::tier0
