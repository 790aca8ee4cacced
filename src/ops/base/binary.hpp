// Operations on two operands, most of which take no more than a look at them.
#pragma once
#include "ops/base/elementwise_values.hpp"

namespace sinter::ops {

/// binary() of an operation that is another one where the loop's dtype is bool.
ndarray binary(const char* function, opcode op, opcode of_bools, loop_rule rule, const operand& x, const operand& y);
/// An operation on a plain_pair whose result is of bools; undefined for any other operands.
ndarray plain_comparison(const char* function, opcode op, const operand& x, const operand& y);

}  // namespace sinter::ops
