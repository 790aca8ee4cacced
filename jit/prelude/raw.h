// What stands in front of kernels that users write: fixed-width integers, which NVRTC does not have by itself (the
// types that libcu++ gives them), and arrays with strides. Names are ugly, since users define macros such as N.
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = signed long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;

namespace sinter {

template <class __sn_T, int __sn_N>
struct strided {
  __sn_T* data;
  long long shape[__sn_N > 0 ? __sn_N : 1];
  long long strides[__sn_N > 0 ? __sn_N : 1];  // in elements

  template <class... __sn_I>
  __device__ __sn_T& operator()(__sn_I... __sn_i) const {
    static_assert(sizeof...(__sn_I) == __sn_N, "sinter::strided takes one index for each axis");
    const long long __sn_at[] = {static_cast<long long>(__sn_i)..., 0};
    long long __sn_offset = 0;
#pragma unroll
    for (int __sn_a = 0; __sn_a < __sn_N; ++__sn_a) __sn_offset += __sn_at[__sn_a] * strides[__sn_a];
    return data[__sn_offset];
  }
  __device__ long long size() const {
    long long __sn_count = 1;
#pragma unroll
    for (int __sn_a = 0; __sn_a < __sn_N; ++__sn_a) __sn_count *= shape[__sn_a];
    return __sn_count;
  }
};

}  // namespace sinter
