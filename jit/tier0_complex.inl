// Block operations on complex numbers that are plain arithmetic or comparisons.
#include "tier0_loops.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

#define UNARY(op) case opcode::op: return &unary<T, T, do_##op>;
#define BINARY(op) case opcode::op: return &binary<T, T, do_##op>;
#define PART(op) case opcode::op: return &unary<R, T, do_##op>;
#define TEST(op) case opcode::op: return &unary<bool, T, do_##op>;
#define COMPARE(op) case opcode::op: return &binary<bool, T, do_##op>;

template <class R>
block_op plain_op(opcode op) noexcept {
  using T = sn::cx<R>;
  switch (op) {
    PART(absolute)
    PART(real)
    PART(imag)
    UNARY(negative)
    UNARY(sign)
    UNARY(square)
    UNARY(reciprocal)
    UNARY(rint)
    UNARY(conj)
    TEST(isnan)
    TEST(isinf)
    TEST(isfinite)
    TEST(logical_not)
    BINARY(add)
    BINARY(subtract)
    BINARY(multiply)
    BINARY(divide)
    BINARY(maximum)
    BINARY(minimum)
    BINARY(fmax)
    BINARY(fmin)
    COMPARE(equal)
    COMPARE(not_equal)
    COMPARE(less)
    COMPARE(less_equal)
    COMPARE(greater)
    COMPARE(greater_equal)
    COMPARE(logical_and)
    COMPARE(logical_or)
    COMPARE(logical_xor)
    case opcode::select: return &choose<T>;
    default: return nullptr;
  }
}

}  // namespace

block_op complex_op(opcode op, dtype arg) noexcept {
  if (arg == dtype::c64) return plain_op<float>(op);
  return arg == dtype::c128 ? plain_op<double>(op) : nullptr;
}

}  // namespace sinter::jit::tier0::SINTER_ISA
