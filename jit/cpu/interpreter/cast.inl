// Block operations that convert between dtypes.
#include "jit/cpu/interpreter/loops.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

template <class To>
struct convert_to {
  template <class From>
  SN_MEMBER To of(From x) { return sn::cast<To>(x); }
};
template <rounding R>
struct convert_to_half {
  template <class From>
  SN_MEMBER float of(From x) {
    if constexpr (R == rounding::f16) return sn::to_f16(x);
    else return sn::to_bf16(x);
  }
};

template <class From>
void to_f16_lanes(void* dst, const void* a, const void*, const void*, int n, int* fault) {
  if constexpr (__is_same(From, float)) round_to_f16(static_cast<float*>(dst), static_cast<const float*>(a), n);
  else unary<float, From, convert_to_half<rounding::f16>>(dst, a, nullptr, nullptr, n, fault);
}

template <class From>
block_op cast_from(dtype to) noexcept {
  switch (to) {
    case dtype::b1: return &unary<bool, From, convert_to<bool>>;
    case dtype::i8: return &unary<signed char, From, convert_to<signed char>>;
    case dtype::i16: return &unary<short, From, convert_to<short>>;
    case dtype::i32: return &unary<int, From, convert_to<int>>;
    case dtype::i64: return &unary<long long, From, convert_to<long long>>;
    case dtype::u8: return &unary<unsigned char, From, convert_to<unsigned char>>;
    case dtype::u16: return &unary<unsigned short, From, convert_to<unsigned short>>;
    case dtype::u32: return &unary<unsigned, From, convert_to<unsigned>>;
    case dtype::u64: return &unary<unsigned long long, From, convert_to<unsigned long long>>;
    case dtype::f16: return &to_f16_lanes<From>;
    case dtype::bf16: return &unary<float, From, convert_to_half<rounding::bf16>>;
    case dtype::f32: return &unary<float, From, convert_to<float>>;
    case dtype::f64: return &unary<double, From, convert_to<double>>;
    case dtype::c64: return &unary<sn::c64, From, convert_to<sn::c64>>;
    case dtype::c128: return &unary<sn::c128, From, convert_to<sn::c128>>;
  }
  return nullptr;
}

template <dtype To, class R>
void convert_real(void* dst, const void* a, const void*, const void*, int n, int* fault) {
  alignas(64) R parts[block_lanes];
  part_of<R, 0>(parts, a, nullptr, nullptr, n, fault);
  cast_from<R>(To)(dst, parts, nullptr, nullptr, n, fault);
}

/// From a complex type: the real part, except that bool tests both and complex converts both.
template <class R>
block_op cast_from_complex(dtype to) noexcept {
  switch (to) {
    case dtype::b1: return &test_parts<&unary<bool, R, convert_to<bool>>, of_parts::one>;
    case dtype::c64: return &in_parts<&unary<float, R, convert_to<float>>>;
    case dtype::c128: return &in_parts<&unary<double, R, convert_to<double>>>;
#define REAL(type) case dtype::type: return &convert_real<dtype::type, R>;
    REAL(i8) REAL(i16) REAL(i32) REAL(i64) REAL(u8) REAL(u16) REAL(u32) REAL(u64)
    REAL(f16) REAL(bf16) REAL(f32) REAL(f64)
#undef REAL
  }
  return nullptr;
}

}  // namespace

block_op cast_op(dtype to, dtype from) noexcept {
  switch (from) {
    case dtype::b1: return cast_from<unsigned char>(to);  // lanes of bool are bytes 0 and 1
    case dtype::i8: return cast_from<signed char>(to);
    case dtype::i16: return cast_from<short>(to);
    case dtype::i32: return cast_from<int>(to);
    case dtype::i64: return cast_from<long long>(to);
    case dtype::u8: return cast_from<unsigned char>(to);
    case dtype::u16: return cast_from<unsigned short>(to);
    case dtype::u32: return cast_from<unsigned>(to);
    case dtype::u64: return cast_from<unsigned long long>(to);
    case dtype::f16:
    case dtype::bf16:
    case dtype::f32: return cast_from<float>(to);
    case dtype::f64: return cast_from<double>(to);
    case dtype::c64: return cast_from_complex<float>(to);
    case dtype::c128: return cast_from_complex<double>(to);
  }
  return nullptr;
}

}  // namespace sinter::jit::tier0::SINTER_ISA
