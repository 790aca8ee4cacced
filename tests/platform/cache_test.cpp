// The disk cache: what it stores comes back or is a miss, whatever happens to its files and its folder.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "platform/cache_folder.hpp"
#include "platform/disk_cache.hpp"
#include "platform/files.hpp"
#include "platform/hash.hpp"
#include "platform/hooks.hpp"
#include "support/scratch_folder.hpp"

namespace fs = std::filesystem;
using sinter::platform::cache_folder;
using sinter_test::scratch_folder;

namespace {

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;

std::string text_of(const std::optional<std::vector<char>>& bytes) {
  return bytes ? std::string(bytes->begin(), bytes->end()) : "(miss)";
}

std::string slurp(const std::string& path) {
  const auto bytes = sinter::platform::read_file(path);
  return bytes ? std::string(bytes->begin(), bytes->end()) : "";
}

void spill(const std::string& path, const std::string& bytes) { REQUIRE(sinter::platform::write_file(path, bytes)); }

std::size_t files_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) count += entry.path().filename() != "lock";
  return count;
}

// Runs the body in another process, which succeeds when the body returns true.
template <class Body>
pid_t start_process(Body body) {
  std::fflush(nullptr);  // or the child may print what is still in the buffer once more
  const pid_t pid = ::fork();
  if (pid == 0) {
    bool good = false;
    try {
      good = body();
    } catch (...) {
      good = false;
    }
    ::_exit(good ? 0 : 1);
  }
  return pid;
}

