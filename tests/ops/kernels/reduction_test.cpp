// reduction_kernel: construction, axes, accumulated types, several inputs and outputs, empty inputs, fusion.
#include <cmath>
#include <complex>

#include "sinter/reduction_kernel.hpp"
#include "support/kernel_test.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;

const reduction_kernel& l2() {
  static const reduction_kernel k("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2");
  return k;
}
const reduction_kernel& total() {
  static const reduction_kernel k("T x", "T y", "x", "a + b", "y = a", "0", "total");
  return k;
}

/// Index and value of the smallest element, as users write it.
const reduction_kernel& smallest() {
  static const reduction_kernel k("T x", "T y, int64 at", "best{x, i}",
                                  "a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b",
                                  "y = a.value; at = a.index", "best{T(1e30), 1LL << 62}", "smallest",
                                  {.reduce_type = "best", .preamble = "struct best { T value; long long index; };"});
  return k;
}

ndarray numbers(const shape_t& shape, dtype type) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  return reshape(remainder(arange(n, {.dtype = int64}) * 7, 11) - 3, shape).astype(type);
}

}  // namespace

TEST_CASE("reduction_kernel: what cannot be read is refused at construction") {
  const auto refused = [](std::string_view in, std::string_view out, std::string_view map, std::string_view reduce,
                          std::string_view post, std::string_view identity, const reduction_kernel_kw& kw = {}) {
    return message_of<value_error>([&] { reduction_kernel(in, out, map, reduce, post, identity, "r", kw); });
  };
  CHECK(contains(refused("T", "T y", "x", "a + b", "y = a", "0"), "[r] input parameters: expected a name after 'T'"));
  CHECK(contains(refused("T x", "T y", "", "a + b", "y = a", "0"), "[r] map is empty"));
  CHECK(contains(refused("T x", "T y", "x", " ", "y = a", "0"), "[r] reduce is empty"));
  CHECK(contains(refused("T x", "T y", "x", "a + b", "", "0"), "[r] post is empty"));
  CHECK(contains(refused("T x", "T y", "x", "a + b", "y = a", ""), "[r] identity is empty"));
  CHECK(contains(refused("T x", "T y", "(x", "a + b", "y = a", "0"), "[r] map: '(' that is not closed"));
  CHECK(contains(refused("T a", "T y", "a", "a + b", "y = a", "0"), "a parameter cannot be named 'a'"));
  CHECK(contains(refused("T x", "T b", "x", "a + b", "b = a", "0"), "a parameter cannot be named 'b'"));
  CHECK(contains(refused("T x", "U y", "x", "a + b", "y = a", "0"), "nothing determines type U"));
  CHECK(contains(refused("T x", "raw T y", "x", "a + b", "y = a", "0"), "output y of a reduction cannot be raw"));
  CHECK(
      contains(refused("T x", "T y", "x", "a + b", "y = a", "0", {.reduce_type = "U"}), "no input determines type U"));
  CHECK(contains(refused("T x", "T y", "x", "a + b", "y = a", "0", {.reduce_type = "a b"}),
                 "'a b' is not an identifier"));
  CHECK(contains(refused("T x", "T y", "x", "a + b", "y = a", "0", {.reduce_type = "pair", .preamble = "struct p {};"}),
                 "[r] reduce_type: 'pair' is no type, and the preamble does not declare it"));
  CHECK(l2().signature() == "l2(T x) -> (T y)");
}

TEST_CASE("reduction_kernel: wrong calls") {
  const ndarray x = numbers({2, 3}, float32);
  CHECK(contains(message_of<value_error>([&] { l2()(); }), "[l2] takes 1 argument, not 0: l2(T x) -> (T y)"));
  CHECK(contains(message_of<value_error>([&] { l2()(x, x); }), "then an axis"));
  CHECK(contains(message_of<value_error>([&] { l2()(x, 1.5); }), "then an axis"));
  CHECK(contains(message_of<value_error>([&] { l2()(x, 1, 2); }), "not 3"));
  CHECK(contains(message_of<value_error>([&] { l2()(x, 1, {.axis = 1}); }), "[l2] the axis is given"));
  CHECK(contains(message_of<value_error>([&] { l2()(axes{0}, x); }), "argument 1 is an axes object"));
  CHECK(contains(message_of<index_error>([&] { l2()(x, 2); }), "[l2] axis 2 is out of range for shape (2, 3)"));
  CHECK_THROWS_AS(l2()(x, 1LL << 40), index_error);
  CHECK_THROWS_AS(l2()(x, axes{0, -2}), index_error);
  CHECK_THROWS_AS(l2()(ndarray()), value_error);
  CHECK(contains(message_of<value_error>([&] { smallest()(x); }), "has 2 outputs, not 1"));
  const reduction_kernel raw("raw T x", "T y", "x[i]", "a + b", "y = a", "0", "raw_only");
  CHECK(contains(message_of<shape_error>([&] { raw(x); }), "what is reduced is not known"));
}

