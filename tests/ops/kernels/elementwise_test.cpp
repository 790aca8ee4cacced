// elementwise_kernel: construction, dtypes of letters, shapes, raw arrays, outputs, laziness and fusion, values.
#include <cmath>
#include <complex>
#include <limits>

#include "sinter/kernel.hpp"
#include "support/kernel_test.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;

const elementwise_kernel& sqdiff() {
  static const elementwise_kernel k("T x, T y", "T z", "z = (x - y) * (x - y)", "sqdiff");
  return k;
}

ndarray counting(std::int64_t n, dtype type = float32) { return arange(n, {.dtype = type}); }

}  // namespace

TEST_CASE("elementwise_kernel: what cannot be read is refused at construction") {
  const auto refused = [](std::string_view in, std::string_view out, std::string_view body, std::string_view name = "k",
                          const elementwise_kernel_kw& kw = {}) {
    return message_of<value_error>([&] { elementwise_kernel(in, out, body, name, kw); });
  };
  CHECK(contains(refused("T x y", "T z", "z = x"),
                 "[k] input parameters: 'T x' is not a type at position 0 of \"T x y\""));
  CHECK(contains(refused("T x", "T", "z = x"), "[k] output parameters: expected a name after 'T' at position 1"));
  CHECK(contains(refused("T x", "", "z = x"), "[k] there is no output; k(T x) -> ()"));
  CHECK(contains(refused("T x", "T x", "x = 1"), "[k] 'x' is an input and an output"));
  CHECK(contains(refused("T i", "T z", "z = i"), "a parameter cannot be named 'i'"));
  CHECK(contains(refused("T x", "T n", "n = x"), "a parameter cannot be named 'n'"));
  CHECK(contains(refused("T T", "T z", "z = T"), "'T' names a parameter and a type"));
  CHECK(contains(refused("T x", "U z", "z = x"),
                 "nothing determines type U of output z: no input has it; k(T x) -> (U z)"));
  CHECK(contains(refused("T x", "T z", "z = (x"), "[k] body: '(' that is not closed at position 4"));
  CHECK(contains(refused("T x", "T z", ""), "[k] body is empty"));
  CHECK(contains(refused("T x", "T z", " // z = x"), "[k] body is empty"));
  CHECK(contains(refused("T x", "T z", "z = x", "a b"), "[kernel] name: 'a b' is not an identifier"));
  CHECK(contains(refused("T x", "T z", "z = x", ""), "'' is not an identifier"));
  CHECK(contains(refused("T x", "T z", "z = x", "class"), "'class' is a keyword"));
  CHECK(contains(refused("T x", "T z", "z = x", "k", {.preamble = "struct s {"}),
                 "[k] preamble: '{' that is not closed"));
  CHECK(contains(refused("T x", "T z", "z = x", "k", {.loop_prep = "/*"}), "[k] loop_prep: a comment without end"));
  CHECK(contains(refused("T x", "T z", "z = x", "k", {.after_loop = "}"}), "[k] after_loop: '}' that closes nothing"));
  std::string many;
  for (int k = 0; k < 25; ++k) many += (k > 0 ? ", T x" : "T x") + std::to_string(k);
  CHECK(contains(refused(many, "T z", "z = x0"), "25 inputs; a kernel takes at most 24"));
  // A raw output is always given, so it resolves its letter.
  CHECK_NOTHROW(elementwise_kernel("T x", "raw U z, U w", "z[i] = x; w = 1", "k"));
  CHECK(sqdiff().signature() == "sqdiff(T x, T y) -> (T z)");
  CHECK(sqdiff().name() == "sqdiff");
}

