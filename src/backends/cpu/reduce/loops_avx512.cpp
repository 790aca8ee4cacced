// The loops of reductions for AVX-512.
#include "backends/cpu/reduce/reducers.hpp"

#if defined(__x86_64__)
#define SINTER_ISA avx512
#define SINTER_ISA_LEVEL 2
#include "jit/cpu/isa_begin.inl"

#include "backends/cpu/reduce/loops.inl"

#include "jit/cpu/isa_end.inl"
#endif
