// The exponential and other functions of float and double where there are fused multiply-adds.
#pragma once
#include "jit/cpu/interpreter/special_ops.hpp"

#if SINTER_TIER0_X86
namespace sinter::jit::tier0 {
namespace avx2 {
block_op exponential_op(dtype type) noexcept;
block_op exponential_of_difference_op(dtype type) noexcept;
block_op own_function_op(opcode op, dtype type, dtype arg) noexcept;
}  // namespace avx2
namespace avx512 {
block_op exponential_op(dtype type) noexcept;
block_op exponential_of_difference_op(dtype type) noexcept;
block_op own_function_op(opcode op, dtype type, dtype arg) noexcept;
}  // namespace avx512
}  // namespace sinter::jit::tier0
#endif
