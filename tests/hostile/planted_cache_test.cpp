// A cache folder that other users could write: entries that could be theirs are compiled again, never run.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "jit/compile.hpp"
#include "jit/cpu/compile_host.hpp"
#include "platform/cache_folder.hpp"
#include "platform/elf_check.hpp"
#include "support/fresh_cache.hpp"

namespace fs = std::filesystem;
namespace jit = sinter::jit;
namespace platform = sinter::platform;
using sinter_test::cache_entry;
using sinter_test::fresh_cache;
using sinter_test::no_compiler;
using sinter_test::scratch_folder;

namespace {

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
constexpr uid_t somebody_else = 12345;

/// As a new process would, with what the disk has.
int answer(int value) {
  jit::forget_loaded_modules_for_tests();
  return sinter_test::answer(sinter_test::answer_source(value));
}

std::uint64_t compiled() { return jit::compile_statistics().host_compiled; }

std::string text_of(const std::optional<std::vector<char>>& bytes) {
  return bytes ? std::string(bytes->begin(), bytes->end()) : "(miss)";
}

}  // namespace

TEST_CASE("planted cache: libraries that are damaged inside a valid entry are compiled again, and do not crash") {
  if (no_compiler()) return;
  const fresh_cache cache;
  REQUIRE(answer(1) == 1);
  REQUIRE(cache.entries().size() == 1);
  const cache_entry good(cache.entries()[0]);
  platform::cache_folder folder(cache.scratch / "cache", megabyte);
  const auto plant = [&](const std::string& payload) {
    REQUIRE(folder.store(good.key, payload));
    const auto before = compiled();
    CHECK(answer(1) == 1);
    CHECK(compiled() == before + 1);
    CHECK(text_of(folder.load(good.key)) == good.payload);
  };
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{16}, std::size_t{64}, std::size_t{500},
                                  good.payload.size() / 2, good.payload.size() - 1}) {
    CAPTURE(bytes);
    plant(good.payload.substr(0, bytes));
  }
  plant(std::string(5000, '\x7f'));
  plant(good.payload.substr(0, good.payload.size() / 2) +
        std::string(good.payload.size() - good.payload.size() / 2, '\0'));
}

TEST_CASE("planted cache: a library of other functions is compiled again, and one under another key is never met") {
  if (no_compiler()) return;
  const fresh_cache cache;
  REQUIRE(answer(1) == 1);
  const cache_entry one(cache.entries()[0]);
  jit::compile_host("extern \"C\" int question() { return 0; }\n", {"question"});
  platform::cache_folder folder(cache.scratch / "cache", megabyte);
  for (const fs::path& path : cache.entries()) {
    const cache_entry e(path);
    if (e.key != one.key) REQUIRE(folder.store(one.key, e.payload));
  }
  const auto before = compiled();
  CHECK(answer(1) == 1);
  CHECK(compiled() == before + 1);
  // The file of one entry under the name of the other: the key inside decides.
  REQUIRE(answer(2) == 2);
  for (const fs::path& path : cache.entries()) {
    const cache_entry e(path);
    if (e.key == one.key) continue;
    fs::copy_file(folder.entry_path(one.key), path, fs::copy_options::overwrite_existing);
  }
  CHECK(answer(2) == 2);
  CHECK(answer(1) == 1);
}

TEST_CASE("planted cache: files of other users, and those that they may write, are not loaded") {
  const scratch_folder scratch;
  platform::cache_folder cache(scratch / "c", megabyte);
  const auto refuses = [&](auto change) {
    REQUIRE(cache.store("key", "value"));
    change(cache.entry_path("key"));
    CHECK_FALSE(cache.load("key"));
    CHECK_FALSE(fs::exists(cache.entry_path("key")));
    CHECK(cache.store("key", "value"));
    CHECK(text_of(cache.load("key")) == "value");
  };
  for (const ::mode_t mode : {0620, 0602, 0666, 0777}) {
    CAPTURE(mode);
    refuses([&](const std::string& path) { REQUIRE(::chmod(path.c_str(), mode) == 0); });
  }
  if (::geteuid() == 0)
    refuses([&](const std::string& path) { REQUIRE(::chown(path.c_str(), somebody_else, somebody_else) == 0); });
  else MESSAGE("left out: only root can make files of others");
}

