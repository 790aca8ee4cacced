// Result dtypes against NumPy: every pair of dtypes, every elementwise function, arrays with weak scalars.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "golden/functions.hpp"
#include "golden/golden.hpp"

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

using typed = sinter::detail::typed_operand;

/// result_type in every order of the arguments, each dtype as itself or as an array of it.
void check_orders(std::vector<int> members, const std::vector<ndarray>& arrays, const scalar* number, dtype expected) {
  const int extra = static_cast<int>(numpy_dtypes.size());  // represents the number
  if (number) members.push_back(extra);
  std::sort(members.begin(), members.end());
  int round = 0;
  do {
    std::vector<typed> arguments;
    std::string text;
    for (const int m : members) {
      if (m == extra) arguments.emplace_back(*number);
      else if (++round % 3 == 0) arguments.emplace_back(arrays[static_cast<std::size_t>(m)]);
      else arguments.emplace_back(numpy_dtypes[static_cast<std::size_t>(m)]);
      text += m == extra ? "number " : std::string(name(numpy_dtypes[static_cast<std::size_t>(m)])) + " ";
    }
    const dtype got = sinter::detail::result_type(arguments);
    CHECK_MESSAGE(got == expected, text, ": ", name(got), ", expected ", name(expected));
  } while (std::next_permutation(members.begin(), members.end()));
}

/// The functions that join three arrays of these dtypes, in every order.
void check_functions(std::vector<int> members, const std::vector<ndarray>& arrays, dtype expected) {
  const ndarray which = zeros({1}, int64);
  do {
    std::vector<ndarray> x;
    for (const int m : members) x.push_back(arrays[static_cast<std::size_t>(m)]);
    CAPTURE(name(x[0].dtype()));
    CAPTURE(name(x[1].dtype()));
    CAPTURE(name(x[2].dtype()));
    CHECK(name(concatenate(x).dtype()) == name(expected));
    CHECK(name(stack(x).dtype()) == name(expected));
    CHECK(name(choose(which, x).dtype()) == name(expected));
    CHECK(name(clip(x[0], x[1], x[2]).dtype()) == name(expected));
    CHECK(name(einsum("i,i,i->i", x).dtype()) == name(expected));
  } while (std::next_permutation(members.begin(), members.end()));
}

void check_sets(golden_file& f) {
  std::vector<ndarray> arrays;
  for (const dtype t : numpy_dtypes) arrays.push_back(ones({1}, t));
  const scalar numbers[] = {true, 1, 1.0, std::complex<double>(0, 1)};
  const auto count = static_cast<int>(numpy_dtypes.size());
  const auto of_size = [&](auto& self, std::vector<int>& chosen, int size) -> void {
    if (static_cast<int>(chosen.size()) < size) {
      for (int next = chosen.empty() ? 0 : chosen.back() + 1; next < count; ++next) {
        chosen.push_back(next);
        self(self, chosen, size);
        chosen.pop_back();
      }
      return;
    }
    const dtype alone = f.type();
    check_orders(chosen, arrays, nullptr, alone);
    for (const scalar& s : numbers) check_orders(chosen, arrays, &s, f.type());
    if (size == 3) check_functions(chosen, arrays, alone);
  };
  std::vector<int> chosen;
  for (int size = 1; size <= 4; ++size) of_size(of_size, chosen, size);
}

}  // namespace

TEST_CASE(
    "promotion follows NumPy 2 for every dtype pair, function and weak scalar, and every set of up to four dtypes") {
  golden_file golden("promotion.bin");
  check_pairs(golden);
  check_unary(golden);
  check_binary(golden);
  check_weak(golden);
  check_sets(golden);
  CHECK(golden.at_end());
}

TEST_CASE("with bfloat16 promotion does not depend on the order either, and loses nothing") {
  std::vector<int> members = {0, 1, 2};
  for (int a = 0; a < dtype_count; ++a)
    for (int b = a + 1; b < dtype_count; ++b) {
      const dtype set[] = {static_cast<dtype>(a), static_cast<dtype>(b), bfloat16};
      const dtype expected = result_type(set[0], set[1], set[2]);
      for (const dtype t : set) CHECK(promote_types(expected, t) == expected);
      std::sort(members.begin(), members.end());
      do {
        const auto nth = [&](int k) { return set[members[static_cast<std::size_t>(k)]]; };
        CHECK(name(result_type(nth(0), nth(1), nth(2))) == name(expected));
      } while (std::next_permutation(members.begin(), members.end()));
    }
  CHECK(result_type(int16, uint16, bfloat16) == float32);
  CHECK(result_type(int8, uint8, bfloat16) == bfloat16);
  CHECK(result_type(uint8, float16, bfloat16, int8) == float32);
  CHECK(result_type(int8, uint8, bfloat16, 2.5) == bfloat16);
  CHECK(concatenate({ones({1}, int8), ones({1}, uint8), ones({1}, bfloat16)}).dtype() == bfloat16);
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
