// Functions of the library's own in place of libmvec's: their errors beside long double over all exponents, special values as C's, the
// same bits at every instruction set and whatever the neighbours are.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "jit/cpu/own_function_cases.hpp"
#include "jit/cpu/interpreter/exponential.hpp"

using namespace sinter;
using namespace sinter::jit;
using sinter_test::computed;
using sinter_test::has_own_functions;

namespace {

template <class T>
std::vector<T> arguments() {
  std::mt19937_64 engine(4);
  std::vector<T> x{0,
                   T(-0.0),
                   1,
                   -1,
                   10,
                   1000,
                   27,
                   -27,
                   std::numeric_limits<T>::max(),
                   std::numeric_limits<T>::min(),
                   std::numeric_limits<T>::denorm_min(),
                   -std::numeric_limits<T>::denorm_min(),
                   std::numeric_limits<T>::infinity(),
                   -std::numeric_limits<T>::infinity(),
                   std::numeric_limits<T>::quiet_NaN()};
  std::uniform_real_distribution<double> near(-3, 3),
      exponent(std::numeric_limits<T>::min_exponent - 20, std::numeric_limits<T>::max_exponent);
  for (int k = 0; k < 60000; ++k) {
    x.push_back(static_cast<T>(near(engine)));
    x.push_back(static_cast<T>((k % 2 ? 1 : -1) * std::exp2(exponent(engine))));
    x.push_back(static_cast<T>(1 + near(engine) / 100));
  }
  while (x.size() % 256 != 0) x.push_back(T(0.5));
  return x;
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (std::memcmp(&a[k], &b[k], sizeof(T)) != 0 && !(a[k] != a[k] && b[k] != b[k])) return false;
  return true;
}

template <class T>
void check(opcode op, dtype type, long double (*exact)(long double), double most) {
  const std::vector<T> x = arguments<T>(), r = computed(find_block_op(op, type, type), x, 256);
  double worst = 0;
  int wrong = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const long double e = exact(static_cast<long double>(x[k]));
    const T wanted = static_cast<T>(e);
    if (std::isnan(wanted)) wrong += !std::isnan(r[k]);
    else if (std::isinf(wanted) || wanted == 0) wrong += r[k] != wanted || std::signbit(r[k]) != std::signbit(wanted);
    else {
      const T size = std::abs(wanted);
      const long double ulp = static_cast<long double>(std::nextafter(size, std::numeric_limits<T>::infinity())) - size;
      const double off = static_cast<double>(std::abs(r[k] - e) / ulp);
      wrong += !(off < 100);
      worst = std::max(worst, off);
    }
  }
  const std::string what = name(op);
  CAPTURE(what);
  MESSAGE(what, " of ", name(type), ": the worst is ", worst, " ulp");
  CHECK(wrong == 0);
  CHECK(worst < (has_own_functions() ? most : 4.0));
  CHECK(same(computed(find_block_op(op, type, type), x, 1), r));
#if SINTER_TIER0_X86
  if (has_own_functions() && tier0::avx2::own_function_op(op, type, type))
    CHECK(same(computed(tier0::avx2::own_function_op(op, type, type), x, 16), r));
#endif
}

}  // namespace

TEST_CASE("tanh, cbrt and log10 are within 3, 0.51 and 1 ulp where there are fused multiply-adds") {
  check<float>(
      opcode::tanh, dtype::f32, [](long double x) { return std::tanh(x); }, 3);
  check<double>(
      opcode::tanh, dtype::f64, [](long double x) { return std::tanh(x); }, 3);
  check<float>(
      opcode::cbrt, dtype::f32, [](long double x) { return std::cbrt(x); }, 0.51);
  check<double>(
      opcode::cbrt, dtype::f64, [](long double x) { return std::cbrt(x); }, 0.51);
  check<float>(
      opcode::log10, dtype::f32, [](long double x) { return std::log10(x); }, 1);
}

TEST_CASE("moduli of complex64 are roots that double rounds") {
  std::mt19937 engine(6);
  const float some[] = {0.0f,
                        -0.0f,
                        3.0f,
                        4.0f,
                        1e-40f,
                        3e38f,
                        1e-20f,
                        std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN(),
                        1.0f};
  std::vector<std::complex<float>> z;
  const auto part = [&](int k) {
    if (k % 4 == 0) return some[engine() % std::size(some)];
    if (k % 4 == 1) return static_cast<float>(static_cast<int>(engine() % 2001) - 1000);
    return std::ldexp(static_cast<float>(engine() % 16777216),
                      static_cast<int>(engine() % (k % 4 == 2 ? 4 : 250)) - 150);
  };
  for (int k = 0; k < 400000; ++k) z.emplace_back(part(k / 3), part(k / 5));
  while (z.size() % 256 != 0) z.emplace_back(1.0f, 1.0f);
  std::vector<float> r(z.size());
  int fault = 0, wrong = 0;
  const block_op op = find_block_op(opcode::absolute, dtype::f32, dtype::c64);
  for (std::size_t l = 0; l < z.size(); l += 256) op(r.data() + l, z.data() + l, nullptr, nullptr, 256, &fault);
  for (std::size_t k = 0; k < z.size(); ++k) {
    const double x = z[k].real(), y = z[k].imag();
    const float wanted = std::isinf(x) || std::isinf(y) ? std::numeric_limits<float>::infinity()
                                                        : static_cast<float>(std::sqrt(x * x + y * y));
    wrong += !(r[k] == wanted || (r[k] != r[k] && wanted != wanted));
  }
  CHECK(wrong == 0);
}
