// The loops of the best instruction set that the machine has.
#include "backends/cpu/strides/strided_loops.hpp"

#include "jit/cpu/interpreter/block_ops.hpp"

namespace sinter::cpu {
namespace {

strided_loops chosen_loops() noexcept {
#if defined(__x86_64__)
  switch (jit::tier0::active_isa()) {
    case jit::tier0::isa::avx512: return avx512::make_strided_loops();
    case jit::tier0::isa::avx2: return avx2::make_strided_loops();
    default: break;
  }
#endif
  return baseline::make_strided_loops();
}

}  // namespace

const strided_loops& loops_over_strides() noexcept {
  static const strided_loops loops = chosen_loops();
  return loops;
}

}  // namespace sinter::cpu
