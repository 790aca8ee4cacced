// parallel_for and its threads: what runs on other threads, concurrent callers, and how the threads wait.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/hooks.hpp"
#include "runtime/parallel.hpp"

namespace {

using namespace sinter::runtime;

/// Restores the default number of threads.
struct restored {
  ~restored() { set_thread_count(0); }
};

/// The threads that tasks ran on. Each task lasts long enough for others to come.
std::set<std::thread::id> threads_of(std::int64_t tasks, double nanoseconds) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(tasks, nanoseconds, [&](std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return seen;
}

double processor_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

TEST_CASE("parallel_for: work that is not worth a second thread stays on the calling one") {
  const std::set<std::thread::id> here{std::this_thread::get_id()};
  CHECK(threads_of(100, 0) == here);
  CHECK(threads_of(100, 10e3) == here);
  CHECK(threads_of(1, any_time) == here);
  restored after;
  set_thread_count(4);  // the default leaves cores to other programs
  CHECK(threads_of(100, any_time).size() > 1);
  CHECK(threads_of(100, 0).size() > 1);
  CHECK(threads_of(100, 0).size() <= 4);
}

TEST_CASE("parallel_for: threads that wait sleep") {
  restored after;
  set_thread_count(8);
  CHECK(threads_of(64, any_time).size() > 1);
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(processor_seconds() - before < 0.1);  // seven that spin would take as much of each core as they get
  // The caller too, while others are at work.
  const double begin = processor_seconds();
  std::atomic<bool> first{true};
  const auto caller = std::this_thread::get_id();
  for (int round = 0; first && round < 100; ++round)  // until another thread has come in time
    parallel_for(8, any_time, [&](std::int64_t) {
      const bool slow = std::this_thread::get_id() != caller && first.exchange(false);
      std::this_thread::sleep_for(std::chrono::milliseconds(slow ? 300 : 2));
    });
  CHECK(!first);
  CHECK(processor_seconds() - begin < 0.1);
}

TEST_CASE("parallel_for: callers side by side each get their own work done, and their own exceptions") {
  restored after;
  set_thread_count(5);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&, c] {
      for (int round = 0; round < 300; ++round) {
        const std::int64_t tasks = 1 + (round * 7 + c) % 50;
        std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
        bool thrown = false;
        try {
          parallel_for(tasks, any_time, [&](std::int64_t t) {
            ++runs[static_cast<std::size_t>(t)];
            if (round % 10 == 9 && t == tasks - 1) throw std::runtime_error(std::to_string(c));
          });
        } catch (const std::runtime_error& e) {
          thrown = e.what() == std::to_string(c);
        }
        wrong += thrown != (round % 10 == 9);
        for (auto& r : runs) wrong += thrown ? r > 1 : r != 1;
      }
    });
  for (auto& c : callers) c.join();
  CHECK(wrong == 0);
}

TEST_CASE("parallel_for: a job that ends while threads still come does not meet the next one") {
  restored after;
  set_thread_count(7);
  std::atomic<std::int64_t> sum{0};
  std::int64_t expected = 0;
  for (std::int64_t round = 0; round < 20000; ++round) {
    const std::int64_t tasks = 2 + round % 5;
    parallel_for(tasks, any_time, [&, round](std::int64_t t) { sum += round * 8 + t; });
    expected += round * 8 * tasks + tasks * (tasks - 1) / 2;
    if (sum != expected) break;
  }
  CHECK(sum == expected);
}

#ifndef __SANITIZE_THREAD__  // which ends children that start threads
TEST_CASE("parallel_for: a forked child has threads of its own") {
  restored after;
  set_thread_count(4);
  CHECK(threads_of(100, any_time).size() > 1);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(threads_of(100, any_time).size() > 1 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif
