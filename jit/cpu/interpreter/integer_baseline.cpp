// The block operations of integer.inl for the instruction set baseline.
#include "jit/cpu/interpreter/block_ops.hpp"

#define SINTER_ISA baseline
#define SINTER_ISA_LEVEL 0
#include "jit/cpu/isa_begin.inl"

#include "jit/cpu/interpreter/integer.inl"

#include "jit/cpu/isa_end.inl"
