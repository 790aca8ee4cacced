// The loops of integer products for any machine.
#include <cstddef>
#include <cstdint>

#include "backends/cpu/linalg/products.hpp"

#define SINTER_ISA baseline
#define SINTER_ISA_LEVEL 0
#include "jit/cpu/isa_begin.inl"

#include "backends/cpu/linalg/product_loops.inl"

#include "jit/cpu/isa_end.inl"
