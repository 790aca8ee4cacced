// The code of docs/kernels_tuning.md: every line of it is in this file, and does what the page says. Without a GPU
// the kernels are functions of the test, and their source is compiled all the same.
#include <doctest/doctest.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "jit/cuda/compile_raw.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "ops/base/hooks.hpp"
#include "ops/tuning/tuner.hpp"
#include "support/docs_page.hpp"
#include "support/raw_fake.hpp"

namespace sn = sinter;
using sn::ndarray;

namespace {

/// On a machine without a GPU, kernels that C++ computes.
struct some_device {
  std::optional<raw_test::fake> fake;
  some_device() {
    if (sn::default_device().kind == sn::device_kind::cuda) return;
    fake.emplace();
    fake->add("axpy", [](const raw_test::runtime::raw_launch&, void** arguments) {
      const auto a = raw_test::value<float>(arguments, 0);
      const auto x = raw_test::value<const float*>(arguments, 1);
      const auto y = raw_test::value<float*>(arguments, 2);
      for (int i = 0; i < raw_test::value<int>(arguments, 3); ++i) y[i] += a * x[i];
    });
  }
};

void compiles(const std::string& source, const std::vector<std::string>& options) {
  if (!sn::jit::nvrtc_available()) return;
  for (const int arch : {75, 90})
    CHECK(sn::jit::compile_raw({.source = source, .file = "", .options = options, .names = {}, .arch = arch})
              .bytes.size() > 0);
}

bool same(const ndarray& a, const ndarray& b) { return static_cast<bool>(sn::all(a == b)); }

}  // namespace

TEST_CASE("tuning docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("kernels_tuning.md", "docs/tools_test.cpp", 6);
}

TEST_CASE("tuning docs: timing") {
  const some_device device;
  const sinter_test::printed no_output;
  const int n = 1000, blocks = 4;
  const ndarray x = sn::ones(n, sn::float32), y = sn::zeros(n, sn::float32) + 1.0;
  // clang-format off
  const auto timed = sn::benchmark([&] { return sn::sum(sn::square(x - y)); }, {.repeat = 50, .name = "distance"});
  std::cout << timed << '\n';
  const double bytes_per_second = static_cast<double>(x.nbytes() + y.nbytes()) / timed.device.median;
  // clang-format on
  CHECK(bytes_per_second > 0);
  CHECK(no_output.text.str().find("distance: device ") == 0);
  const sn::raw_kernel axpy(
      "/* timed on the page */ extern \"C\" __global__ void axpy(float a, const float* x, float* y, int n) {"
      " const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }",
      "axpy");
  // clang-format off
  const auto step = sn::benchmark([&] { axpy({.grid = blocks, .block = 256}, 2.0f, sn::in(x), y, n); },
                                  {.setup = [&] {
                                    y() = 0;
                                    sn::eval(y);
                                  }});
  // clang-format on
  CHECK(same(y, sn::zeros(n, sn::float32) + 2.0));
  CHECK(step.device.samples.size() == 20);
}

TEST_CASE("tuning docs: ranges and progress") {
  const ndarray x = sn::ones(8), y = x + 1.0;
  // clang-format off
  {
    const sn::range loading("load the tables");
    sn::eval(x, y);
  }
  // clang-format on
  const int rows = 5;
  int searched = 0;
  const auto search = [&](int row) { searched += row; };
  // clang-format off
  sn::progress bar(rows, {.name = "searching", .unit = "rows"});
  for (int row = 0; row < rows; ++row) {
    search(row);
    bar.tick();
  }
  // clang-format on
  CHECK(searched == 10);
}

TEST_CASE("tuning docs: autotune") {
  const some_device device;
  const sinter_test::printed no_output;
  sn::ops::forget_tunings_for_tests();
  const int n = 5000;
  const ndarray x = sn::ones(n, sn::float32), y = sn::ones(n, sn::float32) * 3.0;
  // clang-format off
  const char* source = R"(
  extern "C" __global__ void axpy(float a, const float* __restrict__ x, float* y, int n) {
    const int first = blockIdx.x * BLOCK * PER + threadIdx.x;
    for (int k = 0; k < PER; ++k) {
      const int i = first + k * BLOCK;
      if (i < n) y[i] += a * x[i];
    }
  })";
  const auto space = sn::cartesian({{"BLOCK", {64, 128, 256}}, {"PER", {1, 2, 4}}}, [=](const sn::macros& m) {
    const auto tile = m.integer("BLOCK") * m.integer("PER");
    return sn::launch{.grid = (n + tile - 1) / tile, .block = m.integer("BLOCK")};
  });
  const sn::autotune tune(source, "axpy", space);
  const sn::tuned best = tune(2.0f, sn::in(x), y, n);  // y is left as it was
  best(2.0f, sn::in(x), y, n);
  std::cout << best;
  // clang-format on
  CHECK(same(y, sn::ones(n, sn::float32) * 5.0));
  CHECK(best.trials.size() == 9);
  for (const sn::trial& t : best.trials) CHECK(t.problem == "");
  CHECK(no_output.text.str().find("9 configurations") != std::string::npos);
  for (const char* block : {"-DBLOCK=64", "-DBLOCK=256"}) compiles(source, {block, "-DPER=4"});
  const char* fixed =
      "extern \"C\" __global__ void axpy(float a, const float* x, float* y, int n) {"
      " const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }";
  // clang-format off
  const sn::autotune choose(fixed, "axpy", {{.launch = {.grid = (n + 127) / 128, .block = 128}},
                                            {.launch = {.grid = (n + 511) / 512, .block = 512}}});
  // clang-format on
  CHECK(choose(2.0f, sn::in(x), y, n).trials.size() == 2);
  compiles(fixed, {});
}
