// The part of the prelude that a CUDA kernel gets: all declarations that it needs, and no others.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "jit/cuda/nvrtc.hpp"
#include "jit/cuda/prelude_select.hpp"
#include "jit/prelude_text.hpp"
#include "sinter/error.hpp"
#include "support/scratch_folder.hpp"

namespace jit = sinter::jit;

namespace {

using parts = std::vector<std::string_view>;

/// Every file that select_prelude is ever given.
parts all_files() {
  parts all{"base",
            "float",
            "half",
            "convert",
            "complex",
            "complex_math",
            "cuda_loop",
            "cuda_quick",
            "cuda_reduce",
            "cuda_reduce_sum",
            "cuda_reduce_complex",
            "cuda_reduce_skip"};
  all.insert(all.end(), jit::special_files.begin(), jit::special_files.end());
  return all;
}
const parts everything = all_files();
/// With what kernels of halves have besides.
parts with_halves() {
  parts all = everything;
  all.insert(std::find(all.begin(), all.end(), "cuda_reduce"), "cuda_half");
  return all;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
bool has(const std::string& text, const std::string& what) { return count(text, what) > 0; }

std::string selected(const std::string& text) { return jit::select_prelude(everything, text); }

}  // namespace

TEST_CASE("select_prelude: text that names nothing gets nothing") {
  CHECK(selected("x = a + b;") == "namespace sn {\n}  // namespace sn\n");
  CHECK(selected("x = sn::nothing_of_that_name(a);") == selected(""));
  CHECK(selected("other_sn::minimum(a, b); x.minimum;") != selected("y"));  // a name that ends in sn:: counts as ours
}

TEST_CASE("select_prelude: all overloads of a name come along, and nothing that only shares a file with it") {
  const std::string text = selected("y = sn::minimum(a, b);");
  CHECK(has(text, "template <class T> SN_FN T minimum(T a, T b)"));  // integers, in base
  CHECK(has(text, "#define SN_REAL_minimum(T)"));                    // float and double, by a macro
  CHECK(has(text, "\nSN_REAL(minimum)\n"));
  CHECK(has(text, "cx<R> minimum(cx<R> a, cx<R> b)"));
  CHECK(has(text, "#define SN_FN __device__ __forceinline__"));
  CHECK_FALSE(has(text, "__attribute__"));  // the branch for the CPU
  CHECK_FALSE(has(text, "remainder"));
  CHECK_FALSE(has(text, "NaN"));  // comments between declarations
}

TEST_CASE("select_prelude: what a declaration mentions comes along, through macros and specialisations") {
  const std::string angle = selected("y = sn::quick_sin(x, slow, true);");
  for (const char* wanted :
       {"is_slow(float x)", "reduce_angle(float x", "sine_of_quadrant(float y", "sine_constants[3]"})
    CHECK_MESSAGE(has(angle, wanted), wanted);
  CHECK_FALSE(has(angle, "any_sine"));
  CHECK(has(selected("sn::any_sine(x, false)"), "two_over_pi[7]"));
  const std::string logarithm = selected("sn::log2(z)");
  CHECK(has(logarithm, "log_modulus"));
  CHECK(count(logarithm, "#define SN_LN2 ") == 1);
  CHECK(count(logarithm, "#undef SN_LN2") == 1);
  CHECK_FALSE(has(logarithm, "SN_PI_2"));
  const std::string narrow = jit::select_prelude(with_halves(), "sn::narrow<sn::b8>(x)");
  CHECK(count(narrow, "struct narrower") == 4);
  CHECK(has(narrow, "struct b8"));
  // Members have names of their own.
  CHECK_FALSE(has(selected("sn::extent32 e; e.quotient(n); x.minimum;"), "minimum"));
}

TEST_CASE("select_prelude: a special function brings its own text and no other function's") {
  const std::string text = selected("y = sn::erf(x);");
  for (const char* wanted :
       {"sf_erf_small(V x)", "sf_exp(V hi, V lo)", "single_erf_small(V x)", "#define SN_SPECIAL_SINGLE(", "sf_poly("})
    CHECK_MESSAGE(has(text, wanted), wanted);
  for (const char* other : {"sf_erfinv", "sf_log_pair", "sf_gamma", "sf_hankel", "sf_sincos"})
    CHECK_FALSE_MESSAGE(has(text, other), other);
  CHECK(text.size() < 12000);
}

TEST_CASE("select_prelude: the order is the files', so what is used is declared before") {
  const std::string text = selected("sn::tanh(z); sn::maximum(x, y)");
  CHECK(text.find("cx { R re, im; }") < text.find("typedef cx<float> c64"));
  CHECK(text.find("SN_REAL(maximum)") < text.find("cx<R> maximum"));
  CHECK(text.find("#define SN_FN") < text.find("maximum"));
}

TEST_CASE("select_prelude: every declaration of the prelude compiles with what comes along") {
  std::string why_not;
  if (!jit::nvrtc_available(&why_not)) {
    MESSAGE("left out: " << why_not);
    return;
  }
  const std::vector<std::string_view> list = jit::prelude_names(with_halves());
  const std::set<std::string_view> names(list.begin(), list.end());
  CHECK(names.size() > 150);
  int compiled = 0;
  for (std::string_view name : names) {
    CAPTURE(name);
    if (name.substr(0, 3) == "SN_") continue;  // a macro
    const std::string source =
        jit::select_prelude(with_halves(), "sn::" + std::string(name)) + "extern \"C\" __global__ void k() {}\n";
    CHECK(has(source, std::string(name)));
    CHECK_NOTHROW(jit::compile_cuda(source, {.arch = 90, .level = jit::optimisation::some}));
    ++compiled;
  }
  CHECK(compiled > 140);
}