TEST_CASE("reduction_kernel: axes, keepdims and views agree with the library's own reductions") {
  for (const dtype type : {int32, int64, float32, float64}) {
    CAPTURE(name(type));
    const ndarray x = numbers({3, 4, 5}, type);
    const reduce_kw same{.dtype = type};
    CHECK(array_equal(total()(x), sum(x, same)));
    for (int axis = -3; axis < 3; ++axis) {
      CHECK(array_equal(total()(x, axis), sum(x, axis, same)));
      CHECK(array_equal(total()(x, {.axis = axis, .keepdims = true}), sum(x, axis, {.keepdims = true, .dtype = type})));
      CHECK(total()(x, axis, {.keepdims = true}).shape() == sum(x, axis, {.keepdims = true}).shape());
    }
    CHECK(array_equal(total()(x, axes{0, 2}), sum(x, axes{0, 2}, same)));
    CHECK(array_equal(total()(x.T(), axes{0, 1}), sum(x.T(), axes{0, 1}, same)));
    CHECK(array_equal(total()(x["::2, ::-1, 1:"], 1), sum(x["::2, ::-1, 1:"], 1, same)));
    // No axis at all: every element is a reduction of one.
    CHECK(array_equal(total()(x, axes(std::vector<int>{})), x));
    CHECK(array_equal(l2()(x * x, axes(std::vector<int>{})), x * x));
  }
  CHECK(total()(array(2.5)).item<double>() == 2.5);
  CHECK(total()(array(2.5), 0).item<double>() == 2.5);
  CHECK(total()(2.5).item<double>() == 2.5);
}

TEST_CASE("reduction_kernel: values, over sizes around every block and chunk") {
  for (const std::int64_t n : {1, 2, 3, 15, 16, 17, 255, 256, 257, 1000, 4096, 4097, 65537}) {
    CAPTURE(n);
    const ndarray x = numbers({n}, int64);
    CHECK(total()(x).item<std::int64_t>() == sum(x).item<std::int64_t>());
    const ndarray two = broadcast_to(x, {3, n});
    CHECK(array_equal(total()(two, 1), sum(two, 1)));
    CHECK(array_equal(total()(two.T(), 0), sum(two.T(), 0)));
    auto [value, at] = smallest().outputs<2>(numbers({n}, float32));
    CHECK(value.item<float>() == min(numbers({n}, float32)).item<float>());
    CHECK(at.item<std::int64_t>() == argmin(numbers({n}, float32)).item<std::int64_t>());
  }
  CHECK(l2()(floats_of({3, 4})).item<float>() == 5);
  CHECK(elements<double>(l2()(array({{3.0, 4.0}, {6.0, 8.0}}), 1)) == doubles{5, 10});
}

TEST_CASE("reduction_kernel: a long sum of floats is as accurate as the library's, and always the same") {
  const ndarray x = numbers({1 << 20}, float32) / 7;
  const float here = total()(x).item<float>();
  CHECK(here == doctest::Approx(sum(x.astype(float64)).item<double>()).epsilon(1e-5));
  for (int k = 0; k < 3; ++k) CHECK(total()(x).item<float>() == here);
  // Fusion changes nothing.
  const ndarray y = numbers({1 << 20}, float32);
  CHECK(total()(y / 7).item<float>() == here);
}

TEST_CASE("reduction_kernel: a call fuses with what goes in and is lazy") {
  const ndarray x = numbers({50, 40}, float32);
  const ndarray y = l2()(x * 2 + 1, 1);
  CHECK_FALSE(is_evaluated(y));
  CHECK(kernels_of(y) == 1);
  CHECK(array_equal(y, sqrt(sum(square(x * 2 + 1), 1))));
  ndarray w = floats_of({3, 4});
  const ndarray before = l2()(w);
  w(0) = 100.0f;
  CHECK(before.item<float>() == 5);
}

