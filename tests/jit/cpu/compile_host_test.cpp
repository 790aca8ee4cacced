// Compiling for the host: from text to a callable, the choice of the compiler, messages of failures, and what is
// compiled twice.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "jit/compile.hpp"
#include "jit/cpu/compile_host.hpp"
#include "platform/disk_cache.hpp"
#include "platform/hooks.hpp"
#include "sinter/error.hpp"
#include "support/fresh_cache.hpp"

namespace fs = std::filesystem;
namespace jit = sinter::jit;
namespace platform = sinter::platform;
using sinter_test::answer;
using sinter_test::answer_source;
using sinter_test::cache_entry;
using sinter_test::fresh_cache;
using sinter_test::no_compiler;

namespace {

using answer_function = int (*)();

void make_script(const std::string& path, const std::string& body) {
  REQUIRE(platform::write_file(path, "#!/bin/sh\n" + body + "\n"));
  fs::permissions(path, fs::perms::owner_all);
}

std::string line_count(const std::string& path) {
  const auto bytes = platform::read_file(path);
  return std::to_string(bytes ? std::count(bytes->begin(), bytes->end(), '\n') : 0);
}

}  // namespace

TEST_CASE("lines of a source are numbered from one") {
  CHECK(jit::number_lines("") == "");
  CHECK(jit::number_lines("a\n\nb") == "   1  a\n   2  \n   3  b\n");
  CHECK(jit::number_lines("a\n") == "   1  a\n");
}

TEST_CASE("fields of a key cannot run into one another") {
  std::string first, second;
  for (const char* field : {"ab", "c"}) platform::append_field(first, field);
  for (const char* field : {"a", "bc"}) platform::append_field(second, field);
  CHECK(first != second);
}

TEST_CASE("a source compiles to functions that can be called, math functions in vectors among them") {
  if (no_compiler()) return;
  const fresh_cache cache;
  const auto functions = jit::compile_host(R"(
extern "C" __attribute__((simd("notinbranch"))) float cosf(float);
extern "C" void cosines(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = cosf(x[i]); }
extern "C" int wrap(int x) { return x + 1; }
)",
                                           {"wrap", "cosines"});
  REQUIRE(functions.size() == 2);
  CHECK(reinterpret_cast<int (*)(int)>(functions[0])(2147483647) == -2147483647 - 1);
  float x[64];
  for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(i) * 0.1f;
  reinterpret_cast<void (*)(float*, int)>(functions[1])(x, 64);
  for (int i = 0; i < 64; ++i) CHECK(std::abs(x[i] - std::cos(static_cast<float>(i) * 0.1f)) < 1e-6f);
}

TEST_CASE("many modules live side by side, loaded from memory") {
  if (no_compiler()) return;
  const fresh_cache cache;
  std::vector<answer_function> functions;
  for (int i = 0; i < 8; ++i) {
    functions.push_back(reinterpret_cast<answer_function>(jit::compile_host(answer_source(100 + i), {"answer"}).at(0)));
  }
  for (int i = 0; i < 8; ++i) CHECK(functions[static_cast<std::size_t>(i)]() == 100 + i);
}

TEST_CASE("a source is compiled once: then the process has it, later processes find it on disk") {
  if (no_compiler()) return;
  const fresh_cache cache;
  const auto before = jit::compile_statistics();
  CHECK(answer(answer_source(7)) == 7);
  CHECK(answer(answer_source(7)) == 7);
  auto now = jit::compile_statistics();
  CHECK(now.host_compiled == before.host_compiled + 1);
  CHECK(now.host_from_disk == before.host_from_disk);
  jit::forget_loaded_modules_for_tests();
  CHECK(answer(answer_source(7)) == 7);
  now = jit::compile_statistics();
  CHECK(now.host_compiled == before.host_compiled + 1);
  CHECK(now.host_from_disk == before.host_from_disk + 1);
}