TEST_CASE("planted cache: a folder that everybody may write serves its owner, and its files do not count") {
  const scratch_folder scratch;
  REQUIRE(platform::cache_folder(scratch / "c", megabyte).store("mine", "value"));
  fs::permissions(scratch / "c", fs::perms::all);
  platform::cache_folder cache(scratch / "c", megabyte);
  CHECK(text_of(cache.load("mine")) == "value");
  CHECK(cache.store("other", "value"));
  // What everybody may put there: links, folders, pipes under the names of entries and of the lock.
  const std::string path = cache.entry_path("mine"), theirs = scratch / "theirs";
  fs::copy_file(path, theirs);
  for (int kind = 0; kind < 4; ++kind) {
    CAPTURE(kind);
    fs::remove_all(path);
    if (kind == 0) fs::create_symlink(theirs, path);
    if (kind == 1) fs::create_directory(path);
    if (kind == 2) REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    if (kind == 3) fs::create_symlink("/nowhere", path);
    CHECK_FALSE(cache.load("mine"));
    CHECK(fs::exists(theirs));
  }
  fs::remove_all(path);
  for (int kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    const std::string lock = scratch / "c/lock";
    fs::remove_all(lock);
    if (kind == 0) fs::create_symlink(theirs, lock);
    if (kind == 1) fs::create_directory(lock);
    if (kind == 2) REQUIRE(::mkfifo(lock.c_str(), 0600) == 0);
    platform::cache_folder small(scratch / "c", 6000);
    for (int k = 0; k < 12; ++k)
      CHECK(small.store(std::to_string(k), std::string(1000, 'x')));  // evicts, and does not wait
    CHECK(fs::exists(theirs));
  }
}

TEST_CASE("planted cache: a link in the place of the folder is followed, one to nowhere turns the cache off") {
  const scratch_folder scratch;
  fs::create_directory(scratch / "real");
  fs::create_symlink(scratch / "real", scratch / "link");
  platform::cache_folder linked(scratch / "link", megabyte);
  CHECK(linked.store("key", "value"));
  CHECK(text_of(linked.load("key")) == "value");
  CHECK(linked.try_writing().empty());
  fs::create_symlink(scratch / "nowhere", scratch / "dangling");
  platform::cache_folder dangling(scratch / "dangling", megabyte);
  CHECK_FALSE(dangling.store("key", "value"));
  CHECK(dangling.try_writing().find("dangling") != std::string::npos);
  CHECK_FALSE(fs::exists(scratch / "nowhere"));
}

TEST_CASE("broken libraries: whatever is cut off or emptied is seen before the dynamic linker sees it") {
  if (no_compiler()) return;
  const fresh_cache cache;
  REQUIRE(answer(1) == 1);
  const std::string good = cache_entry(cache.entries()[0]).payload;
  CHECK(std::string(platform::damage_of_library(good)).empty());
  for (std::size_t bytes = 0; bytes < good.size(); bytes += bytes < 1024 ? 1 : 37) {
    CAPTURE(bytes);
    CHECK_FALSE(std::string(platform::damage_of_library(std::string_view(good).substr(0, bytes))).empty());
  }
  // No header, however wrong, leads outside of the bytes (the sanitizers and the guard page of the allocator watch).
  std::vector<char> exact(good.begin(), good.end());
  int seen = 0;
  for (std::size_t at = 0; at < 64 + 12 * 56 && at < exact.size(); ++at) {
    for (const unsigned char bits : {0xff, 0x80, 0x01}) {
      exact[at] = static_cast<char>(exact[at] ^ bits);
      seen += *platform::damage_of_library({exact.data(), exact.size()}) != '\0';
      exact[at] = static_cast<char>(exact[at] ^ bits);
    }
  }
  CHECK(seen > 100);
}
