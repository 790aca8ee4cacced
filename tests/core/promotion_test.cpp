// Promotion, weak numbers, casts, half precision on the host, and shape arithmetic.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "core/format_number.hpp"
#include "core/shape.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;

namespace {

constexpr int n = dtype_count;
dtype nth(int i) { return static_cast<dtype>(i); }

}  // namespace

TEST_CASE("promotion is symmetric, idempotent and never loses the kind") {
  for (int a = 0; a < n; ++a) {
    CHECK(promote_types(nth(a), nth(a)) == nth(a));
    for (int b = 0; b < n; ++b) {
      const dtype p = promote_types(nth(a), nth(b));
      CHECK(p == promote_types(nth(b), nth(a)));
      CHECK(is_complex(p) == (is_complex(nth(a)) || is_complex(nth(b))));
      CHECK(p == promote_types(p, nth(a)));
    }
  }
}

TEST_CASE("promotion follows NumPy where it surprises") {
  CHECK(promote_types(int8, uint8) == int16);
  CHECK(promote_types(int64, uint64) == float64);
  CHECK(promote_types(int16, float16) == float32);
  CHECK(promote_types(int32, float32) == float64);
  CHECK(promote_types(int32, complex64) == complex128);
  CHECK(promote_types(bool_, int8) == int8);
}

TEST_CASE("bfloat16 promotes with integers as float16 does, and with float16 to float32") {
  CHECK(promote_types(bfloat16, uint8) == bfloat16);
  CHECK(promote_types(bfloat16, int16) == float32);
  CHECK(promote_types(bfloat16, int32) == float64);
  CHECK(promote_types(bfloat16, float16) == float32);
  CHECK(promote_types(bfloat16, complex64) == complex64);
}

TEST_CASE("a cast is safe exactly where promotion gives the target") {
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) CHECK(can_cast(nth(a), nth(b)) == (promote_types(nth(a), nth(b)) == nth(b)));
}

TEST_CASE("same_kind allows narrowing within a kind, never to a lower kind") {
  CHECK(can_cast(int64, int8, casting::same_kind));
  CHECK(can_cast(float64, float16, casting::same_kind));
  CHECK(can_cast(uint32, int8, casting::same_kind));
  CHECK_FALSE(can_cast(int32, uint32, casting::same_kind));
  CHECK_FALSE(can_cast(float32, int64, casting::same_kind));
  CHECK_FALSE(can_cast(complex64, float64, casting::same_kind));
  CHECK_FALSE(can_cast(int8, bool_, casting::same_kind));
  CHECK(can_cast(complex128, bool_, casting::unsafe));
  CHECK_FALSE(can_cast(int8, int16, casting::no));
}

TEST_CASE("numbers are weak: they raise the kind and never the width") {
  const ndarray i8 = zeros({2}, int8), f16 = zeros({2}, float16), f32 = zeros({2}, float32), b = zeros({2}, bool_);
  CHECK(result_type(i8, 100) == int8);
  CHECK(result_type(i8, true) == int8);
  CHECK(result_type(i8, 1.0) == float64);
  CHECK(result_type(f16, 1.0) == float16);
  CHECK(result_type(f32, 2.0) == float32);
  CHECK(result_type(f32, std::complex<double>(0, 1)) == complex64);
  CHECK(result_type(f16, std::complex<double>(0, 1)) == complex64);
  CHECK(result_type(i8, std::complex<double>(0, 1)) == complex128);
  CHECK(result_type(b, 1) == int64);
  CHECK(result_type(b, true) == bool_);
  CHECK(result_type(1, 2.0) == float64);
  CHECK(result_type(UINT64_MAX, 1) == uint64);
}

TEST_CASE("dtypes, arrays and numbers mix in any order") {
  const ndarray u16 = zeros({2}, uint16), f32 = zeros({2}, float32);
  CHECK(result_type(int16, u16, f32) == float32);
  CHECK(result_type(1, int16, u16(0), 2.5, f32) == float32);
  CHECK(result_type(int8, uint8, float16) == float16);
  CHECK(result_type(int8, 1) == int8);
  CHECK(result_type(2.5, int8) == float64);
  CHECK(result_type(2.5, bool_, f32) == float32);
  CHECK(result_type(uint8) == uint8);
  CHECK(result_type(true) == bool_);
  CHECK_THROWS_AS(result_type(int8, 1000, uint8, -40000), dtype_error);
  CHECK_THROWS_WITH_AS(result_type(300, int8), "[result_type] integer 300 does not fit dtype int8", dtype_error);
  CHECK_THROWS_WITH_AS(result_type(1, -1, uint8, 5), "[result_type] integer -1 does not fit dtype uint8", dtype_error);
  CHECK_THROWS_AS(result_type(ndarray(), int8), value_error);
}

TEST_CASE("a dtype is of one of several kinds") {
  CHECK(isdtype(int8, {"real floating", "integral"}));
  CHECK_FALSE(isdtype(complex64, {"real floating", "integral"}));
  CHECK(isdtype(complex64, {float32, "complex floating"}));
  CHECK(isdtype(float32, {float32, "complex floating"}));
  CHECK_FALSE(isdtype(float64, {float32, "complex floating"}));
  CHECK(isdtype(int16, {int8, int16}));
  CHECK(isdtype(int16, int16));
  CHECK_FALSE(isdtype(int16, int8));
  CHECK_FALSE(isdtype(int16, {}));
  CHECK(isdtype(bool_, {"bool"}));
  CHECK(isdtype(bool_, std::string("bool")));
  // Words are checked also where the answer is known.
  CHECK_THROWS_WITH_AS(isdtype(float32, {float32, "number"}), "[isdtype] unknown kind 'number'", value_error);
  const char* const kinds[] = {"bool", "signed integer", "unsigned integer", "real floating", "complex floating"};
  for (int t = 0; t < n; ++t) {
    int found = 0;
    for (const char* kind : kinds) found += isdtype(nth(t), kind);
    CHECK(found == 1);
    CHECK(isdtype(nth(t), {"numeric", "bool"}));
  }
}