TEST_CASE("a damaged entry is compiled again, and one that passes the checks but is no library too") {
  if (no_compiler()) return;
  const fresh_cache cache;
  CHECK(answer(answer_source(8)) == 8);
  for (const fs::path& entry : cache.entries()) fs::resize_file(entry, fs::file_size(entry) / 2);
  jit::forget_loaded_modules_for_tests();
  const auto before = jit::compile_statistics();
  CHECK(answer(answer_source(8)) == 8);
  CHECK(jit::compile_statistics().host_compiled == before.host_compiled + 1);

  for (const fs::path& path : cache.entries())
    REQUIRE(platform::disk_cache::instance().store(cache_entry(path).key, {'n', 'o', ' ', 'E', 'L', 'F'}));
  jit::forget_loaded_modules_for_tests();
  CHECK(answer(answer_source(8)) == 8);
  CHECK(jit::compile_statistics().host_compiled == before.host_compiled + 2);
  jit::forget_loaded_modules_for_tests();
  CHECK(answer(answer_source(8)) == 8);
  CHECK(jit::compile_statistics().host_compiled == before.host_compiled + 2);
}

TEST_CASE("without a usable cache folder compiling works all the same") {
  if (no_compiler()) return;
  const fresh_cache cache;
  platform::reset_disk_cache_for_tests("/dev/null/cache");
  CHECK(answer(answer_source(9)) == 9);
  CHECK(platform::disk_cache::instance().status().rfind("off: ", 0) == 0);
}

TEST_CASE("threads that need the same source at once share one compilation") {
  if (no_compiler()) return;
  const fresh_cache cache;
  const auto before = jit::compile_statistics();
  int answers[6] = {};
  std::vector<std::thread> threads;
  for (int& a : answers) threads.emplace_back([&a] { a = answer(answer_source(10)); });
  for (std::thread& t : threads) t.join();
  for (const int a : answers) CHECK(a == 10);
  CHECK(jit::compile_statistics().host_compiled == before.host_compiled + 1);
}

TEST_CASE("two processes that compile the same source at once both get it, and leave one entry") {
  if (no_compiler()) return;
  const fresh_cache cache;
  pid_t processes[2];
  std::fflush(nullptr);  // or the children may print what is still in the buffer once more
  for (pid_t& pid : processes) {
    pid = ::fork();
    if (pid == 0) ::_exit(answer(answer_source(11)) == 11 ? 0 : 1);
  }
  for (const pid_t pid : processes) {
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
  }
  const auto before = jit::compile_statistics();
  CHECK(answer(answer_source(11)) == 11);
  CHECK(jit::compile_statistics().host_from_disk == before.host_from_disk + 1);
  CHECK(cache.entries().size() == 1);
}

TEST_CASE("a broken source throws compile_error with options, log and numbered source; the next one compiles") {
  if (no_compiler()) return;
  const fresh_cache cache;
  std::string text;
  try {
    jit::compile_host("extern \"C\" int f() {\n  return undeclared_name;\n}\n", {"f"});
  } catch (const sinter::compile_error& e) {
    text = e.what();
  }
  CHECK(text.find("-ffp-contract=off") != std::string::npos);
  CHECK(text.find("'undeclared_name' was not declared") != std::string::npos);
  CHECK(text.find("   2    return undeclared_name;") != std::string::npos);
  CHECK_THROWS_AS(jit::compile_host(answer_source(12), {"question"}), sinter::compile_error);
  CHECK(answer(answer_source(12)) == 12);
}

TEST_CASE("compiling leaves no temporary file behind, whether it succeeds or fails") {
  if (no_compiler()) return;
  const fresh_cache cache;
  const std::string before = platform::environment("TMPDIR");
  fs::create_directory(cache.scratch / "tmp");
  ::setenv("TMPDIR", (cache.scratch / "tmp").c_str(), 1);
  CHECK(answer(answer_source(13)) == 13);
  CHECK_THROWS_AS(jit::compile_host("nonsense", {"f"}), sinter::compile_error);
  CHECK(fs::is_empty(cache.scratch / "tmp"));
  ::setenv("TMPDIR", "/dev/null", 1);
  CHECK_THROWS_WITH_AS(jit::compile_host(answer_source(14), {"answer"}), doctest::Contains("TMPDIR"),
                       sinter::compile_error);
  if (before.empty()) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", before.c_str(), 1);
  }
  CHECK(answer(answer_source(14)) == 14);
}

