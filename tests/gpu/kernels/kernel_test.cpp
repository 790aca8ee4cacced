// Users' kernels on a GPU: the same text gives the CPU's results, over sizes that fill and overfill blocks and grids.
#ifdef SINTER_HAS_CUDA

#include "support/kernel_test.hpp"
#include "gpu/gpu.hpp"

using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;

namespace {

/// Whole numbers from -50 to 49 (0 to 99 in unsigned types), in no simple order.
ndarray whole(const shape_t& shape, dtype type, std::int64_t seed = 1) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  const ndarray x = remainder(arange(n, {.dtype = int64, .device = cpu}) * 7919 + seed * 31, 100);
  return reshape(is_unsigned_integer(type) ? x : x - 50, shape).astype(type);
}

/// Runs `f` on the CPU and on the GPU; the results have the same dtype, shape and elements.
template <class F>
void check_same(F f, std::initializer_list<ndarray> inputs) {
  std::vector<ndarray> there;
  for (const ndarray& x : inputs) there.push_back(x.to_device(default_device()));
  const std::vector<ndarray> here(inputs);
  const ndarray a = f(here), b = f(there);
  REQUIRE(b.device() == default_device());
  CHECK(a.dtype() == b.dtype());
  CHECK(a.shape() == b.shape());
  CHECK(array_equal(a, b.to_device(cpu), true));
}

constexpr dtype real_dtypes[] = {int8,   int16,  int32,   int64,    uint8,   uint16,
                                 uint32, uint64, float16, bfloat16, float32, float64};
constexpr std::int64_t sizes[] = {1, 31, 32, 33, 255, 1024, 4097, 100003, (1 << 20) + 7};

}  // namespace

TEST_CASE("gpu kernels: elementwise kernels agree with the CPU for every dtype and size") {
  if (gpu_test::no_gpu()) return;
  const elementwise_kernel k("T x, T y", "T z", "z = x * y + x - 3", "agree");
  for (const dtype t : real_dtypes) {
    CAPTURE(name(t));
    check_same([&](const auto& x) { return k(x[0], x[1]); }, {whole({67, 131}, t), whole({131}, t, 5)});
    check_same([&](const auto& x) { return k(x[0].T(), x[1]) + 1; }, {whole({131, 67}, t), whole({131}, t, 5)});
  }
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    check_same([&](const auto& x) { return k(x[0] + 1, x[1])["::-1"]; }, {whole({n}, float32), whole({n}, float32, 3)});
  }
  const elementwise_kernel complex_kernel("T x, T y", "T z", "z = x * y - conj(x) + T(0, 1)", "agree_complex");
  for (const dtype t : {complex64, complex128})
    check_same([&](const auto& x) { return complex_kernel(x[0], x[1]); },
               {whole({1001}, t) * std::complex<double>(1, 2), whole({1001}, t, 3)});
}

TEST_CASE("gpu kernels: raw arrays, positions, several outputs") {
  if (gpu_test::no_gpu()) return;
  const elementwise_kernel look("T x, raw T t", "T z",
                                "z = x + t(i % t.shape(0), (i / 3) % t.shape(1)) + t[n % t.size()]", "look");
  for (const dtype t : real_dtypes)
    check_same([&](const auto& x) { return look(x[0], x[1] + 1); }, {whole({45, 101}, t), whole({7, 9}, t, 2)});
  const elementwise_kernel two("T x", "T p, float64 q", "p = x + 1; q = x / 4.0;", "two");
  for (const std::int64_t n : sizes) {
    check_same([&](const auto& x) { return two.call(x[0])[0]; }, {whole({n}, float16)});
    check_same([&](const auto& x) { return two.call(x[0] * 2)[1]; }, {whole({n}, int32)});
  }
}

TEST_CASE("gpu kernels: raw outputs and atomics") {
  if (gpu_test::no_gpu()) return;
  const elementwise_kernel scatter("T x", "raw T z", "z[n - 1 - i] = x", "scatter");
  for (const dtype t : {int8, bool_, float16, bfloat16, float32, complex128})
    check_same(
        [&](const auto& x) {
          ndarray z = zeros({4099}, {.dtype = t, .device = x[0].device()});
          return scatter(x[0], {.out = {z}});
        },
        {whole({4099}, int32).astype(t)});
  const elementwise_kernel tally("int64 bin, T x", "raw T sums, raw T lows, raw T highs",
                                 "atomic_add(sums, bin, x); atomic_min(lows, bin, x); atomic_max(highs, bin, x);",
                                 "tally");
  // Sums of few small whole numbers are exact in every dtype, in any order; int8 wraps.
  for (const dtype t : {int8, int16, int32, int64, uint8, uint32, uint64, float16, bfloat16, float32, float64}) {
    CAPTURE(name(t));
    for (int which = 0; which < 3; ++which)
      check_same(
          [&](const auto& x) {
            const create_kw kw{.dtype = t, .device = x[0].device()};
            ndarray sums = zeros({600}, kw), lows = full({600}, 100, kw), highs = zeros({600}, kw);
            return tally.call(x[0], x[1], {.out = {sums, lows, highs}})[static_cast<std::size_t>(which)];
          },
          {remainder(arange(3000, {.dtype = int64, .device = cpu}) * 7, 600),
           remainder(whole({3000}, int64), 8).astype(t)});
  }
}

