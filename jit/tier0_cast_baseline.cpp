// The block operations of tier0_cast.inl for the instruction set baseline.
#include "tier0.hpp"

#define SINTER_ISA baseline
#define SINTER_ISA_LEVEL 0
#include "tier0_begin.inl"
#include "tier0_cast.inl"
#include "tier0_end.inl"
