// autotune without a GPU: the search with simulated measurements, the cache of results,
// configurations and their errors, and the printed table.
#include "sinter/autotune.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "ops/base/hooks.hpp"
#include "ops/tuning/tuner.hpp"
#include "platform/cache_folder.hpp"
#include "platform/disk_cache.hpp"
#include "platform/files.hpp"
#include "platform/hooks.hpp"
#include "sinter/sinter.hpp"
#include "support/fresh_tunings.hpp"

namespace sn = sinter;
using sn::ndarray;
using sn::ops::tuning_outcome;

namespace {

/// How a pretended configuration behaves.
struct pretended {
  double seconds = 1;
  int result = 0;
  std::string compile_fails{}, run_fails{}, time_fails{};
  bool breaks_device = false, out_of_memory = false;
};

class pretended_bench final : public sn::ops::tuning_bench {
 public:
  explicit pretended_bench(std::vector<pretended> all) : all_(std::move(all)) {}
  std::string calls;  // after the compilations, which come in any order
  std::atomic<int> compilations{0};

  void compile(std::size_t k) override {
    ++compilations;
    if (!all_[k].compile_fails.empty()) throw sn::compile_error(all_[k].compile_fails);
  }
  void run(std::size_t k) override {
    note('r', k);
    left_ = all_[k].result;
    if (all_[k].out_of_memory) throw sn::memory_error("[pool] nothing left");
    if (all_[k].breaks_device) usable_ = false;
    if (all_[k].breaks_device) throw sn::device_error("[cuda] illegal address");
    if (!all_[k].run_fails.empty()) throw sn::value_error(all_[k].run_fails);
  }
  void keep() override {
    calls += 'k';
    kept_ = left_;
  }
  std::string difference() override {
    calls += 'd';
    return left_ == kept_ ? "" : std::to_string(left_) + " instead of " + std::to_string(kept_);
  }
  sn::timing time(std::size_t k) override {
    note('t', k);
    if (!all_[k].time_fails.empty()) throw sn::device_error(all_[k].time_fails);
    return sn::summarize({all_[k].seconds});
  }
  bool usable() override { return usable_; }

 private:
  void note(char what, std::size_t k) { calls += what + std::to_string(k); }
  std::vector<pretended> all_;
  int left_ = -1, kept_ = -1;
  bool usable_ = true;
};

std::vector<std::string> names_of(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.push_back("C" + std::to_string(k));
  return names;
}

struct searched {
  std::vector<tuning_outcome> outcomes;
  std::string calls, error;
  bool is_compile_error = false, is_value_error = false, is_device_error = false, is_memory_error = false;
  int ticks = 0;
};
searched search(const std::vector<pretended>& all) {
  pretended_bench bench(all);
  searched s;
  std::atomic<int> ticks{0};
  try {
    s.outcomes = sn::ops::search("axpy", names_of(all.size()), bench, [&] { ++ticks; });
  } catch (const sn::error& e) {
    s.error = e.what();
    s.is_compile_error = dynamic_cast<const sn::compile_error*>(&e);
    s.is_value_error = dynamic_cast<const sn::value_error*>(&e);
    s.is_device_error = dynamic_cast<const sn::device_error*>(&e);
    s.is_memory_error = dynamic_cast<const sn::memory_error*>(&e);
  }
  s.calls = bench.calls;
  s.ticks = ticks;
  return s;
}

std::vector<tuning_outcome> some_outcomes(double seconds = 1.5e-5) {
  std::vector<tuning_outcome> outcomes(3);
  outcomes[0].time = sn::summarize({seconds, 2 * seconds, 4 * seconds});
  outcomes[1].problem = "does not\ncompile";
  outcomes[2].time = sn::summarize({1.0 / 3});
  return outcomes;
}

bool alike(const std::vector<tuning_outcome>& a, const std::vector<tuning_outcome>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const sn::timing &s = a[k].time, &t = b[k].time;
    if (a[k].works() != b[k].works() || s.median != t.median || s.min != t.min || s.max != t.max || s.iqr != t.iqr)
      return false;
  }
  return true;
}