TEST_CASE("elementwise_kernel: wrong calls are refused with the signature") {
  const ndarray x = counting(3), y = counting(4);
  CHECK(message_of<value_error>([&] { sqdiff()(x); }) ==
        "[sqdiff] takes 2 arguments, not 1: sqdiff(T x, T y) -> (T z)");
  CHECK(contains(message_of<value_error>([&] { sqdiff()(); }), "not 0"));
  CHECK(contains(message_of<value_error>([&] { sqdiff()(x, x, x); }), "not 3"));
  CHECK(message_of<value_error>([&] { sqdiff().outputs<2>(x, x); }) ==
        "[sqdiff] has 1 output, not 2: sqdiff(T x, T y) -> (T z)");
  CHECK(contains(message_of<shape_error>([&] { sqdiff()(x, y); }), "[sqdiff] shapes (3,) and (4,) do not broadcast"));
  CHECK_THROWS_AS(sqdiff()(x, ndarray()), value_error);
  CHECK(contains(message_of<shape_error>([&] { sqdiff()(x, x, {.size = 3}); }),
                 "size is for calls whose arrays are all raw"));
  const elementwise_kernel raw("raw T x", "T z", "z = x[i]", "look");
  CHECK(contains(message_of<shape_error>([&] { raw(x); }), "[look] the loop's length is not known"));
  CHECK(contains(message_of<value_error>([&] { raw(2.0, {.size = 2}); }), "x is raw: it takes an array, not a number"));
  CHECK_THROWS_AS(raw(x, {.size = -1}), shape_error);
}

TEST_CASE("elementwise_kernel: letters and written types must be met exactly by arrays") {
  const ndarray f = counting(3), d = counting(3, float64), l = counting(3, int64);
  CHECK(contains(message_of<dtype_error>([&] { sqdiff()(f, d); }),
                 "[sqdiff] type T is float32 in x, but float64 in y; sqdiff(T x, T y) -> (T z)"));
  const elementwise_kernel fixed("float32 x, int n_", "float64 z", "z = x + n_", "fixed");
  CHECK(contains(message_of<dtype_error>([&] { fixed(d, 1); }), "[fixed] x is float64, but its type is float32"));
  CHECK(contains(message_of<dtype_error>([&] { fixed(f, l); }), "[fixed] n_ is int64, but its type is int32"));
  CHECK(elements<double>(fixed(f, 3)) == doubles{3, 4, 5});
  const elementwise_kernel two("T x, U y", "U z", "z = x + y", "two");
  CHECK(two(f, l).dtype() == int64);
  CHECK(two(l, f).dtype() == float32);
  const elementwise_kernel raw("T x, raw T y", "T z", "z = x + y[0]", "raw_one");
  CHECK(contains(message_of<dtype_error>([&] { raw(f, d); }), "type T is float32 in x, but float64 in y"));
}

TEST_CASE("elementwise_kernel: numbers take the dtype of their parameter, or determine it") {
  const ndarray f = counting(3), l = counting(3, int64), h = counting(3, float16), u = counting(3, uint8);
  CHECK(sqdiff()(f, 2).dtype() == float32);
  CHECK(elements<float>(sqdiff()(f, 2)) == floats{4, 1, 0});
  CHECK(elements<float>(sqdiff()(0.5, f)) == floats{0.25, 0.25, 2.25});
  CHECK(sqdiff()(h, 2.5).dtype() == float16);
  CHECK(elements<std::int64_t>(sqdiff()(l, 5)) == longs{25, 16, 9});
  CHECK(contains(message_of<dtype_error>([&] { sqdiff()(l, 2.5); }),
                 "[sqdiff] y is a floating-point number, but its type is int64 (T)"));
  CHECK(contains(message_of<dtype_error>([&] { sqdiff()(f, std::complex<double>(1, 2)); }), "y is a complex number"));
  CHECK(contains(message_of<dtype_error>([&] { sqdiff()(u, 300); }), "[sqdiff] integer 300 does not fit dtype uint8"));
  CHECK(contains(message_of<dtype_error>([&] { sqdiff()(zeros({2}, {.dtype = bool_}), 1); }), "y is an integer"));
  CHECK(sqdiff()(u, true).dtype() == uint8);
  // Numbers alone.
  CHECK(sqdiff()(3, 5).shape() == shape_t{});
  CHECK(sqdiff()(3, 5).dtype() == int64);
  CHECK(sqdiff()(3, 5.5).dtype() == float64);
  CHECK(sqdiff()(3, 5.5).item<double>() == 6.25);
  CHECK(sqdiff()(std::complex<float>(0, 1), 1).dtype() == complex128);
}

