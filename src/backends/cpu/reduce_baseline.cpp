// The loops of reductions for every machine.
#include "backends/cpu/reducers.hpp"

#define SINTER_ISA baseline
#define SINTER_ISA_LEVEL 0
#include "jit/tier0_begin.inl"
#include "backends/cpu/reduce_loops.inl"
#include "jit/tier0_end.inl"
