// autotune from the call to the result, with modules whose kernels are functions of the test: what is compiled and
// launched, with which arguments and launches, what the arrays hold meanwhile and afterwards, and what is remembered.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ops/base/access.hpp"
#include "ops/base/hooks.hpp"
#include "ops/raw/state.hpp"
#include "ops/tuning/tuner.hpp"
#include "platform/disk_cache.hpp"
#include "platform/hooks.hpp"
#include "runtime/raw_module.hpp"
#include "sinter/sinter.hpp"
#include "support/scratch_folder.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;
namespace runtime = sinter::runtime;

namespace {

/// One launch as the kernel saw it.
struct seen_launch {
  std::map<std::string, std::string> macros;
  std::int64_t grid = 0, block = 0;
  const void *x = nullptr, *y = nullptr;
};

struct record {
  std::mutex mutex;
  std::vector<seen_launch> launches;
  std::vector<std::string> compiled;  // the options of each compilation
};
record& seen() {
  static record r;
  return r;
}

using macro_map = std::map<std::string, std::string>;

int number(const macro_map& m, const std::string& name) {
  const auto found = m.find(name);
  return found == m.end() ? 0 : std::atoi(found->second.c_str());
}

/// axpy(float a, const float* x, float* y, int n): y += a * x, in SLEEP ms, off by WRONG, refused if REFUSED.
class pretended_function final : public runtime::raw_function {
 public:
  explicit pretended_function(macro_map macros) : macros_(std::move(macros)) {
    figures_.max_threads = 1024;
    figures_.max_dynamic_shared = 48 << 10;
    figures_.max_grid = {1 << 30, 65535, 65535};
    figures_.max_block = {1024, 1024, 64};
  }
  const runtime::function_figures& figures() const override { return figures_; }
  std::optional<std::vector<std::size_t>> parameter_bytes() const override { return std::nullopt; }
  int occupancy(const runtime::extents3&, std::size_t) override { return 1; }
  void launch(const runtime::raw_launch& how, void** arguments) override {
    if (number(macros_, "REFUSED")) throw sn::value_error("[axpy] a launch that the driver refuses");
    const float a = *static_cast<float*>(arguments[0]);
    const float* x = *static_cast<const float**>(arguments[1]);
    float* y = *static_cast<float**>(arguments[2]);
    const int n = *static_cast<int*>(arguments[3]);
    for (int i = 0; i < n; ++i) y[i] += a * x[i];
    if (n > 0) y[n - 1] += static_cast<float>(number(macros_, "WRONG"));
    std::this_thread::sleep_for(std::chrono::milliseconds(number(macros_, "SLEEP")));
    const std::lock_guard lock(seen().mutex);
    seen().launches.push_back({macros_, how.grid.x, how.block.x, x, y});
  }

 private:
  macro_map macros_;
  runtime::function_figures figures_;
};

class pretended_module final : public runtime::raw_module {
 public:
  explicit pretended_module(macro_map macros) : macros_(std::move(macros)) {}
  const std::vector<std::pair<std::string, std::string>>& lowered_names() const override { return none_; }
  const std::optional<std::vector<std::string>>& kernels() const override { return kernels_; }
  const std::optional<std::vector<std::string>>& variables() const override { return variables_; }
  std::shared_ptr<runtime::raw_function> get_function(const std::string&, const std::string&) override {
    return std::make_shared<pretended_function>(macros_);
  }
  std::optional<runtime::raw_variable> get_variable(const std::string&) override { return std::nullopt; }

