// Random numbers on the GPU: the bits of the CPU for every distribution and every way that a draw is read, the square
// root that normal numbers go through for every float32, cuRAND's own device functions.
#ifdef SINTER_HAS_CUDA

#include <functional>

#include "gpu/gpu.hpp"
#include "jit/cuda/compile_raw.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "jit/prelude_text.hpp"
#include "sinter/raw_kernel.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::random::draw_kw;
using sinter::random::generator;

namespace {

const draw_kw f32{.dtype = float32};

struct draw {
  const char* name;
  std::function<ndarray(generator&, const shape_t&)> of;
};
const std::vector<draw>& draws() {
  static const std::vector<draw> all{
      {"random, float32", [](generator& g, const shape_t& s) { return g.random(s, f32); }},
      {"random, float64", [](generator& g, const shape_t& s) { return g.random(s); }},
      {"uniform", [](generator& g, const shape_t& s) { return g.uniform(-3, 7, s, f32); }},
      {"standard_normal, float32", [](generator& g, const shape_t& s) { return g.standard_normal(s, f32); }},
      {"standard_normal, float64", [](generator& g, const shape_t& s) { return g.standard_normal(s); }},
      {"normal, float16", [](generator& g, const shape_t& s) { return g.normal(1, 2, s, {.dtype = float16}); }},
      {"standard_exponential, float32", [](generator& g, const shape_t& s) { return g.standard_exponential(s, f32); }},
      {"standard_exponential, float64", [](generator& g, const shape_t& s) { return g.standard_exponential(s); }},
      {"laplace", [](generator& g, const shape_t& s) { return g.laplace(1, 2, s); }},
      {"gamma below 1", [](generator& g, const shape_t& s) { return g.gamma(0.2, 3, s); }},
      {"gamma above 1, float32", [](generator& g, const shape_t& s) { return g.gamma(4.5, 1, s, f32); }},
      {"beta", [](generator& g, const shape_t& s) { return g.beta(0.5, 1.5, s); }},
      {"integers in int64", [](generator& g, const shape_t& s) { return g.integers(-10, 1000, s); }},
      {"integers, often drawn again",
       [](generator& g, const shape_t& s) { return g.integers(0, 3u << 30, s, {.dtype = uint32}); }},
      {"integers of 62 bits",
       [](generator& g, const shape_t& s) { return g.integers(0, std::uint64_t{3} << 61, s, {.dtype = uint64}); }},
      {"integers in int8", [](generator& g, const shape_t& s) { return g.integers(-7, 100, s, {.dtype = int8}); }},
      {"bools", [](generator& g, const shape_t& s) { return g.integers(0, 2, s, {.dtype = bool_}); }},
      {"poisson, small mean", [](generator& g, const shape_t& s) { return g.poisson(3.5, s); }},
      {"poisson, large mean", [](generator& g, const shape_t& s) { return g.poisson(345.6, s); }},
      {"binomial, few", [](generator& g, const shape_t& s) { return g.binomial(40, 0.9, s); }},
      {"binomial, many", [](generator& g, const shape_t& s) { return g.binomial(100000, 0.3, s); }},
  };
  return all;
}

/// Bits of the elements.
std::vector<std::uint64_t> bits(const ndarray& x) {
  const ndarray h = x.to_device(cpu);
  if (is_inexact(x.dtype())) {
    std::vector<std::uint64_t> out;
    for (const double v : h.to_vector<double>()) out.push_back(gpu_test::bits_of(v));
    return out;
  }
  return h.astype(uint64).to_vector<std::uint64_t>();
}

/// The default device while it lives, also where the case ends early.
class device_in_use {
 public:
  explicit device_in_use(const device& d) { set_default_device(d); }
  ~device_in_use() { set_default_device(before_); }
  device_in_use(const device_in_use&) = delete;
  device_in_use& operator=(const device_in_use&) = delete;

 private:
  device before_ = default_device();
};

/// What `of` makes of a draw on the GPU has the bits of the same on the CPU.
void check_same(const draw& d, const shape_t& shape, const std::function<ndarray(const ndarray&)>& of, const char* what,
                const generator& from = generator(77).jumped(2)) {
  const device gpu = default_device();
  generator first(from), second(from);
  std::vector<std::uint64_t> wanted;
  {
    const device_in_use on_cpu(cpu);
    wanted = bits(of(d.of(first, shape)));
  }
  const ndarray there = of(d.of(second, shape));
  CAPTURE(d.name);
  CAPTURE(what);
  CAPTURE(to_string(shape));
  REQUIRE(there.device() == gpu);
  CHECK(first.state() == second.state());
  CHECK(gpu_test::first_difference(wanted, bits(there)) == -1);
}

ndarray as_it_is(const ndarray& x) { return x; }

}  // namespace

