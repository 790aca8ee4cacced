// The block operations of random.inl for the instruction set baseline.
#include "jit/cpu/interpreter/block_ops.hpp"

#define SINTER_ISA baseline
#define SINTER_ISA_LEVEL 0
#define SINTER_ISA_FMA
#include "jit/cpu/isa_begin.inl"

#include "jit/cpu/interpreter/random.inl"

#include "jit/cpu/isa_end.inl"