TEST_CASE("elementwise_kernel: values for every dtype") {
  const elementwise_kernel combine("T x, T y", "T z", "z = x * y + x", "combine");
  for (dtype t : {int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64}) {
    CAPTURE(name(t));
    const ndarray x = counting(7, t), z = combine(x, 3);
    CHECK(z.dtype() == t);
    CHECK(z.astype(float64).to_vector<double>() == doubles{0, 4, 8, 12, 16, 20, 24});
  }
  const elementwise_kernel invert("bool x", "bool z", "z = !x", "invert");
  CHECK(elements<bool>(invert(array({true, false, true}))) == std::vector<bool>{false, true, false});
  const elementwise_kernel widen("T x", "float64 z", "z = x", "widen");
  for (dtype t : {bool_, int8, uint64, float16, bfloat16, float32, float64})
    CHECK(elements<double>(widen(array({0, 1, 1}, {.dtype = t}))) == doubles{0, 1, 1});
}

TEST_CASE("elementwise_kernel: 16-bit floats are floats in the text and rounded at its end") {
  // 2049 is no float16: 2048 + 1 is computed in float and rounded once.
  const elementwise_kernel up("T x", "T z", "T t = x + 1; z = t + 1;", "up");
  CHECK(up(array({2048}, {.dtype = float16})).astype(float64).to_vector<double>() == doubles{2050});
  CHECK(up(array({256}, {.dtype = bfloat16})).astype(float64).to_vector<double>() == doubles{258});
  CHECK(up(array({2047}, {.dtype = float16})).astype(float64).to_vector<double>() == doubles{2048});
  // The result is rounded before what follows uses it, fused or not.
  CHECK((up(array({2047}, {.dtype = float16})).astype(float32) + 0.25f).to_vector<float>() == floats{2049.25f - 1});
}

TEST_CASE("elementwise_kernel: complex numbers") {
  using c = std::complex<float>;
  const ndarray x = array({1.0f, 2.0f}, {.dtype = float32}) + c(0, 1) * floats_of({3, -1});
  REQUIRE(x.dtype() == complex64);
  const elementwise_kernel k("T x, T y", "T z", "z = x * conj(y) + T(1, 2) - x / T(2)", "complex_kernel");
  const auto z = elements<c>(k(x, x));
  REQUIRE(z.size() == 2);
  CHECK(z[0] == c(10 + 1 - 0.5f, 2 - 1.5f));
  CHECK(z[1] == c(5 + 1 - 1, 2 + 0.5f));
  const elementwise_kernel parts("complex64 x", "float32 z", "z = x.real() + 10 * x.imag() + norm(x)", "parts");
  CHECK(elements<float>(parts(x)) == floats{1 + 30 + 10, 2 - 10 + 5});
  const elementwise_kernel build("float64 x", "complex128 z", "z = complex128(x, -x)", "build");
  CHECK(elements<std::complex<double>>(build(array({1.5}))) ==
        std::vector<std::complex<double>>{std::complex<double>(1.5, -1.5)});
}

TEST_CASE("elementwise_kernel: inputs broadcast, views and pending expressions are read as they are") {
  const ndarray x = reshape(counting(6), {2, 3}), y = counting(3);
  CHECK(elements<float>(sqdiff()(x, y)) == floats{0, 0, 0, 9, 9, 9});
  CHECK(sqdiff()(x(_, newaxis), y).shape() == shape_t{2, 1, 3});
  CHECK(elements<float>(sqdiff()(x.T(), 1)) == floats{1, 4, 0, 9, 1, 16});
  CHECK(elements<float>(sqdiff()(flip(y), x + 1)) == floats{1, 1, 9, 4, 16, 36});
  CHECK(elements<float>(sqdiff()(sqdiff()(y, 1), sum(x, 0))) == floats{4, 25, 36});
  CHECK(sqdiff()(zeros({0, 3}, {.dtype = float32}), y).shape() == shape_t{0, 3});
  CHECK(sqdiff()(zeros({0, 3}, {.dtype = float32}), y).to_vector<float>().empty());
  CHECK(sqdiff()(array(2.0f), array(5.0f)).shape() == shape_t{});
}