TEST_CASE("gpu: draws have the bits of the CPU, in whole blocks of threads and after them") {
  if (gpu_test::no_gpu()) return;
  for (const draw& d : draws())
    for (const std::int64_t n : {1, 5, 1000, 4096, 100003}) check_same(d, {n}, as_it_is, "as it is");
  check_same(draws()[3], {(1 << 24) + 5}, as_it_is, "as it is");
  check_same(draws()[4], {(1 << 22) + 3}, as_it_is, "as it is");
}

TEST_CASE("gpu: draws have the bits of the CPU where the upper half of a block's number changes") {
  if (gpu_test::no_gpu()) return;
  for (const draw& d : draws())
    for (const std::uint64_t before : {1, 700, 1024, 2048, 2049, 4096})
      check_same(d, {30001}, as_it_is, "across", generator({5, (std::uint64_t{3} << 32) - before, 2, 0}));
}

TEST_CASE("gpu: draws have the bits of the CPU however they are read") {
  if (gpu_test::no_gpu()) return;
  for (const draw& d : draws()) {
    if (d.name == std::string("bools")) continue;
    for (const shape_t& shape : {shape_t{37, 64}, shape_t{130, 51}, shape_t{3, 20, 40}}) {
      check_same(
          d, shape, [](const ndarray& x) { return x + x; }, "added to itself");
      check_same(
          d, shape, [](const ndarray& x) { return x(slice(1, _, 2), slice(_, _, -1)); }, "sliced");
      check_same(
          d, shape, [](const ndarray& x) { return x.T() + arange(x.shape(0)).astype(x.dtype()); }, "transposed");
      check_same(
          d, shape, [](const ndarray& x) { return maximum(x, arange(x.shape(-1)).copy().astype(x.dtype())); },
          "beside a row");
      check_same(
          d, shape, [](const ndarray& x) { return min(x, -1); }, "least of rows");
      check_same(
          d, shape, [](const ndarray& x) { return max(x, 0); }, "largest of columns");
      check_same(
          d, shape, [](const ndarray& x) { return argmin(x); }, "place of the least");
      check_same(
          d, shape, [](const ndarray& x) { return ravel(x)(slice(3, -2)) - ravel(x)(0); }, "flat");
      check_same(
          d, shape,
          [](const ndarray& x) {
            return take(x, array({2, 0, 2}), 0);
          },
          "taken");
    }
  }
}

TEST_CASE("gpu: draws after a reduction and inside of broadcast searches") {
  if (gpu_test::no_gpu()) return;
  const draw noisy{"noisy sums", [](generator& g, const shape_t& s) {
                     const ndarray x = reshape(arange(float(s[0] * 8)), {s[0], 8});
                     return sum(x, 1) + g.standard_normal(s);
                   }};
  for (const std::int64_t n : {3, 1000}) check_same(noisy, {n}, as_it_is, "epilogue");
  const draw nearest{"nearest", [](generator& g, const shape_t& s) {
                       const ndarray a = g.random({s[0], 1}), b = g.random({1, s[1]}), w = g.random(s);
                       return argmin(absolute(a - b) + w, 1);
                     }};
  check_same(nearest, {700, 300}, as_it_is, "search");
}

TEST_CASE("gpu: parameters from arrays, orders and choices are those of the CPU") {
  if (gpu_test::no_gpu()) return;
  const std::vector<draw> all{
      {"gamma", [](generator& g, const shape_t& s) { return g.gamma(linspace(0, 20, s[0]), 2.0); }},
      {"beta", [](generator& g, const shape_t& s) { return g.beta(linspace(0.1, 5, s[0]), 0.7); }},
      {"poisson", [](generator& g, const shape_t& s) { return g.poisson(linspace(0, 1000, s[0])); }},
      {"binomial", [](generator& g, const shape_t& s) { return g.binomial(arange(s[0]), linspace(0, 1, s[0])); }},
      {"integers",
       [](generator& g, const shape_t& s) {
         return g.integers(arange(s[0]), 100000, {3, s[0]});
       }},
      {"permutation", [](generator& g, const shape_t& s) { return g.permutation(s[0]); }},
      {"choice", [](generator& g, const shape_t& s) { return g.choice(s[0], 50, {.replace = false}); }},
      {"weighted choice",
       [](generator& g, const shape_t&) {
         return g.choice(4, 1000, {.p = array({0.1, 0.2, 0.3, 0.4})});
       }},
      {"weighted choice without replacement",
       [](generator& g, const shape_t&) {
         return g.choice(4, 3, {.replace = false, .p = array({0.1, 0.2, 0.3, 0.4})});
       }},
  };
  for (const draw& d : all) check_same(d, {5000}, as_it_is, "as it is");
}

