// What fast_math replaces in generated CUDA kernels.
namespace sn {

// x to the power -n / 2.
template <int n>
__device__ __forceinline__ float inverse_power(float x) {
  const float root = ::rsqrtf(x);
  float power = root;
#pragma unroll
  for (int k = 1; k < n; ++k) power *= root;
  return power;
}

}  // namespace sn
