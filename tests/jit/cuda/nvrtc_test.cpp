// CUDA compilation by NVRTC, which needs no GPU.
#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "jit/compile.hpp"
#include "jit/compile_steps.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "jit/hooks.hpp"
#include "sinter/error.hpp"
#include "support/fresh_cache.hpp"

namespace jit = sinter::jit;
using sinter_test::fresh_cache;
using sinter_test::no_nvrtc;

namespace {

constexpr const char* kernel = R"(
extern "C" __global__ void k(const float* __restrict__ a, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = asinf(sqrtf(sinf(a[i])));
})";

bool is_elf(const std::vector<char>& bytes) {
  return bytes.size() > 4 && bytes[0] == '\x7f' && bytes[1] == 'E' && bytes[2] == 'L' && bytes[3] == 'F';
}

}  // namespace

TEST_CASE("without NVRTC compile_cuda throws device_error that says why") {
  std::string why_not;
  if (jit::nvrtc_available(&why_not)) return;
  CHECK(why_not != "");
  CHECK_THROWS_AS(jit::compile_cuda("extern \"C\" __global__ void no_nvrtc() {}", {}), sinter::device_error);
}

TEST_CASE("NVRTC compiles a kernel without a GPU, and the second time it comes from the disk") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  jit::warm_up_nvrtc();
  jit::warm_up_nvrtc();
  for (const int arch : {75, 90}) {
    CAPTURE(arch);
    const auto first = jit::compile_cuda(kernel, {.arch = arch});
    CHECK(is_elf(first.bytes));
    CHECK_FALSE(first.from_disk);
    CHECK(first.log.find("spill stores") != std::string::npos);
    const auto second = jit::compile_cuda(kernel, {.arch = arch});
    CHECK(second.from_disk);
    CHECK(second.bytes == first.bytes);
    CHECK(second.log == first.log);
  }
}

TEST_CASE("architecture and fast math are part of the key") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  const auto precise = jit::compile_cuda(kernel, {.arch = 90});
  const auto fast = jit::compile_cuda(kernel, {.arch = 90, .fast_math = true});
  CHECK_FALSE(fast.from_disk);
  CHECK(fast.bytes != precise.bytes);
}

TEST_CASE("threads that need the same cubin share one compilation") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  const auto before = jit::compile_statistics();
  std::vector<std::thread> threads;
  std::size_t sizes[4] = {};
  for (std::size_t& size : sizes) {
    threads.emplace_back([&size] {
      try {
        size = jit::compile_cuda(kernel, {.arch = 80}).bytes.size();
      } catch (const sinter::error&) {  // an exception must not leave a thread; size 0 fails below
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(sizes[0] != 0);
  for (const std::size_t size : sizes) CHECK(size == sizes[0]);
  CHECK(jit::compile_statistics().cuda_compiled == before.cuda_compiled + 1);
}

namespace {

/// A kernel that multiplies by `factor`; counts how often its source is requested.
jit::cuda_unit unit_of(int factor, std::atomic<int>& asked) {
  jit::cuda_unit u;
  u.name = "times" + std::to_string(factor);
  u.identity = "a test's kernel, times " + std::to_string(factor);
  u.weight = static_cast<std::size_t>(factor);
  u.source = [factor, &asked] {
    ++asked;
    return "extern \"C\" __global__ void k(float* x) { *x *= " + std::to_string(factor) + "; }";
  };
  return u;
}

}  // namespace

TEST_CASE("units are found on disk by their identities, without their sources") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  std::atomic<int> asked{0};
  std::vector<jit::cuda_unit> units;
  for (int k = 2; k < 7; ++k) units.push_back(unit_of(k, asked));
  CHECK_FALSE(jit::load_cuda(units[0]).has_value());
  const auto before = jit::compile_statistics();
  const auto first = jit::compile_cuda(units);
  REQUIRE(first.size() == units.size());
  CHECK(asked == 5);
  CHECK(jit::compile_statistics().cuda_compiled == before.cuda_compiled + 5);
  const auto second = jit::compile_cuda(units);
  CHECK(asked == 5);
  for (std::size_t k = 0; k < units.size(); ++k) {
    CHECK_FALSE(first[k].from_disk);
    CHECK(second[k].from_disk);
    CHECK(second[k].bytes == first[k].bytes);
    for (std::size_t j = 0; j < k; ++j) CHECK(first[j].bytes != first[k].bytes);
  }
  REQUIRE(jit::load_cuda(units[3]).has_value());
  CHECK(jit::load_cuda(units[3])->bytes == first[3].bytes);
  // Options are part of what a unit is.
  jit::cuda_unit other = units[3];
  other.options.arch = 75;
  CHECK_FALSE(jit::load_cuda(other).has_value());
  CHECK(jit::generator_identity().size() == 64);
}

TEST_CASE("of units compiled side by side the heaviest begins first") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  jit::compile_cuda(kernel, {});  // NVRTC is loaded
  std::atomic<int> asked{0};
  std::vector<jit::cuda_unit> units;
  for (int k = 20; k < 24; ++k) units.push_back(unit_of(k, asked));
  jit::set_compile_wait_limit_for_tests(60'000);  // on a busy machine the thread of the heaviest may be late
  jit::record_compile_steps(true);
  jit::compile_cuda(units);
  jit::record_compile_steps(false);
  jit::set_compile_wait_limit_for_tests(-1);
  std::vector<std::string> compiled;
  int generated = 0, stored = 0;
  for (const auto& step : jit::recorded_compile_steps()) {
    CHECK(step.end >= step.begin);
    CHECK(step.cpu >= 0);
    if (step.what == "compile") compiled.push_back(step.name);
    generated += step.what == "generate";
    stored += step.what == "store on disk";
  }
  CHECK(generated == 4);
  CHECK(stored == 4);
  REQUIRE(compiled.size() == 4);
  CHECK(std::set<std::string>(compiled.begin(), compiled.end()).size() == 4);
  CHECK(compiled.front() == "times23");
  jit::compile_cuda(units);
  for (const auto& step : jit::recorded_compile_steps()) CHECK(step.name != "");  // recording is off again
  CHECK(jit::recorded_compile_steps().size() >= 12);
}

TEST_CASE("one unit that does not compile fails them all, and the others are kept on disk") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  std::atomic<int> asked{0};
  std::vector<jit::cuda_unit> units;
  for (int k = 30; k < 33; ++k) units.push_back(unit_of(k, asked));
  units[1].source = [] { return std::string("no C++"); };
  CHECK_THROWS_AS(jit::compile_cuda(units), sinter::compile_error);
  CHECK(jit::load_cuda(units[0]).has_value());
  CHECK_FALSE(jit::load_cuda(units[1]).has_value());
  CHECK(jit::load_cuda(units[2]).has_value());
}

TEST_CASE("a broken kernel throws compile_error with options, log and numbered source") {
  if (no_nvrtc()) return;
  const fresh_cache cache;
  std::string text;
  try {
    jit::compile_cuda("extern \"C\" __global__ void k(float* x) {\n  *x = undeclared_name;\n}\n", {.arch = 75});
  } catch (const sinter::compile_error& e) {
    text = e.what();
  }
  CHECK(text.find("--gpu-architecture=sm_75") != std::string::npos);
  CHECK(text.find("\"undeclared_name\" is undefined") != std::string::npos);
  CHECK(text.find("   2    *x = undeclared_name;") != std::string::npos);
  CHECK_THROWS_AS(jit::compile_cuda(kernel, {.arch = 12345}), sinter::compile_error);
}