TEST_CASE("elementwise_kernel: a recorded call fuses with what goes in and what uses the result") {
  const ndarray x = counting(1000), y = counting(1000) * 0.5f;
  eval(y);
  const ndarray z = sqrt(sqdiff()(x + 1, y * 2)) + 1;
  CHECK_FALSE(is_evaluated(z));
  CHECK(kernels_of(z) == 1);
  CHECK(contains(explain(z), "sqdiff"));
  CHECK(elements<float>(z) == floats(1000, 2.0f));
  const ndarray total = sum(sqdiff()(x(_, newaxis), y));
  CHECK(kernels_of(total) == 1);
  const ndarray nearest = argmin(sqdiff()(x(_, newaxis), y + 0.25f), 1);
  CHECK(kernels_of(nearest) == 1);
  const auto found = elements<std::int64_t>(nearest);
  for (std::size_t k = 0; k < found.size(); ++k)
    CHECK(found[k] == std::min<std::int64_t>(2 * static_cast<std::int64_t>(k) - (k > 0), 999));
}

TEST_CASE("elementwise_kernel: a recorded call reads what its inputs were then") {
  ndarray x = counting(4);
  const ndarray z = sqdiff()(x, 0);
  x(0) = 100.0f;
  x += 1;
  CHECK(elements<float>(z) == floats{0, 1, 4, 9});
  const elementwise_kernel k("T x, raw T y", "T z", "z = x + y[n - 1 - i]", "mirror");
  const ndarray w = k(x, x);
  x(3) = -1.0f;
  CHECK(elements<float>(w) == floats{105, 5, 5, 105});
}

TEST_CASE("elementwise_kernel: i is the position in the loop, n its length") {
  const elementwise_kernel k("T x", "T z", "z = x + 10 * i + 1000 * n", "positions");
  const ndarray x = zeros({2, 3}, {.dtype = float64});
  CHECK(elements<double>(k(x)) == doubles{6000, 6010, 6020, 6030, 6040, 6050});
  CHECK(elements<double>(k(x.T())) == doubles{6000, 6010, 6020, 6030, 6040, 6050});
  // Views of the result renumber nothing.
  CHECK(elements<double>(k(x)["1, ::-1"]) == doubles{6050, 6040, 6030});
  CHECK(k(array(0.0)).item<double>() == 1000);
  // The loop is the broadcast one.
  const elementwise_kernel two("T x, T y", "int64 z", "z = i", "position");
  CHECK(elements<std::int64_t>(two(zeros({2, 1}), zeros({2}))) == longs{0, 1, 2, 3});
  const elementwise_kernel shadow("T x", "T z", "int n = 3; T x2 = x; { int i = 2; z = x2 + n * i; }", "shadow");
  CHECK(elements<float>(shadow(counting(2))) == floats{6, 7});
  // Members, comments and shadowing variables are not i.
  const elementwise_kernel loop("T x", "T z", "z = 0; for (int i = 0; i < 3; ++i) z += x; /* n */", "loop_of_its_own");
  CHECK(elements<float>(loop(counting(3))) == floats{0, 3, 6});
}

TEST_CASE("elementwise_kernel: raw inputs are whole arrays, read by position and by coordinates") {
  const ndarray x = counting(4), table = reshape(counting(6) * 10, {2, 3});
  const elementwise_kernel by_position("T x, raw T t", "T z", "z = x + t[(i * i) % t.size()]", "by_position");
  CHECK(elements<float>(by_position(x, table)) == floats{0, 11, 42, 33});
  CHECK(elements<float>(by_position(x, table.T())) == floats{0, 31, 22, 43});
  CHECK(elements<float>(by_position(x, table(1))) == floats{30, 41, 42, 33});
  const elementwise_kernel coordinates("int64 r, raw T t", "T z", "z = t(r % t.shape(0), t.shape(1) - 1) + t.ndim",
                                       "coordinates");
  CHECK(elements<float>(coordinates(array({0, 1, 2}), table + 1)) == floats{23, 53, 23});
  const elementwise_kernel all("raw T t, int64 shift", "T z", "z = t[(i + shift) % t.size()]", "rotate");
  CHECK(elements<float>(all(x, 1, {.size = 4})) == floats{1, 2, 3, 0});
  CHECK(all(x, 1, {.size = 0}).shape() == shape_t{0});
  const elementwise_kernel alone("", "int64 z", "z = n - i", "alone");
  CHECK(elements<std::int64_t>(alone({.size = 3})) == longs{3, 2, 1});
  CHECK_THROWS_AS(alone(), shape_error);
  CHECK(elements<std::int64_t>(elementwise_kernel("", "int64 z", "z = 7", "sevens")({.size = 2})) == longs{7, 7});
  for (dtype t : {bool_, int8, float16, bfloat16, complex64}) {
    CAPTURE(name(t));
    const elementwise_kernel same("raw T x", "T z", "z = x[n - 1 - i]", "backwards");
    const ndarray v = array({1, 0, 1, 1}, {.dtype = t});
    CHECK(array_equal(same(v, {.size = 4}), flip(v)));
  }
}

