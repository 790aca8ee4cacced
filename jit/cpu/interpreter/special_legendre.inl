// Block operations of Legendre functions.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/cpu/interpreter/special_twin.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"
#include "jit/prelude/special/gamma.h"
#include "jit/prelude/special/trig.h"
#include "jit/prelude/special/beta.h"
#include "jit/prelude/special/legendre.h"
#define SINTER_SPECIAL_legendre(name, operands) SINTER_SPECIAL_FOUND(name, operands)
#define SINTER_SPECIAL_TWIN
#define SINTER_SPECIAL_FIND special_legendre_op
#include "jit/cpu/interpreter/special_sorted.inl"
#define SINTER_SPECIAL_SORTED
#include "jit/cpu/interpreter/special_loops.inl"
