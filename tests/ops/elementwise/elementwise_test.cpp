// Rules of elementwise functions: loop dtypes, weak numbers, comparisons across kinds, special cases, errors.
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "graph/run/array.hpp"
#include "ops/base/access.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"

namespace {

using namespace sinter;

constexpr double inf = std::numeric_limits<double>::infinity(), qnan = std::numeric_limits<double>::quiet_NaN();

ndarray of(dtype type, std::initializer_list<list_node> list) { return array(list, {.dtype = type}); }
ndarray one(dtype type) { return ones({1}, type); }

std::vector<double> numbers(const ndarray& x) { return x.to_vector<double>(); }
std::vector<double> truth(const ndarray& x) {
  CHECK(x.dtype() == bool_);
  return numbers(x.astype(float64));
}
using numbers_t = std::vector<double>;

bool same(const numbers_t& a, const numbers_t& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
    if (!both_nan && (a[i] != b[i] || std::signbit(a[i]) != std::signbit(b[i]))) return false;
  }
  return true;
}

/// The operation that an array is recorded as, before anything has run.
jit::opcode recorded(const ndarray& x) { return ops::value_of(x)->map().op; }

template <class E>
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::vector<dtype> all_types = {bool_,  int8,    int16,    int32,   int64,   uint8,     uint16,    uint32,
                                      uint64, float16, bfloat16, float32, float64, complex64, complex128};

}  // namespace

TEST_CASE("functions of floats convert integers to the smallest float that holds them") {
  const std::vector<std::pair<dtype, dtype>> expected = {
      {bool_, float16},     {int8, float16},    {uint8, float16},   {int16, float32},       {uint16, float32},
      {int32, float64},     {uint32, float64},  {int64, float64},   {uint64, float64},      {float16, float16},
      {bfloat16, bfloat16}, {float32, float32}, {float64, float64}, {complex64, complex64}, {complex128, complex128}};
  for (const auto& pair : expected) {
    const dtype from = pair.first, to = pair.second;
    CAPTURE(name(from));
    CHECK(sin(one(from)).dtype() == to);
    CHECK(rint(one(from)).dtype() == to);
    if (!is_complex(from)) {
      CHECK(cbrt(one(from)).dtype() == to);
      CHECK(hypot(one(from), one(from)).dtype() == to);
    }
  }
}

TEST_CASE("a float loop of two integer dtypes is chosen operand by operand") {
  CHECK(arctan2(one(int8), one(uint8)).dtype() == float16);
  CHECK(arctan2(one(uint16), one(int16)).dtype() == float32);
  CHECK(arctan2(one(int16), one(float16)).dtype() == float32);
  CHECK(arctan2(one(bool_), 1).dtype() == float64);
  CHECK(arctan2(one(int8), 300).dtype() == float16);
  CHECK(arctan2(one(int8), 1.5).dtype() == float64);
  CHECK(copysign(one(uint8), -1).item<double>() == -1);
}

TEST_CASE("arrays of one shape and two dtypes give what they give broadcast") {
  for (dtype s : {bool_, int8, int64, uint64, float16, float32, complex64})
    for (dtype t : {bool_, int16, int64, uint64, bfloat16, float64, complex64}) {
      CAPTURE(name(s));
      CAPTURE(name(t));
      const ndarray x = of(s, {0, 1, 3}), y = of(t, {1, 0, 2});
      const auto compare = [](const ndarray& alike, const ndarray& two_rows) {
        CHECK(alike.dtype() == two_rows.dtype());
        CHECK(array_equal(alike, two_rows(1)));
      };
      const ndarray two = x.reshape(1, 3) + zeros({2, 1}, s);
      compare(x + y, two + y);
      compare(y * x, y * two);
      compare(x <= y, two <= y);
      if (!is_complex(s) && !is_complex(t)) compare(hypot(x, y), hypot(two, y));
    }
}

TEST_CASE("an operation holds each of its operands once for each place, and gives them up with itself") {
  const ndarray x = of(float32, {1, 2}) + 1, y = of(float32, {3, 4}) * 2;
  const auto references = [](const ndarray& a) { return ops::value_of(a)->refs.load(); };
  const auto of_x = references(x), of_y = references(y);
  {
    const ndarray sum = x + y, square = x * x, number = 2 - x, other = y / 3, mixed = x + of(int8, {1, 2}),
                  less = x < y, above = y >= 1;
    CHECK(references(x) == of_x + 6);
    CHECK(references(y) == of_y + 4);
    CHECK_THROWS_AS(x + of(float32, {1, 2, 3}), shape_error);
    CHECK_THROWS_AS(x ^ y, dtype_error);
    CHECK(references(x) == of_x + 6);
  }
  CHECK(references(x) == of_x);
  CHECK(references(y) == of_y);
  CHECK(same(numbers(x + y), {8, 11}));
}