bool succeeded(pid_t pid) {
  int status = 0;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("a hash depends on every byte and on the length") {
  std::set<std::string> seen;
  std::string text(70, 'a');
  for (std::size_t n = 0; n <= text.size(); ++n) {
    seen.insert(sinter::platform::to_hex(sinter::platform::hash_bytes({text.data(), n})));
  }
  for (char& c : text) {
    c = 'b';
    seen.insert(sinter::platform::to_hex(sinter::platform::hash_bytes(text)));
    c = 'a';
  }
  CHECK(seen.size() == 71 + 70);
  CHECK(seen.begin()->size() == 32);
}

TEST_CASE("a stored entry is loaded again, by another instance too, and replaced by a later store") {
  const scratch_folder scratch;
  cache_folder cache(scratch / "deep/er", megabyte);
  CHECK_FALSE(cache.load("key"));
  CHECK(cache.store("key", "value"));
  CHECK(text_of(cache.load("key")) == "value");
  CHECK(text_of(cache_folder(scratch / "deep/er", megabyte).load("key")) == "value");
  CHECK(cache.store("key", "other"));
  CHECK(text_of(cache.load("key")) == "other");
  CHECK(cache.store("", ""));
  CHECK(text_of(cache.load("")) == "");
  const std::string binary("a\0b", 3);
  CHECK(cache.store(binary, binary));
  CHECK(text_of(cache.load(binary)) == binary);
  cache.remove("key");
  CHECK_FALSE(cache.load("key"));
}

TEST_CASE("folder and entries can be read by their owner only") {
  const scratch_folder scratch;
  cache_folder cache(scratch / "a/b", megabyte);
  REQUIRE(cache.store("key", "value"));
  struct stat st {};
  REQUIRE(::stat((scratch / "a/b").c_str(), &st) == 0);
  CHECK((st.st_mode & 0777) == 0700);
  REQUIRE(::stat(cache.entry_path("key").c_str(), &st) == 0);
  CHECK((st.st_mode & 0777) == 0600);
}

TEST_CASE("an entry with any byte changed is a miss, is removed, and can be stored again") {
  const scratch_folder scratch;
  cache_folder cache(scratch / "c", megabyte);
  const std::string key = "the key", value = "the value, long enough for a tail";
  REQUIRE(cache.store(key, value));
  const std::string path = cache.entry_path(key), good = slurp(path);
  REQUIRE(good.size() == 48 + key.size() + value.size());
  for (std::size_t at = 0; at < good.size(); ++at) {  // magic, version, lengths, checksum, key and payload
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    spill(path, bad);
    CAPTURE(at);
    CHECK_FALSE(cache.load(key));
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(cache.store(key, value));
  CHECK(text_of(cache.load(key)) == value);
}

TEST_CASE("an entry cut short, grown, empty or of another key is a miss and is removed") {
  const scratch_folder scratch;
  cache_folder cache(scratch / "c", megabyte);
  REQUIRE(cache.store("key", "value"));
  const std::string path = cache.entry_path("key"), good = slurp(path);
  for (std::size_t n = 0; n < good.size(); ++n) {
    spill(path, good.substr(0, n));
    CAPTURE(n);
    CHECK_FALSE(cache.load("key"));
    CHECK_FALSE(fs::exists(path));
  }
  spill(path, good + "x");
  CHECK_FALSE(cache.load("key"));
  spill(path, "#!/bin/sh\necho a foreign file\n");
  CHECK_FALSE(cache.load("key"));
  REQUIRE(cache.store("kez", "another key's value"));
  fs::copy_file(cache.entry_path("kez"), path);
  CHECK_FALSE(cache.load("key"));
  CHECK_FALSE(fs::exists(path));
  CHECK(text_of(cache.load("kez")) == "another key's value");
}

TEST_CASE("what others could have written is not loaded: open permissions, links, things that are no files") {
  const scratch_folder scratch;
  cache_folder cache(scratch / "c", megabyte);
  REQUIRE(cache.store("key", "value"));
  const std::string path = cache.entry_path("key");
  fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
  CHECK_FALSE(cache.load("key"));
  REQUIRE(cache.store("key", "value"));
  fs::rename(path, scratch / "elsewhere");
  fs::create_symlink(scratch / "elsewhere", path);
  CHECK_FALSE(cache.load("key"));
  CHECK(fs::exists(scratch / "elsewhere"));
  CHECK_FALSE(fs::is_symlink(path));
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK_FALSE(cache.load("key"));  // and does not wait for a writer
}

TEST_CASE("a folder that cannot be made turns the cache off with a reason, without an exception") {
  const scratch_folder scratch;
  spill(scratch / "file", "not a folder");
  cache_folder cache(scratch / "file/below", megabyte);
  CHECK_FALSE(cache.store("key", "value"));
  CHECK_FALSE(cache.load("key"));
  CHECK(cache.problem().find("file/below") != std::string::npos);
  CHECK(cache.problem().find("Not a directory") != std::string::npos);
}

TEST_CASE("a folder without write permission: what it holds is still loaded, storing fails with a reason") {
  const scratch_folder scratch;
  REQUIRE(cache_folder(scratch / "c", megabyte).store("old", "value"));
  fs::permissions(scratch / "c", fs::perms::owner_read | fs::perms::owner_exec);
  cache_folder cache(scratch / "c", megabyte);
  CHECK(text_of(cache.load("old")) == "value");
  if (::geteuid() == 0) {
    MESSAGE("root writes to any folder: the case of a refused store is left to the test below a plain file");
  } else {
    CHECK_FALSE(cache.store("key", "value"));
    CHECK(cache.problem().find("Permission denied") != std::string::npos);
  }
  fs::permissions(scratch / "c", fs::perms::owner_all);
}

TEST_CASE("a full disk: storing fails with a reason, leaves no file behind, and works again when there is room") {
  const scratch_folder scratch;
  cache_folder cache(scratch / "c", megabyte);
  REQUIRE(cache.store("small", "value"));
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 4096;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  const bool stored = cache.store("large", std::string(100000, 'x'));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  std::signal(SIGXFSZ, old_handler);
  CHECK_FALSE(stored);
  CHECK(cache.problem().find("File too large") != std::string::npos);
  CHECK(files_in(scratch / "c") == 1);
  CHECK(text_of(cache.load("small")) == "value");
  CHECK(cache.store("large", std::string(100000, 'x')));
  CHECK(cache.problem().empty());
}

TEST_CASE("beyond the size limit the least recently used entries go first, and a load counts as a use") {
  const scratch_folder scratch;
  cache_folder cache(scratch / "c", 10000);
  const std::string value(2000, 'v');
  for (const char* key : {"a", "b", "c", "d"}) REQUIRE(cache.store(key, value));
  CHECK(cache.load("a"));
  REQUIRE(cache.store("e", value));  // 5 entries: 10,245 bytes
  CHECK_FALSE(fs::exists(cache.entry_path("b")));
  for (const char* key : {"a", "c", "d", "e"}) CHECK(cache.load(key));
  CHECK_FALSE(cache.store("huge", std::string(20000, 'h')));
  CHECK(cache.problem().find("exceeds") != std::string::npos);
  CHECK(cache.load("a"));
}

TEST_CASE("the first store removes abandoned temporaries, and no file of others or of a living writer") {
  const scratch_folder scratch;
  REQUIRE(cache_folder(scratch / "c", 5000).store("a", std::string(2000, 'v')));
  const std::string stale = scratch / "c/sinter-tmp-1-2-3", abandoned = scratch / "c/sinter-tmp-4-5-6";
  const std::string written = scratch / "c/sinter-tmp-7-8-9", unlocked = scratch / "c/sinter-new-1-2-3";
  const std::string foreign = scratch / "c/thesis.txt";
  for (const std::string& path : {stale, abandoned, written, unlocked, foreign}) spill(path, std::string(9000, 't'));
  for (const std::string& path : {stale, foreign}) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(48));
  }
  const sinter::platform::unique_fd writer(::open(written.c_str(), O_RDWR));
  REQUIRE(::flock(writer.get(), LOCK_EX | LOCK_NB) == 0);
  cache_folder cache(scratch / "c", 5000);
  REQUIRE(cache.store("b", std::string(2000, 'v')));
  CHECK_FALSE(fs::exists(stale));
  CHECK_FALSE(fs::exists(abandoned));
  CHECK(fs::exists(written));
  CHECK(fs::exists(unlocked));  // between its making and its lock
  CHECK(fs::exists(foreign));
  REQUIRE(cache.store("c", std::string(2000, 'v')));  // evicts
  CHECK_FALSE(cache.load("a"));
  CHECK(cache.load("c"));
  CHECK(fs::exists(written));
  CHECK(fs::exists(foreign));
}

