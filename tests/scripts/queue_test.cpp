// The queue that processes of the suite share: every unit is taken once, and runs as its line says.
#include "support/queue.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/scratch_folder.hpp"

namespace test = sinter::test;

namespace {

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

constexpr const char* child_variable = "SINTER_QUEUE_TEST_CHILD";

/// Runs this program on a queue of one unit; what it wrote, and its exit status.
std::string run_child(const std::string& line, int& exit_status) {
  const sinter_test::scratch_folder scratch;
  const std::string path = scratch / "queue", output = scratch / "output";
  write_file(path, line + "\n");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv(child_variable, "1", 1);
    ::setenv("SINTER_TEST_QUEUE", path.c_str(), 1);
    ::setenv("SINTER_TEST_DEVICE", "cpu", 1);
    ::setenv("SINTER_TEST_CUDA_COVERAGE", "0", 1);
    if (!std::freopen(output.c_str(), "w", stdout)) ::_exit(2);
    ::execl("/proc/self/exe", "sinter_tests", static_cast<char*>(nullptr));
    ::_exit(3);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  exit_status = WEXITSTATUS(status);
  return read_file(output);
}

bool is_child() { return std::getenv(child_variable) != nullptr; }

}  // namespace

TEST_CASE("queue: several takers get every unit once, in order") {
  const sinter_test::scratch_folder scratch;
  const std::string path = scratch / "queue";
  std::string lines;
  for (int k = 0; k < 200; ++k) lines += "0/1\tfile\tcase " + std::to_string(k) + "\n";
  write_file(path, lines);
  std::atomic<int> taken[200] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      test::queue q(path);  // a lock of a file is its opener's, so threads are as good as processes
      int last = -1;
      while (const auto u = q.take()) {
        const int k = std::atoi(u->name.c_str() + 5);
        if (k <= last) taken[0] = 1000;
        last = k;
        ++taken[k];
      }
    });
  for (auto& t : threads) t.join();
  for (auto& n : taken) CHECK(n == 1);
  CHECK_FALSE(test::queue(path).take());
}

TEST_CASE("queue: a file that is not there is an error") {
  CHECK_THROWS_AS(test::queue("/nowhere/queue"), std::runtime_error);
}

TEST_CASE("queue child: this, with a comma and a \"quote\", holds") { CHECK(true); }
TEST_CASE("queue child: this does not hold") { CHECK_FALSE(is_child()); }
TEST_CASE("queue child: a part" * doctest::test_suite(test::sharded_suite)) {
  if (!is_child()) return;
  CHECK(test::this_shard().index == 2);
  CHECK(test::this_shard().count == 5);
  CHECK(std::getenv("SINTER_TEST_QUEUE") == nullptr);
}

TEST_CASE("queue: a unit runs alone, as the part that it names, and its verdict is written") {
  int status = -1;
  const std::string here = "tests/scripts/queue_test.cpp\t",
                    quoted = "queue child: this, with a comma and a \"quote\", holds",
                    bad = "queue child: this does not hold", part = "queue child: a part";
  std::string output = run_child("0/1\t" + here + quoted, status);
  CHECK(status == 0);
  CHECK(output.find("[unit]\tbegin\t0\t0/1\t" + here + quoted + "\n[unit]\tpassed\t") == 0);
  CHECK(output.find("\t0/1\t" + here + quoted + "\n", 20) != std::string::npos);
  output = run_child("0/1\t" + here + bad, status);
  CHECK(status == 1);
  CHECK(output.find("[unit]\tfailed\t") != std::string::npos);
  CHECK(output.find("1 failed") != std::string::npos);
  output = run_child("2/5\t" + here + part, status);
  CHECK(status == 0);
  CHECK(output.find("[unit]\tpassed\t") != std::string::npos);
}
