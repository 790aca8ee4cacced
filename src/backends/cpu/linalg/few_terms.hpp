// Products whose elements have few terms, of small matrices and of many points with one: a call of OpenBLAS costs as much as
// their work or more. The terms are joined as those of every short sum, so such a product has the bits of a recorded
// sum of products, wherever it is computed (graph/plan/steps).
#pragma once
#include <cstdint>
#include <functional>

#include "runtime/algorithms/products.hpp"

namespace sinter::cpu {

/// Of one of the matrices of a product, in elements.
struct few_term_strides {
  std::int64_t row, column;
};
/// c (rows, columns) = a (rows, inner) b (inner, columns), any strides. `inner` is at most graph::most_short.
struct few_term_product {
  std::int64_t rows, columns;
  int inner;
  few_term_strides a, b, c;
};

/// Whether multiply_few_terms() takes a product, which depends on the extents of its matrices and their dtype alone. `l` as it
/// is asked for, before axes of the batch have become rows or columns.
bool has_few_terms(const runtime::product_layout& l) noexcept;
/// `l` is simplified.
void multiply_few_terms(const runtime::product_layout& l, const void* a, const void* b, void* c);
/// The same to be called again and again, on one thread; empty where there are many matrices or they are large.
std::function<void()> few_terms_again(const runtime::product_layout& l, const void* a, const void* b, void* c);

#define SINTER_FEW_TERMS_DECLARE(isa)                                                     \
  namespace isa {                                                                         \
  void few_terms(const few_term_product& p, const float* a, const float* b, float* c);    \
  void few_terms(const few_term_product& p, const double* a, const double* b, double* c); \
  }
SINTER_FEW_TERMS_DECLARE(baseline)
#if defined(__x86_64__)
SINTER_FEW_TERMS_DECLARE(avx2)
SINTER_FEW_TERMS_DECLARE(avx512)
#endif
#undef SINTER_FEW_TERMS_DECLARE

}  // namespace sinter::cpu