TEST_CASE("division of integers gives float64, of other dtypes their promotion") {
  for (dtype t : all_types) {
    CAPTURE(name(t));
    CHECK(divide(one(t), one(t)).dtype() == (is_inexact(t) ? t : float64));
  }
  CHECK(divide(one(int8), one(float16)).dtype() == float16);
  CHECK(divide(one(int16), one(float16)).dtype() == float32);
  CHECK(same(numbers(of(int64, {1, -7, 0}) / 2), {0.5, -3.5, 0}));
}

TEST_CASE("arithmetic of bools follows NumPy's loops") {
  const ndarray f = of(bool_, {false, true}), t = of(bool_, {true, true});
  CHECK(same(truth(f + t), {1, 1}));
  CHECK(same(truth(f * t), {0, 1}));
  CHECK(same(truth(maximum(f, t)), {1, 1}));
  CHECK(same(truth(minimum(f, t)), {0, 1}));
  CHECK(same(truth(f < t), {1, 0}));
  for (const ndarray& x :
       {floor_divide(f, t), remainder(f, t), fmod(f, t), power(f, t), square(f), left_shift(t, t), right_shift(t, t)})
    CHECK(x.dtype() == int8);
  CHECK(same(numbers(left_shift(t, t)), {2, 2}));
  CHECK(absolute(f).dtype() == bool_);
  CHECK(floor(f).dtype() == bool_);
  CHECK(conj(f).dtype() == int8);
  CHECK((f + 1).dtype() == int64);
  CHECK(same(truth(~f), {1, 0}));
}

TEST_CASE("functions without a loop for bool throw dtype_error that says what to use") {
  const ndarray b = one(bool_);
  CHECK(contains(message_of<dtype_error>([&] { subtract(b, b); }), "[subtract] bool and bool are not supported"));
  CHECK(contains(message_of<dtype_error>([&] { -b; }), "[negative] bool is not supported; use invert"));
  CHECK_THROWS_AS(sign(b), dtype_error);
  CHECK_THROWS_AS(positive(b), dtype_error);
}

TEST_CASE("functions without a loop for complex or floats throw dtype_error") {
  const ndarray c = one(complex64), f = one(float64);
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { floor(c); }, [&] { arctan2(c, c); }, [&] { floor_divide(c, c); }, [&] { remainder(c, f); },
           [&] { cbrt(c); }, [&] { fabs(c); }, [&] { signbit(c); }, [&] { deg2rad(c); }, [&] { f << 1; }, [&] { ~f; },
           [&] { heaviside(c, c); }, [&] { nextafter(c, c); }})
    CHECK_THROWS_AS(call(), dtype_error);
  CHECK(contains(message_of<dtype_error>([&] { bitwise_and(f, f); }),
                 "[bitwise_and] float64 and float64 are not supported"));
  CHECK_THROWS_AS(bitwise_or(one(int64), one(uint64)), dtype_error);
  CHECK_THROWS_AS(bitwise_or(f, 1), dtype_error);
}

TEST_CASE("C++ numbers are weak: the array's dtype stays unless the kind rises") {
  CHECK((one(float32) * 2.0).dtype() == float32);
  CHECK((one(float16) + 1).dtype() == float16);
  CHECK((one(bfloat16) + 1.5).dtype() == bfloat16);
  CHECK((one(int8) + 1).dtype() == int8);
  CHECK((one(int8) + 1.5).dtype() == float64);
  CHECK((one(int8) + std::complex<float>(0, 1)).dtype() == complex128);
  CHECK((one(float32) + std::complex<double>(0, 1)).dtype() == complex64);
  CHECK((one(float16) + std::complex<double>(0, 1)).dtype() == complex64);
  CHECK((one(int8) + true).dtype() == int8);
  CHECK((one(uint64) + 1).dtype() == uint64);
  CHECK((one(int64) + one(uint64)).dtype() == float64);
  CHECK(std::isinf((one(float16) + 1e10).item<double>()));
}

