// Block operations of Bessel functions of any order.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/gamma.h"
#include "jit/prelude/special/trig.h"
#include "jit/prelude/special/beta.h"
#include "jit/prelude/special/order.h"
#define SINTER_SPECIAL_order(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_FIND special_order_op
#include "jit/cpu/interpreter/special_sorted.inl"
#define SINTER_SPECIAL_SORTED
#include "jit/cpu/interpreter/special_loops.inl"
