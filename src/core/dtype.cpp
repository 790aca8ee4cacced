// Promotion and casting tables, made by NumPy 2 (np.promote_types, np.can_cast). bfloat16, which NumPy lacks, promotes
// with other types as float16 does; the two together give float32.
#include <cstdint>
#include <ostream>

#include "sinter/dtype.hpp"

namespace sinter {
inline namespace v0 {
namespace {

using enum dtype;

// clang-format off
constexpr dtype promotion[dtype_count][dtype_count] = {
    {b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128},
    {i8, i8, i16, i32, i64, i16, i32, i64, f64, f16, bf16, f32, f64, c64, c128},
    {i16, i16, i16, i32, i64, i16, i32, i64, f64, f32, f32, f32, f64, c64, c128},
    {i32, i32, i32, i32, i64, i32, i32, i64, f64, f64, f64, f64, f64, c128, c128},
    {i64, i64, i64, i64, i64, i64, i64, i64, f64, f64, f64, f64, f64, c128, c128},
    {u8, i16, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128},
    {u16, i32, i32, i32, i64, u16, u16, u32, u64, f32, f32, f32, f64, c64, c128},
    {u32, i64, i64, i64, i64, u32, u32, u32, u64, f64, f64, f64, f64, c128, c128},
    {u64, f64, f64, f64, f64, u64, u64, u64, u64, f64, f64, f64, f64, c128, c128},
    {f16, f16, f32, f64, f64, f16, f32, f64, f64, f16, f32, f32, f64, c64, c128},
    {bf16, bf16, f32, f64, f64, bf16, f32, f64, f64, f32, bf16, f32, f64, c64, c128},
    {f32, f32, f32, f64, f64, f32, f32, f64, f64, f32, f32, f32, f64, c64, c128},
    {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, c128, c128},
    {c64, c64, c64, c128, c128, c64, c64, c128, c128, c64, c64, c64, c128, c64, c128},
    {c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128},
};
// clang-format on

// Bit t of row f: whether f may be cast to the dtype numbered t.
constexpr std::uint16_t safe_casts[dtype_count] = {0x7fff, 0x7e1e, 0x781c, 0x5018, 0x5010, 0x7ffc, 0x79d8, 0x5190,
                                                   0x5100, 0x7a00, 0x7c00, 0x7800, 0x5000, 0x6000, 0x4000};
constexpr std::uint16_t same_kind_casts[dtype_count] = {0x7fff, 0x7e1e, 0x7e1e, 0x7e1e, 0x7e1e, 0x7ffe, 0x7ffe, 0x7ffe,
                                                        0x7ffe, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x6000, 0x6000};

}  // namespace

dtype promote_types(dtype a, dtype b) noexcept { return promotion[static_cast<int>(a)][static_cast<int>(b)]; }

bool can_cast(dtype from, dtype to, casting rule) noexcept {
  const auto bit = 1u << static_cast<int>(to);
  switch (rule) {
    case casting::no: return from == to;
    case casting::safe: return (safe_casts[static_cast<int>(from)] & bit) != 0;
    case casting::same_kind: return (same_kind_casts[static_cast<int>(from)] & bit) != 0;
    case casting::unsafe: break;
  }
  return true;
}

std::ostream& operator<<(std::ostream& out, dtype t) { return out << name(t); }

}  // namespace v0
}  // namespace sinter