constexpr const char* some_source = R"(extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  for (int k = 0; k < PER; ++k) {
    const int i = (blockIdx.x * PER + k) * BLOCK + threadIdx.x;
    if (i < n) y[i] += a * x[i];
  }
})";

std::vector<sn::configuration> some_space(std::int64_t n) {
  return sn::cartesian({{"BLOCK", {64, 128}}, {"PER", {1, 2}}}, [=](const sn::macros& m) {
    const auto tile = m.integer("BLOCK") * m.integer("PER");
    return sn::launch{.grid = (n + tile - 1) / tile, .block = m.integer("BLOCK")};
  });
}

}  // namespace

TEST_CASE("autotune: every configuration is compiled, run and compared, and those that agree are timed") {
  const auto s = search({{.seconds = 3}, {.seconds = 1}, {.seconds = 2}});
  CHECK(s.calls == "r0kr1dr2dt0t1t2");
  CHECK(s.ticks == 9);
  REQUIRE(s.outcomes.size() == 3);
  CHECK(sn::ops::fastest(s.outcomes) == 1);
  for (std::size_t k = 0; k < 3; ++k) CHECK(s.outcomes[k].works());
  CHECK(s.outcomes[2].time.median == 2);
  const auto equal = search({{.seconds = 2}, {.seconds = 1}, {.seconds = 1}});
  CHECK(sn::ops::fastest(equal.outcomes) == 1);
}

TEST_CASE(
    "autotune: what does not compile, cannot be launched or differs is left out and says why, however fast it is") {
  const auto s =
      search({{.seconds = 4},
              {.seconds = 1, .compile_fails = "[compile] NVRTC failed\noptions: -DX\nlog:\nx.cu(1): error: no X\n"},
              {.seconds = 1, .run_fails = "[axpy] too many threads"},
              {.seconds = 1, .result = 7},
              {.seconds = 3},
              {.seconds = 2, .time_fails = "[cuda] timed out"}});
  CHECK(s.calls == "r0kr2r3dr4dr5dt0t4t5");
  CHECK(s.ticks == 18);
  REQUIRE(s.outcomes.size() == 6);
  CHECK(sn::ops::fastest(s.outcomes) == 4);
  CHECK(s.outcomes[1].problem == "[compile] NVRTC failed: x.cu(1): error: no X");
  CHECK(s.outcomes[2].problem == "[axpy] too many threads");
  CHECK(s.outcomes[3].problem == "the result differs: 7 instead of 0");
  CHECK(s.outcomes[5].problem == "[cuda] timed out");
}

TEST_CASE("autotune: the reference is the first configuration that runs") {
  const auto s = search({{.compile_fails = "no"}, {.run_fails = "no"}, {.result = 5}, {.result = 5}, {.result = 4}});
  CHECK(s.calls == "r1r2kr3dr4dt2t3");
  REQUIRE(s.outcomes.size() == 5);
  CHECK(s.outcomes[4].problem == "the result differs: 4 instead of 5");
}

TEST_CASE("autotune: where most differ from the first it is not clear which are right") {
  const auto s = search({{.result = 1}, {.result = 2}, {.result = 2}});
  CHECK(s.is_value_error);
  CHECK(s.error.find("[autotune] axpy: 2 of 3 configurations differ from the first, C0, so it is not clear") == 0);
  CHECK(s.error.find("C1: the result differs: 2 instead of 1") != std::string::npos);
  CHECK(s.calls.find('t') == std::string::npos);
  CHECK(search({{.result = 1}, {.result = 2}}).error == "");  // as many agree as differ: the first is trusted
  CHECK(search({{.result = 1}, {.result = 2}, {.result = 3}, {.result = 1}}).error == "");
}

TEST_CASE("autotune: where nothing works the error is of the first one's kind and holds all of its message") {
  const auto compile = search({{.compile_fails = "first\nsecond line"}, {.run_fails = "no"}});
  CHECK(compile.is_compile_error);
  CHECK(compile.error == "[autotune] axpy: none of 2 configurations works; C0: first\nsecond line");
  const auto run = search({{.run_fails = "too large"}, {.compile_fails = "no"}});
  CHECK(run.is_value_error);
  CHECK(run.error == "[autotune] axpy: none of 2 configurations works; C0: too large");
  CHECK(search({{.time_fails = "late"}}).is_device_error);
}

