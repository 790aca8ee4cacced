// The loops of reductions for AVX2.
#include "backends/cpu/reducers.hpp"

#if defined(__x86_64__)
#define SINTER_ISA avx2
#define SINTER_ISA_LEVEL 1
#include "jit/tier0_begin.inl"
#include "backends/cpu/reduce_loops.inl"
#include "jit/tier0_end.inl"
#endif
