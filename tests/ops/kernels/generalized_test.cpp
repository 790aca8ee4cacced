// generalized_kernel: signatures, core and loop dimensions, values against loops written out, outputs, laziness.
#include <complex>

#include "sinter/generalized_kernel.hpp"
#include "support/kernel_test.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;

constexpr const char* distance_body = R"(
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < m; ++b) {
      T total = 0;
      for (int c = 0; c < k; ++c) {
        const T d = x(a, c) - y(b, c);
        total += d * d;
      }
      z(a, b) = total;
    })";

const generalized_kernel& distance() {
  static const generalized_kernel f("(n,k),(m,k)->(n,m)", "T x, T y", "T z", distance_body, "distance");
  return f;
}
const generalized_kernel& weighted_mean() {
  static const generalized_kernel f("(n),(n),()->()", "T x, T w, T power", "T y",
                                    "T top = 0, bottom = 0;\n"
                                    "for (int j = 0; j < n; ++j) {\n"
                                    "  top += x(j) * w[j];\n"
                                    "  bottom += w(j);\n"
                                    "}\n"
                                    "y = power * top / bottom",
                                    "weighted_mean");
  return f;
}
const generalized_kernel& running_sum() {
  static const generalized_kernel f("(n)->(n)", "T x", "T y", "T t = 0; for (int j = 0; j < n; ++j) y(j) = t += x(j);",
                                    "running_sum");
  return f;
}

ndarray counting(const shape_t& shape, dtype type = float64) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  return reshape(arange(n, {.dtype = type}), shape);
}

}  // namespace

TEST_CASE("generalized_kernel: what cannot be read is refused at construction") {
  const auto refused = [](std::string_view signature, std::string_view in, std::string_view out,
                          std::string_view body = "y = 1") {
    return message_of<value_error>([&] { generalized_kernel(signature, in, out, body, "g"); });
  };
  CHECK(contains(refused("(n->(n)", "T x", "T y"), "[g] signature: expected ',' or ')' instead of '->' at position 2"));
  CHECK(contains(refused("(n),(n)->()", "T x", "T y"), "[g] the signature has 2 inputs for 1 input parameters"));
  CHECK(contains(refused("(n)->(),()", "T x", "T y"), "[g] the signature has 2 outputs for 1 output parameters"));
  CHECK(contains(refused("(n)->(m)", "T x", "T y"), "[g] core dimension m of an output appears in no input"));
  CHECK(contains(refused("(x)->()", "T x", "T y"), "[g] 'x' names a core dimension and a parameter or type"));
  CHECK(contains(refused("(T)->()", "T x", "T y"), "[g] 'T' names a core dimension and a parameter or type"));
  CHECK(contains(refused("(n)->()", "raw T x", "T y"), "[g] x is raw"));
  CHECK(contains(refused("(n)->()", "T x", "U y"), "[g] nothing determines type U"));
  CHECK(contains(refused("->()", "", "int y"), "[g] there is no input"));
  CHECK(contains(refused("(n)->()", "T x", "T y", "{"), "[g] body: '{' that is not closed"));
  CHECK(distance().signature() == "distance(T x(n,k), T y(m,k)) -> (T z(n,m))");
  CHECK(weighted_mean().signature() == "weighted_mean(T x(n), T w(n), T power()) -> (T y())");
}

