// Packs of bytes, in words. Behind cuda_loop.h where a kernel has operands of bytes.
namespace sn {

template <class S>
__device__ __forceinline__ S byte_of(unsigned word, int at) {
  return (S)(unsigned char)__byte_perm(word, 0, 0x4440u | at);
}
template <class S, int N>
struct byte_pack {
  struct lane {
    unsigned& w;
    int at;
    __device__ __forceinline__ operator S() const { return byte_of<S>(w, at); }
    __device__ __forceinline__ lane& operator=(S x) {
      w = __byte_perm(w, (unsigned char)x, (0x3210u & ~(15u << 4 * at)) | 4u << 4 * at);
      return *this;
    }
    __device__ __forceinline__ lane& operator=(const lane& x) { return *this = (S)x; }
  };
  struct lanes {
    unsigned w[N / 4] = {};
    __device__ __forceinline__ lane operator[](int l) { return {w[l / 4], l % 4}; }
    __device__ __forceinline__ S operator[](int l) const { return byte_of<S>(w[l / 4], l % 4); }
  } v;
};
template <>
struct pack<unsigned char, 4> : byte_pack<unsigned char, 4> {};
template <>
struct pack<unsigned char, 8> : byte_pack<unsigned char, 8> {};
template <>
struct pack<unsigned char, 16> : byte_pack<unsigned char, 16> {};
template <>
struct pack<signed char, 4> : byte_pack<signed char, 4> {};
template <>
struct pack<signed char, 8> : byte_pack<signed char, 8> {};
template <>
struct pack<signed char, 16> : byte_pack<signed char, 16> {};

}  // namespace sn
