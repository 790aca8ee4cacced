// The same programs on the CPU and on the GPU, in one process: equal bits where the arithmetic is exact or IEEE's, a
// stated number of units in the last place where it is not.
#ifdef SINTER_HAS_CUDA

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"
#include "support/ulp.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

constexpr std::int64_t rows = 67, columns = 131;

struct program {
  std::string name;
  ndarray (*run)(const ndarray& a, const ndarray& b);
};

/// Elements as numbers that compare by value and sign; NaN is one number.
std::vector<std::uint64_t> elements(const ndarray& x, bool zero_signs) {
  const ndarray h = x.to_device(cpu);
  std::vector<std::uint64_t> out;
  if (!is_inexact(x.dtype())) {
    const ndarray wide = h.astype(is_unsigned_integer(x.dtype()) ? uint64 : int64);
    return wide.astype(uint64).to_vector<std::uint64_t>();
  }
  for (const ndarray& part : {real(h), imag(h)})
    for (double v : part.to_vector<double>())
      out.push_back(v != v ? ~std::uint64_t{0} : gpu_test::bits_of(v == 0 && !zero_signs ? 0.0 : v));
  return out;
}

void check_same(const program& p, const ndarray& a, const ndarray& b, bool zero_signs = true) {
  const device gpu = default_device();
  const ndarray here = p.run(a, b), there = p.run(a.to_device(gpu), b.to_device(gpu));
  const std::string type(name(a.dtype()));
  CAPTURE(type);
  CAPTURE(p.name);
  REQUIRE(there.device() == gpu);
  CHECK(here.dtype() == there.dtype());
  CHECK(here.shape() == there.shape());
  const auto x = elements(here, zero_signs), y = elements(there, zero_signs);
  CHECK(gpu_test::first_difference(x, y) == -1);
}

/// Random bits, so that every value of an integer dtype may occur; small ones (and zeros) in every fourth place.
ndarray integers(dtype t, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> x(rows * columns);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::uint64_t r = random();
    x[k] = k % 4 ? static_cast<std::int64_t>(r) : static_cast<std::int64_t>(r % 9) - 4;
  }
  return reshape(array(x, {.device = cpu}).astype(t), {rows, columns}).copy();
}

/// Numbers of all magnitudes that occur in practice, with zeros, infinities and NaN.
ndarray floats(dtype t, unsigned seed) {
  std::vector<double> x = gpu_test::uniform<double>(rows * columns, -1, 1, seed);
  const double special[] = {0.0,
                            -0.0,
                            1.0,
                            -1.0,
                            0.5,
                            2.5,
                            -3.5,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] = std::ldexp(x[k], static_cast<int>(k * 7 % 29) - 14);
    if (k % 13 == seed % 13) x[k] = special[k / 13 % std::size(special)];
  }
  return reshape(array(x, {.device = cpu}).astype(t), {rows, columns}).copy();
}

ndarray small_integers(dtype t, unsigned seed) {
  std::vector<double> x = gpu_test::uniform<double>(rows * columns, -8, 8, seed);
  for (double& v : x) v = std::floor(v);
  return reshape(array(x, {.device = cpu}).astype(t), {rows, columns}).copy();
}

const program integer_programs[] = {
    {"a * b + a - b", [](const ndarray& a, const ndarray& b) { return a * b + a - b; }},
    {"floor_divide", [](const ndarray& a, const ndarray& b) { return floor_divide(a, b); }},
    {"remainder", [](const ndarray& a, const ndarray& b) { return remainder(a, b); }},
    {"fmod", [](const ndarray& a, const ndarray& b) { return fmod(a, b); }},
    {"gcd and lcm", [](const ndarray& a, const ndarray& b) { return gcd(a, b) + lcm(a, b); }},
    {"bits", [](const ndarray& a, const ndarray& b) { return (a & b) ^ (a | ~b); }},
    {"shifts", [](const ndarray& a, const ndarray& b) { return (a << (b & 7)) + (a >> (b & 31)); }},
    {"power", [](const ndarray& a, const ndarray& b) { return power(a, b & 3); }},
    {"comparisons", [](const ndarray& a, const ndarray& b) { return (a < b) ^ (a == b) ^ (a >= b(0)); }},
    {"where", [](const ndarray& a, const ndarray& b) { return where(a > b, maximum(a, b), minimum(a, 3)); }},
    {"sign, absolute, square", [](const ndarray& a, const ndarray& b) { return sign(a) * absolute(b) + square(a); }},
    {"divide", [](const ndarray& a, const ndarray& b) { return a / b; }},
    {"to float32", [](const ndarray& a, const ndarray& b) { return (a - b).astype(float32); }},
    {"to bool", [](const ndarray& a, const ndarray& b) { return (a & b).astype(bool_) | (a == 0); }},
    {"sum of rows", [](const ndarray& a, const ndarray& b) { return sum(a * b, 1); }},
    {"sum of columns", [](const ndarray& a, const ndarray& b) { return sum(a ^ b, 0); }},
    {"product", [](const ndarray& a, const ndarray& b) { return prod(a | b | 1); }},
    {"extremes", [](const ndarray& a, const ndarray& b) { return min(a, 0) - max(b, 0); }},
    {"argmin of rows", [](const ndarray& a, const ndarray& b) { return argmin(a & b, 1); }},
    {"argmax of everything", [](const ndarray& a, const ndarray& b) { return argmax(a >> (b & 3)); }},
    {"any and all", [](const ndarray& a, const ndarray& b) { return any(a == b, 0) ^ all(a != b, 0); }},
    {"count_nonzero", [](const ndarray& a, const ndarray& b) { return count_nonzero(a & b & 3, 1); }},
};