TEST_CASE("reduction_kernel: several inputs broadcast; numbers and raw arrays go in too") {
  const reduction_kernel dot("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot");
  const ndarray x = numbers({4, 5}, float64), y = numbers({5}, float64);
  CHECK(array_equal(dot(x, y, 1), sum(x * y, 1)));
  CHECK(dot(x(_, newaxis), y(_, newaxis), axes{0, -1}).shape() == shape_t{5});
  CHECK(array_equal(dot(x, 2, 0), sum(x * 2, 0)));
  CHECK(contains(message_of<shape_error>([&] { dot(x, numbers({4}, float64)); }), "[dot] shapes (4, 5) and (4,)"));
  CHECK(contains(message_of<dtype_error>([&] { dot(x, y.astype(float32)); }),
                 "type T is float64 in x, but float32 in y"));

  const reduction_kernel weighted("T x, raw T w, T scale", "T y", "x * w[i % w.size()]", "a + b",
                                  "y = scale * a + w[0]", "0", "weighted");
  const ndarray w = array({2.0, 3.0});
  const ndarray v = arange(6, {.dtype = float64});
  CHECK(weighted(v, w, 10).item<double>() == 10 * (2 * (0 + 2 + 4) + 3 * (1 + 3 + 5)) + 2);
  CHECK(elements<double>(weighted(reshape(v, {2, 3}), w + 0, 1.0, 1)) ==
        doubles{0 * 2 + 1 * 3 + 2 * 2 + 2, 3 * 3 + 4 * 2 + 5 * 3 + 2});
}

TEST_CASE("reduction_kernel: i is the position in what is reduced, n the length of one reduction") {
  const reduction_kernel mean_of("T x", "float64 y", "x", "a + b", "y = a / n", "0", "mean_of",
                                 {.reduce_type = "double"});
  const ndarray x = numbers({6, 4}, int32);
  CHECK(array_equal(mean_of(x, 0), mean(x, 0)));
  CHECK(array_equal(mean_of(x), mean(x)));
  const reduction_kernel positions("T x", "int64 y", "i * n", "a + b", "y = a", "0", "positions");
  CHECK(elements<std::int64_t>(positions(x, 1)) == longs{4 * 6, 4 * 22, 4 * 38, 4 * 54, 4 * 70, 4 * 86});
  CHECK(elements<std::int64_t>(positions(x.T(), 1)).at(1) == 6 * (6 + 7 + 8 + 9 + 10 + 11));
}

TEST_CASE("reduction_kernel: the accumulated type may be wider, a letter, or a struct") {
  const reduction_kernel wide("T x", "T y", "x", "a + b", "y = a / 2", "0", "wide", {.reduce_type = "int64"});
  CHECK(wide(full({4}, 100, {.dtype = int8})).item<int>() == -56);  // 200 in int8
  const reduction_kernel narrow("T x", "T y", "x", "a + b", "y = a / 2", "0", "narrow", {.reduce_type = "T"});
  CHECK(narrow(full({4}, 100, {.dtype = int8})).item<int>() == -56);  // 400 wraps to -112
  const reduction_kernel larger("T x", "float64 y", "x", "max(a, b)", "y = a", "-1e30", "larger");
  CHECK(larger(numbers({100}, int16)).item<double>() == 7);
  // float16 accumulates in float.
  const ndarray h = full({4096}, 1, {.dtype = float16});
  CHECK(total()(h).dtype() == float16);
  CHECK(total()(h).item<float>() == 4096);
  const reduction_kernel in_half("T x", "T y", "x", "a + b", "y = a", "0", "in_half", {.reduce_type = "float32"});
  CHECK(in_half(full({3000}, 1, {.dtype = bfloat16})).item<float>() == 3008);  // 3000 in bfloat16
}

