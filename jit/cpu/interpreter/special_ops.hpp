// What the block operations of special functions are compiled with: intrinsics must be declared before an instruction set is
// enabled.
#pragma once
#include "jit/cpu/interpreter/block_ops.hpp"

#if SINTER_TIER0_X86
#include <immintrin.h>
#endif