const program layout_programs[] = {
    {"slices",
     [](const ndarray& a, const ndarray& b) {
       return a(slice(1, -1), slice(_, _, -2)) + b(slice(2, _), slice(1, _, 2))(_, slice(0, 1));
     }},
    {"transposed", [](const ndarray& a, const ndarray& b) { return a.T() - b.T().copy(); }},
    {"broadcast", [](const ndarray& a,
                     const ndarray& b) { return a(_, newaxis, slice(0, 5)) * b(newaxis, slice(0, 9), slice(3, 8)); }},
    {"take", [](const ndarray& a, const ndarray& b) { return take(a, argmax(b, 1), 1); }},
    {"take_along_axis",
     [](const ndarray& a, const ndarray& b) { return take_along_axis(a, argmin(b, 1)(_, newaxis), 1); }},
    {"partial write",
     [](const ndarray& a, const ndarray& b) {
       const ndarray c = a.copy();
       c(slice(3, 40, 3)) = b(slice(3, 40, 3)) + 1;
       c(_, 7) += c(_, 8);
       return c;
     }},
    {"concatenate",
     [](const ndarray& a, const ndarray& b) {
       return concatenate({a, b(slice(0, 3)), a + b}, 0);
     }},
    {"roll and flip", [](const ndarray& a, const ndarray& b) { return roll(a, 5, 1) + flip(b, 0); }},
    {"tile and repeat", [](const ndarray& a, const ndarray& b) { return tile(a(0), {2}) + repeat(b(1), 2); }},
    {"diff",
     [](const ndarray& a, const ndarray& b) { return diff(a, 2, 0) + diff(b(slice(0, -2)), 1, 1)(_, slice(0, 1)); }},
    {"triangles", [](const ndarray& a, const ndarray& b) { return tril(a) + triu(b, 2); }},
    {"reshape",
     [](const ndarray& a, const ndarray& b) {
       return reshape(a, {columns, rows}) + reshape(b.T(), {columns, rows});
     }},
};