 private:
  macro_map macros_;
  std::vector<std::pair<std::string, std::string>> none_;
  std::optional<std::vector<std::string>> kernels_{{"axpy"}}, variables_;
};

std::shared_ptr<runtime::raw_module> load(runtime::device_id, const runtime::module_source& from) {
  macro_map macros;
  std::string all;
  for (const std::string& option : from.options) {
    all += option + ";";
    const std::size_t equals = option.find('=');
    if (option.rfind("-D", 0) == 0 && equals != std::string::npos)
      macros[option.substr(2, equals - 2)] = option.substr(equals + 1);
  }
  {
    const std::lock_guard lock(seen().mutex);
    seen().compiled.push_back(all);
  }
  if (macros.count("BROKEN")) throw sn::compile_error("[compile] NVRTC failed\nlog:\naxpy.cu(2): error: BROKEN\n");
  return std::make_shared<pretended_module>(macros);
}

/// Kernels of the test instead of the device's, a disk cache of its own, and sources that no case before has loaded.
struct pretended_gpu {
  sinter_test::scratch_folder scratch;
  std::string before = sn::platform::disk_cache::instance().folder();
  std::string source;
  pretended_gpu() {
    static int number = 0;
    source = "// case " + std::to_string(number++) +
             "\nextern \"C\" __global__ void axpy(float a, const float* x, float* y, int n) {}\n";
    sn::ops::load_modules_with_for_tests(load);
    sn::platform::reset_disk_cache_for_tests(scratch / "cache");
    sn::ops::forget_tunings_for_tests();
    forget();
  }
  ~pretended_gpu() {
    sn::ops::load_modules_with_for_tests(nullptr);
    sn::platform::reset_disk_cache_for_tests(before);
    sn::ops::forget_tunings_for_tests();
  }
  static void forget() {
    seen().launches.clear();
    seen().compiled.clear();
  }
};

ndarray on_cpu(const std::vector<float>& values) { return sn::array(values, {.device = "cpu"}); }
using floats = std::vector<float>;

sn::configuration sleeping(int ms, sn::macros more = {}) {
  std::vector<sn::macro> all{{"SLEEP", ms}};
  all.insert(all.end(), more.begin(), more.end());
  return {.macros = sn::macros(std::move(all)), .launch = {.grid = 2 * ms + 1, .block = 32}};
}

const sn::autotune_kw quick{.repeat = 3, .warmup = 0};

}  // namespace

TEST_CASE("autotune: the fastest that is right is found, and the samples are as they were") {
  const pretended_gpu gpu;
  const ndarray x = on_cpu({1, 2, 3}), y = on_cpu({10, 20, 30});
  const sn::autotune tune(gpu.source, "axpy",
                          {sleeping(8),
                           sleeping(1, {{"WRONG", 1}}),
                           sleeping(4),
                           sleeping(0, {{"BROKEN", 1}}),
                           sleeping(0, {{"REFUSED", 1}}),
                           {.macros = {{"BIG", 1}}, .launch = {.block = 4096}}},
                          quick);
  const sn::tuned best = tune(2.0f, sn::in(x), y, 3);
  CHECK(y.to_vector<float>() == floats{10, 20, 30});
  CHECK(best.fastest == 2);
  CHECK_FALSE(best.remembered);
  CHECK(best.name == "axpy");
  CHECK(best.on == sn::cpu);
  CHECK(best.size_class == "2^12 threads, 2^2 elements");
  REQUIRE(best.trials.size() == 6);
  CHECK(best.trials[0].works());
  CHECK(best.trials[0].time.samples.size() == 3);
  CHECK(best.trials[0].time.min >= 0.008);
  CHECK(best.trials[2].time.min >= 0.004);
  CHECK(best.trials[1].problem ==
        "the result differs: argument 3 (float32, shape (3,)) in 1 of 3 elements, first at 2: 37.0 instead of 36.0");
  CHECK(best.trials[3].problem == "[axpy] NVRTC failed: axpy.cu(2): error: BROKEN");
  CHECK(best.trials[4].problem == "[axpy] a launch that the driver refuses");
  CHECK(best.trials[5].problem.find("[axpy]") == 0);
  std::ostringstream table;
  table << best;
  CHECK(table.str().find("left out: SLEEP=0 BROKEN=1, grid 1, block 32: [axpy] NVRTC failed") != std::string::npos);

  pretended_gpu::forget();
  best(2.0f, sn::in(x), y, 3);
  CHECK(y.to_vector<float>() == floats{12, 24, 36});
  REQUIRE(seen().launches.size() == 1);
  CHECK(seen().launches[0].macros == macro_map{{"SLEEP", "4"}});
  CHECK(seen().launches[0].grid == 9);
  CHECK(seen().compiled.empty());
}

