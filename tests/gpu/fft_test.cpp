// Transforms on the GPU against those of the CPU: lengths, axes, layouts, real and complex, both precisions.
#include <complex>
#include <thread>

#include "gpu/gpu.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray noise(const shape_t& shape, dtype type, const device& where) {
  random::generator g(5);
  const ndarray re = g.standard_normal(shape, {.device = where}), im = g.standard_normal(shape, {.device = where});
  if (!is_complex(type)) return re.astype(type).copy();
  return (re + im * std::complex<double>(0, 1)).astype(type).copy();
}

double length(const ndarray& x) { return std::sqrt(sum(square(absolute(x).astype(float64))).item<double>()); }

/// f on both devices; the difference is bounded by a few roundings of every butterfly, relative to the whole result.
void check_same(const ndarray (*f)(const ndarray&), const shape_t& shape, dtype type, const char* what) {
  const ndarray here = f(noise(shape, type, cpu)), there = f(noise(shape, type, default_device()));
  CAPTURE(what);
  CAPTURE(to_string(shape));
  CAPTURE(name(type));
  REQUIRE(there.device() == default_device());
  CHECK(here.dtype() == there.dtype());
  CHECK(here.shape() == there.shape());
  const double eps = fft::fft(zeros(1, type)).dtype() == complex64 ? 0x1p-23 : 0x1p-52;
  CHECK(length(here - there.to_device(cpu)) <= 40 * eps * length(here) + 1e-300);
}

struct transform {
  const char* name;
  const ndarray (*of)(const ndarray&);
};
const transform complex_ones[] = {
    {"fft", [](const ndarray& x) -> const ndarray { return fft::fft(x); }},
    {"ifft along axis 0", [](const ndarray& x) -> const ndarray { return fft::ifft(x, {.axis = 0}); }},
    {"fftn", [](const ndarray& x) -> const ndarray { return fft::fftn(x); }},
    {"ifft2, ortho", [](const ndarray& x) -> const ndarray { return fft::ifft2(x, {.norm = "ortho"}); }},
    {"irfft", [](const ndarray& x) -> const ndarray { return fft::irfft(x, {.n = 2 * x.shape(-1) - 1}); }},
    {"irfft along axis 0", [](const ndarray& x) -> const ndarray { return fft::irfft(x, {.n = 9, .axis = 0}); }},
    {"hfft", [](const ndarray& x) -> const ndarray { return fft::hfft(x, {.n = 8}); }},
    {"irfftn",
     [](const ndarray& x) -> const ndarray {
       return fft::irfftn(x, {.s = shape_t{4, 6}});
     }},
    {"cut and filled",
     [](const ndarray& x) -> const ndarray {
       return fft::fft2(x, {.s = shape_t{3, 40}});
     }},
    {"of an expression", [](const ndarray& x) -> const ndarray { return fft::fft(x * 2.0 + 1.0) * 0.5; }},
    {"of a view", [](const ndarray& x) -> const ndarray { return fft::fft(x(_, slice(_, _, -2)), {.axis = 0}); }},
    {"transposed", [](const ndarray& x) -> const ndarray { return fft::fft2(x.T()); }},
};
const transform real_ones[] = {
    {"rfft", [](const ndarray& x) -> const ndarray { return fft::rfft(x); }},
    {"rfft along axis 0", [](const ndarray& x) -> const ndarray { return fft::rfft(x, {.axis = 0}); }},
    {"rfftn", [](const ndarray& x) -> const ndarray { return fft::rfftn(x); }},
    {"ihfft", [](const ndarray& x) -> const ndarray { return fft::ihfft(x); }},
    {"rfft of rows that are not aligned", [](const ndarray& x) -> const ndarray { return fft::rfft(x(slice(1, _))); }},
    {"dct 1", [](const ndarray& x) -> const ndarray { return fft::dct(x, {.type = 1}); }},
    {"dct 2", [](const ndarray& x) -> const ndarray { return fft::dct(x, {.axis = 0, .norm = "ortho"}); }},
    {"idct 2", [](const ndarray& x) -> const ndarray { return fft::idct(x); }},
    {"dst 4", [](const ndarray& x) -> const ndarray { return fft::dst(x, {.type = 4}); }},
    {"dstn", [](const ndarray& x) -> const ndarray { return fft::dstn(x); }},
    {"fftconvolve", [](const ndarray& x) -> const ndarray { return fft::fftconvolve(x, x(slice(0, 2)), "same"); }},
};

}  // namespace

TEST_CASE("gpu: transforms agree with those of the CPU") {
  if (gpu_test::no_gpu()) return;
  for (const shape_t& shape : {shape_t{2, 4}, shape_t{5, 7}, shape_t{33, 31}, shape_t{64, 128}, shape_t{100, 1000}}) {
    for (const dtype type : {complex64, complex128})
      for (const transform& t : complex_ones) check_same(t.of, shape, type, t.name);
    for (const dtype type : {float32, float64, int16})
      for (const transform& t : real_ones) check_same(t.of, shape, type, t.name);
  }
}

