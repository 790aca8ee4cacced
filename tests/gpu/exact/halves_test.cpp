// Operations that kernels have on float16 and bfloat16 against those on float, rounded: for every pair of numbers.
#ifdef SINTER_HAS_CUDA

#include <string>
#include <vector>

#include "gpu/exact/comparison.hpp"
#include "gpu/gpu.hpp"

namespace {

/// x has the bits of two halves.
constexpr const char* cases = R"(
template <class T> __device__ __forceinline__ T half_of(unsigned bits) {
  T r;
  r.bits = (unsigned short)bits;
  return r;
}
template <class T> __device__ __forceinline__ bool differ(T a, float exact) {
  const T b = exact;
  return a.bits != b.bits && !(float(a) != float(a) && float(b) != float(b));
}
template <class T> struct sums {
  static __device__ bool wrong(float x, bool&) {
    const T a = half_of<T>(__float_as_uint(x)), b = half_of<T>(__float_as_uint(x) >> 16);
    const float m = a, n = b;
    return differ(sn::add(a, b), m + n) | differ(sn::subtract(a, b), m - n) | differ(sn::multiply(a, b), m * n);
  }
};
template <class T> struct extremes {
  static __device__ bool wrong(float x, bool&) {
    const T a = half_of<T>(__float_as_uint(x)), b = half_of<T>(__float_as_uint(x) >> 16);
    const float m = a, n = b;
    return differ(sn::maximum(a, b), sn::maximum(m, n)) | differ(sn::minimum(a, b), sn::minimum(m, n)) |
           differ(sn::negative(a), -m) | differ(sn::absolute(a), fabsf(m));
  }
};
struct quotients {
  static __device__ bool wrong(float x, bool&) {
    const float m = half_of<sn::f16>(__float_as_uint(x)), n = half_of<sn::f16>(__float_as_uint(x) >> 16);
    return differ(sn::f16(sn::half_quotient(m, n)), m / n) | differ(sn::f16(sn::half_root(m)), sqrtf(m));
  }
};
struct wide_quotients {
  static __device__ bool wrong(float x, bool&) {
    const float m = half_of<sn::bf16>(__float_as_uint(x)), n = half_of<sn::bf16>(__float_as_uint(x) >> 16);
    return differ(sn::bf16(sn::wide_half_quotient(m, n)), m / n);
  }
};
// Of the exponential, as far as NaN, 0 and infinity where they are due, and a unit of the last place.
template <class T> struct exponentials {
  static __device__ bool wrong(float x, bool&) {
    const float m = half_of<T>(__float_as_uint(x));
    const T a = sn::half_exp(m), b = expf(m);
    const int apart = (int)a.bits - (int)b.bits;
    return m != m ? float(a) == float(a) : apart > 1 || apart < -1 || (m == 0.0f && float(a) != 1.0f);
  }
};
// The conversion to bfloat16 against the one on integers, for every float.
struct conversions {
  static __device__ bool wrong(float x, bool&) {
    const sn::bf16 a = x;
    const unsigned bits = sn::round_bf16_bits(x) >> 16;
    return x != x ? float(a) == float(a) : a.bits != bits;
  }
};
typedef sums<sn::f16> f16_sums;
typedef sums<sn::bf16> bf16_sums;
typedef extremes<sn::f16> f16_extremes;
typedef extremes<sn::bf16> bf16_extremes;
typedef exponentials<sn::f16> f16_exponentials;
typedef exponentials<sn::bf16> bf16_exponentials;
)";

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = {"f16_sums",      "bf16_sums",      "f16_extremes",
                                               "bf16_extremes", "quotients",      "f16_exponentials",
                                               "conversions",   "wide_quotients", "bf16_exponentials"};
  return all;
}

std::string source() {
  sinter::jit::program halves;
  halves.code.push_back({.op = sinter::jit::opcode::load, .type = sinter::dtype::f16, .arg = sinter::dtype::f16});
  std::string text = sinter::jit::cuda_prelude(std::vector<const sinter::jit::program*>{&halves});
  text += gpu_test::comparing_text + std::string(cases);
  for (const std::string& name : names()) text += "COMPARE(" + name + ")\n";
  return text;
}

}  // namespace

TEST_CASE("gpu: the kernels that compare halves compile") {
  if (gpu_test::no_nvrtc()) return;
  for (const int arch : {75, 80, 90}) CHECK(sinter::jit::compile_cuda(source(), {.arch = arch}).bytes.size() > 0);
}

TEST_CASE(
    "gpu: sums, products, extremes, quotients and roots of halves have the bits of float's, rounded, for every pair") {
  if (gpu_test::no_gpu()) return;
  gpu_test::comparison c;
  if (!c.load(sinter::default_device().index, source())) return;
  for (const std::string& name : names()) {
    gpu_test::report r{};
    if (!c.run(name, r)) return;
    CAPTURE(name);
    CAPTURE(r.first);
    CHECK(r.wrong == 0);
  }
}

#endif
