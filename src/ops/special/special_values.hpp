// src/ops/special: the functions of sn::special. What they share: the dtype of their loops, and how one is recorded.
#pragma once
#include "ops/base/elementwise_values.hpp"

namespace sinter::ops {

/// The dtype in which a special function of these arguments is computed.
dtype special_loop(const char* function, operands x);
/// Arguments of a special function, cast to float32 or float64 (sinter/special.hpp has the rule).
resolved resolve_special(const char* function, operands x);
/// The operation over its arguments, as an array.
ndarray special_map(const char* function, opcode op, const ndarray& x);
ndarray special_map(const char* function, opcode op, const operand& x, const operand& y);
ndarray special_map(const char* function, opcode op, const operand& x, const operand& y, const operand& z);

}  // namespace sinter::ops