TEST_CASE("gpu kernels: text around the loop") {
  if (gpu_test::no_gpu()) return;
  const elementwise_kernel k("T x", "raw int64 total", "mine += x > 10;", "gather",
                             {.loop_prep = "long long mine = 0;", .after_loop = "atomic_add(total, 0, mine);"});
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    check_same(
        [&](const auto& x) {
          ndarray total = zeros({1}, {.dtype = int64, .device = x[0].device()});
          return k(x[0], {.out = {total}});
        },
        {whole({n}, float32)});
  }
}

TEST_CASE("gpu kernels: reductions agree with the CPU over all axes") {
  if (gpu_test::no_gpu()) return;
  const reduction_kernel total("T x", "int64 y", "x * (i % 5 + 1)", "a + b", "y = a + n", "0", "total");
  const reduction_kernel smallest("T x", "T y, int64 at", "best{x, i}",
                                  "a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b",
                                  "y = a.value; at = a.index", "best{T(100), 1LL << 62}", "smallest",
                                  {.reduce_type = "best", .preamble = "struct best { T value; long long index; };"});
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    check_same([&](const auto& x) { return total(x[0]); }, {whole({n}, int32)});
    check_same([&](const auto& x) { return smallest.call(x[0])[1]; }, {whole({n}, float32)});
  }
  for (const axes& a : {axes{0}, axes{1}, axes{2}, axes{0, 1}, axes{0, 2}, axes{1, 2}, axes(std::vector<int>{})}) {
    for (const shape_t& shape : {shape_t{5, 33, 70}, shape_t{300, 2, 9}, shape_t{3, 4, 5000}}) {
      check_same([&](const auto& x) { return total(x[0] + 1, a); }, {whole(shape, int16)});
      check_same([&](const auto& x) { return smallest.call(x[0], a, {.keepdims = true})[0]; }, {whole(shape, float64)});
      check_same([&](const auto& x) { return smallest.call(x[0].T(), a)[1]; }, {whole(shape, float32)});
    }
  }
  check_same([&](const auto& x) { return total(x[0](_, newaxis), 1); }, {whole({2000}, int32)});
  check_same([&](const auto& x) { return total(x[0], 0); }, {zeros({0, 3}, {.dtype = int32, .device = cpu})});
  check_same([&](const auto& x) { return smallest.call(x[0], 0)[1]; },
             {zeros({0, 3}, {.dtype = float32, .device = cpu})});
}

TEST_CASE("gpu kernels: positions above 2^31" * doctest::test_suite("alone")) {
  if (gpu_test::no_gpu()) return;
  const reduction_kernel upper("T x", "int64 y", "(i >> 31) * x", "a + b", "y = a", "0", "upper",
                               {.reduce_type = "int64"});
  const ndarray x = broadcast_to(ones({}, {.dtype = int32}), {1 << 16, 1 << 16});
  CHECK(upper(x).item<std::int64_t>() == std::int64_t{1} << 31);
}

TEST_CASE("gpu kernels: generalised kernels agree with the CPU") {
  if (gpu_test::no_gpu()) return;
  const generalized_kernel distance(
      "(n,k),(m,k)->(n,m)", "T x, T y", "T z",
      "for (int a = 0; a < n; ++a)\n  for (int b = 0; b < m; ++b) {\n    T total = 0;\n"
      "    for (int c = 0; c < k; ++c) total += x(a, c) * y(b, c);\n    z(a, b) = total;\n  }",
      "products");
  const generalized_kernel mean_of("(n),()->()", "T x, T s", "T y",
                                   "T t = 0; for (int j = 0; j < n; ++j) t += x[j]; y = s * t", "scaled_sum");
  for (const dtype t : {int32, int64, float32, float64}) {
    CAPTURE(name(t));
    check_same([&](const auto& x) { return distance(x[0], x[1].T() + 1); },
               {whole({300, 1, 4, 3}, t), whole({3, 5, 7}, t)});
    check_same([&](const auto& x) { return mean_of(x[0] + 1, x[1]) * 2; }, {whole({500, 40, 11}, t), whole({40}, t)});
  }
}

TEST_CASE("gpu kernels: functions fuse, within few units in the last place of the CPU") {
  if (gpu_test::no_gpu()) return;
  const sinter::function damped("T damped(T x, T y)", "return x * exp(-y) + sin(y);");
  const ndarray x = arange(100003, {.dtype = float64}) / 1000;
  CHECK(kernels_of(sum(damped(x, 2) + 1)) == 1);
  const ndarray there = damped(x, x / 30) + 1, here = damped(x.to_device(cpu), x.to_device(cpu) / 30) + 1;
  CHECK(max(abs(there.to_device(cpu) - here) / (abs(here) + 1)).item<double>() < 1e-14);
  {
    const fast_math_guard guard;
    const ndarray fast = damped(x.astype(float32), 1.0f);
    CHECK(max(abs(fast - damped(x, 1.0)) / (x + 1)).item<double>() < 1e-5);
  }
}

#endif  // SINTER_HAS_CUDA