TEST_CASE("generalized_kernel: core dimensions that do not match are named with their extents") {
  const ndarray x = counting({5, 3}), y = counting({2, 4});
  CHECK(message_of<shape_error>([&] { distance()(x, y); }) ==
        "[distance] core dimension k is 3 in x of shape (5, 3), but 4 in y of shape (2, 4); distance(T x(n,k), T "
        "y(m,k)) -> (T z(n,m))");
  CHECK(contains(message_of<shape_error>([&] { distance()(x, counting({3})); }),
                 "[distance] y of shape (3,) lacks core dimensions (m,k)"));
  CHECK(contains(message_of<shape_error>([&] { distance()(x, 2.0); }), "y of shape () lacks core dimensions (m,k)"));
  CHECK(contains(message_of<shape_error>([&] {
                   distance()(counting({2, 5, 3}), counting({4, 5, 3}));
                 }),
                 "[distance] shapes (2,) and (4,) do not broadcast"));
  const generalized_kernel cross(
      "(3),(3)->(3)", "T x, T y", "T z",
      "for (int j = 0; j < 3; ++j) z(j) = x((j + 1) % 3) * y((j + 2) % 3) - x((j + 2) % 3) * "
      "y((j + 1) % 3);",
      "cross");
  CHECK(contains(message_of<shape_error>([&] { cross(x, y); }),
                 "[cross] core dimension 0 of y of shape (2, 4) has extent 4, but the signature says 3"));
  CHECK(elements<double>(cross(array({1.0, 0.0, 0.0}), array({{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}))) ==
        doubles{0, 0, 1, 0, -1, 0});
  CHECK(contains(message_of<value_error>([&] { distance()(x); }), "[distance] takes 2 arguments, not 1"));
  CHECK(contains(message_of<dtype_error>([&] { distance()(x, x.astype(float32)); }),
                 "type T is float64 in x, but float32 in y"));
  CHECK_THROWS_AS(distance()(x, ndarray()), value_error);
}

TEST_CASE("generalized_kernel: loop dimensions broadcast, core dimensions do not") {
  const ndarray x = counting({2, 1, 4, 3}), y = counting({5, 6, 3}) - 7;
  const ndarray z = distance()(x, y);
  CHECK(z.shape() == shape_t{2, 5, 4, 6});
  const auto found = elements<double>(z), a = elements<double>(x), b = elements<double>(y);
  std::size_t at = 0, wrong = 0;
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t q = 0; q < 5; ++q)
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 6; ++j) {
          double total = 0;
          for (std::size_t c = 0; c < 3; ++c) {
            const double d = a[(p * 4 + i) * 3 + c] - b[(q * 6 + j) * 3 + c];
            total += d * d;
          }
          wrong += found[at++] != total;
        }
  CHECK(wrong == 0);
  CHECK(distance()(counting({4, 3}), counting({4, 3})).shape() == shape_t{4, 4});
}

TEST_CASE("generalized_kernel: scalar outputs are recorded and fuse with what uses them") {
  const ndarray x = counting({4, 3}), w = array({1.0, 2.0, 1.0});
  const ndarray y = weighted_mean()(x, w, 2) + 1;
  CHECK_FALSE(is_evaluated(y));
  CHECK(elements<double>(y) == doubles{3, 9, 15, 21});
  CHECK(contains(explain(weighted_mean()(x, w, counting({2, 1}) + 1) * 2), "weighted_mean"));
  const ndarray wide = weighted_mean()(x, w, counting({2, 1}) + 1);
  CHECK(wide.shape() == shape_t{2, 4});
  CHECK(elements<double>(wide) == doubles{1, 4, 7, 10, 2, 8, 14, 20});
  CHECK(weighted_mean()(w, w, 1).shape() == shape_t{});
  CHECK(weighted_mean()(w, w, 1).item<double>() == 6.0 / 4);
}

TEST_CASE("generalized_kernel: views and pending inputs are read as they are") {
  const ndarray x = counting({3, 4}, float32);
  CHECK(array_equal(running_sum()(x.T()), array({{0, 4, 12}, {1, 6, 15}, {2, 8, 18}, {3, 10, 21}})));
  CHECK(array_equal(running_sum()(x["::-1, 1::2"]), array({{9, 20}, {5, 12}, {1, 4}})));
  CHECK(array_equal(running_sum()(x * 2 + 1)(0), array({1, 4, 9, 16})));
  CHECK(array_equal(running_sum()(broadcast_to(x(0), {2, 2, 4})), broadcast_to(array({0, 1, 3, 6}), {2, 2, 4})));
  ndarray w = counting({4}, float32);
  const ndarray before = weighted_mean()(w, w * 0 + 1, 1);
  w += 10;
  CHECK(before.item<float>() == 1.5f);
}

