// Block operations of functions of complex numbers.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/gamma.h"
#include "jit/prelude/special/trig.h"
#include "jit/prelude/special/complex.h"
#define SINTER_SPECIAL_complex(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_FIND special_complex_op
#include "jit/cpu/interpreter/special_loops.inl"
