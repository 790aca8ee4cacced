// The exponential of float and double by the texts of the special functions, which with fused multiply-adds are faster than
// libmvec's and know all arguments: within 1 ulp.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/cpu/interpreter/special_twin.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

/// Of one lane: in a vector that has it everywhere.
template <int step, class T, class F>
SN_FN void one_exponential(T* to, const T* from, F f) {
  alignas(64) T t[step];
  for (int l = 0; l < step; ++l) t[l] = *from;
  f(t);
  *to = t[0];
}

/// Far below it is 0, which would take a hundred times as long to become so as other numbers take: such lanes compute another one.
SN_FN sn::twin exponential(sn::twin x) {
  const auto is_none = x < sn::twin(-746.0);
  return sf_if(is_none, sn::twin(0.0), sn::sf_exp(sf_if(is_none, sn::twin(0.0), x)));
}
SN_FN sn::singles single_exponential(sn::singles x) {
  const auto is_none = x < sn::singles(-104.0);
  return sf_if(is_none, sn::singles(0.0), sn::single_exp(sf_if(is_none, sn::singles(0.0), x)));
}

void exponentials(void* dst, const void* a, const void*, const void*, int n, int*) {
  constexpr int step = int(sizeof(sn::twin) / sizeof(double));
  auto* r = static_cast<double*>(dst);
  auto* x = static_cast<const double*>(a);
  if (n == 1) return one_exponential<step>(r, x, [](double* t) { sn::store_twin(t, exponential(sn::load_twin(t))); });
  for (int l = 0; l < n; l += step) sn::store_twin(r + l, exponential(sn::load_twin(x + l)));
}
void single_exponentials(void* dst, const void* a, const void*, const void*, int n, int*) {
  constexpr int step = int(sizeof(sn::singles) / sizeof(float));
  auto* r = static_cast<float*>(dst);
  auto* x = static_cast<const float*>(a);
  if (n == 1)
    return one_exponential<step>(r, x, [](float* t) { sn::store_singles(t, single_exponential(sn::load_singles(t))); });
  for (int l = 0; l < n; l += step) sn::store_singles(r + l, single_exponential(sn::load_singles(x + l)));
}

/// Of a[l] - *b: what is subtracted goes through no memory.
void exponentials_of_differences(void* dst, const void* a, const void* b, const void*, int n, int*) {
  constexpr int step = int(sizeof(sn::twin) / sizeof(double));
  auto* r = static_cast<double*>(dst);
  auto* x = static_cast<const double*>(a);
  const sn::twin m(*static_cast<const double*>(b));
  for (int l = 0; l < n; l += step) sn::store_twin(r + l, exponential(sn::load_twin(x + l) - m));
}
void single_exponentials_of_differences(void* dst, const void* a, const void* b, const void*, int n, int*) {
  constexpr int step = int(sizeof(sn::singles) / sizeof(float));
  auto* r = static_cast<float*>(dst);
  auto* x = static_cast<const float*>(a);
  const sn::singles m(*static_cast<const float*>(b));
  for (int l = 0; l < n; l += step) sn::store_singles(r + l, single_exponential(sn::load_singles(x + l) - m));
}

}  // namespace

block_op exponential_of_difference_op(dtype type) noexcept {
  return type == dtype::f64   ? &exponentials_of_differences
         : type == dtype::f32 ? &single_exponentials_of_differences
                              : nullptr;
}
block_op exponential_op(dtype type) noexcept {
  return type == dtype::f64 ? &exponentials : type == dtype::f32 ? &single_exponentials : nullptr;
}

}  // namespace sinter::jit::tier0::SINTER_ISA
