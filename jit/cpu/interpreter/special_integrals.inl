// Block operations of exponential, sine, cosine and elliptic integrals.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/cpu/interpreter/special_twin.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/trig.h"
#include "jit/prelude/special/integrals.h"
#define SINTER_SPECIAL_integrals(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_TWIN
#define SINTER_SPECIAL_FIND special_integrals_op
#include "jit/cpu/interpreter/special_loops.inl"
