// The loops of integer products for any machine.
#include <cstddef>
#include <cstdint>

#include "backends/cpu/cpu_products.hpp"

#define SINTER_ISA baseline
#define SINTER_ISA_LEVEL 0
#include "jit/tier0_begin.inl"
#include "backends/cpu/product_loops.inl"
#include "jit/tier0_end.inl"