TEST_CASE("an integer that does not fit the loop's dtype throws dtype_error") {
  CHECK_THROWS_AS(one(int8) + 300, dtype_error);
  CHECK_THROWS_AS(maximum(one(uint8), -1), dtype_error);
  CHECK_THROWS_AS(one(bool_) + (std::uint64_t{1} << 63), dtype_error);
  CHECK_NOTHROW(one(int8) / 300);
  CHECK(same(truth(logical_and(one(int8), 300)), {1}));
}

TEST_CASE("int64 compares with uint64 by value") {
  const std::int64_t big = std::int64_t{1} << 53;
  const ndarray s = array(std::vector<std::int64_t>{big + 1, -1, 5, std::numeric_limits<std::int64_t>::max()});
  const ndarray u = array(std::vector<std::uint64_t>{std::uint64_t(big), ~std::uint64_t{0}, 5, std::uint64_t{1} << 63});
  CHECK(same(truth(s == u), {0, 0, 1, 0}));
  CHECK(same(truth(s != u), {1, 1, 0, 1}));
  CHECK(same(truth(s < u), {0, 1, 0, 1}));
  CHECK(same(truth(s <= u), {0, 1, 1, 1}));
  CHECK(same(truth(s > u), {1, 0, 0, 0}));
  CHECK(same(truth(u > s), {0, 1, 0, 1}));
  CHECK(same(truth(u <= s), {1, 0, 1, 0}));
  CHECK(same(truth(of(int8, {-1}) < of(uint64, {0})), {1}));
}

TEST_CASE("comparing integers with numbers beyond their dtype gives the true answer") {
  const ndarray x = of(int8, {-128, 127}), u = of(uint64, {0, 1});
  CHECK(same(truth(x < 300), {1, 1}));
  CHECK(same(truth(x == 300), {0, 0}));
  CHECK(same(truth(x != 300), {1, 1}));
  CHECK(same(truth(x > -1000), {1, 1}));
  CHECK(same(truth(-1 < u), {1, 1}));
  CHECK(same(truth(u <= -1), {0, 0}));
  CHECK(same(truth(std::numeric_limits<std::uint64_t>::max() > of(int64, {5})), {1}));
  CHECK(same(truth(of(bool_, {true}) < 300), {1}));
}

TEST_CASE("complex numbers are ordered by real part, then imaginary part") {
  using z = std::complex<double>;
  const ndarray a = array(std::vector<z>{{1, 2}, {1, 2}, {0, 5}, {qnan, 0}, {1, qnan}});
  const ndarray b = array(std::vector<z>{{1, 3}, {1, 2}, {1, 0}, {1, 0}, {2, 0}});
  CHECK(same(truth(a < b), {1, 0, 1, 0, 0}));
  CHECK(same(truth(a <= b), {1, 1, 1, 0, 0}));
  CHECK(same(truth(a > b), {0, 0, 0, 0, 0}));
  CHECK(same(truth(a == b), {0, 1, 0, 0, 0}));
  CHECK(same(numbers(real(maximum(a, b))), {1, 1, 1, qnan, 1}));
  CHECK(same(numbers(imag(minimum(a, b))), {2, 2, 5, 0, qnan}));
  CHECK(same(numbers(real(fmax(a, b))), {1, 1, 1, 1, 2}));
}

TEST_CASE("maximum and minimum propagate NaN, fmax and fmin ignore it") {
  const ndarray a = array({1.0, qnan, 3.0}), b = array({2.0, 2.0, qnan});
  CHECK(same(numbers(maximum(a, b)), {2, qnan, qnan}));
  CHECK(same(numbers(minimum(a, b)), {1, qnan, qnan}));
  CHECK(same(numbers(fmax(a, b)), {2, 2, 3}));
  CHECK(same(numbers(fmin(a, b)), {1, 2, 3}));
}

TEST_CASE("powers by 2, 0.5 and -1 are recorded as square, sqrt and reciprocal") {
  const ndarray x = of(float32, {4, 0.25});
  CHECK(recorded(power(x, 2)) == jit::opcode::square);
  CHECK(recorded(power(x, 0.5)) == jit::opcode::sqrt);
  CHECK(recorded(power(x, -1)) == jit::opcode::reciprocal);
  CHECK(recorded(power(x, 3)) == jit::opcode::power);
  CHECK(recorded(power(of(int32, {3}), 2)) == jit::opcode::square);
  CHECK(power(of(int32, {3}), 2).dtype() == int32);
  CHECK(power(of(int8, {3}), 2.0).dtype() == float64);
  CHECK(power(of(float32, {3}), of(int64, {2})).dtype() == float64);
  CHECK(same(numbers(power(array({-inf, -0.0, 4.0}), 0.5)), {qnan, -0.0, 2}));
}

