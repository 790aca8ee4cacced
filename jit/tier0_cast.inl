// Block operations that convert between dtypes.
#include "tier0_loops.inl"

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
  template <class P>
  SN_MEMBER float of(sn::cx<P> x) { return of(x.re); }
};

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
    case dtype::f16: return &unary<float, From, convert_to_half<rounding::f16>>;
    case dtype::bf16: return &unary<float, From, convert_to_half<rounding::bf16>>;
    case dtype::f32: return &unary<float, From, convert_to<float>>;
    case dtype::f64: return &unary<double, From, convert_to<double>>;
    case dtype::c64: return &unary<sn::c64, From, convert_to<sn::c64>>;
    case dtype::c128: return &unary<sn::c128, From, convert_to<sn::c128>>;
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
    case dtype::c64: return cast_from<sn::c64>(to);
    case dtype::c128: return cast_from<sn::c128>(to);
  }
  return nullptr;
}

}  // namespace sinter::jit::tier0::SINTER_ISA
