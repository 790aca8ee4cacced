// Conversion of float16 and bfloat16 arrays to float and back, in the machine's best instruction set.
#include "tier0.hpp"

namespace sinter::jit {

using namespace tier0;

#if SINTER_TIER0_X86
#define SINTER_CONVERT(function)                                       \
  switch (active_isa()) {                                              \
    case isa::avx512: return avx512::function(to, from, n);            \
    case isa::avx2: return avx2::function(to, from, n);                \
    default: return baseline::function(to, from, n);                   \
  }
#else
#define SINTER_CONVERT(function) baseline::function(to, from, n);
#endif

void widen_f16(float* to, const std::uint16_t* from, int n) noexcept { SINTER_CONVERT(widen_f16) }
void narrow_f16(std::uint16_t* to, const float* from, int n) noexcept { SINTER_CONVERT(narrow_f16) }
void widen_bf16(float* to, const std::uint16_t* from, int n) noexcept { SINTER_CONVERT(widen_bf16) }
void narrow_bf16(std::uint16_t* to, const float* from, int n) noexcept { SINTER_CONVERT(narrow_bf16) }

}  // namespace sinter::jit
