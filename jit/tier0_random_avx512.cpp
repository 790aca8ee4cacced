// The block operations of tier0_random.inl for the instruction set avx512.
#include "tier0.hpp"

#if SINTER_TIER0_X86
#define SINTER_ISA avx512
#define SINTER_ISA_LEVEL 2
#define SINTER_ISA_FMA
#include "tier0_begin.inl"
#include "tier0_random.inl"
#include "tier0_end.inl"
#endif
