// Block operations of the logistic function, entropies, and others of exponentials and logarithms.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/cpu/interpreter/special_twin.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/trig.h"
#include "jit/prelude/special/logistic.h"
#define SINTER_SPECIAL_logistic(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_TWIN
#define SINTER_SPECIAL_FIND special_logistic_op
#include "jit/cpu/interpreter/special_loops.inl"
