// Ranges: what a profiler sees of a program, through a library that replaces the profiler.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "jit/cuda/nvrtc.hpp"
#include "sinter/sinter.hpp"
#include "support/scratch_folder.hpp"

namespace sn = sinter;

namespace {

constexpr const char* child_case = "profile: a program with ranges computes what it computes without";

/// The lines that the stand-in wrote while another process ran the case below; "(no file)" where it wrote none.
std::vector<std::string> ranges_of_child(const char* recorder, const char* forced) {
  const sinter_test::scratch_folder scratch;
  const std::string log = scratch / "ranges";
  const std::string filter = "--test-case=" + std::string(child_case);
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::unsetenv("NVTX_INJECTION64_PATH");
    ::unsetenv("SINTER_NVTX");
    ::unsetenv("SINTER_TEST_SHARD");
    if (*recorder) ::setenv("NVTX_INJECTION64_PATH", recorder, 1);
    if (*forced) ::setenv("SINTER_NVTX", forced, 1);
    ::setenv("SINTER_NVTX_LOG", log.c_str(), 1);
    ::setenv("SINTER_TEST_DEVICE", "cpu", 1);
    ::setenv("SINTER_TIER", "1", 1);  // compiled at first use
    ::setenv("SINTER_TEST_CUDA_COVERAGE", "0", 1);
    ::setenv("SINTER_CACHE_DIR", (scratch / "cache").c_str(), 1);
    if (!std::freopen("/dev/null", "w", stdout)) ::_exit(2);
    ::execl("/proc/self/exe", "sinter_tests", filter.c_str(), static_cast<char*>(nullptr));
    ::_exit(3);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  std::ifstream file(log);
  if (!file) return {"(no file)"};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

#ifdef SINTER_NVTX_RECORDER
constexpr const char* recorder = SINTER_NVTX_RECORDER;
#else
constexpr const char* recorder = "";
#endif

}  // namespace

// Also run by itself, where a profiler looks at it or not: see ranges_of_child.
TEST_CASE("profile: a program with ranges computes what it computes without") {
  const sn::range outer("outer");
  const std::string name = "inner";
  { const sn::range inner(name); }
  const sn::ndarray x = sn::array({1.0, 2.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0});  // too many to be added as operations
  const sn::ndarray total = sn::sum(sn::square(x));
  sn::eval(total);
  CHECK(total.item<double>() == 20);
  (void)sn::benchmark([] {}, {.repeat = 1, .warmup = 0, .name = "timed"});
  if (sn::jit::nvrtc_available())
    (void)sn::jit::compile_cuda("extern \"C\" __global__ void k(float* x) { *x = 1; }", {});
}

TEST_CASE("profile: a profiler sees the user's ranges, evaluations, compilations and kernels by name, nested") {
  if (!*recorder) {
    MESSAGE("left out: sinter was built without the CUDA toolkit, which has NVTX");
    return;
  }
  std::vector<std::string> expected{"push outer",
                                    "push inner",
                                    "pop",
                                    "push sinter: evaluate",
                                    "push sinter: compile for the CPU",
                                    "pop",
                                    "push sn_square_sum",
                                    "pop",
                                    "pop",
                                    "push timed",
                                    "pop",
                                    "pop"};
  if (sn::jit::nvrtc_available()) expected.insert(expected.end() - 1, {"push sinter: compile for the GPU", "pop"});
  const auto text = [](const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  };
  CHECK(text(ranges_of_child(recorder, "")) == text(expected));
  CHECK(text(ranges_of_child(recorder, "1")) == text(expected));
}

TEST_CASE("profile: without a profiler, or switched off, nothing is called") {
  CHECK(ranges_of_child("", "") == std::vector<std::string>{"(no file)"});
  CHECK(ranges_of_child("", "1") == std::vector<std::string>{"(no file)"});
  CHECK(ranges_of_child(recorder, "0") == std::vector<std::string>{"(no file)"});
  CHECK(ranges_of_child("/nowhere/no_such_library.so", "") == std::vector<std::string>{"(no file)"});
}
