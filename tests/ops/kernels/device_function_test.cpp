// Functions that users register: declarations, dtypes, fusion with expressions, equality by text.
#include <cmath>
#include <thread>

#include "ops/base/access.hpp"
#include "sinter/kernel.hpp"
#include "support/kernel_test.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;

const sinter::function& damped() {
  static const sinter::function f("T damped(T x, T y)", "return x * exp(-y);");
  return f;
}
const sinter::function& affine() {
  static const sinter::function f("T affine(T x, T slope, T offset)", "return x * slope + offset");
  return f;
}

}  // namespace

TEST_CASE("function: declarations that cannot be read are refused") {
  const auto refused = [](std::string_view declaration, std::string_view body, const function_kw& kw = {}) {
    return message_of<value_error>([&] { sinter::function(declaration, body, kw); });
  };
  CHECK(contains(refused("T f(T x", "return x;"),
                 "[function] declaration: expected ',' or ')' at position 7 of \"T f(T x\""));
  CHECK(contains(refused("void f(T x)", "return x;"), "'void' is not a type"));
  CHECK(contains(refused("U f(T x)", "return x;"), "[f] nothing determines type U"));
  CHECK(contains(refused("T f()", "return 1;"), "[f] there is no parameter; f() -> T"));
  CHECK(contains(refused("T f(T x, T x)", "return x;"), "'x' is named twice"));
  CHECK(contains(refused("T f(T x)", "return (x;"), "[f] body: '(' that is not closed"));
  CHECK(contains(refused("T f(T x)", " "), "[f] body is empty"));
  CHECK(contains(refused("T f(T x)", "x + 1"), "[f] body returns nothing"));
  CHECK(contains(refused("T f(T x)", "return x;", {.preamble = "'"}), "[f] preamble: a quote without end"));
  CHECK(affine().signature() == "affine(T x, T slope, T offset) -> T");
  CHECK(affine().name() == "affine");
}

TEST_CASE("function: wrong calls name the signature, letters and dtypes") {
  const ndarray f = arange(3, {.dtype = float32}), d = arange(3, {.dtype = float64});
  CHECK(message_of<value_error>([&] { damped()(f); }) == "[damped] takes 2 arguments, not 1: damped(T x, T y) -> T");
  CHECK(contains(message_of<dtype_error>([&] { damped()(f, d); }), "type T is float32 in x, but float64 in y"));
  CHECK_THROWS_AS(damped()(f, arange(4, {.dtype = float32})), shape_error);
  CHECK_THROWS_AS(damped()(f, ndarray()), value_error);
  CHECK_THROWS_AS(affine()(arange(3), 0.5, 1), dtype_error);
}

TEST_CASE("function: calls are lazy and fuse both ways") {
  const ndarray x = arange(1000, {.dtype = float32}), y = x / 1000;
  eval(x, y);
  const ndarray z = affine()(x + 1, 2, y * 0) - 2;
  CHECK_FALSE(is_evaluated(z));
  CHECK(kernels_of(z) == 1);
  CHECK(array_equal(z, x * 2));
  const ndarray total = sum(affine()(x(_, newaxis), 1, x * 2));
  CHECK(kernels_of(total) == 1);
  // A call over far fewer elements than its consumer's is computed once, not in every iteration.
  CHECK(kernels_of(sum(affine()(x(_, newaxis), 1, affine()(x, 2, 0)))) == 2);
  // sum over j, k of j + 2k
  CHECK(total.astype(float64).item<double>() == doctest::Approx(3 * 499500.0 * 1000).epsilon(1e-6));
  const auto w = elements<float>(damped()(x, y));
  for (std::size_t k = 0; k < w.size(); k += 99)
    CHECK(w[k] == doctest::Approx(static_cast<float>(k) * std::exp(-static_cast<float>(k) / 1000)).epsilon(1e-6));
}

TEST_CASE("function: fused and unfused results have the same bits") {
  const ndarray x = arange(4099, {.dtype = float32}) / 4099;
  const ndarray once = damped()(x * 3, x + 1) * x;
  const ndarray a = x * 3, b = x + 1;
  eval(a);
  eval(b);
  const ndarray f = damped()(a, b);
  eval(f);
  CHECK(array_equal(once, f * x));
}

