// The loops of integer products for AVX-512.
#include <cstddef>
#include <cstdint>

#include "backends/cpu/linalg/products.hpp"

#if defined(__x86_64__)
#define SINTER_ISA avx512
#define SINTER_ISA_LEVEL 2
#include "jit/cpu/isa_begin.inl"

#include "backends/cpu/linalg/product_loops.inl"

#include "jit/cpu/isa_end.inl"
#endif
