// The library's background thread: the order of its tasks, and how it ends with the process, whatever the task is at.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "jit/cuda/nvrtc.hpp"
#include "platform/background.hpp"
#include "sinter/error.hpp"
#include "support/scratch_folder.hpp"

namespace jit = sinter::jit;
namespace platform = sinter::platform;

namespace {

constexpr const char* log_variable = "SINTER_BACKGROUND_TEST_LOG";

void write(const std::string& line) {
  const char* path = std::getenv(log_variable);
  if (path) std::ofstream(path, std::ios::app) << line << '\n' << std::flush;
}

std::string slow_source() {
  std::string text = "extern \"C\" __global__ void k(float* x) {\n";
  for (int k = 0; k < 60; ++k)
    text += "  x[" + std::to_string(k) + "] = sinf(x[" + std::to_string(k + 1) + "]) + x[" + std::to_string(k) + "];\n";
  return text + "}\n";
}

/// Posts a compilation (a pause where there is no NVRTC) and a task after it; returns when the first has begun.
void begin_compiling() {
  static std::atomic<bool> begun{false};
  CHECK(platform::background_available());
  CHECK(platform::run_in_background([] {
    begun = true;
    write("begun");
    try {
      jit::compile_cuda(slow_source(), {});
      write("compiled");
    } catch (const sinter::error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      write("compiled");
    }
  }));
  CHECK(platform::run_in_background([] { write("the second began"); }));
  while (!begun) std::this_thread::yield();
}

/// Runs one case of this program in a separate process; its exit status, and the lines that it wrote.
int run_child(const char* test_case, std::vector<std::string>& lines) {
  const sinter_test::scratch_folder scratch;
  const std::string log = scratch / "log", filter = std::string("--test-case=") + test_case;
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv(log_variable, log.c_str(), 1);
    ::setenv("SINTER_TEST_DEVICE", "cpu", 1);
    ::setenv("SINTER_TEST_CUDA_COVERAGE", "0", 1);
    ::setenv("SINTER_CACHE_DIR", (scratch / "cache").c_str(), 1);
    ::unsetenv("SINTER_TEST_SHARD");
    if (!std::freopen("/dev/null", "w", stdout)) ::_exit(2);
    ::execl("/proc/self/exe", "sinter_tests", filter.c_str(), static_cast<char*>(nullptr));
    ::_exit(3);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

bool is_child() { return std::getenv(log_variable) != nullptr; }

}  // namespace

TEST_CASE("background: tasks run one after the other, and waiting lasts until none is left") {
  CHECK(platform::background_available());
  std::string order;
  std::atomic<int> running{0}, most{0};
  for (int k = 0; k < 20; ++k) {
    CHECK(platform::run_in_background([&, k] {
      const int now = ++running;
      if (now > most) most = now;
      order += static_cast<char>('a' + k);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --running;
    }));
  }
  platform::wait_for_background();
  CHECK(order == "abcdefghijklmnopqrst");
  CHECK(most == 1);
  platform::wait_for_background();  // nothing to wait for
}

TEST_CASE("background: threads may post at once") {
  CHECK(platform::background_available());
  std::atomic<int> done{0}, taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) taken += platform::run_in_background([&] { ++done; });
    });
  for (auto& t : threads) t.join();
  platform::wait_for_background();
  CHECK(taken == 200);
  CHECK(done == 200);
}

TEST_CASE("background child: main returns while something is compiled") {
  if (!is_child()) return;
  begin_compiling();
}

TEST_CASE("background child: another thread calls exit while something is compiled") {
  if (!is_child()) return;
  jit::warm_up_nvrtc();
  platform::wait_for_background();
  begin_compiling();
  std::thread([] { std::exit(7); }).join();
}

TEST_CASE("background child: a thread uses the library but main never does") {
  if (!is_child()) return;
  std::thread([] {
    // What is wrong is shown by the lines, which the other process compares.
    if (platform::background_available()) write("said to be there");
    if (platform::run_in_background([] { write("ran"); })) write("taken");
  }).join();
  write("asked");
}

TEST_CASE("background: the process waits for the task in progress, and begins no other") {
  std::vector<std::string> lines;
  CHECK(run_child("background child: main returns while something is compiled", lines) == 0);
  CHECK(lines == std::vector<std::string>{"begun", "compiled"});
  lines.clear();
  CHECK(run_child("background child: another thread calls exit while something is compiled", lines) == 7);
  CHECK(lines == std::vector<std::string>{"begun", "compiled"});
}

TEST_CASE("background: no task is taken before the main thread can wait for it") {
  std::vector<std::string> lines;
  CHECK(run_child("background child: a thread uses the library but main never does", lines) == 0);
  CHECK(lines == std::vector<std::string>{"asked"});
}
