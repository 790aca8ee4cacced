// sinter prelude: float16 and bfloat16. A register holds such a value as a float (on GPUs as cuda_half.h says); these functions
// round a float to the type (to nearest, ties to even, subnormals and infinities included) and convert to the 16 stored bits and
// back. Written without branches, on integers, so that loops over lanes become vector code.
namespace sn {

SN_FN float f16_to_float(unsigned short h) {
#ifdef __CUDA_ARCH__
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
#else
  unsigned magnitude = (unsigned(h) & 0x7fffu) << 13, sign = (unsigned(h) & 0x8000u) << 16;
  unsigned exponent = magnitude & 0x0f800000u;
  unsigned normal = magnitude + (exponent == 0x0f800000u ? 0x70000000u : 0x38000000u);
  unsigned subnormal = to_bits(from_bits(magnitude + 0x38800000u) - from_bits(0x38800000u));
  return from_bits((exponent == 0 ? subnormal : normal) | sign);
#endif
}
SN_FN unsigned short float_to_f16(float x) {
#ifdef __CUDA_ARCH__
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
#else
  unsigned b = to_bits(x), magnitude = b & 0x7fffffffu, sign = (b >> 16) & 0x8000u;
  unsigned normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  unsigned subnormal = to_bits(from_bits(magnitude) + 0.5f) - 0x3f000000u;
  unsigned h = magnitude < 0x38800000u ? subnormal : normal;
  h = magnitude >= 0x477ff000u ? 0x7c00u : h;
  h = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : h;
  return (unsigned short)(h | sign);
#endif
}
SN_FN float round_f16(float x) {
#ifdef __CUDA_ARCH__
  return f16_to_float(float_to_f16(x));
#else
  // Adding and subtracting 1.5 2^13 times the power of two of x, which no subnormal number falls below, rounds its last 13 bits.
  unsigned b = to_bits(x), magnitude = b & 0x7fffffffu, sign = b & 0x80000000u;
  int power = int(b & 0x7f800000u);
  power = power < 0x38800000 ? 0x38800000 : power;
  power = power > 0x47800000 ? 0x47800000 : power;
  float magic = from_bits(unsigned(power) + 0x06c00000u);
  unsigned r = to_bits((x + magic) - magic) & 0x7fffffffu;
  r = magnitude - 0x477ff000u <= 0x7f800000u - 0x477ff000u ? 0x7f800000u : r;
  return from_bits(r | sign);
#endif
}

SN_FN float bf16_to_float(unsigned short h) { return from_bits(unsigned(h) << 16); }
SN_FN unsigned round_bf16_bits(float x) {
  unsigned b = to_bits(x), rounded = b + 0x7fffu + ((b >> 16) & 1u);
  return (b & 0x7fffffffu) > 0x7f800000u ? b | 0x400000u : rounded;
}
SN_FN unsigned short float_to_bf16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned short h;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
#else
  return (unsigned short)(round_bf16_bits(x) >> 16);
#endif
}
SN_FN float round_bf16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return bf16_to_float(float_to_bf16(x));
#else
  return from_bits(round_bf16_bits(x) & 0xffff0000u);
#endif
}

// double to the type in one rounding. `drop` mantissa bits go; below `least` normal the spacing is fixed, and adding and
// subtracting `magic`, whose last bit has that weight, rounds. What overflows does so in the exact conversion to float.
SN_FN float round_double(double x, int drop, double least, double magic, double overflow) {
  unsigned long long b = to_bits(x), sign = b & 0x8000000000000000ull, magnitude = b ^ sign;
  unsigned long long half = (1ull << (drop - 1)) - 1u;
  unsigned long long rounded = (magnitude + half + ((magnitude >> drop) & 1u)) >> drop << drop;
  double size = from_bits(magnitude);
  double r = size < least ? (size + magic) - magic : from_bits(rounded);
  r = size >= overflow ? infinity(x) : r;
  r = x != x ? x : r;
  return float(from_bits(to_bits(r) | sign));
}
// Integers go through float, as NumPy's casts do; double is rounded once.
template <class T> SN_FN float to_f16(T x) { return round_f16(float(x)); }
template <class T> SN_FN float to_bf16(T x) { return round_bf16(float(x)); }
SN_FN float to_f16(double x) { return round_double(x, 42, 0x1p-14, 0x1p28, 65520.0); }
SN_FN float to_bf16(double x) { return round_double(x, 45, 0x1p-126, 0x1p-81, 0x1p128); }

// The neighbour of a in b's direction, as bits of the type.
SN_FN unsigned short half_neighbour(float a, float b, unsigned h) {
  if (a == 0) return (unsigned short)((to_bits(b) >> 16 & 0x8000u) | 1u);
  bool away = (a < b) == (a > 0);
  return (unsigned short)(away ? h + 1u : h - 1u);
}
SN_FN float nextafter_f16(float a, float b) {
  if (a != a || b != b) return a + b;
  // Equal operands: NumPy's float16 gives the first, its wider types the second (which zero is it?).
  return a == b ? a : f16_to_float(half_neighbour(a, b, float_to_f16(a)));
}
SN_FN float nextafter_bf16(float a, float b) {
  if (a != a || b != b) return a + b;
  return a == b ? b : bf16_to_float(half_neighbour(a, b, float_to_bf16(a)));
}

}  // namespace sn