TEST_CASE("generalized_kernel: outputs given with .out, several outputs, mixed core dimensions") {
  const generalized_kernel split("(n)->(n),(),(2)", "T x", "T centred, T mean_, T ends",
                                 "T t = 0;\nfor (int j = 0; j < n; ++j) t += x(j);\nmean_ = t / n;\n"
                                 "for (int j = 0; j < x.size(); ++j) centred(j) = x[j] - mean_;\n"
                                 "ends(0) = x(0); ends(1) = x(x.shape(0) - 1);",
                                 "split");
  const ndarray x = counting({2, 5});
  auto [centred, mean_of, ends] = split.outputs<3>(x);
  CHECK(elements<double>(centred) == doubles{-2, -1, 0, 1, 2, -2, -1, 0, 1, 2});
  CHECK(elements<double>(mean_of) == doubles{2, 7});
  CHECK(elements<double>(ends) == doubles{0, 4, 5, 9});
  CHECK(ends.shape() == shape_t{2, 2});
  ndarray into = zeros({3, 2, 5}), means = zeros({2});
  split.call(x, {.out = {into(1), means, ndarray()}});
  CHECK(array_equal(into(1), centred));
  CHECK(sum(abs(into(0))).item<double>() == 0);
  CHECK(elements<double>(means) == doubles{2, 7});
  ndarray same = counting({2, 3});
  running_sum()(same, {.out = {same}});
  CHECK(elements<double>(same) == doubles{0, 1, 3, 3, 7, 12});
  same += 1;
  CHECK(elements<double>(same) == doubles{1, 2, 4, 4, 8, 13});
  CHECK(contains(message_of<shape_error>([&] {
                   running_sum()(x, {.out = {zeros({5, 2})}});
                 }),
                 "[running_sum] output y has shape (5, 2), but the result has shape (2, 5)"));
  const generalized_kernel two(
      "(n)->(),()", "T x", "T low, T high",
      "low = high = x(0); for (int j = 1; j < n; ++j) { low = min(low, x(j)); high = max(high, x(j)); }", "range");
  auto [low, high] = two.outputs<2>(x);
  CHECK(elements<double>(low) == doubles{0, 5});
  CHECK(elements<double>(high) == doubles{4, 9});
}

TEST_CASE("generalized_kernel: no loop elements, empty core dimensions") {
  CHECK(running_sum()(zeros({0, 4})).shape() == shape_t{0, 4});
  CHECK(running_sum()(zeros({0, 4})).to_vector<double>().empty());
  CHECK(running_sum()(zeros({3, 0})).shape() == shape_t{3, 0});
  const generalized_kernel count("(n)->()", "T x", "int64 y", "y = n", "count");
  CHECK(elements<std::int64_t>(count(zeros({3, 0}))) == longs{0, 0, 0});
  CHECK(count(zeros({0, 3})).shape() == shape_t{0});
  CHECK(distance()(zeros({0, 3}), zeros({2, 3})).shape() == shape_t{0, 2});
}

TEST_CASE("generalized_kernel: every dtype in sub-arrays") {
  for (const dtype type : {int8, int16, int32, int64, uint8, uint64, float16, bfloat16, float32, float64}) {
    CAPTURE(name(type));
    const ndarray y = running_sum()(counting({2, 5}, type));
    CHECK(y.dtype() == type);
    CHECK(y.astype(float64).to_vector<double>() == doubles{0, 1, 3, 6, 10, 5, 11, 18, 26, 35});
  }
  const generalized_kernel reverse("(n)->(n)", "T x", "T y", "for (int j = 0; j < n; ++j) y(j) = x(n - 1 - j);",
                                   "reverse");
  CHECK(elements<bool>(reverse(array({true, false, false}))) == std::vector<bool>{false, false, true});
  const ndarray c = counting({4}) + std::complex<double>(0, 1) * counting({4});
  CHECK(array_equal(reverse(c), flip(c)));
}

TEST_CASE("generalized_kernel: many loop elements over several loop ranks") {
  const ndarray x = counting({40, 1, 30, 7}, float32) / 100, w = counting({50, 1, 7}, float32);
  const ndarray y = weighted_mean()(x, w + 1, 1);
  CHECK(y.shape() == shape_t{40, 50, 30});
  const ndarray expected = sum(x.astype(float64) * (w + 1), -1) / sum((w + 1).astype(float64), -1);
  CHECK(max(abs(y - expected)).item<double>() < 1e-3);
}

TEST_CASE("generalized_kernel: compile errors show the user's lines") {
  const generalized_kernel f("(n)->(n)", "T x", "T y", "T ok = x(0);\ny(0) = nowhere + ok;", "wrong_body");
  const std::string message = message_of<compile_error>([&] { f(counting({3})); });
  CHECK(contains(message, "nowhere"));
  CHECK((contains(message, "wrong_body:2") || contains(message, "wrong_body(2)")));  // as GCC or as NVRTC writes it
  CHECK(contains(message, "   1  T ok = x(0);\n   2  y(0) = nowhere + ok;\n"));
}