TEST_CASE("elementwise_kernel: several outputs come from one run at the call") {
  const elementwise_kernel k("T x, T y", "T s, float64 d", "s = x + y; d = x - y;", "sum_difference");
  const ndarray x = counting(3), y = counting(3) * 2;
  auto [s, d] = k.outputs<2>(x, y + 1);
  CHECK(is_evaluated(s));
  CHECK(is_evaluated(d));
  CHECK(elements<float>(s) == floats{1, 4, 7});
  CHECK(elements<double>(d) == doubles{-1, -2, -3});
  const std::vector<ndarray> both = k.call(x, 1);
  REQUIRE(both.size() == 2);
  CHECK(elements<double>(both[1]) == doubles{-1, 0, 1});
  CHECK(contains(message_of<value_error>([&] { k(x, y); }), "[sum_difference] has 2 outputs, not 1"));
  CHECK(contains(message_of<value_error>([&] { k.outputs<3>(x, y); }), "has 2 outputs, not 3"));
  CHECK(k.call(zeros({0}, {.dtype = float32}), 1)[1].shape() == shape_t{0});
}

TEST_CASE("elementwise_kernel: .out is written, whole or as a view, and takes part in broadcasting") {
  ndarray z = zeros({2, 3}, {.dtype = float32});
  const ndarray same = sqdiff()(counting(3), 1, {.out = {z}});
  CHECK(elements<float>(z) == floats{1, 0, 1, 1, 0, 1});
  CHECK(elements<float>(same) == elements<float>(z));
  same(0) = 5.0f;
  CHECK(elements<float>(z) == floats{5, 5, 5, 1, 0, 1});
  sqdiff()(z(0), counting(3), {.out = {z(1)}});
  CHECK(elements<float>(z) == floats{5, 5, 5, 25, 16, 9});
  sqdiff()(z, 4, {.out = {z}});
  CHECK(elements<float>(z) == floats{1, 1, 1, 441, 144, 25});
  // Elements that are read are those from before, whatever the overlap.
  ndarray w = counting(5);
  sqdiff()(w["1:"], 0, {.out = {w[":-1"]}});
  CHECK(elements<float>(w) == floats{1, 4, 9, 16, 4});
  const auto wrong = [&](const ndarray& out) { sqdiff()(counting(3), 1, {.out = {out}}); };
  CHECK(contains(message_of<shape_error>([&] { wrong(zeros({1}, {.dtype = float32})); }),
                 "[sqdiff] output z has shape (1,), but the result has shape (3,)"));
  CHECK_THROWS_AS(wrong(zeros({4}, {.dtype = float32})), shape_error);
  CHECK(contains(message_of<dtype_error>([&] { wrong(zeros({3})); }), "type T is float32 in x, but float64 in z"));
  CHECK(
      contains(message_of<value_error>([&] { wrong(broadcast_to(zeros({1}, {.dtype = float32}), {3})); }), "output z"));
  CHECK(contains(message_of<value_error>([&] {
                   sqdiff()(z, z, {.out = {z, z}});
                 }),
                 ".out holds 2 arrays for 1 outputs"));
}

TEST_CASE("elementwise_kernel: outputs given to kernels that run at the call") {
  const elementwise_kernel k("T x", "T p, T q", "p = x + 1; q = x + 2;", "two");
  ndarray both = zeros({2, 3}, {.dtype = float32});
  const ndarray before = both * 1;
  k.call(counting(3), {.out = {both(1), both(0)}});
  CHECK(elements<float>(both) == floats{2, 3, 4, 1, 2, 3});
  CHECK(elements<float>(before) == floats(6, 0.0f));
  ndarray p = counting(3);
  const ndarray pending = p * 10;
  auto [first, second] = k.outputs<2>(p, {.out = {p, ndarray()}});
  CHECK(elements<float>(p) == floats{1, 2, 3});
  CHECK(elements<float>(second) == floats{2, 3, 4});
  CHECK(elements<float>(pending) == floats{0, 10, 20});
  first(0) = 9.0f;
  CHECK(elements<float>(p) == floats{9, 2, 3});
  p += 1;
  CHECK(elements<float>(p) == floats{10, 3, 4});
  // One array for both outputs: the later output stays.
  k.call(counting(3), {.out = {p, p}});
  CHECK(elements<float>(p) == floats{2, 3, 4});
}

