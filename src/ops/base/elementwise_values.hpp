// Short ways to record elementwise values: what the NumPy functions in src/ops compose.
#pragma once
#include "ops/base/type_rules.hpp"

namespace sinter::ops {

using graph::value;
using jit::opcode;

/// The shape that values of compatible shapes broadcast to.
dims common_shape(std::span<const value> operands);

/// One operation over values of one dtype; their shapes are known to be compatible.
value map_of(opcode op, dtype type, const value& a);
value map_of(opcode op, dtype type, const value& a, const value& b);
/// condition ? a : b
value select_of(const value& condition, const value& a, const value& b);
/// A number of a real dtype (or a real number of a complex one), of shape ().
value constant_of(double v, dtype type, runtime::device_id device);
/// A bool in every element of `shape`.
value bool_of(bool v, const dims& shape, runtime::device_id device);
/// Whether each element is not zero.
inline value truth_of(const value& a) { return graph::record_cast(a, dtype::b1); }

/// f(x) for the loop that `rule` picks; the result has the loop's dtype.
ndarray unary(const char* function, opcode op, loop_rule rule, const ndarray& x);
ndarray binary(const char* function, opcode op, loop_rule rule, const operand& x, const operand& y);
/// Two arguments cast to their loop dtype.
resolved resolve_pair(const char* function, loop_rule rule, const operand& x, const operand& y);

/// For products whose order of multiplication is not the user's: of each factor a number whose products tell what
/// became of zeros. 0 and 1 with the factor's sign (of complex numbers +), NaN where it is not finite.
value zero_and_sign_of(const value& factor);
/// `product`, but the zero that `factors`, the product of zero_and_sign_of, is where the product is NaN.
value zero_where_lost(const value& product, const value& factors);

/// `op` is maximum, minimum, fmax or fmin; values of one dtype, any of them.
value extreme_of(opcode op, const value& a, const value& b);

}  // namespace sinter::ops
