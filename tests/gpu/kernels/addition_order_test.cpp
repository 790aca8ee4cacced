// Sums and what is made of sums have the same bits on the GPU and on the CPU: one order of additions
// (jit/program/addition_order.hpp). Variances and products of complex numbers are not among them.
#ifdef SINTER_HAS_CUDA

#include <complex>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

struct reduced_shape {
  std::vector<std::int64_t> shape;
  axes axis;
};
const reduced_shape shapes[] = {
    {{20000, 3}, 1},
    {{20000, 7}, 1},
    {{5000, 33}, 1},
    {{3000, 100}, 1},
    {{2000, 255}, 1},
    {{700, 300}, 1},
    {{5000, 333}, 1},
    {{1500, 4100}, 1},
    {{3, 700001}, 1},
    {{1000}, axes{}},
    {{65537}, axes{}},
    {{3000001}, axes{}},
    {{2000, 1024}, 0},
    {{777, 1003}, 0},
    {{60000, 2}, 0},
    {{60000, 5}, 0},
    {{60001, 256}, 0},
    {{9, 100000}, 0},
    {{64, 65, 130}, axes{0, 2}},
    {{64, 65, 130}, axes{0, 1}},
    {{64, 65, 130}, axes{1, 2}},
    {{64, 300, 130}, 1},
};

std::vector<std::uint64_t> bits(const ndarray& x) {
  const ndarray here = x.to_device(cpu);
  std::vector<std::uint64_t> out;
  for (const ndarray& part : {real(here), imag(here)})
    for (double v : part.to_vector<double>()) out.push_back(v == v ? gpu_test::bits_of(v) : ~std::uint64_t{0});
  return out;
}

ndarray data(const std::vector<std::int64_t>& shape, dtype t, double step) {
  std::int64_t count = 1;
  for (std::int64_t n : shape) count *= n;
  const ndarray k = arange(count, {.device = cpu});
  const ndarray even = remainder(k * step, 1.0) - 0.4;
  const ndarray x = is_complex(t) ? (std::complex<double>(0.5, 0.75) * even).astype(t) : even.astype(t);
  const ndarray made = reshape(x, shape).copy();
  eval(made);
  return made;
}

struct reduction {
  const char* name;
  ndarray (*of)(const ndarray& x, const ndarray& y, const axes& axis);
};
const reduction reductions[] = {
    {"sum", [](const ndarray& x, const ndarray&, const axes& a) { return sum(x, a); }},
    {"mean", [](const ndarray& x, const ndarray&, const axes& a) { return mean(x, a); }},
    {"sum of products", [](const ndarray& x, const ndarray& y, const axes& a) { return sum(x * y, a); }},
    {"norm", [](const ndarray& x, const ndarray&, const axes& a) { return sqrt(sum(square(x), a)); }},
    {"computed", [](const ndarray& x, const ndarray& y, const axes& a) { return sum((x - y) * x + y / 3, a); }},
    {"centred", [](const ndarray& x, const ndarray&,
                   const axes&) { return sum(x - mean(x, axes{-1}, {.keepdims = true}), axes{-1}); }},
};

}  // namespace

TEST_CASE("gpu: sums have the bits of the CPU") {
  if (gpu_test::no_gpu()) return;
  const device gpu = default_device();
  for (dtype t : {float32, float64, float16, complex64})
    for (const reduced_shape& s : shapes) {
      const ndarray x = data(s.shape, t, 0.6180339887498949), y = data(s.shape, t, 0.7548776662466927);
      const ndarray there_x = x.to_device(gpu), there_y = y.to_device(gpu);
      for (const reduction& r : reductions) {
        if (is_complex(t) && std::string(r.name) != "sum" && std::string(r.name) != "mean") continue;
        const std::string type(name(t));
        CAPTURE(type);
        CAPTURE(r.name);
        CAPTURE(s.shape[0]);
        CAPTURE(s.shape.back());
        const auto here = bits(r.of(x, y, s.axis));
        CHECK(gpu_test::first_difference(bits(r.of(there_x, there_y, s.axis)), here) == -1);
        const ndarray crossed = there_x.T().copy();
        eval(crossed);
        CHECK(gpu_test::first_difference(bits(r.of(crossed.T(), there_y, s.axis)), here) == -1);
      }
      if (is_complex(t) || t == float16) continue;
      const auto product = [&](const ndarray& a) { return bits(prod(1 + a / 4096, s.axis)); };
      CHECK(gpu_test::first_difference(product(there_x), product(x)) == -1);
    }
}

TEST_CASE("gpu: sums of negative zeros and of nothing are those of the CPU") {
  if (gpu_test::no_gpu()) return;
  for (std::int64_t n : {0, 1, 5, 1000, 70000})
    for (dtype t : {float32, float64, complex64}) {
      const ndarray x = -zeros({3, n}, {.dtype = t, .device = cpu});
      eval(x);
      CHECK(bits(sum(x.to_device(default_device()), 1)) == bits(sum(x, 1)));
      CHECK(bits(sum(x.to_device(default_device()))) == bits(sum(x)));
    }
}

#endif
