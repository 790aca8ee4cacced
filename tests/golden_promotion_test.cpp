// Result dtypes against NumPy: every pair of dtypes, every elementwise function, arrays with weak scalars.
#include <doctest/doctest.h>

#include <array>

#include "golden.hpp"
#include "golden_functions.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

constexpr std::uint8_t refused = 255;
constexpr std::array<dtype, 14> numpy_dtypes = {bool_,  int8,   int16,   int32,   int64,   uint8,     uint16,
                                                uint32, uint64, float16, float32, float64, complex64, complex128};

/// dtype of a call, or `refused` if it throws.
template <class F>
std::uint8_t result_of(F&& call) {
  try {
    return static_cast<std::uint8_t>(call().dtype());
  } catch (const error&) {
    return refused;
  }
}

std::string describe(std::uint8_t code) {
  return code == refused ? "refused" : std::string(name(static_cast<dtype>(code)));
}

void check_pairs(golden_file& f) {
  for (int i = 0; i < f.cases(); ++i) {
    const dtype a = f.type(), b = f.type(), expected = f.type();
    CAPTURE(name(a));
    CAPTURE(name(b));
    CHECK(name(promote_types(a, b)) == name(expected));
    for (auto rule : {casting::no, casting::safe, casting::same_kind, casting::unsafe}) {
      CAPTURE(static_cast<int>(rule));
      CHECK(can_cast(a, b, rule) == (f.u8() != 0));
    }
  }
}

void check_unary(golden_file& f) {
  for (auto n = f.varint(); n > 0; --n) {
    const auto function = f.text();
    const auto call = find_unary(function);
    REQUIRE_MESSAGE(bool(call), function);
    for (auto a : numpy_dtypes) {
      const auto expected = f.u8();
      const auto got = result_of([&] { return call(ones({1}, a)); });
      CHECK_MESSAGE(got == expected, function, "(", name(a), "): ", describe(got), ", expected ", describe(expected));
    }
  }
}

void check_binary(golden_file& f) {
  for (auto n = f.varint(); n > 0; --n) {
    const auto function = f.text();
    const auto call = find_binary(function);
    REQUIRE_MESSAGE(bool(call), function);
    for (auto a : numpy_dtypes) {
      for (auto b : numpy_dtypes) {
        const auto expected = f.u8();
        const auto got = result_of([&] { return call(ones({1}, a), ones({1}, b)); });
        CHECK_MESSAGE(got == expected, function, "(", name(a), ", ", name(b), "): ", describe(got), ", expected ",
                      describe(expected));
      }
    }
  }
}

scalar read_scalar(golden_file& f) {
  const int kind = f.u8();
  const auto text = f.text();
  switch (kind) {
    case 0: return true;
    case 1: return text[0] == '-' ? scalar(std::stoll(text)) : scalar(std::stoull(text));
    case 2: return 2.5;
    default: return std::complex<double>(1, 2);
  }
}

void check_weak(golden_file& f) {
  for (auto n = f.varint(); n > 0; --n) {
    const auto function = f.text();
    const auto call = find_binary(function);
    REQUIRE_MESSAGE(bool(call), function);
    for (auto scalars = f.varint(); scalars > 0; --scalars) {
      const scalar s = read_scalar(f);
      for (auto a : numpy_dtypes) {
        const auto right = f.u8(), left = f.u8();
        const auto got_right = result_of([&] { return call(ones({1}, a), s); });
        const auto got_left = result_of([&] { return call(s, ones({1}, a)); });
        CHECK_MESSAGE(got_right == right, function, "(", name(a), ", ", s.real(), "): ", describe(got_right),
                      ", expected ", describe(right));
        CHECK_MESSAGE(got_left == left, function, "(", s.real(), ", ", name(a), "): ", describe(got_left),
                      ", expected ", describe(left));
      }
    }
  }
}

}  // namespace

TEST_CASE("promotion follows NumPy 2 for every dtype pair, function and weak scalar") {
  golden_file golden("promotion.bin");
  check_pairs(golden);
  check_unary(golden);
  check_binary(golden);
  check_weak(golden);
  CHECK(golden.at_end());
}

TEST_CASE("bfloat16 promotes like float16, and with float16 to float32") {
  using sinter::promote_types;
  CHECK(promote_types(bfloat16, bfloat16) == bfloat16);
  CHECK(promote_types(bfloat16, float16) == float32);
  CHECK(promote_types(float16, bfloat16) == float32);
  CHECK(promote_types(bfloat16, float32) == float32);
  CHECK(promote_types(bfloat16, float64) == float64);
  CHECK(promote_types(bfloat16, complex64) == complex64);
  CHECK(promote_types(bfloat16, bool_) == bfloat16);
  CHECK((ones({2}, bfloat16) * 2.5).dtype() == bfloat16);
  CHECK((ones({2}, bfloat16) + 1).dtype() == bfloat16);
}
