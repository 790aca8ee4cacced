// The exponential of the block operations: within an ulp of long double, at every instruction set with the same bits.
#include "jit/cpu/interpreter/exponential.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "jit/cpu/own_function_cases.hpp"
#include "jit/program/program.hpp"

using namespace sinter;
using namespace sinter::jit;
using sinter_test::computed;
using sinter_test::has_own_functions;
using sinter_test::same_bits;

namespace {

/// Uniform numbers of three ranges, the last of which goes beyond both ends, and special ones.
template <class T>
std::vector<T> arguments(T low, T high) {
  const T inf = std::numeric_limits<T>::infinity();
  std::vector<T> all{inf,      -inf,   std::numeric_limits<T>::quiet_NaN(), 0, T(-0.0), low, high, T(1e-30),
                     T(-1e30), T(1e30)};
  std::mt19937_64 engine(11);
  for (const T from : {T(-1e-3), T(-10), low})
    for (int k = 0; k < 20000; ++k)
      all.push_back(std::uniform_real_distribution<T>(from, from == low ? high : -from)(engine));
  while (all.size() % lane_multiple != 0) all.push_back(1);
  return all;
}

/// The largest error in ulps; infinite where a result is of another kind.
template <class T>
double worst_of(const std::vector<T>& x, const std::vector<T>& r) {
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const long double exact = std::exp(static_cast<long double>(x[k]));
    const T wanted = static_cast<T>(exact);
    if (std::isnan(wanted) && std::isnan(r[k])) continue;
    if (r[k] == wanted) continue;
    if (!std::isfinite(wanted) || !std::isfinite(r[k])) return std::numeric_limits<double>::infinity();
    const long double ulp = std::nextafter(wanted, std::numeric_limits<T>::infinity()) - wanted;
    worst = std::max(worst, static_cast<double>(std::abs(r[k] - exact) / ulp));
  }
  return worst;
}

template <class T>
void check(dtype type, T low, T high) {
  const std::vector<T> x = arguments(low, high);
  const std::vector<T> r = computed(find_block_op(opcode::exp, type, type), x);
  CHECK(worst_of(x, r) < (has_own_functions() ? 1.0 : 4.0));
#if SINTER_TIER0_X86
  if (!has_own_functions()) return;
  const std::vector<T> narrow = computed(tier0::avx2::exponential_op(type), x);
  CHECK(same_bits(narrow, r));
#endif
}

/// exp(x - less) by one operation and by two, in calls of all lanes and of a few.
template <class T>
void check_difference(dtype type, T low, T high, T less) {
  const block_op together = find_exponential_of_difference(type);
  CHECK((together != nullptr) == has_own_functions());
  if (!together) return;
  const std::vector<T> x = arguments(low, high);
  std::vector<T> differences = x, r(x.size()), few(x.size());
  for (T& d : differences) d -= less;
  const std::vector<T> wanted = computed(find_block_op(opcode::exp, type, type), differences);
  int fault = 0;
  together(r.data(), x.data(), &less, nullptr, static_cast<int>(x.size()), &fault);
  CHECK(same_bits(r, wanted));
  for (std::size_t l = 0; l < x.size(); l += lane_multiple)
    together(few.data() + l, x.data() + l, &less, nullptr, lane_multiple, &fault);
  CHECK(same_bits(few, wanted));
#if SINTER_TIER0_X86
  std::vector<T> narrow = x;  // over what is read
  tier0::avx2::exponential_of_difference_op(type)(narrow.data(), narrow.data(), &less, nullptr,
                                                  static_cast<int>(x.size()), &fault);
  CHECK(same_bits(narrow, wanted));
#endif
}

/// The generated text of one kernel.
std::string text_of(const program& p) {
  const cpu_definition d{&p, {}, nullptr, "kernel"};
  std::string text = emit_cpu({&d, 1});
  return text.substr(text.find("extern \"C\" void kernel"));
}
program difference_program(bool reads_again) {
  program p;
  p.kind = kernel_kind::elementwise;
  p.inputs.push_back({dtype::f64, 0, {0, 0}});
  p.param_types.push_back(dtype::f64);
  p.params = 1;
  p.code.push_back({opcode::load, dtype::f64, dtype::f64, 0, 0, 0, 0, 0});
  p.code.push_back({opcode::param, dtype::f64, dtype::f64, 0, 0, 0, 0, 0});
  p.code.push_back({opcode::subtract, dtype::f64, dtype::f64, 0, 0, 1, 0, 0});
  p.code.push_back({opcode::exp, dtype::f64, dtype::f64, 0, 2, 0, 0, 0});
  p.outputs.push_back({dtype::f64, 0, 3});
  if (reads_again) p.outputs.push_back({dtype::f64, 0, 2});
  p.epilogue = static_cast<std::uint16_t>(p.code.size());
  return p;
}

}  // namespace

TEST_CASE("exponentials of differences from a number have the bits of the two operations") {
  for (const double less : {0.0, -0.0, 3.7, -700.0, 1e300, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    check_difference<double>(dtype::f64, -750, 712, less);
    check_difference<float>(dtype::f32, -105, 90, static_cast<float>(less));
  }
}

TEST_CASE("generated code subtracts within the exponential unless something else reads the difference") {
  if (!has_own_functions()) return;
  const std::string once = text_of(difference_program(false)), twice = text_of(difference_program(true));
  CHECK(once.find("(out0, in0, &r1, 0, n, fault)") != std::string::npos);
  CHECK(once.find("SN_ARRAY") == std::string::npos);
  CHECK(twice.find("sn::subtract") != std::string::npos);
  CHECK(twice.find("&r1") == std::string::npos);
}

TEST_CASE(
    "exponentials are within an ulp where there are fused multiply-adds, with the same bits in vectors of every "
    "width") {
  check<double>(dtype::f64, -750, 712);
  check<float>(dtype::f32, -105, 90);
}

TEST_CASE("exponentials that are subnormal numbers, or barely not, are rounded once") {
  std::vector<float> x;
  for (float t = -87; t > -104.5f; t = std::nextafter(t, -200.0f) - 1e-4f) x.push_back(t);
  std::vector<double> y;
  for (double t = -707; t > -746; t -= 3.1e-4) y.push_back(t);
  while (x.size() % lane_multiple != 0) x.push_back(0);
  while (y.size() % lane_multiple != 0) y.push_back(0);
  const auto singles = computed(find_block_op(opcode::exp, dtype::f32, dtype::f32), x);
  const auto doubles = computed(find_block_op(opcode::exp, dtype::f64, dtype::f64), y);
  CHECK(worst_of(x, singles) < (has_own_functions() ? 1.0 : 4.0));
  CHECK(worst_of(y, doubles) < (has_own_functions() ? 1.0 : 4.0));
#if SINTER_TIER0_X86
  if (!has_own_functions()) return;
  CHECK(same_bits(computed(tier0::avx2::exponential_op(dtype::f32), x), singles));
  CHECK(same_bits(computed(tier0::avx2::exponential_op(dtype::f64), y), doubles));
#endif
}