const program float_programs[] = {
    {"a * b + a - b", [](const ndarray& a, const ndarray& b) { return a * b + a - b; }},
    {"divide", [](const ndarray& a, const ndarray& b) { return a / b + reciprocal(b); }},
    {"sqrt", [](const ndarray& a, const ndarray& b) { return sqrt(absolute(a)) * sqrt(b); }},
    {"roundings", [](const ndarray& a, const ndarray& b) { return floor(a) + ceil(b) * trunc(a) - rint(b); }},
    {"floor_divide", [](const ndarray& a, const ndarray& b) { return floor_divide(a, b); }},
    {"remainder", [](const ndarray& a, const ndarray& b) { return remainder(a, b); }},
    {"fmod", [](const ndarray& a, const ndarray& b) { return fmod(a, b); }},
    {"maximum and minimum", [](const ndarray& a, const ndarray& b) { return maximum(a, b) + minimum(a, -b); }},
    {"fmax and fmin", [](const ndarray& a, const ndarray& b) { return fmax(a, b) + fmin(a, -b); }},
    {"copysign and nextafter", [](const ndarray& a, const ndarray& b) { return nextafter(copysign(a, b), b); }},
    {"frexp and ldexp",
     [](const ndarray& a, const ndarray& b) { return ldexp(frexp(a).mantissa, frexp(b).exponent * 9); }},
    {"sign and square", [](const ndarray& a, const ndarray& b) { return sign(a) * square(b); }},
    {"predicates",
     [](const ndarray& a, const ndarray& b) { return isnan(a) ^ isinf(b) ^ signbit(a) ^ isfinite(a / b); }},
    {"comparisons", [](const ndarray& a, const ndarray& b) { return (a < b) ^ (a == b) ^ (a >= 0.5); }},
    {"where", [](const ndarray& a, const ndarray& b) { return where(isfinite(a), a * 0.1, clip(b, -1, 2)); }},
    {"to float16 and back", [](const ndarray& a, const ndarray& b) { return (a + b).astype(float16).astype(float32); }},
    {"to bfloat16 and back",
     [](const ndarray& a, const ndarray& b) { return (a - b).astype(bfloat16).astype(float64); }},
    {"to int32",
     [](const ndarray& a, const ndarray& b) { return where(absolute(a) < 1e4, a, 0 * isnan(b)).astype(int32); }},
    {"argmin of rows", [](const ndarray& a, const ndarray& b) { return argmin(a * b, 1); }},
    {"argmax of columns", [](const ndarray& a, const ndarray& b) { return argmax(a - b, 0); }},
    {"argmin without NaN", [](const ndarray& a, const ndarray& b) { return argmin(nan_to_num(a) + nan_to_num(b), 1); }},
    {"any and count", [](const ndarray& a, const ndarray& b) { return count_nonzero(a > b, 0) + any(isnan(b), 0); }},
};
/// Results whose zeros may have either sign, since the order of elements is free.
const program float_extremes[] = {
    {"min and max of rows",
     [](const ndarray& a, const ndarray& b) { return min(nan_to_num(a), 1) + max(nan_to_num(b), 1); }},
    {"min of columns, with NaN", [](const ndarray& a, const ndarray&) { return min(a, 0); }},
    {"max of everything", [](const ndarray& a, const ndarray&) { return max(nan_to_num(a)); }},
};
/// Exact in float32 for small integers, whatever the order.
const program exact_sums[] = {
    {"sum of rows", [](const ndarray& a, const ndarray& b) { return sum(a * b, 1); }},
    {"sum of columns", [](const ndarray& a, const ndarray& b) { return sum(a - b, 0); }},
    {"sum of everything", [](const ndarray& a, const ndarray& b) { return sum(a + 2 * b); }},
    {"product of signs", [](const ndarray& a, const ndarray& b) { return prod(where(a > b, 1.0, -1.0), 0); }},
};
const program complex_programs[] = {
    {"arithmetic", [](const ndarray& a, const ndarray& b) { return a * b + a - conj(b); }},
    {"divide", [](const ndarray& a, const ndarray& b) { return a / (b + 20); }},
    {"parts", [](const ndarray& a, const ndarray& b) { return real(a) * imag(b); }},
    {"parts that are written",
     [](const ndarray& a, const ndarray& b) {
       const ndarray z = a.copy();
       z.imag() = real(b) / 0.0f;
       return z;
     }},
    {"comparisons", [](const ndarray& a, const ndarray& b) { return (a < b) ^ (a == b); }},
    {"sum of rows", [](const ndarray& a, const ndarray& b) { return sum(a * b, 1); }},
    {"argmax of columns", [](const ndarray& a, const ndarray& b) { return argmax(a + b, 0); }},
};

/// A function, where it is sampled, and the largest error that CUDA documents for float32.
struct sampled {
  std::string name;
  ndarray (*of)(const ndarray& a, const ndarray& b);
  double low, high, ulps;
};
const sampled functions[] = {
    {"exp", [](const ndarray& a, const ndarray&) { return exp(a); }, -80, 80, 2},
    {"exp2", [](const ndarray& a, const ndarray&) { return exp2(a); }, -120, 120, 2},
    {"expm1", [](const ndarray& a, const ndarray&) { return expm1(a); }, -5, 80, 1},
    {"log", [](const ndarray& a, const ndarray&) { return log(a); }, 1e-6, 1e6, 1},
    {"log2", [](const ndarray& a, const ndarray&) { return log2(a); }, 1e-6, 1e6, 1},
    {"log10", [](const ndarray& a, const ndarray&) { return log10(a); }, 1e-6, 1e6, 2},
    {"log1p", [](const ndarray& a, const ndarray&) { return log1p(a); }, -0.9, 1e6, 1},
    {"sin", [](const ndarray& a, const ndarray&) { return sin(a); }, -100, 100, 2},
    {"sin far", [](const ndarray& a, const ndarray&) { return sin(a); }, -1e9, 1e9, 2},
    {"cos", [](const ndarray& a, const ndarray&) { return cos(a); }, -100, 100, 2},
    {"cos far", [](const ndarray& a, const ndarray&) { return cos(a); }, -1e9, 1e9, 2},
    {"tan", [](const ndarray& a, const ndarray&) { return tan(a); }, -100, 100, 4},
    {"arcsin", [](const ndarray& a, const ndarray&) { return arcsin(a); }, -1, 1, 2},
    {"arccos", [](const ndarray& a, const ndarray&) { return arccos(a); }, -1, 1, 2},
    {"arctan", [](const ndarray& a, const ndarray&) { return arctan(a); }, -50, 50, 2},
    {"sinh", [](const ndarray& a, const ndarray&) { return sinh(a); }, -80, 80, 3},
    {"cosh", [](const ndarray& a, const ndarray&) { return cosh(a); }, -80, 80, 2},
    {"tanh", [](const ndarray& a, const ndarray&) { return tanh(a); }, -5, 5, 2},
    {"arcsinh", [](const ndarray& a, const ndarray&) { return arcsinh(a); }, -1e4, 1e4, 3},
    {"arccosh", [](const ndarray& a, const ndarray&) { return arccosh(a); }, 1, 1e4, 4},
    {"arctanh", [](const ndarray& a, const ndarray&) { return arctanh(a); }, -0.99, 0.99, 3},
    {"cbrt", [](const ndarray& a, const ndarray&) { return cbrt(a); }, -1e6, 1e6, 1},
    {"power", [](const ndarray& a, const ndarray& b) { return power(a, b); }, 0.1, 9, 4},
    {"arctan2", [](const ndarray& a, const ndarray& b) { return arctan2(a, b); }, -9, 9, 3},
    {"hypot", [](const ndarray& a, const ndarray& b) { return hypot(a, b); }, -9, 9, 3},
};
/// What the host's vector library is allowed, on top of CUDA's own error.
constexpr double host_ulps = 4;

