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

// NaN wins, of two zeros -0 a minimum and +0 a maximum.
template <bool low>
__device__ __forceinline__ float fast_extreme(float a, float b) {
  float r;
#if __CUDA_ARCH__ >= 800
  if (low)
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  else
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
#else
  r = low ? fminf(a, b) : fmaxf(a, b);
  if (a != a || b != b) r = a + b;
#endif
  return r;
}

}  // namespace sn