TEST_CASE("gpu: transforms along every set of axes, batched, of more than three axes") {
  if (gpu_test::no_gpu()) return;
  const transform all[] = {
      {"axis 1", [](const ndarray& x) -> const ndarray { return fft::fft(x, {.axis = 1}); }},
      {"axis 2", [](const ndarray& x) -> const ndarray { return fft::fft(x, {.axis = 2}); }},
      {"axes 0 and 2",
       [](const ndarray& x) -> const ndarray {
         return fft::fftn(x, {.axes = {0, 2}});
       }},
      {"axes 3, 1, 0",
       [](const ndarray& x) -> const ndarray {
         return fft::ifftn(x, {.axes = {3, 1, 0}});
       }},
      {"all", [](const ndarray& x) -> const ndarray { return fft::fftn(x); }},
      {"real, all", [](const ndarray& x) -> const ndarray { return fft::rfftn(real(x)); }},
      {"to real, all",
       [](const ndarray& x) -> const ndarray {
         return fft::irfftn(x, {.s = shape_t{3, 5, 4, 7}});
       }},
  };
  for (const shape_t& shape : {shape_t{3, 5, 4, 6}, shape_t{20, 7, 9, 5}})
    for (const dtype type : {complex64, complex128})
      for (const transform& t : all) check_same(t.of, shape, type, t.name);
}

TEST_CASE("gpu: long transforms along an axis that is not the last, which go by way of rows") {
  if (gpu_test::no_gpu()) return;
  const transform all[] = {
      {"fft", [](const ndarray& x) -> const ndarray { return fft::fft(x, {.axis = -2}); }},
      {"ifft", [](const ndarray& x) -> const ndarray { return fft::ifft(x, {.axis = -2}); }},
      {"ifft of an expression, read in rows",
       [](const ndarray& x) -> const ndarray { return fft::ifft(x * 2.0 + 1.0, {.axis = -2}).copy() + x; }},
      {"there and back",
       [](const ndarray& x) -> const ndarray { return fft::ifft(fft::fft(x, {.axis = -2}), {.axis = -2}); }},
      {"rfft", [](const ndarray& x) -> const ndarray { return fft::rfft(real(x), {.axis = -2, .norm = "ortho"}); }},
      {"irfft", [](const ndarray& x) -> const ndarray { return fft::irfft(x, {.axis = -2}); }},
      {"irfft of an odd number",
       [](const ndarray& x) -> const ndarray { return fft::irfft(x, {.n = 16385, .axis = -2}); }},
      {"cut", [](const ndarray& x) -> const ndarray { return fft::fft(x, {.n = 9000, .axis = -2}); }},
      {"of a view",
       [](const ndarray& x) -> const ndarray { return fft::fft(x(ellipsis, slice(_, _, -2)), {.axis = -2}); }},
  };
  // The first two are large enough for it, the last two are not.
  for (const shape_t& shape : {shape_t{16384, 70}, shape_t{2, 12000, 50}, shape_t{16384, 3}, shape_t{512, 300}})
    for (const dtype type : {complex64, complex128})
      for (const transform& t : all) check_same(t.of, shape, type, t.name);
  // The argument does not change, and the result is in C order.
  const ndarray x = noise({16384, 70}, complex64, default_device()), before = x.copy();
  eval(before);
  const ndarray y = fft::ifft(x, {.axis = 0});
  eval(y);
  CHECK(array_equal(x, before));
  CHECK(y.strides() == std::vector<std::int64_t>{70 * 8, 8});
}

TEST_CASE("gpu: lengths of large primes, of one, and long ones") {
  if (gpu_test::no_gpu()) return;
  for (const std::int64_t n : {1, 2, 97, 1009, 65537, 1 << 20, 1000003})
    for (const dtype type : {complex64, complex128})
      check_same([](const ndarray& x) -> const ndarray { return fft::fft(x); }, {n}, type, "fft");
  check_same([](const ndarray& x) -> const ndarray { return fft::irfft(fft::rfft(x)); }, {1 << 20}, float32,
             "there and back");
}

TEST_CASE("gpu: arguments stay as they are, plans are bounded, threads share them") {
  if (gpu_test::no_gpu()) return;
  const ndarray h = noise({6, 5}, complex128, default_device()), before = h.copy();
  eval(before);
  for (const ndarray& y : {fft::irfft(h), fft::irfft2(h), fft::fft(h)}) eval(y);
  CHECK(array_equal(h, before));
  fft::clear_plan_cache();
  const ndarray x = noise(256, complex64, default_device());
  const auto limit = static_cast<std::int64_t>(fft::plan_cache().limit);
  for (std::int64_t n = 2; n < 2 * limit; ++n) eval(fft::fft(x, {.n = n}));
  CHECK(fft::plan_cache().plans == static_cast<std::size_t>(limit));
  const ndarray wanted = fft::fft(x).copy();
  eval(wanted);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& bad : wrong)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) bad += !array_equal(fft::fft(x), wanted);
    });
  for (auto& t : threads) t.join();
  for (const int bad : wrong) CHECK(bad == 0);
  fft::clear_plan_cache();
}