TEST_CASE("autotune: each configuration is compiled once, with the options of all and its macros") {
  const pretended_gpu gpu;
  const ndarray x = on_cpu({1}), y = on_cpu({1});
  sn::autotune_kw kw = quick;
  kw.options = {"-DALL=7", "-lineinfo"};
  const sn::autotune tune(gpu.source, "axpy", {sleeping(0, {{"T", "unsigned int"}}), sleeping(0, {{"T", "float"}})},
                          kw);
  (void)tune(1.0f, sn::in(x), y, 1);
  const std::multiset<std::string> compiled(seen().compiled.begin(), seen().compiled.end());
  CHECK(compiled == std::multiset<std::string>{"-DALL=7;-lineinfo;-DSLEEP=0;-DT=unsigned int;",
                                               "-DALL=7;-lineinfo;-DSLEEP=0;-DT=float;"});
  CHECK(seen().launches.size() == 2 * (1 + 3));
}

TEST_CASE("autotune: what was found is taken without running anything, also by another process") {
  const pretended_gpu gpu;
  const ndarray x = on_cpu({1, 2}), y = on_cpu({1, 2});
  const std::vector<sn::configuration> space{sleeping(3), sleeping(0)};
  const sn::autotune tune(gpu.source, "axpy", space, quick);
  const sn::tuned first = tune(1.0f, sn::in(x), y, 2);
  for (const bool forget : {false, true}) {
    if (forget) sn::ops::forget_tunings_for_tests();
    pretended_gpu::forget();
    const sn::tuned again = sn::autotune(gpu.source, "axpy", space, quick)(3.0f, sn::in(x), y, 1);
    CHECK(again.remembered);
    CHECK(again.fastest == first.fastest);
    CHECK(again.best().time.median == first.best().time.median);
    CHECK(again.best().time.samples.empty());
    CHECK(seen().launches.empty());
    again(1.0f, sn::in(x), y, 1);
    CHECK(seen().launches.size() == 1);
  }
  CHECK(y.to_vector<float>() == floats{3, 2});
}

TEST_CASE(
    "autotune: another source, size class, tolerance, option, type or configuration is another search; a grid is not") {
  const pretended_gpu gpu;
  const ndarray x = on_cpu({1, 2}), y = on_cpu({1, 2}), long_y = on_cpu(floats(100)), long_x = on_cpu(floats(100));
  const std::vector<sn::configuration> space{sleeping(0)};
  const auto is_known = [&](const std::string& source, const std::vector<sn::configuration>& c,
                            const sn::autotune_kw& kw, const ndarray& a, const ndarray& b) {
    return sn::autotune(source, "axpy", c, kw)(1.0f, sn::in(a), b, 2).remembered;
  };
  CHECK_FALSE(is_known(gpu.source, space, quick, x, y));
  CHECK(is_known(gpu.source, space, quick, x, y));
  auto other = space;
  other[0].launch.grid = 2;
  sn::autotune_kw classed = quick;
  classed.size_class = "small";
  CHECK_FALSE(is_known(gpu.source, other, quick, x, y));  // 64 threads are of another class than 32
  CHECK_FALSE(is_known(gpu.source, space, classed, x, y));
  CHECK(is_known(gpu.source, other, classed, x, y));
  CHECK(is_known(gpu.source, other, classed, long_x, long_y));
  CHECK_FALSE(is_known(gpu.source, space, quick, long_x, long_y));
  CHECK_FALSE(is_known(gpu.source + " ", space, quick, x, y));
  other[0].launch.block = 64;
  CHECK_FALSE(is_known(gpu.source, other, classed, x, y));
  CHECK_FALSE(is_known(gpu.source, {space[0], other[0]}, classed, x, y));
  // Grids count where nothing else distinguishes configurations.
  other = {space[0], space[0]};
  other[1].launch.grid = 5;
  CHECK_FALSE(is_known(gpu.source, other, classed, x, y));
  CHECK(is_known(gpu.source, other, classed, x, y));
  other[1].launch.grid = 6;
  CHECK_FALSE(is_known(gpu.source, other, classed, x, y));
  other = space;
  sn::autotune_kw changed = quick;
  changed.rtol = 1e-7;
  CHECK_FALSE(is_known(gpu.source, space, changed, x, y));
  changed.rtol = 2e-7;
  CHECK_FALSE(is_known(gpu.source, space, changed, x, y));
  changed = quick;
  changed.options = {"-DX=1"};
  CHECK_FALSE(is_known(gpu.source, space, changed, x, y));
  changed = quick;
  changed.fast_math = true;
  CHECK_FALSE(is_known(gpu.source, space, changed, x, y));
  CHECK_FALSE(sn::autotune(gpu.source, "axpy", space, quick)(1.0f, x, y, 2).remembered);
  CHECK(is_known(gpu.source, space, quick, x, y));
}

