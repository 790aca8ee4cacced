// Block operations on complex numbers that are plain arithmetic or comparisons.
#include "jit/cpu/interpreter/loops.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

/// The type in which an element is moved: a complex number of floats as one word (see lane_loops.inl).
template <class T> struct moved { typedef T type; };
template <> struct moved<sn::c64> { typedef unsigned long long type; };

#define UNARY(op) case opcode::op: return &unary<T, T, do_##op>;
#define BINARY(op) case opcode::op: return &binary<T, T, do_##op>;
#define UNARY_BY_ONE(op) case opcode::op: return &unary_by_one<T, T, do_##op>;
#define BINARY_BY_ONE(op) case opcode::op: return &binary_by_one<T, do_##op>;
#define UNARY_PARTS(op) case opcode::op: return &in_parts<&unary<R, R, do_##op>>;
#define BINARY_PARTS(op) case opcode::op: return &in_parts<&binary<R, R, do_##op>>;
#define TEST_PARTS(op, which) case opcode::op: return &test_parts<&unary<bool, R, do_##op>, of_parts::which>;
#define COMPARE_PARTS(op, which) case opcode::op: return &test_parts<&binary<bool, R, do_##op>, of_parts::which>;
#define COMPARE(op) case opcode::op: return &binary<bool, T, do_##op>;

template <class R>
block_op plain_op(opcode op) noexcept {
  using T = sn::cx<R>;
  switch (op) {
    case opcode::real: return &part_of<R, 0>;
    case opcode::imag: return &part_of<R, 1>;
    UNARY_PARTS(negative)
    UNARY_BY_ONE(sign)
    UNARY(square)
    UNARY_BY_ONE(reciprocal)
    UNARY_PARTS(rint)
    UNARY(conj)
    TEST_PARTS(isnan, one)
    TEST_PARTS(isinf, one)
    TEST_PARTS(isfinite, both)
    TEST_PARTS(logical_not, both)
    BINARY_PARTS(add)
    BINARY_PARTS(subtract)
    BINARY(multiply)
    BINARY(divide)
    BINARY_BY_ONE(maximum)
    BINARY_BY_ONE(minimum)
    BINARY_BY_ONE(fmax)
    BINARY_BY_ONE(fmin)
    COMPARE_PARTS(equal, both)
    COMPARE_PARTS(not_equal, one)
    COMPARE(less)
    COMPARE(less_equal)
    COMPARE(greater)
    COMPARE(greater_equal)
    COMPARE(logical_and)
    COMPARE(logical_or)
    COMPARE(logical_xor)
    case opcode::select: return &choose<typename moved<T>::type>;
    default: return nullptr;
  }
}

}  // namespace

block_op complex_op(opcode op, dtype arg) noexcept {
  if (arg == dtype::c64) return plain_op<float>(op);
  return arg == dtype::c128 ? plain_op<double>(op) : nullptr;
}

}  // namespace sinter::jit::tier0::SINTER_ISA
