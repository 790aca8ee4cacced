// The operators of ndarray: each calls the function of the same meaning.
#include "sinter/elementwise.hpp"

namespace sinter::inline v0 {

ndarray operator+(const operand& x, const operand& y) { return add(x, y); }
ndarray operator-(const operand& x, const operand& y) { return subtract(x, y); }
ndarray operator*(const operand& x, const operand& y) { return multiply(x, y); }
ndarray operator/(const operand& x, const operand& y) { return divide(x, y); }
ndarray operator%(const operand& x, const operand& y) { return remainder(x, y); }
ndarray operator&(const operand& x, const operand& y) { return bitwise_and(x, y); }
ndarray operator|(const operand& x, const operand& y) { return bitwise_or(x, y); }
ndarray operator^(const operand& x, const operand& y) { return bitwise_xor(x, y); }
ndarray operator<<(const operand& x, const operand& y) { return left_shift(x, y); }
ndarray operator>>(const operand& x, const operand& y) { return right_shift(x, y); }
ndarray operator==(const operand& x, const operand& y) { return equal(x, y); }
ndarray operator!=(const operand& x, const operand& y) { return not_equal(x, y); }
ndarray operator<(const operand& x, const operand& y) { return less(x, y); }
ndarray operator<=(const operand& x, const operand& y) { return less_equal(x, y); }
ndarray operator>(const operand& x, const operand& y) { return greater(x, y); }
ndarray operator>=(const operand& x, const operand& y) { return greater_equal(x, y); }
ndarray operator+(const ndarray& x) { return positive(x); }
ndarray operator-(const ndarray& x) { return negative(x); }
ndarray operator~(const ndarray& x) { return invert(x); }

}  // namespace sinter::inline v0