TEST_CASE("elementwise_kernel: raw outputs are written by index, other elements stay, atomics count") {
  const elementwise_kernel scatter("T x, int64 to", "raw T z", "z[to] = x", "scatter");
  ndarray z = full({2, 3}, -1, {.dtype = float32});
  const ndarray old = z + 0;
  CHECK(
      contains(message_of<value_error>([&] { scatter(counting(3), 1); }), "output z is raw: give its array with .out"));
  const ndarray same = scatter(counting(3), array({5, 0, 2}), {.out = {z}});
  CHECK(elements<float>(z) == floats{1, -1, 2, -1, -1, 0});
  CHECK(elements<float>(old) == floats(6, -1.0f));
  CHECK(same.shape() == shape_t{2, 3});
  scatter(counting(2), array({0, 1}), {.out = {z.T()}});
  CHECK(elements<float>(z) == floats{0, -1, 2, 1, -1, 0});
  const elementwise_kernel histogram("T x", "raw int32 h", "atomic_add(h, (long long)x, 1)", "histogram");
  ndarray h = zeros({10}, {.dtype = int32});
  histogram(counting(100000) % 10, {.out = {h}});
  CHECK(elements<std::int32_t>(h) == ints(10, 10000));
  const elementwise_kernel extremes("T x", "raw T lo, raw T hi", "atomic_min(lo, 0, x); atomic_max(hi, 0, x);",
                                    "extremes");
  ndarray lo = full({1}, 1e9, {.dtype = float32}), hi = full({1}, -1e9, {.dtype = float32});
  extremes.call(counting(5000) - 77, {.out = {lo, hi}});
  CHECK(lo.item<float>() == -77);
  CHECK(hi.item<float>() == 4922);
  CHECK(contains(message_of<value_error>([&] {
                   extremes.call(counting(2), {.out = {lo, lo}});
                 }),
                 "outputs lo and hi share memory"));
  // The array itself as a raw input: the body reads what it was.
  const elementwise_kernel reverse("raw T x", "raw T z", "z[i] = x[n - 1 - i]", "reverse");
  ndarray r = counting(1000);
  reverse(r, {.size = 1000, .out = {r}});
  CHECK(array_equal(r, flip(counting(1000))));
  const elementwise_kernel coordinates("T x", "raw T z", "z(i % 2, i / 2) = x", "transpose");
  ndarray t = zeros({2, 3}, {.dtype = float16});
  coordinates(counting(6, float16), {.out = {t}});
  CHECK(t.astype(float64).to_vector<double>() == doubles{0, 2, 4, 1, 3, 5});
}

TEST_CASE("elementwise_kernel: preambles hold functions, structs and macros of one kernel") {
  const elementwise_kernel k("T x", "T z", "z = twice(x) + SHIFT", "with_preamble",
                             {.preamble = "#define SHIFT 3\n__device__ inline float twice(float v) { return 2 * v; }\n"
                                          "template <class U> struct pair { U a, b; };"});
  const elementwise_kernel other(
      "T x", "T z", "z = twice(x) * SHIFT", "other_preamble",
      {.preamble = "#define SHIFT 5\n__device__ inline float twice(float v) { return v + v; }"});
  const ndarray x = counting(3), both = k(x) + other(x);
  CHECK(kernels_of(both) == 1);
  CHECK(elements<float>(both) == floats{3, 15, 27});
}

