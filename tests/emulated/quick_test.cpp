// Quick division and roots of generated CUDA kernels with approximations that are as near as they can be. A GPU's are compared
// with the compiler's own code, which takes the same steps from the same approximations, in tests/gpu.
#ifdef SINTER_HAS_CUDA

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "emulated/quick_cases.hpp"
#include "emulated/recorded.hpp"
#include "jit/cuda/emit.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// Ordinary numbers with what the quick versions leave to others among them: whole groups of them, and single lanes.
ndarray with_specials(std::int64_t n, unsigned step) {
  std::vector<float> x(static_cast<std::size_t>(n));
  const float special[] = {0.0F,     -0.0F,     1e-45F, -1e-40F, 1e-32F, 3e38F,
                           INFINITY, -INFINITY, NAN,    -2.0F,   1e38F,  1.2e-38F};
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = k % 97 < 24 || k % 13 == 5 ? special[k * step % 12] : 0.25F + static_cast<float>(k * step % 1009) / 64;
  return array(x).to_device("cpu");
}

/// Bits, but for those of NaN.
void check_bits(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (std::isnan(a[k]) && std::isnan(b[k])) continue;
    CAPTURE(k);
    CAPTURE(a[k]);
    CAPTURE(b[k]);
    REQUIRE(std::bit_cast<std::uint32_t>(a[k]) == std::bit_cast<std::uint32_t>(b[k]));
  }
}

/// Numbers of all exponents and signs, and their neighbours: 0, the subnormal ones, infinities and NaN among them.
std::vector<std::uint32_t> patterns() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t top = 0; top < 512; ++top)
    for (const std::uint32_t mantissa : {0x0u, 0x1u, 0x2u, 0x3u, 0x2aaaaau, 0x3504f3u, 0x3504f4u, 0x400000u, 0x555555u,
                                         0x7ffffdu, 0x7ffffeu, 0x7fffffu})
      all.push_back(top << 23 | mantissa);
  return all;
}

void check_emulated(const ndarray& x) {
  const emulated::recorded run = emulated::emulate(x);
  check_bits(emulated::emulated_as<float>(run), x.to_vector<float>());
}

using count_wrong = std::uint64_t (*)(const std::uint32_t* x, std::size_t n, std::uint32_t* first);

std::vector<count_wrong> compile_cases(const std::vector<std::string>& names) {
  std::string source = jit::cuda_prelude(std::vector<const jit::program*>{});
  emulated::replace_for_host(source);
  source = cuda_as_host + source + quick_cases;
  for (const std::string& name : names)
    source += "extern \"C\" unsigned long count_" + name +
              "(const unsigned* x, unsigned long n, unsigned* first) {\n"
              "  unsigned long wrong = 0;\n"
              "  for (unsigned long k = 0; k < n; ++k) {\n"
              "    bool slow = false;\n"
              "    if (" +
              name +
              "::wrong(__uint_as_float(x[k]), slow) && wrong++ == 0) *first = x[k];\n"
              "  }\n"
              "  return wrong;\n"
              "}\n";
  std::vector<std::string> functions;
  for (const std::string& name : names) functions.push_back("count_" + name);
  std::vector<count_wrong> found;
  for (void* f : jit::compile_host(source, functions)) found.push_back(reinterpret_cast<count_wrong>(f));
  return found;
}

}  // namespace

TEST_CASE(
    "emulated: quick division and roots are exact or raise the flag: every exponent, ends of domains, all mantissas") {
  if (emulated::no_emulation()) return;
  const std::vector<std::string> names{"reciprocal",    "root",          "quotient",           "small_quotient",
                                       "edge_quotient", "wide_quotient", "wide_edge_quotient", "wide_reciprocal",
                                       "wide_root"};
  const std::vector<count_wrong> cases = compile_cases(names);
  std::vector<std::uint32_t> mantissas(std::size_t{1} << 24);  // of [1, 4)
  for (std::size_t k = 0; k < mantissas.size(); ++k) mantissas[k] = 0x3f800000u + static_cast<std::uint32_t>(k);
  const auto check = [&](std::size_t k, const std::vector<std::uint32_t>& x) {
    CAPTURE(names[k]);
    std::uint32_t first = 0;
    const std::uint64_t wrong = cases[k](x.data(), x.size(), &first);
    CAPTURE(first);
    CHECK(wrong == 0);
  };
  for (std::size_t k = 0; k < names.size(); ++k) check(k, patterns());
  check(0, mantissas);
  check(1, mantissas);
  std::vector<std::uint32_t> wide(std::size_t{1} << 21);  // upper halves of float64 of [1, 4)
  for (std::size_t k = 0; k < wide.size(); ++k) wide[k] = 0x3ff00000u + static_cast<std::uint32_t>(k);
  for (const std::size_t k : {5, 7, 8}) check(k, wide);
  mantissas.resize(mantissas.size() / 16);
  check(2, mantissas);
  for (std::uint32_t& x : mantissas) x += 0x3f000000u;  // of 2^126: numerators of small quotients are normal
  check(3, mantissas);
}

