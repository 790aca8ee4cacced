// The block operations of random.inl for the instruction set avx512.
#include "jit/cpu/interpreter/block_ops.hpp"

#if SINTER_TIER0_X86
#define SINTER_ISA avx512
#define SINTER_ISA_LEVEL 2
#define SINTER_ISA_FMA
#include "jit/cpu/isa_begin.inl"

#include "jit/cpu/interpreter/random.inl"

#include "jit/cpu/isa_end.inl"
#endif