TEST_CASE("elementwise_kernel: text around the loop is seen by the body") {
  const elementwise_kernel k("T x", "T z", "z = x * factor; last = z;", "loop_text",
                             {.loop_prep = "T factor = 3; T last = 0", .after_loop = "(void)last"});
  const ndarray x = counting(5000) + 1;
  const ndarray z = k(x);
  CHECK(is_evaluated(z));
  CHECK(array_equal(z, x * 3));
  // It sees raw parameters, numbers and n.
  const elementwise_kernel from("T x, raw T t, T s", "T z", "z = x * factor", "prepared",
                                {.loop_prep = "const T factor = t[n - 1] * s;"});
  CHECK(elements<float>(from(counting(3), counting(3), 0.5)) == floats{0, 1, 2});
  // What a thread gathers is written when its loop ends.
  const elementwise_kernel count("T x", "raw int64 total", "mine += x > 10;", "gather",
                                 {.loop_prep = "long long mine = 0;", .after_loop = "atomic_add(total, 0, mine);"});
  ndarray total = zeros({1}, {.dtype = int64});
  count(counting(5000), {.out = {total}});
  CHECK(total.item<std::int64_t>() == 4989);
}

TEST_CASE("elementwise_kernel: bodies have C's mathematical functions") {
  const elementwise_kernel k("T x", "T z", "z = sqrt(x) + fmax(x, T(2)) + floor(x / 2) + pow(x, T(2))", "functions");
  CHECK(elements<float>(k(floats_of({4, 9}))) == floats{2 + 4 + 2 + 16, 3 + 9 + 4 + 81});
  CHECK(elements<double>(k(array({4.0, 9.0}))) == doubles{24, 97});
  const elementwise_kernel constants(
      "T x", "float64 z", "z = x == 0 ? M_PI : x == 1 ? -INFINITY : x == 2 ? FLT_MAX : x == 3 ? INT_MIN : LLONG_MAX",
      "constants");
  CHECK(elements<double>(constants(counting(5))) ==
        doubles{3.14159265358979323846, -std::numeric_limits<double>::infinity(), std::numeric_limits<float>::max(),
                -2147483648.0, 9223372036854775807.0});
  const elementwise_kernel nothing("T x", "bool z", "z = isnan(x + NAN) && isinf(INFINITY)", "nothing_is");
  CHECK(elements<bool>(nothing(counting(1))) == std::vector<bool>{true});
  const elementwise_kernel e("T x", "T z", "z = exp(x) * sin(x) - log1p(x)", "more_functions");
  const auto z = elements<double>(e(array({0.5, 1.0})));
  for (std::size_t j = 0; j < 2; ++j) {
    const double x = j == 0 ? 0.5 : 1.0;
    CHECK(z[j] == doctest::Approx(std::exp(x) * std::sin(x) - std::log1p(x)).epsilon(1e-14));
  }
}

TEST_CASE("elementwise_kernel: fast_math scopes hold for recorded calls") {
  const elementwise_kernel k("T x", "T z", "z = x * x + 1", "in_scope");
  const fast_math_guard guard;
  CHECK(elements<float>(k(counting(3)) * 2) == floats{2, 4, 10});
}

TEST_CASE("elementwise_kernel: what the compiler says about a body shows the user's lines") {
  const elementwise_kernel k("T x", "T z", "T y = x;\nz = y + undeclared_thing;\n", "broken");
  const ndarray z = k(counting(3)) + 1;
  const std::string message = message_of<compile_error>([&] { eval(z); });
  CHECK(contains(message, "undeclared_thing"));
  CHECK(contains(message, "[broken]"));
  CHECK((contains(message, "broken:2") || contains(message, "broken(2)")));  // as GCC or as NVRTC writes it
  CHECK(contains(message, "   1  T y = x;\n   2  z = y + undeclared_thing;\n"));
  // The failure leaves everything else as it was.
  CHECK(elements<float>(sqdiff()(counting(3), 1)) == floats{1, 0, 1});
}

TEST_CASE("elementwise_kernel: many arguments") {
  std::string in = "T x0", body = "z = x0";
  for (int j = 1; j < 12; ++j) {
    in += ", T x" + std::to_string(j);
    body += " + x" + std::to_string(j);
  }
  const elementwise_kernel k(in, "T z", body, "sum_of_twelve");
  const ndarray x = counting(4, int64);
  CHECK(elements<std::int64_t>(k(x, x, x, x, x, x, x, x, x, x, x, 100)) == longs{100, 111, 122, 133});
}

TEST_CASE("elementwise_kernel: arrays of two devices are refused") {
  if (device_count(device_kind::cuda) == 0) {
    MESSAGE("left out: no CUDA device was found");
    return;
  }
  CHECK_THROWS_AS(sqdiff()(counting(3).to_device(cpu), counting(3).to_device(cuda())), device_error);
}