TEST_CASE("emulated: kernels that divide and take roots in steps have the CPU's bits, whatever the operands") {
  if (emulated::no_emulation()) return;
  for (const std::int64_t n : {4096, 1031}) {
    const ndarray x = with_specials(n, 5), y = with_specials(n, 7);
    eval(x, y);
    // Some need what others give, and one factor is ready long before. Fewer operations would not be done in steps.
    const ndarray r = x / y, s = sqrt(y), far = x * y + 1, a = sqrt(far * far + 1), b = (a + 2) / (r * r + a),
                  c = sqrt(b + a * b) / (a - b * b), d = reciprocal(c) + sqrt(a / (2 + c * c)),
                  e = (d - sqrt(b)) / (c + d) * reciprocal(a + d), more = sqrt(e * e + d) / sqrt(b) - c / (e + 7);
    const ndarray results[] = {(r + sqrt(1 / s)) / (s + 3) + sqrt(r) * more / (x + far),
                               reciprocal(s) / r + sqrt(reciprocal(x)) / (y - x) + more * r * s / far,
                               (2 / x) / (y / 3) + sqrt(x / sqrt(y)) / (more * more + r * s + 1)};
    for (const ndarray& z : results) {
      check_emulated(z);
    }
    for (const ndarray& few : {x / y, square(x) / abs(y), 1 / x - 3 / y}) check_emulated(few);
    const ndarray strided = results[0](slice(_, _, 3)).copy();
    check_emulated(strided);
  }
}

TEST_CASE(
    "emulated: kernels that divide and take roots of float64 in steps have the CPU's bits, whatever the operands") {
  if (emulated::no_emulation()) return;
  for (const std::int64_t n : {2048, 1031}) {
    const ndarray u = with_specials(n, 5).astype(float64), v = with_specials(n, 7).astype(float64);
    // Numbers beyond float32, and the ends of float64.
    const ndarray x = u * where(v > 1, 1e270, 3e-290), y = v * where(u > 2, 1e-300, 1e30) + u;
    eval(x, y);
    const ndarray a = x / y, b = (a + 1) / (x * x + 3), c = sqrt(abs(b) + y / 7) / (a - 2),
                  d = reciprocal(c) + b / (y + c), e = (d / (a + 5) + c / 3) / sqrt(d * d + 1);
    for (const ndarray& z : {e / (b + 1), (a + e) / (c + d)}) {
      const emulated::recorded run = emulated::emulate(z);
      const std::vector<double> found = emulated::emulated_as<double>(run), wanted = z.to_vector<double>();
      REQUIRE(found.size() == wanted.size());
      for (std::size_t k = 0; k < found.size(); ++k) {
        if (std::isnan(found[k]) && std::isnan(wanted[k])) continue;
        CAPTURE(k);
        REQUIRE(std::bit_cast<std::uint64_t>(found[k]) == std::bit_cast<std::uint64_t>(wanted[k]));
      }
    }
  }
}

TEST_CASE("emulated: reductions of rows and columns that divide in steps have the CPU's bits") {
  if (emulated::no_emulation()) return;
  const ndarray p = with_specials(600, 3), q = with_specials(70, 11);
  eval(p, q);
  const ndarray d = p(_, newaxis) - q;
  const ndarray nearest = min(abs(d) / (sqrt(abs(d)) + abs(q) / (1 + abs(p(_, newaxis)))), {.axis = 1});
  check_emulated(nearest);
  const ndarray r = d * d + 1e-3, total = sum(q / (r * sqrt(r)), 1);
  check_emulated(total);
}

#endif
