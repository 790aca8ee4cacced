// CUDA compilation by NVRTC, which needs no GPU.
#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "jit/compile_hooks.hpp"
#include "scratch_folder.hpp"
#include "sinter/error.hpp"

namespace jit = sinter::jit;

namespace {

struct fresh_cache {
  sinter_test::scratch_folder scratch;
  std::string before = jit::disk_cache::instance().folder();
  fresh_cache() { jit::reset_disk_cache_for_tests(scratch / "cache"); }
  ~fresh_cache() { jit::reset_disk_cache_for_tests(before); }
};

bool no_nvrtc() {
  std::string why_not;
  if (jit::nvrtc_available(&why_not)) return false;
  MESSAGE("left out: " << why_not);
  return true;
}

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
