// `out=` of elementwise functions and of matmul: the in-place forms of operators that C++ lacks.
#include <doctest/doctest.h>

#include <cstdint>

#include "message_of.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using ints = std::vector<std::int64_t>;
using doubles = std::vector<double>;

}  // namespace

TEST_CASE("power, floor_divide and matmul into their first operand are **=, //= and @=") {
  ndarray x = arange(4);
  const ndarray alias = x;
  const ndarray back = power(x, 3, {.out = x});
  CHECK(alias.to_vector<std::int64_t>() == ints{0, 1, 8, 27});
  back(0) = 7;  // it is x
  CHECK(x(0).item<int>() == 7);
  floor_divide(x, 2, {.out = x});
  CHECK(alias.to_vector<std::int64_t>() == ints{3, 0, 4, 13});
  ndarray m = array({{1.0, 2.0}, {3.0, 4.0}});
  const ndarray rows = m(0);
  matmul(m, m, {.out = m});
  CHECK(m.to_vector<double>() == doubles{7, 10, 15, 22});
  CHECK(rows.to_vector<double>() == doubles{7, 10});
  ndarray v = array({1.0, 2.0});
  matmul(m, v, {.out = v});
  CHECK(v.to_vector<double>() == doubles{27, 59});
}

TEST_CASE("out is written through, keeps its dtype and takes what same_kind casting allows") {
  ndarray x = zeros({2, 3}, float32);
  add(array({1.0, 2.0}), 0.25, {.out = x(_, 1)});
  CHECK(x.to_vector<double>() == doubles{0, 1.25, 0, 0, 2.25, 0});
  CHECK(x.dtype() == float32);
  ndarray small = zeros({2}, int8);
  add(array({100, 300}), 0, {.out = small});
  CHECK(small.to_vector<std::int64_t>() == ints{100, 44});
  ndarray flags = zeros({2});
  less(array({1, 3}), 2, {.out = flags});
  CHECK(flags.to_vector<double>() == doubles{1, 0});
}

TEST_CASE("the result broadcasts to out, never out to the result") {
  ndarray x = zeros({2, 3});
  sqrt(array({1.0, 4.0, 9.0}), {.out = x});
  CHECK(x.to_vector<double>() == doubles{1, 2, 3, 1, 2, 3});
  ndarray row = zeros({3});
  CHECK_THROWS_WITH_AS(add(x, 1, {.out = row}), "[add] out has shape (3,), but the result has shape (2, 3)",
                       shape_error);
  CHECK_THROWS_AS(add(row, 1, {.out = zeros({3, 1})}), shape_error);
  CHECK_THROWS_AS(add(row, 1, {.out = zeros({})}), shape_error);
  CHECK(row.to_vector<double>() == doubles{0, 0, 0});
}

TEST_CASE("out is refused where its dtype, its memory or the array itself does not do") {
  ndarray whole = arange(3);
  CHECK_THROWS_WITH_AS(power(whole, 0.5, {.out = whole}),
                       "[power] cannot cast the result from float64 to int64 (casting rule same_kind)",
                       dtype_error);
  CHECK_THROWS_AS(divide(whole, 2, {.out = whole}), dtype_error);
  CHECK_THROWS_AS(add(whole, 1, {.out = zeros({3}, uint64)}), dtype_error);
  CHECK_THROWS_AS(add(whole, 1, {.out = zeros({3}, bool_)}), dtype_error);
  CHECK_THROWS_AS(add(whole, 1, {.out = broadcast_to(zeros({1}, int64), {3})}), value_error);
  CHECK_THROWS_AS(add(whole, 1, {.out = ndarray()}), value_error);
  ndarray m = ones({2, 2}, int32);
  CHECK(sinter_test::message_of<dtype_error>([&] {
          matmul(m, ones({2, 2}), {.out = m});
        }).find("from float64 to int32") != std::string::npos);
  CHECK_THROWS_AS(matmul(ones({2, 3}), ones({3, 2}), {.out = ones({2, 3})}), shape_error);
  CHECK(whole.to_vector<std::int64_t>() == ints{0, 1, 2});
  CHECK(m.to_vector<std::int64_t>() == ints{1, 1, 1, 1});
}

TEST_CASE("operands that out overlaps are read first") {
  ndarray x = arange(6.0);
  add(x(slice(_, -1)), x(slice(1, _)), {.out = x(slice(1, _))});
  CHECK(x.to_vector<double>() == doubles{0, 1, 3, 5, 7, 9});
  ndarray y = arange(6.0);
  subtract(y, flip(y), {.out = y});
  CHECK(y.to_vector<double>() == doubles{-5, -3, -1, 1, 3, 5});
  ndarray m = reshape(arange(9.0), {3, 3});
  maximum(m, m.T(), {.out = m});
  CHECK(m.to_vector<double>() == doubles{0, 3, 6, 3, 4, 7, 6, 7, 8});
  ndarray square = reshape(arange(9.0), {3, 3});
  matmul(square, square, {.out = square.T()});
  CHECK(square.to_vector<double>() == doubles{15, 42, 69, 18, 54, 90, 21, 66, 111});
  ndarray first = reshape(arange(4.0), {2, 2});
  matmul(first, first(0), {.out = first(1)});  // a product with a vector, which only records
  CHECK(first.to_vector<double>() == doubles{0, 1, 1, 3});
}

