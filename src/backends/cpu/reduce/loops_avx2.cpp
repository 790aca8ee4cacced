// The loops of reductions for AVX2.
#include "backends/cpu/reduce/reducers.hpp"

#if defined(__x86_64__)
#define SINTER_ISA avx2
#define SINTER_ISA_LEVEL 1
#include "jit/cpu/isa_begin.inl"

#include "backends/cpu/reduce/loops.inl"

#include "jit/cpu/isa_end.inl"
#endif
