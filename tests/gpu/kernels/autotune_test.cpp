// autotune on a GPU: the configuration found, those left out, the elements of the arrays, and the result stored for the
// next process.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"
#include "gpu/kernels/autotune_sources.hpp"
#include "jit/cuda/compile_raw.hpp"
#include "ops/base/access.hpp"
#include "ops/tuning/tuner.hpp"
#include "support/fresh_tunings.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;

namespace {

std::uint64_t launches() { return sn::runtime::get_backend(sn::runtime::default_device()).statistics().launches; }
ndarray ramp(std::int64_t n) { return sn::arange(0, n, 1, {.dtype = sn::float32}); }
bool same(const ndarray& a, const ndarray& b) { return static_cast<bool>(sn::all(a == b)); }

void compile_all(const char* source, const std::string& name, const std::vector<sn::configuration>& space) {
  for (const int arch : {75, 90})
    for (const sn::configuration& c : space) {
      CAPTURE(sn::to_string(c));
      const auto b = sn::jit::compile_raw(
          {.source = source, .file = "", .options = tune_test::options_of(c), .names = {name}, .arch = arch});
      CHECK(b.bytes.size() > 0);
    }
}

}  // namespace

TEST_CASE("gpu: every configuration of the autotune tests compiles for sm_75 and sm_90") {
  if (gpu_test::no_nvrtc()) return;
  compile_all(tune_test::axpy, "axpy", tune_test::axpy_space(1000));
  compile_all(tune_test::total, "total", tune_test::total_space());
  compile_all(tune_test::rounds, "rounds<float>", tune_test::rounds_space(3, 5));
}

TEST_CASE("gpu: the best of several configurations is found, the others say why not, the samples stay") {
  if (gpu_test::no_gpu()) return;
  const sinter_test::fresh_tunings memory;
  const int n = (1 << 20) + 3;
  const ndarray x = ramp(n), y = ramp(n) * 0.5;
  std::vector<sn::configuration> space = tune_test::axpy_space(n);
  const std::size_t good = space.size();
  space.push_back(
      {.macros = {{"BLOCK", 64}, {"PER", 1}, {"MISTAKE", 1}}, .launch = {.grid = (n + 63) / 64, .block = 64}});
  space.push_back({.macros = {{"BLOCK", 2048}, {"PER", 1}}, .launch = {.grid = (n + 2047) / 2048, .block = 2048}});
  space.push_back(
      {.macros = {{"BLOCK", 64}, {"PER", 1}, {"BROKEN", 1}}, .launch = {.grid = (n + 63) / 64, .block = 64}});
  const sn::autotune tune(tune_test::axpy, "axpy", space);
  const sn::tuned best = tune(2.0f, sn::in(x), y, n);
  CHECK(same(y, ramp(n) * 0.5));
  CHECK_FALSE(best.remembered);
  CHECK(best.on == sn::default_device());
  CHECK(best.hardware.find("sm_") != std::string::npos);
  CHECK(best.hardware.find("driver ") != std::string::npos);
  CHECK(best.size_class == "2^21 threads, 2^21 elements");
  REQUIRE(best.trials.size() == good + 3);
  CHECK(best.fastest < good);
  for (std::size_t k = 0; k < good; ++k) {
    const sn::trial& t = best.trials[k];
    CAPTURE(sn::to_string(t.config));
    CHECK(t.problem == "");
    CHECK(t.time.samples.size() == 10);
    CHECK(t.time.median > 0);
    CHECK(t.time.median < 0.1);
    CHECK(t.time.median >= best.best().time.median);
  }
  CHECK(best.trials[good].problem.find("the result differs: argument 3 (float32, shape (1048579,)) in 1 of 1048579 "
                                       "elements, first at 1048578: ") == 0);
  CHECK(best.trials[good + 1].problem.find("[axpy]") == 0);
  CHECK(best.trials[good + 2].problem.find("BROKEN is defined") != std::string::npos);
  std::ostringstream table;
  table << best;
  MESSAGE(table.str());

  best(2.0f, sn::in(x), y, n);
  CHECK(same(y, ramp(n) * 2.5));

  // Remembered in the process, then on the disk: nothing runs.
  for (const bool forget : {false, true}) {
    if (forget) sn::ops::forget_tunings_for_tests();
    const std::uint64_t before = launches();
    const sn::tuned again = tune(2.0f, sn::in(x), y, n);
    CHECK(launches() == before);
    CHECK(again.remembered);
    CHECK(again.fastest == best.fastest);
  }
}

TEST_CASE("gpu: sums whose rounding depends on the block agree within a tolerance only") {
  if (gpu_test::no_gpu()) return;
  const sinter_test::fresh_tunings memory;
  const int n = 100000;
  // 10000.3 with 32 threads, 10000.02 with 64, 9999.994 with 256, 10000.001 with 1024
  const ndarray x = sn::full({n}, 0.1, {.dtype = sn::float32}), out = sn::zeros(1, sn::float32);
  CHECK_THROWS_AS(sn::autotune(tune_test::total, "total", tune_test::total_space())(sn::in(x), out, n),
                  sn::value_error);
  const sn::tuned best =
      sn::autotune(tune_test::total, "total", tune_test::total_space(), {.rtol = 1e-4})(sn::in(x), out, n);
  for (const sn::trial& t : best.trials) CHECK(t.works());
  CHECK(out.item<float>() == 0);
  best(sn::in(x), out, n);
  CHECK(out.item<float>() == doctest::Approx(10000).epsilon(1e-4));
}

TEST_CASE("gpu: less work wins; views are written through their strides, and their storage is restored whole") {
  if (gpu_test::no_gpu()) return;
  const sinter_test::fresh_tunings memory;
  const ndarray base = sn::reshape(ramp(2 * 512 * 2048), {512, 4096}), y = sn::zeros({2048, 513}, sn::float32) + 7.0;
  const ndarray x = base(_, slice(_, _, 2)), part = y(_, slice(1, 513)).T();
  const sn::autotune tune(tune_test::rounds, "rounds<float>", tune_test::rounds_space(512, 2048));
  const sn::tuned best = tune(sn::strided(sn::in(x)), sn::strided(part));
  CHECK(best.fastest == 1);
  CHECK(best.trials[0].time.median > 2 * best.trials[1].time.median);
  CHECK(same(y, sn::zeros({2048, 513}, sn::float32) + 7.0));
  best(sn::strided(sn::in(x)), sn::strided(part));
  CHECK(same(part, x + 1.0));
  CHECK(same(y(_, 0), sn::zeros(2048, sn::float32) + 7.0));
}

TEST_CASE("gpu: a raw kernel is timed without the host's part" * doctest::test_suite("alone")) {
  if (gpu_test::no_gpu()) return;
  const int n = 1024;
  const ndarray x = ramp(n), y = ramp(n);
  const sn::raw_kernel axpy(tune_test::axpy, "axpy", {.options = {"-DBLOCK=128", "-DPER=1"}});
  CHECK(gpu_test::in_some_try([&] {
    const auto r = sn::benchmark([&] { axpy({.grid = 8, .block = 128}, 2.0f, sn::in(x), y, n); });
    CHECK(r.device.median > 0);
    return !r.device_waited && r.device.median < 50e-6;
  }));
}

TEST_CASE("gpu: arrays on the CPU cannot be tuned on") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = sn::ones(8, {.dtype = sn::float32, .device = sn::cpu}), y = x + 1.0;
  const sn::autotune tune(tune_test::axpy, "axpy", tune_test::axpy_space(8));
  CHECK_THROWS_AS(tune(2.0f, sn::in(x), y, 8), sn::device_error);
}