template <class T>
void check_close(const sampled& f, dtype t, double ulps) {
  const device gpu = default_device();
  const ndarray a = array(gpu_test::uniform<double>(20011, f.low, f.high, 31), {.dtype = t, .device = cpu});
  const ndarray b = array(gpu_test::uniform<double>(20011, f.low, f.high, 32), {.dtype = t, .device = cpu});
  const ndarray on_host = f.of(a, b), on_gpu = f.of(a.to_device(gpu), b.to_device(gpu));
  const std::vector<T> here = on_host.to_vector<T>(), there = on_gpu.to_vector<T>();
  REQUIRE(here.size() == there.size());
  std::size_t worst = 0;
  double distance = 0;
  for (std::size_t k = 0; k < here.size(); ++k) {
    const double d = test::ulp_distance(here[k], there[k]);
    if (d <= distance) continue;
    distance = d;
    worst = k;
  }
  const double cpu_result = test::widen(here[worst]), gpu_result = test::widen(there[worst]);
  const double at = a.astype(float64).to_vector<double>()[worst];
  CAPTURE(f.name);
  CAPTURE(at);
  CAPTURE(cpu_result);
  CAPTURE(gpu_result);
  CHECK(distance <= ulps);
}

}  // namespace

TEST_CASE("gpu: integer programs give what they give on the CPU") {
  if (gpu_test::no_gpu()) return;
  for (dtype t : {int8, int16, int32, int64, uint8, uint16, uint32, uint64}) {
    const ndarray a = integers(t, 1), b = integers(t, 2);
    for (const program& p : integer_programs) check_same(p, a, b);
  }
}

TEST_CASE("gpu: programs of views, gathers and partial writes give what they give on the CPU") {
  if (gpu_test::no_gpu()) return;
  for (dtype t : {int8, int32, float64})
    for (const program& p : layout_programs) check_same(p, small_integers(t, 3), small_integers(t, 4));
}

TEST_CASE("gpu: IEEE arithmetic has the bits that it has on the CPU") {
  if (gpu_test::no_gpu()) return;
  for (dtype t : {float16, bfloat16, float32, float64}) {
    const ndarray a = floats(t, 5), b = floats(t, 6);
    for (const program& p : float_programs) check_same(p, a, b);
    for (const program& p : float_extremes) check_same(p, a, b, false);
  }
}

TEST_CASE("gpu: sums that are exact are those of the CPU") {
  if (gpu_test::no_gpu()) return;
  for (dtype t : {float32, float64})
    for (const program& p : exact_sums) check_same(p, small_integers(t, 7), small_integers(t, 8));
  for (dtype t : {complex64, complex128}) {
    const ndarray i = array(std::vector<std::complex<double>>{{0, 1}}, {.dtype = t, .device = cpu});
    const ndarray a = small_integers(t, 9) + i * small_integers(t, 10);
    const ndarray b = small_integers(t, 11) - i * small_integers(t, 12);
    for (const program& p : complex_programs) check_same(p, a, b, false);
  }
}

TEST_CASE("gpu: transcendental functions are within CUDA's error and the host library's of the CPU's") {
  if (gpu_test::no_gpu()) return;
  for (const sampled& f : functions) {
    check_close<float>(f, float32, f.ulps + host_ulps);
    check_close<double>(f, float64, f.ulps + host_ulps);
  }
}

#endif