TEST_CASE("an integer to a negative integer power is a value_error") {
  CHECK_THROWS_AS(power(of(int32, {2}), -1), value_error);
  CHECK(power(of(int32, {2}), -1.0).item<double>() == 0.5);
}

TEST_CASE("dividing by a power of two is recorded as an exact multiplication, by nothing else") {
  const ndarray x = of(float32, {3, -5});
  CHECK(recorded(x / 2) == jit::opcode::multiply);
  CHECK(recorded(x / -0.25) == jit::opcode::multiply);
  CHECK(recorded(x / 3) == jit::opcode::divide);
  CHECK(recorded(x / 0) == jit::opcode::divide);
  CHECK(recorded(x / inf) == jit::opcode::divide);
  CHECK(recorded(x / 0x1p-127) == jit::opcode::multiply);
  CHECK(recorded(x / 0x1p-128) == jit::opcode::divide);
  CHECK(recorded(x / 0x1p126) == jit::opcode::multiply);
  CHECK(recorded(x / 0x1p127) == jit::opcode::divide);
  CHECK(same(numbers(x / -0.25), {-12, 20}));
}

TEST_CASE("float_power computes in float64 or complex128") {
  CHECK(float_power(one(float32), 2).dtype() == float64);
  CHECK(float_power(one(complex64), 2).dtype() == complex128);
  CHECK(same(numbers(float_power(of(int8, {2, 3}), -1)), {0.5, 1.0 / 3}));
}

TEST_CASE("rounding leaves integers alone and rounds ties to even") {
  CHECK(floor(of(int32, {3})).dtype() == int32);
  CHECK(round(of(int32, {3})).dtype() == int32);
  CHECK(round(one(bool_)).dtype() == float16);
  CHECK(same(numbers(round(array({0.5, 1.5, -0.5, 2.5}))), {0, 2, -0.0, 2}));
  CHECK(same(numbers(round(of(int32, {15, 25, 35}), -1)), {20, 20, 40}));
  CHECK(same(numbers(round(array({1.25, 1.35}), 1)), {1.2, 1.4}));
}

TEST_CASE("absolute value and parts of complex numbers are real") {
  const ndarray z = array(std::vector<std::complex<float>>{{3, 4}});
  CHECK(absolute(z).dtype() == float32);
  CHECK(absolute(z).item<float>() == 5);
  CHECK(real(z).dtype() == float32);
  CHECK(imag(z).item<float>() == 4);
  CHECK(conj(z).item<std::complex<float>>() == std::complex<float>(3, -4));
  CHECK(imag(of(int16, {7})).item<int>() == 0);
  CHECK(angle(of(float64, {-1.0})).item<double>() == doctest::Approx(3.141592653589793));
  CHECK(angle(z, true).item<double>() == doctest::Approx(53.13010235));
}

TEST_CASE("predicates of integers are constants") {
  const ndarray x = of(int8, {-1, 2});
  CHECK(same(truth(isnan(x)), {0, 0}));
  CHECK(same(truth(isinf(x)), {0, 0}));
  CHECK(same(truth(isfinite(x)), {1, 1}));
  CHECK(same(truth(signbit(x)), {1, 0}));
  CHECK(same(truth(signbit(array({-0.0, 0.0}))), {1, 0}));
}

TEST_CASE("logical functions take every dtype, and NaN is true") {
  CHECK(same(truth(logical_and(array({qnan, 0.0}), of(complex64, {std::complex<double>(0, 1), 1}))), {1, 0}));
  CHECK(same(truth(logical_xor(of(int8, {2, 0}), 0.5)), {0, 1}));
  CHECK(same(truth(logical_not(of(uint16, {0, 256}))), {1, 0}));
}

TEST_CASE("where promotes its branches and takes any condition") {
  CHECK(where(true, one(int8), 1.5).dtype() == float64);
  CHECK(where(one(bool_), one(int8), 1).dtype() == int8);
  CHECK(same(numbers(where(of(int32, {0, 7}), of(float32, {1, 2}), -1)), {-1, 2}));
  CHECK(where(ones({2, 1}), ones({3}), 0).shape() == shape_t{2, 3});
  CHECK_THROWS_AS(where(ones({2}), ones({3}), 0), shape_error);
}

