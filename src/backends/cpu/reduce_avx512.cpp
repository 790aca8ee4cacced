// The loops of reductions for AVX-512.
#include "backends/cpu/reducers.hpp"

#if defined(__x86_64__)
#define SINTER_ISA avx512
#define SINTER_ISA_LEVEL 2
#include "jit/tier0_begin.inl"
#include "backends/cpu/reduce_loops.inl"
#include "jit/tier0_end.inl"
#endif
