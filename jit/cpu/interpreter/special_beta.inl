// Block operations of beta functions.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/error.h"
#include "jit/prelude/special/gamma.h"
#include "jit/prelude/special/trig.h"
#include "jit/prelude/special/logistic.h"
#include "jit/prelude/special/incomplete.h"
#include "jit/prelude/special/beta.h"
#define SINTER_SPECIAL_beta(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_FIND special_beta_op
#include "jit/cpu/interpreter/special_sorted.inl"
#define SINTER_SPECIAL_SORTED
#include "jit/cpu/interpreter/special_loops.inl"
