// Block operations of zeta functions and exponential integrals of whole order.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/cpu/interpreter/special_twin.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/error.h"
#include "jit/prelude/special/gamma.h"
#include "jit/prelude/special/trig.h"
#include "jit/prelude/special/logistic.h"
#include "jit/prelude/special/incomplete.h"
#include "jit/prelude/special/beta.h"
#include "jit/prelude/special/zeta.h"
#define SINTER_SPECIAL_zeta(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_TWIN
#define SINTER_SPECIAL_FIND special_zeta_op
#include "jit/cpu/interpreter/special_loops.inl"
