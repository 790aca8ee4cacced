// Quick division and roots of generated CUDA kernels with approximations that are as near as they can be. A GPU's are compared
// with the compiler's own code, which takes the same steps from the same approximations, in tests/gpu.
#ifdef SINTER_HAS_CUDA

#include <cstdint>
#include <string>
#include <vector>

#include "emulated/quick_cases.hpp"
#include "emulated/run_generated.hpp"
#include "jit/cuda/emit.hpp"

using namespace sinter;

namespace {

/// Numbers of all exponents and signs, and their neighbours: 0, the subnormal ones, infinities and NaN among them.
std::vector<std::uint32_t> patterns() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t top = 0; top < 512; ++top)
    for (const std::uint32_t mantissa : {0x0u, 0x1u, 0x2u, 0x3u, 0x2aaaaau, 0x3504f3u, 0x3504f4u, 0x400000u, 0x555555u,
                                         0x7ffffdu, 0x7ffffeu, 0x7fffffu})
      all.push_back(top << 23 | mantissa);
  return all;
}

using count_wrong = std::uint64_t (*)(const std::uint32_t* x, std::size_t n, std::uint32_t* first);

std::vector<count_wrong> compile_cases(const std::vector<std::string>& names) {
  std::string source = jit::cuda_prelude(std::vector<const jit::program*>{});
  emulated::replace_ptx(source);
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
  const std::vector<std::string> names{"reciprocal", "root", "quotient", "edge_quotient"};
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
  mantissas.resize(mantissas.size() / 16);
  check(2, mantissas);
}

#endif
