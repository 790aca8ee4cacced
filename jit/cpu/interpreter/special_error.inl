// Block operations of the error function and its relatives.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/cpu/interpreter/special_twin.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/error.h"
#define SINTER_SPECIAL_error(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_TWIN
#define SINTER_SPECIAL_FIND special_error_op
#include "jit/cpu/interpreter/special_loops.inl"
