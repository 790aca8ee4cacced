// The special functions that are a single operation.
#include "sinter/special.hpp"

#include "ops/special/special_values.hpp"

namespace sinter::inline v0::special {

using ops::opcode;

#define FUNCTION_1(name) \
  ndarray name(const ndarray& x) { return ops::special_map(#name, opcode::name, x); }
#define FUNCTION_2(name) \
  ndarray name(const operand& x, const operand& y) { return ops::special_map(#name, opcode::name, x, y); }
#define FUNCTION_3(name)                                               \
  ndarray name(const operand& x, const operand& y, const operand& z) { \
    return ops::special_map(#name, opcode::name, x, y, z);             \
  }
#define OP(name, operands, weight)
#define SPECIAL_OP(family, name, operands, weight) FUNCTION_##operands(name)
#define SPECIAL_PART(family, name, operands, weight)
#include "jit/program/opcodes.def"

ndarray zeta(const ndarray& x) { return ops::special_map("zeta", opcode::riemann_zeta, x); }

sici_result sici(const ndarray& x) {
  return {ops::special_map("sici", opcode::sine_integral, x), ops::special_map("sici", opcode::cosine_integral, x)};
}

}  // namespace sinter::inline v0::special
