// Block operations of the inverses of incomplete gamma and beta functions.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/error.h"
#include "jit/prelude/special/gamma.h"
#include "jit/prelude/special/trig.h"
#include "jit/prelude/special/logistic.h"
#include "jit/prelude/special/incomplete.h"
#include "jit/prelude/special/beta.h"
#include "jit/prelude/special/inverse.h"
#define SINTER_SPECIAL_inverse(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_FIND special_inverse_op
#include "jit/cpu/interpreter/special_sorted.inl"
#define SINTER_SPECIAL_SORTED
#include "jit/cpu/interpreter/special_loops.inl"