TEST_CASE("autotune: remember = false neither takes nor leaves anything") {
  const pretended_gpu gpu;
  const ndarray x = on_cpu({1}), y = on_cpu({1});
  sn::autotune_kw kw = quick;
  kw.remember = false;
  const sn::autotune fresh(gpu.source, "axpy", {sleeping(0)}, kw), usual(gpu.source, "axpy", {sleeping(0)}, quick);
  CHECK_FALSE(fresh(1.0f, sn::in(x), y, 1).remembered);
  CHECK_FALSE(usual(1.0f, sn::in(x), y, 1).remembered);
  CHECK_FALSE(fresh(1.0f, sn::in(x), y, 1).remembered);
  CHECK(usual(1.0f, sn::in(x), y, 1).remembered);
}

TEST_CASE("autotune: inputs are evaluated and brought into order once, and written arrays stay where they are") {
  const pretended_gpu gpu;
  const ndarray base = on_cpu({1, 2, 3, 4, 5, 6}), big = on_cpu(floats(4096, 1.f));
  const ndarray every_other = base(slice(_, _, 2)), y = on_cpu({0, 0, 0}), pending = (big * 2.0)(slice(0, 3));
  const sn::autotune tune(gpu.source, "axpy", {sleeping(0), sleeping(0, {{"K", 1}})}, quick);
  for (const ndarray& x : {every_other, pending, ndarray(on_cpu({1, 2, 3}) + 1.0)}) {
    pretended_gpu::forget();
    sn::ops::forget_tunings_for_tests();
    sn::platform::reset_disk_cache_for_tests("", 0);
    (void)tune(1.0f, sn::in(x), y, 3);
    std::set<const void*> inputs, outputs;
    for (const seen_launch& l : seen().launches) {
      inputs.insert(l.x);
      outputs.insert(l.y);
    }
    CHECK(seen().launches.size() == 8);
    CHECK(inputs.size() == 1);
    CHECK(outputs.size() == 1);
  }
  CHECK(y.to_vector<float>() == floats{0, 0, 0});
}

TEST_CASE("autotune: rounding may differ where a tolerance says so") {
  const pretended_gpu gpu;
  const ndarray x = on_cpu({1, 1000}), y = on_cpu({0, 0});
  sn::autotune_kw kw = quick;
  kw.rtol = 0.01;
  const std::vector<sn::configuration> space{sleeping(2), sleeping(0, {{"WRONG", 1}}), sleeping(0, {{"WRONG", 100}})};
  CHECK(sn::autotune(gpu.source, "axpy", space, kw)(1.0f, sn::in(x), y, 2).fastest == 1);
  CHECK_THROWS_AS(sn::autotune(gpu.source, "axpy", space, quick)(1.0f, sn::in(x), y, 2), sn::value_error);
  CHECK(y.to_vector<float>() == floats{0, 0});
}

TEST_CASE("autotune: wrong arguments are reported as a launch reports them") {
  const pretended_gpu gpu;
  const ndarray x = on_cpu({1}), y = on_cpu({1});
  const sn::autotune tune(gpu.source, "axpy", {sleeping(0), sleeping(1)}, quick);
  CHECK_THROWS_AS(tune(1.0f, sn::in(x), y), sn::value_error);
  CHECK_THROWS_AS(tune(1.0, sn::in(x), y, 1), sn::dtype_error);
  CHECK_THROWS_AS(tune(1.0f, sn::in(x), y(slice(_, _, 2)).astype(sn::float64), 1), sn::dtype_error);
  const sn::autotune broken(gpu.source, "axpy", {sleeping(0, {{"BROKEN", 1}})}, quick);
  CHECK_THROWS_AS(broken(1.0f, sn::in(x), y, 1), sn::compile_error);
  CHECK(y.to_vector<float>() == floats{1});
}