TEST_CASE("autotune: exhausted memory and a broken device are no candidate's fault and end the search") {
  const auto memory = search({{}, {.out_of_memory = true}, {}});
  CHECK(memory.is_memory_error);
  const auto broken = search({{}, {.breaks_device = true}, {}});
  CHECK(broken.is_device_error);
  CHECK(broken.error == "[autotune] axpy: the device is unusable since C1 ran: [cuda] illegal address");
  CHECK(broken.calls == "r0kr1");
}

TEST_CASE("autotune: long messages are cut") {
  const auto s = search({{}, {.compile_fails = std::string(5000, 'x')}});
  REQUIRE(s.outcomes.size() == 2);
  CHECK(s.outcomes[1].problem.size() == 300);
  CHECK(s.outcomes[1].problem.find("...") == 297);
}

TEST_CASE("autotune: size classes are powers of two above") {
  using sn::ops::default_size_class;
  CHECK(default_size_class(0, 0) == "0 threads, 0 elements");
  CHECK(default_size_class(1, 1) == "2^0 threads, 2^0 elements");
  CHECK(default_size_class(1024, 1025) == "2^10 threads, 2^11 elements");
  CHECK(default_size_class(0x1p40, 3e9) == "2^40 threads, 2^32 elements");
}

TEST_CASE("autotune: what is stored is text that reads back to the bit, on any other text to nothing") {
  const auto names = names_of(3);
  const std::string text = sn::ops::encode_tuning(names, some_outcomes());
  CHECK(text.find("sinter tuning 1\nconfiguration C0\nseconds 3e-05 1.5e-05 6e-05 ") == 0);
  const auto back = sn::ops::decode_tuning(text, names);
  REQUIRE(back);
  CHECK(alike(*back, some_outcomes()));
  CHECK((*back)[1].problem == "does not compile");
  for (std::size_t n = 0; n < text.size(); ++n) CHECK_FALSE(sn::ops::decode_tuning(text.substr(0, n), names));
  CHECK_FALSE(sn::ops::decode_tuning(text + "x", names));
  CHECK_FALSE(sn::ops::decode_tuning(text, names_of(2)));
  CHECK_FALSE(sn::ops::decode_tuning(text, {"C0", "C2", "C1"}));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    return sn::ops::decode_tuning(other.replace(other.find(from), from.size(), to), names).has_value();
  };
  CHECK_FALSE(changed("tuning 1", "tuning 2"));
  CHECK_FALSE(changed("3e-05", "nan"));
  CHECK_FALSE(changed("3e-05", "-3e-05"));
  CHECK_FALSE(changed("3e-05", "3e-05x"));
  CHECK_FALSE(changed("problem", "seconds"));
  CHECK_FALSE(changed("does not compile", ""));
  CHECK(changed("3e-05", "4e-05"));
  std::vector<tuning_outcome> none(1);
  none[0].problem = "no";
  CHECK_FALSE(sn::ops::decode_tuning(sn::ops::encode_tuning(names_of(1), none), names_of(1)));
}

TEST_CASE("autotune: what was found is known to the process, and to the next one from the disk") {
  const sinter_test::fresh_tunings memory;
  const auto names = names_of(3);
  CHECK_FALSE(sn::ops::recall_tuning("key", names));
  sn::ops::remember_tuning("key", names, some_outcomes());
  REQUIRE(sn::ops::recall_tuning("key", names));
  CHECK_FALSE(sn::ops::recall_tuning("other key", names));
  CHECK_FALSE(sn::ops::recall_tuning("key", names_of(4)));
  sn::ops::forget_tunings_for_tests();
  const auto from_disk = sn::ops::recall_tuning("key", names);
  REQUIRE(from_disk);
  CHECK(alike(*from_disk, some_outcomes()));
  sn::ops::remember_tuning("key", names, some_outcomes(1.0));
  sn::ops::forget_tunings_for_tests();
  CHECK(alike(*sn::ops::recall_tuning("key", names), some_outcomes(1.0)));
}

