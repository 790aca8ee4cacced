// The block operations of cast.inl for the instruction set avx2.
#include "jit/cpu/interpreter/block_ops.hpp"

#if SINTER_TIER0_X86
#define SINTER_ISA avx2
#define SINTER_ISA_LEVEL 1
#include "jit/cpu/isa_begin.inl"

#include "jit/cpu/interpreter/cast.inl"

#include "jit/cpu/isa_end.inl"
#endif
