// Lanes whose result the block operations know without asking the vector library: as the C library's, whatever lanes are
// beside them.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "jit/cpu/block.hpp"
#include "jit/program/program.hpp"

using namespace sinter;
using namespace sinter::jit;

namespace {

template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

/// The ends of domains and ranges with their neighbours, and what lies between and beyond.
template <class T>
std::vector<T> arguments() {
  std::vector<T> out = {0,
                        inf<T>,
                        nan_of<T>,
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::denorm_min(),
                        T(0.3),
                        T(2.5),
                        T(7),
                        T(8388609)};
  for (const double end : {1.0,   17.5,  88.0,  88.8,  89.0,  90.0,  103.5,  104.0,  128.0,  129.0, 149.0,
                           151.0, 709.5, 710.0, 711.0, 744.0, 746.0, 1024.0, 1025.0, 1074.0, 1076.0})
    for (const T x : {T(end), std::nextafter(T(end), T(0)), std::nextafter(T(end), inf<T>)}) out.push_back(x);
  const std::size_t positive = out.size();
  for (std::size_t k = 0; k < positive; ++k) out.push_back(-out[k]);
  return out;
}

/// Whether a is b, or within `ulps` of it where both are finite numbers.
template <class T>
bool agree(T a, T b, double ulps) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b) || b == 0) return a == b && std::signbit(a) == std::signbit(b);
  const double ulp = double(std::nextafter(std::abs(b), inf<T>)) - double(std::abs(b));
  return std::abs(double(a) - double(b)) <= ulps * ulp;
}

/// The lane of x among ordinary ones.
template <class T>
T among(opcode op, T ordinary, T x, T y) {
  alignas(64) T a[lane_multiple], b[lane_multiple];
  for (int l = 0; l < lane_multiple; ++l) a[l] = ordinary, b[l] = T(1.5);
  a[5] = x, b[5] = y;
  const T beside = a[6];
  int fault = 0;
  find_block_op(op, dtype_of<T>, dtype_of<T>)(a, a, b, nullptr, lane_multiple, &fault);
  alignas(64) T whole[lane_multiple], more[lane_multiple];
  for (int l = 0; l < lane_multiple; ++l) whole[l] = beside, more[l] = T(1.5);
  find_block_op(op, dtype_of<T>, dtype_of<T>)(whole, whole, more, nullptr, lane_multiple, &fault);
  CHECK(agree(a[6], whole[6], 0));
  return a[5];
}

template <class T>
void check_unary(opcode op, T (*libm)(T), double ulps) {
  int wrong = 0;
  for (const T x : arguments<T>()) {
    const T found = among(op, op == opcode::arccosh ? T(3) : T(0.25), x, T(0));
    if (!agree(found, libm(x), ulps) && wrong++ < 3)
      MESSAGE(std::string(name(op)) << " of " << double(x) << ": " << double(found) << ", not " << double(libm(x)));
  }
  CHECK(wrong == 0);
}

template <class T>
void check_all_unary() {
#define UNARY(op, function) \
  check_unary<T>(           \
      opcode::op, [](T x) { return T(std::function(x)); }, 4)
  UNARY(exp, exp);
  UNARY(exp2, exp2);
  UNARY(expm1, expm1);
  UNARY(log, log);
  UNARY(log2, log2);
  UNARY(log10, log10);
  UNARY(log1p, log1p);
  UNARY(sin, sin);
  UNARY(cos, cos);
  UNARY(tan, tan);
  UNARY(arcsin, asin);
  UNARY(arccos, acos);
  UNARY(arctan, atan);
  UNARY(sinh, sinh);
  UNARY(cosh, cosh);
  UNARY(tanh, tanh);
  UNARY(arcsinh, asinh);
  UNARY(arccosh, acosh);
  UNARY(arctanh, atanh);
  UNARY(cbrt, cbrt);
#undef UNARY
}

template <class T>
void check_powers() {
  std::vector<T> values = arguments<T>();
  for (const double v :
       {2.0, 3.0, 0.5, 16777216.0, 16777217.0, 9007199254740991.0, 9007199254740992.0, 4503599627370497.0, 1e30})
    for (const T x : {T(v), T(-v)}) values.push_back(x);
  int wrong = 0;
  for (const T x : values)
    for (const T y : values) {
      const T found = among(opcode::power, T(0.25), x, y), libm = std::pow(x, y);
      if (!agree(found, libm, 4) && wrong++ < 5)
        MESSAGE(double(x) << " to the power of " << double(y) << ": " << double(found) << ", not " << double(libm));
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("functions of the C library at the ends of their domains and ranges, in one lane of many") {
  check_all_unary<float>();
  check_all_unary<double>();
}

TEST_CASE("powers of zeros, negative numbers, infinities and NaN, in one lane of many") {
  check_powers<float>();
  check_powers<double>();
}

TEST_CASE("log10 of the powers of ten is whole, and its neighbours are within four units in the last place") {
  for (int k = -307; k <= 308; ++k) {
    const double x = std::stod("1e" + std::to_string(k));
    CHECK(among(opcode::log10, 0.25, x, 0.0) == k);
    for (const double near : {std::nextafter(x, 0.0), std::nextafter(x, inf<double>)})
      CHECK(agree(among(opcode::log10, 0.25, near, 0.0), std::log10(near), 4));
  }
}