TEST_CASE("autotune: without a disk cache the process still remembers") {
  const sinter_test::fresh_tunings memory;
  sn::platform::reset_disk_cache_for_tests("", 0);
  sn::ops::remember_tuning("key", names_of(3), some_outcomes());
  CHECK(sn::ops::recall_tuning("key", names_of(3)));
  sn::ops::forget_tunings_for_tests();
  CHECK_FALSE(sn::ops::recall_tuning("key", names_of(3)));
}

TEST_CASE("autotune: a damaged file counts as nothing and is replaced by the next search's") {
  const sinter_test::fresh_tunings memory;
  const auto names = names_of(3);
  const std::string path = sn::platform::cache_folder(memory.scratch / "cache", 1 << 20).entry_path("key");
  sn::ops::remember_tuning("key", names, some_outcomes());
  const auto whole = sn::platform::read_file(path);
  REQUIRE(whole);
  const std::string bytes(whole->begin(), whole->end());
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    REQUIRE(sn::platform::write_file(path, damaged));
    sn::ops::forget_tunings_for_tests();
    CHECK_FALSE(sn::ops::recall_tuning("key", names));
    CHECK_FALSE(std::filesystem::exists(path));
  }
  REQUIRE(sn::platform::write_file(path, bytes.substr(0, bytes.size() / 2)));
  CHECK_FALSE(sn::ops::recall_tuning("key", names));
  // Whole as a file, but not a tuning that this version writes: removed as well.
  sn::platform::disk_cache::instance().store("key", {'o', 'l', 'd'});
  CHECK_FALSE(sn::ops::recall_tuning("key", names));
  CHECK_FALSE(std::filesystem::exists(path));
  sn::ops::remember_tuning("key", names, some_outcomes());
  sn::ops::forget_tunings_for_tests();
  CHECK(sn::ops::recall_tuning("key", names));
}