TEST_CASE("many processes and threads on the same entries: every load is a miss or a whole value") {
  const scratch_folder scratch;
  const std::string folder = scratch / "c";
  const auto value = [](int k, int version) {
    return std::to_string(k) + std::string(3000 + static_cast<std::size_t>(k) * 7, static_cast<char>('a' + version));
  };
  const auto work = [&](int worker) {
    cache_folder cache(folder, 40000);  // room for a dozen: eviction runs all the time
    for (int round = 0; round < 40; ++round) {
      for (int k = 0; k < 20; ++k) {
        const std::string key = "key " + std::to_string(k);
        if ((round + k + worker) % 3 == 0 && !cache.store(key, value(k, round % 26))) return false;
        const auto loaded = cache.load(key);
        if (loaded && (loaded->empty() || text_of(loaded) != value(k, loaded->back() - 'a'))) return false;
      }
    }
    return true;
  };
  std::vector<pid_t> processes;
  for (int worker = 0; worker < 3; ++worker) processes.push_back(start_process([&] { return work(worker); }));
  bool in_threads[2] = {false, false};
  std::thread first([&] { in_threads[0] = work(3); }), second([&] { in_threads[1] = work(4); });
  first.join();
  second.join();
  for (const pid_t pid : processes) CHECK(succeeded(pid));
  CHECK(in_threads[0]);
  CHECK(in_threads[1]);
  for (const auto& entry : fs::directory_iterator(folder)) {
    CHECK(entry.path().filename().string().rfind("sinter-tmp-", 0) != 0);
  }
}

TEST_CASE("the process's cache reports its folder, and why it is off") {
  const scratch_folder scratch;
  auto& cache = sinter::platform::disk_cache::instance();
  const std::string folder = cache.folder();
  sinter::platform::reset_disk_cache_for_tests(scratch / "c");
  CHECK(cache.store("key", {'v'}));
  CHECK(text_of(cache.load("key")) == "v");
  CHECK(cache.folder() == scratch / "c");
  CHECK(cache.status().rfind("on: " + (scratch / "c"), 0) == 0);
  sinter::platform::reset_disk_cache_for_tests("/dev/null/c");
  CHECK_FALSE(cache.store("key", {'v'}));
  CHECK(cache.status().rfind("off: ", 0) == 0);
  sinter::platform::reset_disk_cache_for_tests(folder);
}