TEST_CASE("reduction_kernel: structs give several results from one pass") {
  const ndarray x = numbers({7, 9}, float64);
  auto [value, at] = smallest().outputs<2>(x);
  CHECK(value.item<double>() == min(x).item<double>());
  CHECK(at.item<std::int64_t>() == argmin(x).item<std::int64_t>());
  auto [values, places] = smallest().outputs<2>(x + 1, 1, {.keepdims = true});
  CHECK(is_evaluated(values));
  CHECK(array_equal(values, min(x + 1, 1, {.keepdims = true})));
  CHECK(array_equal(places - reshape(arange(7) * 9, {7, 1}), argmin(x, 1, {.keepdims = true})));
  auto [columns, rows] = smallest().outputs<2>(x, 0);
  CHECK(array_equal(columns, min(x, 0)));
  CHECK(array_equal(rows / 9, argmin(x, 0)) == false);  // true division
  CHECK(array_equal(floor_divide(rows, 9), argmin(x, 0)));
  // No axis reduced: structs of single elements.
  auto [same, own] = smallest().outputs<2>(x, axes(std::vector<int>{}));
  CHECK(array_equal(same, x));
  CHECK(array_equal(own, reshape(arange(63), {7, 9})));

  const reduction_kernel moments(
      "T x", "T mean_, T var_", "part{1, x, 0}", "a.count == 0 ? b : b.count == 0 ? a : merged(a, b)",
      "mean_ = a.mean; var_ = a.m2 / a.count", "part{0, 0, 0}", "moments",
      {.reduce_type = "part",
       .preamble = "struct part { T count, mean, m2; };\n"
                   "__device__ inline part merged(part a, part b) {\n"
                   "  const T n = a.count + b.count, d = b.mean - a.mean;\n"
                   "  return part{n, a.mean + d * b.count / n, a.m2 + b.m2 + d * d * a.count * b.count / n};\n"
                   "}"});
  const ndarray y = numbers({5000}, float64);
  auto [m, v] = moments.outputs<2>(y);
  CHECK(m.item<double>() == doctest::Approx(mean(y).item<double>()).epsilon(1e-12));
  CHECK(v.item<double>() == doctest::Approx(var(y).item<double>()).epsilon(1e-12));
}

TEST_CASE("reduction_kernel: a struct above 32 bytes does not compile") {
  const reduction_kernel k("T x", "T y", "big{x}", "a", "y = a.v[0]", "big{0}", "too_big",
                           {.reduce_type = "big", .preamble = "struct big { double v[5]; };"});
  const ndarray y = k(numbers({10}, float32));
  CHECK(contains(message_of<compile_error>([&] { eval(y); }), "at most 32 bytes"));
}

TEST_CASE("reduction_kernel: nothing to reduce gives the finished identity") {
  const reduction_kernel k("T x", "T y", "x", "a * b", "y = a + 1", "1", "product_and_one");
  CHECK(k(zeros({0})).item<double>() == 2);
  CHECK(elements<double>(k(zeros({0, 3}), 0)) == doubles{2, 2, 2});
  CHECK(k(zeros({0, 3}), 1).shape() == shape_t{0});
  CHECK(k(zeros({0, 3}), 1).to_vector<double>().empty());
  CHECK(k(zeros({2, 0}), 1, {.keepdims = true}).shape() == shape_t{2, 1});
  auto [value, at] = smallest().outputs<2>(zeros({0}));
  CHECK(value.item<double>() == 1e30);
  CHECK(at.item<std::int64_t>() == std::int64_t{1} << 62);
}

TEST_CASE("reduction_kernel: .out is written") {
  ndarray y = zeros({2, 3}, {.dtype = float32});
  const ndarray x = reshape(arange(6, {.dtype = float32}), {2, 3});
  total()(x, 1, {.out = {y["0, :2"]}});
  CHECK(elements<float>(y) == floats{3, 12, 0, 0, 0, 0});
  total()(x, 0, {.out = {y(1)}});
  CHECK(elements<float>(y) == floats{3, 12, 0, 3, 5, 7});
  CHECK(contains(message_of<shape_error>([&] { total()(x, 0, {.out = {y}}); }),
                 "[total] output y has shape (2, 3), but the result has shape (3,)"));
  CHECK_THROWS_AS(total()(x, 0, {.out = {zeros({3})}}), dtype_error);
}

TEST_CASE("reduction_kernel: complex numbers") {
  const reduction_kernel k("T x", "T y", "x * x", "a + b", "y = a", "0", "complex_total");
  const ndarray x = array({1.0, 2.0}) + std::complex<double>(0, 1) * array({1.0, -1.0});
  CHECK(k(x).item<std::complex<double>>() == std::complex<double>(3, -2));
  const reduction_kernel energy("complex128 x", "float64 y", "x.real() * x.real() + x.imag() * x.imag()", "a + b",
                                "y = a", "0", "energy");
  CHECK(energy(x).item<double>() == 7);
}
