// Block operations on bool and integers.
#include "jit/cpu/interpreter/loops.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

#define UNARY(op) case opcode::op: return &unary<T, T, do_##op>;
#define TEST(op) case opcode::op: return &unary<bool, T, do_##op>;
#define BINARY(op) case opcode::op: return &binary<T, T, do_##op>;
#define COMPARE(op) case opcode::op: return &binary<bool, T, do_##op>;

/// Operations common to bool and integers.
template <class T>
block_op common_op(opcode op) noexcept {
  switch (op) {
    UNARY(absolute)
    UNARY(floor)
    UNARY(ceil)
    UNARY(trunc)
    UNARY(conj)
    UNARY(real)
    UNARY(imag)
    UNARY(bitwise_not)
    TEST(isnan)
    TEST(isinf)
    TEST(isfinite)
    TEST(logical_not)
    BINARY(add)
    BINARY(multiply)
    BINARY(maximum)
    BINARY(minimum)
    BINARY(bitwise_and)
    BINARY(bitwise_or)
    BINARY(bitwise_xor)
    COMPARE(equal)
    COMPARE(not_equal)
    COMPARE(less)
    COMPARE(less_equal)
    COMPARE(greater)
    COMPARE(greater_equal)
    COMPARE(logical_and)
    COMPARE(logical_or)
    COMPARE(logical_xor)
    case opcode::fmax: return &binary<T, T, do_maximum>;
    case opcode::fmin: return &binary<T, T, do_minimum>;
    case opcode::select: return &choose<T>;
    default: return nullptr;
  }
}

template <class T>
void integer_power(void* dst, const void* a, const void* b, const void*, int n, int* fault) {
  auto* r = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
  for (int l = 0; l < n; ++l) r[l] = sn::power(x[l], y[l], fault);
}

template <class T>
block_op whole_op(opcode op) noexcept {
  switch (op) {
    UNARY(negative)
    UNARY(sign)
    UNARY(square)
    UNARY(reciprocal)
    BINARY(subtract)
    BINARY(left_shift)
    BINARY(right_shift)
    case opcode::power: return &integer_power<T>;
    case opcode::gcd: return &binary_by_one<T, do_gcd>;
    default: return common_op<T>(op);
  }
}
#undef UNARY
#undef TEST
#undef BINARY
#undef COMPARE

}  // namespace

block_op integer_op(opcode op, dtype arg) noexcept {
  switch (arg) {
    case dtype::b1: return common_op<bool>(op);
    case dtype::i8: return whole_op<signed char>(op);
    case dtype::i16: return whole_op<short>(op);
    case dtype::i32: return whole_op<int>(op);
    case dtype::i64: return whole_op<long long>(op);
    case dtype::u8: return whole_op<unsigned char>(op);
    case dtype::u16: return whole_op<unsigned short>(op);
    case dtype::u32: return whole_op<unsigned>(op);
    case dtype::u64: return whole_op<unsigned long long>(op);
    default: return nullptr;
  }
}

}  // namespace sinter::jit::tier0::SINTER_ISA