TEST_CASE("a compiler is probed once: later processes take its version from the cache while the file is the same") {
  if (no_compiler()) return;
  const fresh_cache cache;
  const std::string script = cache.scratch / "g++", runs = cache.scratch / "runs";
  const std::string body = "echo run >> " + runs + "\nexec " + jit::host_compiler::find().path + " \"$@\"";
  make_script(script, body);
  const auto first = jit::probe_host_compiler("", cache.scratch.path().string());
  CHECK(first.path == script);
  CHECK(first.reason == "");
  CHECK(line_count(runs) == "1");
  const auto second = jit::probe_host_compiler(script, "");
  CHECK(second.identity == first.identity);
  CHECK(line_count(runs) == "1");

  CHECK(reinterpret_cast<answer_function>(jit::compile_host_with(first, answer_source(15), {"answer"})[0])() == 15);
  CHECK(line_count(runs) == "2");
  jit::forget_loaded_modules_for_tests();
  jit::compile_host_with(second, answer_source(15), {"answer"});
  CHECK(line_count(runs) == "2");

  make_script(script, body + "\n# another version");  // a changed compiler is probed and compiles again
  const auto third = jit::probe_host_compiler(script, "");
  CHECK(third.identity != first.identity);
  CHECK(line_count(runs) == "3");
  jit::compile_host_with(third, answer_source(15), {"answer"});
  CHECK(line_count(runs) == "4");
}

TEST_CASE("a compiler that cannot serve is refused with the reason, and the next one on PATH is taken") {
  const fresh_cache cache;
  for (const char* folder : {"old", "broken", "good"}) fs::create_directory(cache.scratch / folder);
  make_script(cache.scratch / "old/c++",
              "echo 'kernel.cpp:2:2: error: #error SINTER_REFUSES too old; GCC 12 or newer is needed' >&2; exit 1");
  make_script(cache.scratch / "broken/g++", "echo 'cannot find as' >&2; exit 3");
  const auto old = jit::probe_host_compiler(cache.scratch / "old/c++", "");
  CHECK(old.path == "");
  CHECK(old.reason.find("GCC 12 or newer is needed") != std::string::npos);
  const std::string bad_path = cache.scratch / "old" + ":" + cache.scratch / "broken";
  const auto none = jit::probe_host_compiler("", bad_path);
  CHECK(none.path == "");
  CHECK(none.reason.find("old/c++: ") != std::string::npos);
  CHECK(none.reason.find("exit status 3: cannot find as") != std::string::npos);
  CHECK_THROWS_AS(jit::compile_host_with(none, answer_source(16), {"answer"}), sinter::compile_error);
  CHECK(jit::probe_host_compiler("", cache.scratch / "empty").reason == "no c++ or g++ on PATH");
  CHECK(jit::probe_host_compiler("icc", "").reason == "icc (from SINTER_CXX) is not on PATH");
  CHECK(jit::probe_host_compiler("/nowhere/g++", "").reason == "/nowhere/g++: no such file");
  if (no_compiler()) return;
  make_script(cache.scratch / "good/g++", "exec " + jit::host_compiler::find().path + " \"$@\"");
  CHECK(jit::probe_host_compiler("", bad_path + ":" + cache.scratch / "good").path == cache.scratch / "good/g++");
}

TEST_CASE("clang is refused: it does not vectorise calls of math functions through libmvec") {
  const fresh_cache cache;
  const auto clang = jit::probe_host_compiler("clang++", platform::environment("PATH"));
  if (clang.reason.find("not on PATH") != std::string::npos) {
    MESSAGE("no clang++ here");
    return;
  }
  CHECK(clang.path == "");
  CHECK(clang.reason.find("GCC 12 or newer is needed") != std::string::npos);
}
