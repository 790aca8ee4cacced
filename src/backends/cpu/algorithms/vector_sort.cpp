// The quicksort of the instruction set that the machine has.
#include "backends/cpu/algorithms/vector_sort.hpp"

#include "jit/cpu/interpreter/block_ops.hpp"

namespace sinter::cpu {

#if defined(__x86_64__)
#define SINTER_VECTOR_SORT(function, data, other)                                                                      \
  if (jit::tier0::active_isa() == jit::tier0::isa::avx512) avx512::function(data, other, n, to_other, most_uneven(n)); \
  else avx2::function(data, other, n, to_other, most_uneven(n));
#else
#define SINTER_VECTOR_SORT(function, data, other) (void)(data), (void)(other), (void)n, (void)to_other;
#endif

void vector_sort(float* data, float* other, std::int64_t n, bool to_other) noexcept {
  SINTER_VECTOR_SORT(vector_sort_f32, data, other)
}
void vector_sort(double* data, double* other, std::int64_t n, bool to_other) noexcept {
  SINTER_VECTOR_SORT(vector_sort_f64, data, other)
}
void vector_sort(std::int32_t* data, std::int32_t* other, std::int64_t n, bool to_other) noexcept {
  SINTER_VECTOR_SORT(vector_sort_i32, data, other)
}
void vector_sort(std::int64_t* data, std::int64_t* other, std::int64_t n, bool to_other) noexcept {
  SINTER_VECTOR_SORT(vector_sort_i64, reinterpret_cast<long long*>(data), reinterpret_cast<long long*>(other))
}

#undef SINTER_VECTOR_SORT

}  // namespace sinter::cpu