TEST_CASE("every elementwise function takes a place for its result") {
  const ndarray x = array({0.25, 0.5, 0.75}), y = array({2.0, 0.5, 0.125});
  using unary = ndarray (*)(const ndarray&);
  using unary_out = ndarray (*)(const ndarray&, const out_kw&);
  using binary = ndarray (*)(const operand&, const operand&);
  using binary_out = ndarray (*)(const operand&, const operand&, const out_kw&);
  const std::pair<unary, unary_out> unaries[] = {{negative, negative},
                                                 {positive, positive},
                                                 {absolute, absolute},
                                                 {fabs, fabs},
                                                 {sign, sign},
                                                 {square, square},
                                                 {reciprocal, reciprocal},
                                                 {floor, floor},
                                                 {ceil, ceil},
                                                 {trunc, trunc},
                                                 {rint, rint},
                                                 {sqrt, sqrt},
                                                 {cbrt, cbrt},
                                                 {exp, exp},
                                                 {exp2, exp2},
                                                 {expm1, expm1},
                                                 {log, log},
                                                 {log2, log2},
                                                 {log10, log10},
                                                 {log1p, log1p},
                                                 {sin, sin},
                                                 {cos, cos},
                                                 {tan, tan},
                                                 {arcsin, arcsin},
                                                 {arccos, arccos},
                                                 {arctan, arctan},
                                                 {sinh, sinh},
                                                 {cosh, cosh},
                                                 {tanh, tanh},
                                                 {arcsinh, arcsinh},
                                                 {arctanh, arctanh},
                                                 {deg2rad, deg2rad},
                                                 {rad2deg, rad2deg},
                                                 {conj, conj},
                                                 {isnan, isnan},
                                                 {isinf, isinf},
                                                 {isfinite, isfinite},
                                                 {signbit, signbit},
                                                 {logical_not, logical_not},
                                                 {abs, abs},
                                                 {acos, acos},
                                                 {asin, asin},
                                                 {asinh, asinh},
                                                 {atan, atan},
                                                 {atanh, atanh},
                                                 {conjugate, conjugate},
                                                 {fix, fix},
                                                 {radians, radians},
                                                 {degrees, degrees}};
  for (std::size_t k = 0; k < std::size(unaries); ++k) {
    CAPTURE(k);
    const auto& [plain, into] = unaries[k];
    ndarray out = zeros({3});
    into(x, {.out = out});
    CHECK(array_equal(out, plain(x).astype(float64)));
    CHECK(array_equal(into(x, {}), plain(x)));
  }
  const std::pair<binary, binary_out> binaries[] = {{add, add},
                                                    {subtract, subtract},
                                                    {multiply, multiply},
                                                    {divide, divide},
                                                    {floor_divide, floor_divide},
                                                    {remainder, remainder},
                                                    {fmod, fmod},
                                                    {power, power},
                                                    {float_power, float_power},
                                                    {logaddexp, logaddexp},
                                                    {arctan2, arctan2},
                                                    {hypot, hypot},
                                                    {heaviside, heaviside},
                                                    {copysign, copysign},
                                                    {nextafter, nextafter},
                                                    {equal, equal},
                                                    {not_equal, not_equal},
                                                    {less, less},
                                                    {less_equal, less_equal},
                                                    {greater, greater},
                                                    {greater_equal, greater_equal},
                                                    {maximum, maximum},
                                                    {minimum, minimum},
                                                    {fmax, fmax},
                                                    {fmin, fmin},
                                                    {logical_and, logical_and},
                                                    {logical_or, logical_or},
                                                    {logical_xor, logical_xor},
                                                    {atan2, atan2},
                                                    {pow, pow},
                                                    {mod, mod},
                                                    {true_divide, true_divide}};
  for (std::size_t k = 0; k < std::size(binaries); ++k) {
    CAPTURE(k);
    const auto& [plain, into] = binaries[k];
    ndarray out = zeros({3});
    into(x, y, {.out = out});
    CHECK(array_equal(out, plain(x, y).astype(float64)));
  }
  const ndarray i = array({5, 6, 7});
  ndarray out = zeros({3}, int64);
  const std::pair<binary, binary_out> bits[] = {{bitwise_and, bitwise_and},
                                                {bitwise_or, bitwise_or},
                                                {bitwise_xor, bitwise_xor},
                                                {left_shift, left_shift},
                                                {right_shift, right_shift},
                                                {bitwise_left_shift, bitwise_left_shift},
                                                {bitwise_right_shift, bitwise_right_shift}};
  for (const auto& [plain, into] : bits) {
    into(i, 3, {.out = out});
    CHECK(array_equal(out, plain(i, 3)));
  }
  for (const unary_out into : {unary_out(invert), unary_out(bitwise_not), unary_out(bitwise_invert)}) {
    into(i, {.out = out});
    CHECK(array_equal(out, ~i));
  }
  ndarray z = zeros({3});
  arccosh(1 + x, {.out = z});
  CHECK(array_equal(z, acosh(1 + x)));
  acosh(2 + x, {.out = z});
  CHECK(array_equal(z, arccosh(2 + x)));
  clip(x, 0.3, _, {.out = z});
  CHECK(z.to_vector<double>() == doubles{0.3, 0.5, 0.75});
  round(x, 1, {.out = z});
  CHECK(array_equal(z, round(x, 1)));
  for (const std::int64_t beyond_int : {std::int64_t{1} << 32, -(std::int64_t{1} << 32)}) {
    round(x, beyond_int, {.out = z});  // not by 0 decimals
    CHECK(array_equal(isnan(z), isnan(round(x, beyond_int))));
    CHECK_FALSE(array_equal(z, round(x, 0)));
  }
  around(x, 0, {.out = z});
  CHECK(z.to_vector<double>() == doubles{0, 0, 1});
}
