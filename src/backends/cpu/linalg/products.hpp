// src/backends/cpu/linalg: products and factorisations by OpenBLAS, and products that it has not.
//
// Matrix products on the CPU: OpenBLAS for the types that it supports, unless elements have few terms, blocks of converted
// elements for the others.
#pragma once
#include <functional>

#include "runtime/algorithms/products.hpp"

namespace sinter::cpu {

class cpu_products final : public runtime::products {
 public:
  bool reads(dtype type, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
             std::int64_t column_stride) const override;
  bool writes(dtype type, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
              std::int64_t column_stride) const override;
  void multiply(const runtime::product_layout& l, const void* a, const void* b, void* c) override;
};

/// A product that is computed each time it is called; what follows from the layout is worked out once.
std::function<void()> product_again(runtime::products& of, const runtime::product_layout& l, const void* a,
                                    const void* b, void* c);

/// Products whose elements are converted block by block: float16 and bfloat16 to float32, for OpenBLAS; bools and
/// integers to unsigned ones, for loops of the library. Strides are any. `l` is simplified.
void multiply_blocks(const runtime::product_layout& l, const void* a, const void* b, void* c);

#define SINTER_PRODUCT_DECLARE(isa)                                                                             \
  namespace isa {                                                                                               \
  void add_products(std::uint32_t* sums, const std::uint32_t* a, const std::uint32_t* b, int rows, int columns, \
                    int inner);                                                                                 \
  void add_products(std::uint64_t* sums, const std::uint64_t* a, const std::uint64_t* b, int rows, int columns, \
                    int inner);                                                                                 \
  void or_products(std::uint32_t* sums, const std::uint32_t* a, const std::uint32_t* b, int rows, int columns,  \
                   int inner);                                                                                  \
  }
/// sums (rows, columns) += a (rows, inner) b (inner, columns), contiguous, or |= of &.
SINTER_PRODUCT_DECLARE(baseline)
#if defined(__x86_64__)
SINTER_PRODUCT_DECLARE(avx2)
SINTER_PRODUCT_DECLARE(avx512)
#endif
#undef SINTER_PRODUCT_DECLARE

}  // namespace sinter::cpu