TEST_CASE("autotune: processes that remember and recall one key at once see whole results only") {
  const sinter_test::fresh_tunings memory;
  const auto names = names_of(3);
  sn::ops::remember_tuning("key", names, some_outcomes(1.0));
  std::fflush(nullptr);
  std::vector<pid_t> processes;
  for (int p = 0; p < 4; ++p) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      bool good = true;
      for (int k = 0; k < 60 && good; ++k) {
        sn::ops::remember_tuning("key", names, some_outcomes(1.0 + p));
        sn::ops::forget_tunings_for_tests();
        const auto found = sn::ops::recall_tuning("key", names);
        bool known = false;
        for (int q = 0; q < 4 && found; ++q) known = known || alike(*found, some_outcomes(1.0 + q));
        good = known;
      }
      ::_exit(good ? 0 : 1);
    }
    REQUIRE(pid > 0);
    processes.push_back(pid);
  }
  for (const pid_t pid : processes) {
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("macros: by name, as text and as integers") {
  const sn::macros m{{"BLOCK", 128}, {"TYPE", "float"}, {"WIDE", true}, {"N", std::string("-3")}, {"HEX", "0x10"}};
  CHECK(m.size() == 5);
  CHECK(m["BLOCK"] == "128");
  CHECK(m["TYPE"] == "float");
  CHECK(m["WIDE"] == "1");
  CHECK(m.integer("BLOCK") == 128);
  CHECK(m.integer("N") == -3);
  CHECK_THROWS_WITH_AS(m.integer("TYPE"), "[macros] TYPE is 'float', not an integer", sn::value_error);
  CHECK_THROWS_AS(m.integer("HEX"), sn::value_error);
  CHECK_THROWS_WITH_AS((void)m["block"], "[macros] there is no macro block; there are: BLOCK, TYPE, WIDE, N, HEX",
                       sn::value_error);
}

TEST_CASE("cartesian: all combinations in order, with their launches, less those without one") {
  const auto all =
      sn::cartesian({{"A", {1, 2}}, {"B", {"x", "y", "z"}}}, [](const sn::macros& m) -> std::optional<sn::launch> {
        if (m["A"] == "2" && m["B"] == "y") return std::nullopt;
        return sn::launch{.grid = {4, m.integer("A")}, .block = 32, .shared_mem = 8};
      });
  REQUIRE(all.size() == 5);
  CHECK(sn::to_string(all[0]) == "A=1 B=x, grid 4, block 32, 8 bytes shared");
  CHECK(sn::to_string(all[2]) == "A=1 B=z, grid 4, block 32, 8 bytes shared");
  CHECK(sn::to_string(all[4]) == "A=2 B=z, grid (4, 2), block 32, 8 bytes shared");
  CHECK(sn::cartesian({}, [](const sn::macros&) { return sn::launch{}; }).size() == 1);
  CHECK_THROWS_AS(sn::cartesian({{"A", {}}}, [](const sn::macros&) { return sn::launch{}; }), sn::value_error);
  CHECK(sn::to_string(sn::configuration{.launch = {.grid = {1, 2, 3}, .cooperative = true, .cluster = {2, 1, 1}}}) ==
        "grid (1, 2, 3), block 1, cluster 2, cooperative");
}

TEST_CASE("autotune: wrong configurations are refused before anything is compiled") {
  using sn::autotune;
  CHECK_THROWS_WITH_AS(autotune(some_source, "axpy", {}), "[autotune] axpy: there are no configurations",
                       sn::value_error);
  CHECK_THROWS_WITH_AS(autotune(some_source, "axpy", {{.macros = {{"A B", 1}}}}),
                       "[autotune] axpy: 'A B' is not the name of a macro", sn::value_error);
  CHECK_THROWS_AS(autotune(some_source, "axpy", {{.macros = {{"1A", 1}}}}), sn::value_error);
  CHECK_THROWS_AS(autotune(some_source, "axpy", {{.macros = {{"", 1}}}}), sn::value_error);
  CHECK_THROWS_WITH_AS(autotune(some_source, "axpy", {{}, {.macros = {{"A", 1}, {"B", 1}, {"A", 2}}}}),
                       "[autotune] axpy: macro A is given twice in one configuration", sn::value_error);
}

TEST_CASE("autotune: without a GPU there is nothing to tune on, and the error says so") {
  if (sn::device_count(sn::device_kind::cuda) != 0) {
    MESSAGE("left out: there is a GPU");
    return;
  }
  const ndarray x = sn::ones(100, sn::float32), y = sn::zeros(100, sn::float32);
  const sn::autotune tune(some_source, "axpy", some_space(100));
  try {
    (void)tune(2.0f, sn::in(x), y, 100);
    FAIL("a kernel was tuned without a GPU");
  } catch (const sn::device_error& e) {
    CHECK(std::string(e.what()).find("[axpy] raw kernels need a CUDA device: ") == 0);
  }
  CHECK_THROWS_AS(tune(1), sn::device_error);
  CHECK_THROWS_AS(tune(ndarray()), sn::value_error);
}

TEST_CASE("autotune: the result prints as a table, fastest first") {
  sn::tuned t;
  t.name = "axpy";
  t.hardware = "a GPU, sm_90, driver 1";
  t.size_class = "2^20 threads, 2^20 elements";
  const auto space = some_space(1 << 20);
  t.trials = {{space[0], sn::summarize({3e-5, 3e-5, 4e-5}), ""},
              {space[1], sn::summarize({2e-5}), ""},
              {space[2], {}, "[axpy] too many threads"},
              {space[3], sn::summarize({2.5e-5}), ""}};
  t.fastest = 1;
  std::ostringstream out;
  out << t;
  CHECK(out.str() ==
        "axpy on cpu (a GPU, sm_90, driver 1), 2^20 threads, 2^20 elements: 4 configurations\n"
        "    median       min    spread   ratio  configuration\n"
        "  20.00 us  20.00 us      0.0%    1.00  BLOCK=64 PER=2, grid 8192, block 64\n"
        "  25.00 us  25.00 us      0.0%    1.25  BLOCK=128 PER=2, grid 4096, block 128\n"
        "  30.00 us  30.00 us     16.7%    1.50  BLOCK=64 PER=1, grid 16384, block 64\n"
        "  left out: BLOCK=128 PER=1, grid 8192, block 128: [axpy] too many threads\n");
  CHECK(&t.best() == &t.trials[1]);
  t.remembered = true;
  out.str("");
  out << t;
  CHECK(out.str().find("4 configurations, remembered\n") != std::string::npos);
}