TEST_CASE("clip takes either bound, propagates NaN and drops bounds that hold anyway") {
  const ndarray x = array({-2.0, 0.5, 9.0, qnan});
  CHECK(same(numbers(clip(x, 0, 1)), {0, 0.5, 1, qnan}));
  CHECK(same(numbers(clip(x, idx::_, 1)), {-2, 0.5, 1, qnan}));
  CHECK(same(numbers(clip(x, array({0.0, qnan, 0.0, 0.0}))), {0, qnan, 9, qnan}));
  CHECK(same(numbers(clip(of(uint8, {1, 200}), -3, 300)), {1, 200}));
  CHECK_THROWS_AS(clip(of(uint8, {1}), 2, -3), dtype_error);
  CHECK_THROWS_AS(clip(of(int8, {1}), 200, 300), dtype_error);
  CHECK(clip(of(bool_, {true}), 0, 1).dtype() == int64);
}

TEST_CASE("isclose, allclose and array_equal") {
  CHECK(same(truth(isclose(array({1.0, 1.0, qnan, inf}), array({1.0 + 1e-9, 1.1, qnan, inf}))), {1, 0, 0, 1}));
  CHECK(same(truth(isclose(array({qnan}), array({qnan}), 1e-5, 1e-8, true)), {1}));
  CHECK(allclose(of(int8, {1, 2}), of(int8, {1, 2})));
  CHECK_FALSE(allclose(array({1.0, 2.0}), 1.0));
  CHECK(array_equal(of(int8, {1, 2}), array({1.0, 2.0})));
  CHECK_FALSE(array_equal(ones({2, 3}), ones({3, 2})));
  CHECK_THROWS_AS(allclose(ones({2, 3}), ones({3, 2})), shape_error);
}

TEST_CASE("nan_to_num replaces NaN and the infinities") {
  CHECK(same(numbers(nan_to_num(of(float16, {inf, -inf, qnan, 2}))), {65504, -65504, 0, 2}));
  CHECK(same(numbers(nan_to_num(array({inf, qnan}), 7.0, 8.0)), {8, 7}));
  using z = std::complex<double>;
  const auto out = nan_to_num(array(std::vector<z>{{qnan, 2}, {-0.0, -0.0}})).to_vector<z>();
  CHECK(out[0] == z(0, 2));
  CHECK(std::signbit(out[1].imag()));
}

TEST_CASE("heaviside, deg2rad and rad2deg follow NumPy") {
  CHECK(same(numbers(heaviside(of(float32, {-1, 0, 1, qnan}), 0.5)), {0, 0.5, 1, qnan}));
  CHECK(heaviside(one(int8), 0.5).dtype() == float64);
  CHECK(deg2rad(of(float32, {180})).item<float>() == 180.0f * (3.14159265358979f / 180.0f));
  CHECK(degrees(array({3.141592653589793})).item<double>() == 3.141592653589793 * (180.0 / 3.141592653589793));
}

TEST_CASE("operands broadcast, and shapes that do not are named") {
  CHECK((ones({2, 1}) + ones({3})).shape() == shape_t{2, 3});
  CHECK((zeros({0, 1}) + ones({3})).shape() == shape_t{0, 3});
  const std::string text = message_of<shape_error>([] { ones({3, 4}) + ones({5}); });
  CHECK(contains(text, "[add]"));
  CHECK(contains(text, "(3, 4)"));
  CHECK(contains(text, "(5,)"));
}

TEST_CASE("functions that return their argument's value give an array of their own") {
  ndarray x = array({1.0, 2.0});
  for (ndarray y : std::initializer_list<ndarray>{+x, conj(x), clip(x, idx::_)}) {
    y += 1;
    CHECK(same(numbers(x), {1, 2}));
  }
}

TEST_CASE("every elementwise function runs on every dtype that it accepts") {
#define LISTED(f) f,
  using unary_t = ndarray (*)(const ndarray&);
  using binary_t = ndarray (*)(const operand&, const operand&);
  const std::vector<unary_t> unary = {SINTER_UNARY_FUNCTIONS(LISTED) real, imag};
  const std::vector<binary_t> binary = {SINTER_BINARY_FUNCTIONS(LISTED)};
#undef LISTED
  int ran = 0;
  for (dtype t : all_types) {
    const ndarray x = ones({3}, t);
    const auto run = [&](const std::function<ndarray()>& f) {
      try {
        const ndarray y = f();
        CHECK(y.astype(complex128).to_vector<std::complex<double>>().size() == 3);
        ++ran;
      } catch (const dtype_error&) {
      }
    };
    for (unary_t f : unary) run([&] { return f(x); });
    for (binary_t f : binary) run([&] { return f(x, x); });
  }
  CHECK(ran > 900);
}
