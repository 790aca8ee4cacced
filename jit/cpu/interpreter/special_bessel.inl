// Block operations of Bessel functions.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/cpu/interpreter/special_twin.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/trig.h"
#include "jit/prelude/special/bessel.h"
#define SINTER_SPECIAL_bessel(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_TWIN
#define SINTER_SPECIAL_FIND special_bessel_op
#include "jit/cpu/interpreter/special_loops.inl"
