// Cases from a queue that several processes share: an idle process takes the next one, so that all end together
// however long each case is. tests/scripts/side_by_side.sh makes the queue, starts the processes and adds up what they
// write.
//
// SINTER_TEST_QUEUE lists the files, separated by ':', which are processed one after the other. A line is "i/n <tab>
// source file <tab> name of the case": part i of n of a case that divides its data (suite "sharded"). The number of
// lines taken is in a file next to it (".next").
#pragma once
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/shard.hpp"

namespace sinter::test {

struct unit {
  std::string part, file, name;
};

/// A name as a filter of doctest: there a comma separates and a quote groups; '?' matches any character.
inline std::string as_filter(std::string name) {
  for (char& c : name)
    if (std::strchr(",\"\\", c)) c = '?';
  return name;
}

/// The path of a source file in the repository.
inline std::string short_file_name(const char* file) {
  constexpr std::string_view top = SINTER_SOURCE_DIR "/";
  const std::string_view whole = file;
  return std::string(whole.starts_with(top) ? whole.substr(top.size()) : whole);
}

class queue {
 public:
  explicit queue(const std::string& path) : counter_(path + ".next") {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("SINTER_TEST_QUEUE: cannot read " + path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream fields(line);
      unit u;
      std::getline(fields, u.part, '\t');
      std::getline(fields, u.file, '\t');
      std::getline(fields, u.name);
      units_.push_back(u);
    }
  }

  /// Null if all units have been taken.
  std::optional<unit> take() {
    const std::size_t n = count_one();
    if (n < units_.size()) return units_[n];
    return std::nullopt;
  }

 private:
  /// The lock is released when the process ends, for whatever reason.
  std::size_t count_one() {
    const int fd = ::open(counter_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || ::flock(fd, LOCK_EX) != 0) throw std::runtime_error("SINTER_TEST_QUEUE: cannot lock " + counter_);
    char text[32] = {};
    const bool read = ::pread(fd, text, sizeof text - 1, 0) >= 0;
    const std::size_t taken = std::strtoull(text, nullptr, 10);
    const int bytes = std::snprintf(text, sizeof text, "%zu\n", taken + 1);
    const bool written = ::pwrite(fd, text, static_cast<std::size_t>(bytes), 0) == bytes;
    ::close(fd);
    if (!read || !written) throw std::runtime_error("SINTER_TEST_QUEUE: cannot count in " + counter_);
    return taken;
  }

  std::string counter_;
  std::vector<unit> units_;
};

/// Runs one unit; returns whether all its checks passed. Its output begins and ends with a line for side_by_side.sh.
inline bool run_unit(int argc, char** argv, const unit& u) {
  std::cout << "[unit]\tbegin\t0\t" << u.part << '\t' << u.file << '\t' << u.name << std::endl;
  set_this_shard(parse_shard(u.part.c_str()));
  doctest::Context context(argc, argv);
  context.setOption("minimal", true);
  context.addFilter("source-file", ("*" + u.file).c_str());
  context.addFilter("test-case", as_filter(u.name).c_str());
  const auto begin = std::chrono::steady_clock::now();
  const bool good = context.run() == 0;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  std::cout << "[unit]\t" << (good ? "passed" : "failed") << '\t' << passed.count() << '\t' << u.part << '\t' << u.file
            << '\t' << u.name << std::endl;
  return good;
}

inline int run_queues(int argc, char** argv, const std::string& paths) {
  bool good = true;
  std::istringstream all(paths);
  for (std::string path; std::getline(all, path, ':');) {
    queue q(path);
    while (const auto u = q.take()) good = run_unit(argc, argv, *u) && good;
  }
  return good ? 0 : 1;
}

}  // namespace sinter::test
