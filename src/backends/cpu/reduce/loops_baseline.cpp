// The loops of reductions for every machine.
#include "backends/cpu/reduce/reducers.hpp"

#define SINTER_ISA baseline
#define SINTER_ISA_LEVEL 0
#include "jit/cpu/isa_begin.inl"

#include "backends/cpu/reduce/loops.inl"

#include "jit/cpu/isa_end.inl"
