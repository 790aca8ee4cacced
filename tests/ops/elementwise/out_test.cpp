// `out=` of elementwise functions and of matmul: the in-place forms of operators that C++ lacks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

#include "sinter/sinter.hpp"
#include "support/message_of.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using ints = std::vector<std::int64_t>;
using doubles = std::vector<double>;

/// A function with and without a place for its result.
struct form {
  std::string_view name;
  bool takes_bits() const {
    return name.starts_with("bitwise") || name.ends_with("_shift") || name == "invert" || name == "gcd" ||
           name == "lcm";
  }
};
struct unary_form : form {
  ndarray (*plain)(const ndarray&);
  ndarray (*into)(const ndarray&, const out_kw&);
};
struct binary_form : form {
  ndarray (*plain)(const operand&, const operand&);
  ndarray (*into)(const operand&, const operand&, const out_kw&);
};
#define FUNCTION(f) {{#f}, f, f},
#define SPELLING(f, function) {{#f}, f, f},
const unary_form unary_forms[] = {SINTER_UNARY_FUNCTIONS(FUNCTION) SINTER_UNARY_SPELLINGS(SPELLING)};
const binary_form binary_forms[] = {SINTER_BINARY_FUNCTIONS(FUNCTION) SINTER_BINARY_SPELLINGS(SPELLING)};
#undef FUNCTION
#undef SPELLING

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
                       "[power] cannot cast the result from float64 to int64 (casting rule same_kind)", dtype_error);
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

TEST_CASE("every operation that is a public function is in the lists of functions") {
  const auto listed = [](std::string_view name, const auto& forms) {
    return std::any_of(std::begin(forms), std::end(forms), [&](const form& f) { return f.name == name; });
  };
#define OP(name, operands, weight)
#define FUNCTION_OP(name, operands, weight, rule) \
  CHECK_MESSAGE((operands == 1 ? listed(#name, unary_forms) : listed(#name, binary_forms)), #name);
#include "jit/program/opcodes.def"
}

TEST_CASE("every elementwise function takes a place for its result") {
  const ndarray x = array({0.25, 0.5, 0.75}), y = array({2.0, 0.5, 0.125});
  const ndarray i = array({5, 6, 7});
  for (const unary_form& f : unary_forms) {
    CAPTURE(f.name);
    const ndarray argument = f.takes_bits() ? i : f.name.ends_with("cosh") ? 1 + x : x;
    ndarray out = zeros({3}, f.takes_bits() ? int64 : float64);
    f.into(argument, {.out = out});
    CHECK(array_equal(out, f.plain(argument).astype(out.dtype())));
    CHECK(array_equal(f.into(argument, {}), f.plain(argument)));
  }
  for (const binary_form& f : binary_forms) {
    CAPTURE(f.name);
    const operand first = f.takes_bits() ? i : x, second = f.takes_bits() ? operand(3) : operand(y);
    ndarray out = zeros({3}, f.takes_bits() ? int64 : float64);
    f.into(first, second, {.out = out});
    CHECK(array_equal(out, f.plain(first, second).astype(out.dtype())));
  }
  ndarray z = zeros({3});
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

TEST_CASE("where= computes the elements that it selects, for every function") {
  const ndarray x = array({0.25, 0.5, 0.75}), y = array({1.0, 2.0, 3.0}), mask = array({true, false, true});
  const ndarray bits = array({1, 2, 3});
  const auto check = [&](const form& f, const ndarray& expected, const std::function<ndarray(const out_kw&)>& call) {
    CAPTURE(f.name);
    const ndarray alone = call({.where = mask}), into = full({2, 3}, 9, expected.dtype());
    CHECK(alone.dtype() == expected.dtype());
    CHECK(array_equal(alone, where(mask, expected, zeros_like(expected)), true));
    call({.out = into, .where = mask});
    CHECK(array_equal(into, broadcast_to(where(mask, expected, full_like(expected, 9)), {2, 3}), true));
  };
  for (const unary_form& f : unary_forms) {
    const ndarray& a = f.takes_bits() || f.name == "bitwise_count" ? bits : x;
    check(f, f.plain(a), [&](const out_kw& kw) { return f.into(a, kw); });
  }
  for (const binary_form& f : binary_forms) {
    const ndarray &a = f.takes_bits() ? bits : x, &b = f.takes_bits() ? bits : y;
    check(f, f.plain(a, b), [&](const out_kw& kw) { return f.into(a, b, kw); });
  }
}

TEST_CASE("where= broadcasts with the operands, and bad masks are named") {
  const ndarray x = array({1.0, 2.0}), rows = array({{true}, {false}, {true}});
  CHECK(add(x, 1, {.where = rows}).to_vector<double>() == doubles{2, 3, 0, 0, 2, 3});
  ndarray z = zeros({2});
  divide(x, z, {.out = z, .where = z != 0});  // reads what it writes first
  CHECK(z.to_vector<double>() == doubles{0, 0});
  CHECK_THROWS_WITH_AS(add(x, x, {.out = z, .where = array({1, 0})}), "[add] where is an array of bools, not of int64",
                       dtype_error);
  CHECK_THROWS_WITH_AS(add(x, x, {.out = z, .where = rows}), "[add] out has shape (2,), but where has shape (3, 1)",
                       shape_error);
  CHECK_THROWS_AS(sqrt(x, {.where = ones({3}, bool_)}), shape_error);
  CHECK_THROWS_AS(sqrt(x, {.out = arange(2), .where = array({true, false})}), dtype_error);
}
