// The code of the page on raw kernels runs, and is what the page shows.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace {

/// Output of what runs while it lives.
struct captured {
  std::ostringstream text;
  std::streambuf* before = std::cout.rdbuf(text.rdbuf());
  ~captured() { std::cout.rdbuf(before); }
};

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

/// The blocks of C++ in a page.
std::vector<std::vector<std::string>> code_of(const std::vector<std::string>& page) {
  std::vector<std::vector<std::string>> blocks;
  bool inside = false;
  for (const std::string& line : page) {
    if (!inside && line == "```cpp") blocks.emplace_back();
    if (inside && line != "```") blocks.back().push_back(line);
    inside = inside ? line != "```" : line == "```cpp";
  }
  return blocks;
}

}  // namespace

// As the page has it.
// clang-format off
TEST_CASE("raw kernel on a GPU: the page's first kernel") {
  if (gpu_test::no_gpu()) return;
  const captured output;
  const sn::raw_kernel axpy(R"(
  extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
  })", "axpy");

  const int n = 1000;
  auto x = sn::ones(n, sn::float32), y = sn::arange(n, {.dtype = sn::float32});
  axpy({.grid = (n + 255) / 256, .block = 256}, 2.0f, x, y, n);
  std::cout << sn::sum(y) << '\n';
  CHECK(output.text.str() == "501500.0\n");
}

TEST_CASE("raw kernel on a GPU: the page's template and its variable") {
  if (gpu_test::no_gpu()) return;
  const sn::raw_module smooth(R"(
  __constant__ float weights[3];
  template <class T>
  __global__ void smooth(sinter::strided<const T, 1> x, sinter::strided<T, 1> y) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i == 0 || i + 1 >= x.size()) return;
    y(i) = weights[0] * x(i - 1) + weights[1] * x(i) + weights[2] * x(i + 1);
  })", {.names = {"smooth<float>"}});

  smooth.set_global("weights", std::vector<float>{0.25f, 0.5f, 0.25f});
  auto samples = sn::arange(1000, {.dtype = sn::float32}), out = samples.copy();
  smooth.get("smooth<float>")({.grid = 4, .block = 256}, sn::strided(sn::in(samples)), sn::strided(out));
  CHECK(static_cast<bool>(sn::all(out == samples)));  // a line is as smooth as can be
  smooth.set_global("weights", std::vector<float>{0, 0, 2});
  smooth.get("smooth<float>")({.grid = 4, .block = 256}, sn::strided(sn::in(samples)), sn::strided(out));
  CHECK(out(5).item<float>() == 12);
}

TEST_CASE("raw kernel on a GPU: the page's launch with shared memory") {
  if (gpu_test::no_gpu()) return;
  const captured output;
  const sn::raw_kernel reverse(R"(
  extern "C" __global__ void reverse(const float* x, float* y, int n) {
    extern __shared__ float block[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) block[i] = x[blockIdx.x * n + i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = block[n - 1 - i];
  })", "reverse");

  const std::size_t bytes = std::min<std::size_t>(100 << 10, reverse.attributes().max_dynamic_shared_bytes);
  const int length = static_cast<int>(bytes / sizeof(float));
  auto rows = sn::reshape(sn::arange(8 * length, {.dtype = sn::float32}), {8, length}), mirrored = sn::empty_like(rows);
  reverse({.grid = 8, .block = 512, .shared_mem = bytes}, rows, mirrored, length);
  std::cout << reverse.occupancy(512, bytes) << " blocks on a multiprocessor\n";
  CHECK(static_cast<bool>(sn::all(mirrored == rows[":, ::-1"])));
  CHECK(output.text.str().find(" blocks on a multiprocessor") != std::string::npos);
}

// clang-format on

TEST_CASE("raw kernels: the page shows the code that these tests run") {
  const std::string docs = std::string(SINTER_SOURCE_DIR) + "/docs/";
  const std::vector<std::string> page = lines_of(docs + "kernels_raw.md");
  const std::vector<std::string> here =
      lines_of(std::string(SINTER_TEST_SOURCE_DIR) + "/gpu/kernels/raw_docs_test.cpp");
  const auto blocks = code_of(page);
  CHECK(blocks.size() == 3);
  for (const auto& block : blocks) {
    REQUIRE(block.size() > 3);
    CAPTURE(block[0]);
    CHECK(std::search(here.begin(), here.end(), block.begin(), block.end()) != here.end());
  }
}
