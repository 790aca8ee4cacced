// Folders and files of ended processes are removed; those of running ones, and of other users, are not touched.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "platform/cache_folder.hpp"
#include "platform/files.hpp"
#include "platform/private_folder.hpp"
#include "support/scratch_folder.hpp"

namespace fs = std::filesystem;
namespace platform = sinter::platform;
using sinter_test::scratch_folder;

namespace {

struct with_tmpdir {
  std::string before = platform::environment("TMPDIR");
  explicit with_tmpdir(const std::string& folder) { ::setenv("TMPDIR", folder.c_str(), 1); }
  ~with_tmpdir() { before.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before.c_str(), 1); }
};

/// A process that holds a private folder with a file until it is killed; its folder's path.
struct holder {
  pid_t pid = -1;
  std::string path;
  holder() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    std::fflush(nullptr);
    pid = ::fork();
    if (pid == 0) {
      const platform::private_folder folder;
      platform::write_file(folder.path() + "/kernel.cpp", "text");
      (void)!::write(ends[1], folder.path().c_str(), folder.path().size());
      ::close(ends[1]);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char text[4096];
    for (ssize_t n; (n = ::read(ends[0], text, sizeof text)) > 0;) path.append(text, static_cast<std::size_t>(n));
    ::close(ends[0]);
    REQUIRE_FALSE(path.empty());
  }
  void kill() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    pid = -1;
  }
  ~holder() { kill(); }
};

void age(const std::string& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(5));
}

}  // namespace

TEST_CASE("abandoned folders: cleared when their process is gone, however it ended, and not before") {
  const scratch_folder scratch;
  const with_tmpdir tmp(scratch.path().string());
  holder first, second;
  age(first.path);  // a slow compiler is none the less alive
  platform::clear_abandoned_folders(scratch.path().string());
  CHECK(fs::exists(first.path + "/kernel.cpp"));
  CHECK(fs::exists(second.path + "/kernel.cpp"));
  first.kill();
  platform::clear_abandoned_folders(scratch.path().string());
  CHECK_FALSE(fs::exists(first.path));
  CHECK(fs::exists(second.path + "/kernel.cpp"));
  second.kill();
  platform::clear_abandoned_folders(scratch.path().string());
  CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("abandoned folders: nothing that is not the library's own is touched") {
  const scratch_folder scratch;
  REQUIRE(::mkdir((scratch / "elsewhere").c_str(), 0700) == 0);  // but for its name, what would be cleared
  platform::write_file(scratch / "elsewhere/lock", "");
  platform::write_file(scratch / "elsewhere/thesis", "text");
  for (const char* name : {"sinter-jit-000001", "sinter-jit-000002", "sinter-jit-long-name", "sinter-000003"})
    REQUIRE(::mkdir((scratch / name).c_str(), 0700) == 0);
  age(scratch / "sinter-jit-000002");  // made, but never locked
  for (const char* name : {"sinter-jit-long-name", "sinter-000003"}) platform::write_file(scratch / name + "/lock", "");
  fs::create_directory_symlink(scratch / "elsewhere", scratch / "sinter-jit-000004");
  platform::write_file(scratch / "sinter-jit-000005", "a file");
  REQUIRE(::mkdir((scratch / "sinter-jit-000006").c_str(), 0700) == 0);
  platform::write_file(scratch / "sinter-jit-000006/lock", "");
  fs::create_directory_symlink(scratch / "elsewhere", scratch / "sinter-jit-000006/link");
  REQUIRE(::mkdir((scratch / "sinter-jit-000007").c_str(), 0777) == 0);
  REQUIRE(::chmod((scratch / "sinter-jit-000007").c_str(), 0777) == 0);  // anybody could have made the lock
  platform::write_file(scratch / "sinter-jit-000007/lock", "");
  REQUIRE(::mkdir((scratch / "sinter-jit-000008").c_str(), 0700) == 0);
  REQUIRE(::mkfifo((scratch / "sinter-jit-000008/lock").c_str(), 0600) == 0);  // and it is not waited for
  platform::clear_abandoned_folders(scratch.path().string());
  for (const std::string name : {"elsewhere/thesis", "sinter-jit-000001", "sinter-jit-long-name", "sinter-000003",
                                 "sinter-jit-000004", "sinter-jit-000005", "sinter-jit-000007"}) {
    CAPTURE(name);
    CHECK(fs::exists(scratch / name));
  }
  for (const std::string name : {"sinter-jit-000002", "sinter-jit-000006"}) {
    CAPTURE(name);
    CHECK_FALSE(fs::exists(scratch / name));
  }
  platform::clear_abandoned_folders("/nowhere");
}

TEST_CASE("abandoned folders: processes that clear and make folders at once do not hurt each other") {
  const scratch_folder scratch;
  const with_tmpdir tmp(scratch.path().string());
  pid_t makers[2], clearers[2];
  std::fflush(nullptr);
  for (pid_t& pid : clearers) {
    pid = ::fork();
    if (pid != 0) continue;
    for (;;) platform::clear_abandoned_folders(scratch.path().string());
  }
  for (pid_t& pid : makers) {
    pid = ::fork();
    if (pid != 0) continue;
    bool good = true;
    for (int k = 0; k < 1000; ++k) {
      const platform::private_folder folder;
      good = good && platform::write_file(folder.path() + "/kernel.cpp", "text") &&
             fs::exists(folder.path() + "/kernel.cpp");
    }
    ::_exit(good ? 0 : 1);
  }
  for (const pid_t pid : makers) {
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
  }
  for (const pid_t pid : clearers) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("abandoned entries: a process killed while it writes leaves a file, which the next one clears") {
  const scratch_folder scratch;
  const std::string folder = scratch / "c";
  REQUIRE(platform::cache_folder(folder, 1 << 20).store("old", "value"));
  // Killed again and again in the middle of storing.
  for (int round = 0; round < 20; ++round) {
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      platform::cache_folder cache(folder, 1 << 28);
      const std::string value(4000000, 'v');
      for (int k = 0;; ++k) cache.store(std::to_string(k % 3), value);
    }
    ::usleep(static_cast<useconds_t>(2000 + 700 * round));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  platform::cache_folder cache(folder, 1 << 28);
  CHECK(cache.store("new", "value"));
  for (const auto& item : fs::directory_iterator(folder)) {
    CAPTURE(item.path().string());
    CHECK(item.path().filename().string().rfind("sinter-tmp-", 0) != 0);
  }
  CHECK(cache.load("old"));
  for (int k = 0; k < 3; ++k) {
    const auto loaded = cache.load(std::to_string(k));
    CHECK((!loaded || loaded->size() == 4000000));
  }
}