TEST_CASE("gpu: lognormal numbers differ by a few units in the last place at most") {
  if (gpu_test::no_gpu()) return;
  const ndarray here = generator(1).lognormal(0, 1, 100000, {.device = cpu});
  const ndarray there = generator(1).lognormal(0, 1, 100000).to_device(cpu);
  CHECK(max(absolute(here - there) / here).item<double>() < 2e-15);
}

TEST_CASE("gpu: a refused parameter is reported at the next synchronisation") {
  if (gpu_test::no_gpu()) return;
  generator g(1);
  CHECK_THROWS_AS(g.gamma(array({1.0, -1.0})).to_vector<double>(), value_error);
  CHECK(g.gamma(array({1.0, 2.0})).to_vector<double>()[1] > 0);
}

namespace {

/// Compares the square root of normal numbers with the compiler's for the float32 numbers [first, last].
std::string root_source() {
  std::string source;
  for (const char* part : {"base", "float", "random"}) source += jit::prelude_text(part);
  return source + R"(
extern "C" __global__ void compare_roots(unsigned first, unsigned last, unsigned long long* wrong) {
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned long long k = (unsigned long long)first + blockIdx.x * blockDim.x + threadIdx.x; k <= last; k += step) {
    const float x = __uint_as_float((unsigned)k);
    if (__float_as_uint(sn::normal_root(x)) != __float_as_uint(__fsqrt_rn(x))) atomicAdd(wrong, 1ull);
  }
}
)";
}

constexpr const char* curand_source = R"(
#include <curand_kernel.h>
extern "C" __global__ void draw(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                unsigned* to, int blocks) {
  curandStatePhilox4_32_10_t state;
  curand_init(seed, subsequence, offset, &state);
  for (int k = 0; k < blocks; ++k) reinterpret_cast<uint4*>(to)[k] = curand4(&state);
}
)";

}  // namespace

TEST_CASE("gpu: the square root of normal numbers is rounded to nearest for every argument") {
  if (gpu_test::no_gpu()) return;
  const raw_kernel compare(root_source(), "compare_roots");
  const ndarray wrong = zeros(1, {.dtype = uint64});
  compare({.grid = 4096, .block = 256}, gpu_test::bits_of(0.9e-20f), gpu_test::bits_of(64.0f), wrong);
  CHECK(wrong.item<std::uint64_t>() == 0);
}

TEST_CASE("gpu: words are those of cuRAND's device functions") {
  if (gpu_test::no_gpu()) return;
  const raw_kernel draw_words(curand_source, "draw");
  for (const std::uint64_t subsequence : {0u, 5u}) {
    const random::generator_state state{0x123456789abcdef1u, 1000, subsequence, 0};
    const ndarray wanted = zeros(64, {.dtype = uint32});
    draw_words({.grid = 1, .block = 1}, state.key, subsequence, 4 * state.block, wanted, 16);
    generator g(state);
    CHECK(array_equal(g.integers(0, std::uint64_t{1} << 32, 64, {.dtype = uint32}), wanted));
  }
}

TEST_CASE("gpu: the kernels of these tests compile") {
  if (gpu_test::no_nvrtc()) return;
  for (const std::string& source : {root_source(), std::string(curand_source)}) {
    jit::raw_program p;
    p.source = source;
    CHECK(jit::compile_raw(p).bytes.size() > 0);
  }
  for (const draw& d : draws()) {
    generator g(1);
    for (const ndarray& x : {d.of(g, {4096}), min(d.of(g, {300, 64}), 1), d.of(g, {64, 64}).T() * 1})
      for (const std::string& source : gpu_test::cuda_sources(x))
        CHECK(jit::compile_cuda(source, {.arch = 90}).bytes.size() > 0);
  }
}

#endif
