// The loops of integer products for AVX2.
#include <cstddef>
#include <cstdint>

#include "backends/cpu/cpu_products.hpp"

#if defined(__x86_64__)
#define SINTER_ISA avx2
#define SINTER_ISA_LEVEL 1
#include "jit/tier0_begin.inl"
#include "backends/cpu/product_loops.inl"
#include "jit/tier0_end.inl"
#endif