TEST_CASE("an integer that does not fit the array's dtype throws") {
  const ndarray i8 = zeros({2}, int8), u64 = zeros({2}, uint64), i64 = zeros({2}, int64);
  CHECK_THROWS_AS(result_type(i8, 128), dtype_error);
  CHECK(result_type(i8, -128) == int8);
  CHECK_THROWS_AS(result_type(u64, -1), dtype_error);
  CHECK_THROWS_AS(result_type(i64, UINT64_MAX), dtype_error);
  CHECK(result_type(u64, UINT64_MAX) == uint64);
}

TEST_CASE("every half survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    half h;
    h.bits = static_cast<std::uint16_t>(bits);
    const float f = float(h);
    if (std::isnan(f)) {
      CHECK(std::isnan(float(half(f))));
    } else {
      REQUIRE(half(f).bits == h.bits);
    }
    bfloat b;
    b.bits = static_cast<std::uint16_t>(bits);
    const float g = float(b);
    if (!std::isnan(g)) REQUIRE(bfloat(g).bits == b.bits);
  }
}

TEST_CASE("halves round to nearest, ties to even, and overflow to infinity") {
  CHECK(half(1.0f + 0x1p-11f).bits == 0x3c00);
  CHECK(half(1.0f + 3 * 0x1p-11f).bits == 0x3c02);
  CHECK(half(65519.996f).bits == 0x7bff);
  CHECK(half(65520.0f).bits == 0x7c00);
  CHECK(half(-0x1p-25f).bits == 0x8000);
  CHECK(half(0x1.8p-25f).bits == 0x0001);
  CHECK(bfloat(1.0f + 0x1p-8f).bits == 0x3f80);
  CHECK(bfloat(1.0f + 3 * 0x1p-8f).bits == 0x3f82);
  CHECK(bfloat(3.4e38f).bits == 0x7f80);
}

TEST_CASE("finfo and iinfo give the limits") {
  CHECK(finfo(float32).eps == 0x1p-23);
  CHECK(finfo(float16).max == 65504);
  CHECK(finfo(bfloat16).smallest_normal == 0x1p-126);
  CHECK(finfo(complex128).dtype == float64);
  CHECK(finfo(float64).smallest_subnormal == 5e-324);
  CHECK(iinfo(int8).min == -128);
  CHECK(iinfo(uint64).max == UINT64_MAX);
  CHECK(iinfo(int64).min == INT64_MIN);
  CHECK_THROWS_AS(finfo(int8), dtype_error);
  CHECK_THROWS_AS(iinfo(float32), dtype_error);
  CHECK(isdtype(uint8, "integral"));
  CHECK_FALSE(isdtype(bool_, "numeric"));
  CHECK_THROWS_AS(isdtype(bool_, "number"), value_error);
}

TEST_CASE("shapes that do not broadcast are named with their function") {
  CHECK_THROWS_WITH_AS(zeros({3, 4}) + zeros({5}), "[add] shapes (3, 4) and (5,) do not broadcast", shape_error);
}

TEST_CASE("a reshape is a view exactly where strides allow it") {
  using core::dims;
  CHECK(*core::reshape_strides({2, 3, 4}, {12, 4, 1}, {6, 4}) == dims{4, 1});
  CHECK(*core::reshape_strides({6, 4}, {4, 1}, {2, 3, 2, 2}) == dims{12, 4, 2, 1});
  CHECK_FALSE(core::reshape_strides({3, 4}, {1, 3}, {12}).has_value());
  CHECK(*core::reshape_strides({4, 3}, {6, 2}, {12}) == dims{2});
  CHECK(*core::reshape_strides({2, 1, 3}, {3, 77, 1}, {6}) == dims{1});
  CHECK(core::reshape_strides({2, 1}, {5, 1}, {1, 2, 1}).has_value());
  CHECK((*core::reshape_strides({2, 1}, {5, 1}, {1, 2, 1}))[1] == 5);
  CHECK(*core::reshape_strides({4}, {-1}, {2, 2}) == dims{-2, -1});
  CHECK(core::reshape_strides({0, 3}, {3, 1}, {3, 0, 2}).has_value());
  CHECK(core::reshape_strides({}, {}, {1, 1}).has_value());
}

TEST_CASE("views whose coordinates share an element are found") {
  CHECK(core::may_self_overlap({2, 3}, {0, 1}));
  CHECK_FALSE(core::may_self_overlap({1, 3}, {0, 1}));
  CHECK_FALSE(core::may_self_overlap({3, 4}, {1, 3}));
  CHECK_FALSE(core::may_self_overlap({3, 4}, {-4, 1}));
  CHECK(core::may_self_overlap({3, 3}, {1, 1}));
  CHECK_FALSE(core::may_self_overlap({0, 3}, {0, 0}));
}

TEST_CASE("rank above six keeps working") {
  const ndarray x = zeros({1, 2, 1, 2, 1, 2, 1, 3});
  CHECK(x.ndim() == 8);
  CHECK(x.T().shape() == shape_t{3, 1, 2, 1, 2, 1, 2, 1});
}