TEST_CASE("function: numbers, broadcasting, ranks, empty arrays") {
  CHECK(affine()(2, 3, 4).shape() == shape_t{});
  CHECK(affine()(2, 3, 4).dtype() == int64);
  CHECK(affine()(2, 3, 4).item<int>() == 10);
  CHECK(affine()(2.5, 3, 4).item<double>() == 11.5);
  const ndarray x = reshape(arange(6, {.dtype = int32}), {2, 3});
  CHECK(elements<std::int32_t>(affine()(x(_, 0), 2, 1)) == ints{1, 7});
  CHECK(elements<std::int32_t>(affine()(x, x(0), 1)) == ints{1, 2, 5, 1, 5, 11});
  CHECK(affine()(zeros({0, 2}), 1, 1).shape() == shape_t{0, 2});
  CHECK(affine()(zeros({0, 2}), 1, 1).to_vector<double>().empty());
}

TEST_CASE("function: types of results, raw parameters, preambles") {
  const sinter::function sign_of("int sign_of(T x)", "return x > 0 ? 1 : x < 0 ? -1 : 0;");
  CHECK(elements<std::int32_t>(sign_of(array({-2.5, 0.0, 7.0}))) == ints{-1, 0, 1});
  const sinter::function look("T look(raw T table, int64 k)", "return table[(k + table.size()) % table.size()];");
  const ndarray table = arange(5, {.dtype = float32}) * 10;
  CHECK(elements<float>(look(table + 1, array({0, -1, 4})) + 0.5f) == floats{1.5f, 41.5f, 41.5f});
  const sinter::function with_helper(
      "T g(T x)", "return helper(x) + 1;",
      {.preamble = "template <class U> __device__ inline U helper(U v) { return v * v; }"});
  CHECK(elements<float>(with_helper(table)) == floats{1, 101, 401, 901, 1601});
  // i and n are ordinary names here.
  const sinter::function powers("T powers(T x, int n)", "T p = 1; for (int i = 0; i < n; ++i) p *= x; return p;");
  CHECK(elements<float>(powers(floats_of({1, 2, 3}), array({3, 2, 0}, {.dtype = int32}))) == floats{1, 4, 1});
  const sinter::function narrow("float16 narrow(float32 x)", "return x;");
  CHECK(narrow(floats_of({2049})).astype(float64).to_vector<double>() == doubles{2048});
}

TEST_CASE("function: equal texts are one function") {
  const sinter::function first("T same(T x)", "return x + 1;"), second("T same(T x)", "return x + 1;"),
      third("T same(T x)", "return x + 2;");
  const ndarray x = arange(3, {.dtype = float32});
  const auto function_of = [](const ndarray& a) { return ops::value_of(a)->call().function; };
  CHECK(function_of(first(x)) == function_of(second(x)));
  CHECK(function_of(first(x)) != function_of(third(x)));
  CHECK(function_of(first(x)) != function_of(first(x.astype(float64))));
  CHECK(elements<float>(first(x) * second(x) - third(x)) == floats{-1, 1, 5});
}

TEST_CASE("function: fast_math scopes, and reads of what arrays were") {
  ndarray x = arange(4, {.dtype = float32});
  const ndarray before = affine()(x, 2, 1);
  x += 10;
  {
    const fast_math_guard guard;
    CHECK(elements<float>(affine()(x, 2, 1) + 1) == floats{22, 24, 26, 28});
  }
  CHECK(elements<float>(before) == floats{1, 3, 5, 7});
}

TEST_CASE("function: several threads may call one function") {
  const sinter::function f("T threaded(T x, T y)", "return 3 * x + y;");
  const ndarray x = arange(100, {.dtype = float32});
  std::vector<int> good(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < good.size(); ++k)
    threads.emplace_back([&, k] {
      const auto type = k % 2 ? float64 : float32;
      const auto z = f(x.astype(type), static_cast<int>(k)).to_vector<double>();
      good[k] = z[10] == 30.0 + static_cast<double>(k) ? 1 : 0;
    });
  for (std::thread& t : threads) t.join();
  CHECK(good == std::vector<int>(4, 1));
}
