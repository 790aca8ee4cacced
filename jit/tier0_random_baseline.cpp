// The block operations of tier0_random.inl for the instruction set baseline.
#include "tier0.hpp"

#define SINTER_ISA baseline
#define SINTER_ISA_LEVEL 0
#define SINTER_ISA_FMA
#include "tier0_begin.inl"
#include "tier0_random.inl"
#include "tier0_end.inl"
