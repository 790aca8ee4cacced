// Raw kernels on a GPU: what they compute, the limits of launches, the elements of arrays before and after.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <thread>
#include <vector>

#include "gpu/gpu.hpp"
#include "gpu/kernels/raw_sources.hpp"
#include "support/message_of.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sinter_test::message_of;
using sn::ndarray;

namespace {

ndarray ramp(std::int64_t n) { return sn::arange(0, n, 1, {.dtype = sn::float32}); }
std::vector<float> values(const ndarray& x) { return x.to_vector<float>(); }
bool same(const ndarray& a, const ndarray& b) { return static_cast<bool>(sn::all(a == b)) && a.shape() == b.shape(); }

const sn::raw_kernel& axpy() {
  static const sn::raw_kernel k(raw_test::axpy, "axpy");
  return k;
}
/// y += a * x over all n elements.
template <class X>
void run_axpy(float a, const X& x, const ndarray& y, int n) {
  axpy()({.grid = (n + 255) / 256, .block = 256}, a, x, y, n);
}

}  // namespace

TEST_CASE("raw kernel on a GPU: axpy, among lazy expressions") {
  if (gpu_test::no_gpu()) return;
  const int n = (1 << 20) + 3;
  ndarray x = ramp(n), y = sn::ones({n}, {.dtype = sn::float32});
  const ndarray alias = y(slice(5, 9)), pending = y * 10.0;
  run_axpy(2.0f, x, y, n);
  CHECK(same(y, ramp(n) * 2.0 + 1.0));
  CHECK(values(alias) == std::vector<float>{11, 13, 15, 17});
  CHECK(sn::min(pending).item<float>() == 10);
  CHECK(sn::max(pending).item<float>() == 10);
  run_axpy(1.0f, x * 2.0 - y, y, n);  // y + (2x - y), the pending argument evaluated first
  CHECK(same(y, ramp(n) * 2.0));
  for (int k = 0; k < 50; ++k) {  // in order with what is recorded between
    run_axpy(1.0f, sn::in(x), y, n);
    y -= x;
  }
  CHECK(same(y, ramp(n) * 2.0));
  CHECK(same(x, ramp(n)));
}

TEST_CASE("raw kernel on a GPU: views of one array, and memory whose address is out") {
  if (gpu_test::no_gpu()) return;
  ndarray m = sn::reshape(ramp(4000), {4, 1000});
  run_axpy(1.0f, m(0), m(2), 1000);
  CHECK(same(m(2), ramp(1000) * 2.0 + 2000.0));
  CHECK(same(m(3), ramp(1000) + 3000.0));
  run_axpy(1.0f, sn::in(m(_, 7)(slice(0, 3))), m(0), 3);
  CHECK(values(m(0, slice(0, 4))) == std::vector<float>{7, 1008, 2016, 3});
  const float* address = m.data<float>();
  run_axpy(1.0f, m(1), m(1), 1000);
  CHECK(m.data<float>() == address);
  CHECK(same(m(1), (ramp(1000) + 1000.0) * 2.0));
  CHECK_THROWS_AS(run_axpy(1.0f, ndarray(), m(1), 1000), sn::value_error);
}

TEST_CASE("raw kernel on a GPU: templates and kernels with C++ names") {
  if (gpu_test::no_gpu()) return;
  const sn::raw_module m(raw_test::templates, {.names = {"scale<float, 1>", "scale<double, 2>"}});
  ndarray x = ramp(1000), d = x.astype(sn::float64);
  m.get("scale<float,1>")({.grid = 4, .block = 256}, x, 3.0f, 1000LL);
  m.get("scale<double, 2>")({.grid = 4, .block = 256}, d, 3.0, 1000LL);
  CHECK(same(x, ramp(1000) * 3.0 + 1.0));
  CHECK(same(d, ramp(1000).astype(sn::float64) * 3.0 + 2.0));
  m.get("my::shift")({.grid = 4, .block = 256}, d, 0.5, 1000u);
  CHECK(same(d, ramp(1000).astype(sn::float64) * 3.0 + 2.5));
  const sn::raw_kernel alone(raw_test::templates, "scale<int, 7>");
  const ndarray i = sn::arange(100, {.dtype = sn::int32});
  alone({.grid = 1, .block = 128}, i, 2, 100LL);
  CHECK(same(i, sn::arange(100, {.dtype = sn::int32}) * 2 + 7));
  CHECK_THROWS_AS(alone({.grid = 1, .block = 128}, x, 2, 100LL), sn::dtype_error);
  CHECK_THROWS_AS(m.get("scale<int, 7>")({.grid = 1, .block = 1}, i, 2, 1LL), sn::value_error);
  CHECK_THROWS_AS(m.get("overloaded")({.grid = 1, .block = 1}, x), sn::value_error);
}

TEST_CASE("raw kernel on a GPU: constant and global variables") {
  if (gpu_test::no_gpu()) return;
  struct point {
    float x, y;
  };
  const sn::raw_module m(raw_test::variables), other(raw_test::variables);
  const sn::raw_kernel look_up = m.get("look_up");
  m.set_global("my::table", std::vector<float>{0, 10, 20, 30, 40, 50, 60, 70});
  m.set_global("where", point{2, 3});
  m.set_global("counter", 5);
  const ndarray at = sn::array({7, 0, 3, 3}, {.dtype = sn::int32}), out = sn::empty({4}, sn::float32);
  const ndarray later = sn::empty({4}, sn::float32);
  look_up({.grid = 1, .block = 32}, at, out, 4);
  m.set_global("my::table", ramp(8) * -1.0);  // after the launch
  look_up({.grid = 1, .block = 32}, at, later, 4);
  CHECK(values(out) == std::vector<float>{76, 6, 36, 36});
  CHECK(values(later) == std::vector<float>{-1, 6, 3, 3});
  CHECK(m.get_global<int>("counter") == std::vector<int>{13});
  CHECK(m.get_global<bool>("flags") == std::vector<bool>{true, false, true});
  CHECK(m.get_global<float>("my::table")[7] == -7);
  CHECK(other.get_global<int>("counter") == std::vector<int>{0});  // a module has its own variables
  CHECK_THROWS_AS(m.set_global("my::table", std::vector<float>{1}), sn::value_error);
  CHECK_THROWS_AS(m.set_global("table", std::vector<float>(8)), sn::value_error);
}

TEST_CASE("raw kernel on a GPU: as much dynamic shared memory as the device has") {
  if (gpu_test::no_gpu()) return;
  const sn::raw_kernel reverse(raw_test::shared, "reverse");
  const std::size_t most = reverse.attributes().max_dynamic_shared_bytes;
  CAPTURE(most);
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{100} << 10, most / 4 * 4}) {
    if (bytes > most) continue;
    const int n = static_cast<int>(bytes / 4);
    const ndarray x = ramp(3 * n), y = sn::empty({3, n}, sn::float32);
    reverse({.grid = 3, .block = 512, .shared_mem = bytes}, x, y, n);
    CHECK(same(y, sn::reshape(x, {3, n})[":, ::-1"]));
    CHECK(reverse.occupancy(512, bytes) >= 1);
  }
  const ndarray x = ramp(8), y = sn::empty({8}, sn::float32);
  const auto text =
      message_of<sn::value_error>([&] { reverse({.grid = 1, .block = 32, .shared_mem = most + 4}, x, y, 8); });
  CHECK(text.find("[reverse] " + std::to_string(most + 4) + " bytes of dynamic shared memory; at most ") == 0);
  CHECK(reverse.occupancy(512, most + 4) == 0);
}

TEST_CASE("raw kernel on a GPU: a cooperative launch has a barrier for its whole grid") {
  if (gpu_test::no_gpu()) return;
  const sn::raw_kernel chain(raw_test::grid_sync, "chain");
  const unsigned n = 64 * 128;
  const int rounds = 50;
  const ndarray cells = sn::arange(static_cast<int>(n), {.dtype = sn::uint32}), out = sn::empty_like(cells);
  chain({.grid = 64, .block = 128, .cooperative = true}, cells, out, rounds);
  std::vector<std::uint32_t> expected(n), next(n);
  for (unsigned i = 0; i < n; ++i) expected[i] = i;
  for (int r = 0; r < rounds; ++r) {
    for (unsigned i = 0; i < n; ++i) next[i] = expected[(i + 7919u) % n] + 1u;
    expected.swap(next);
  }
  CHECK(out.to_vector<std::uint32_t>() == expected);
  const auto text =
      message_of<sn::value_error>([&] { chain({.grid = 1 << 20, .block = 1024, .cooperative = true}, cells, out, 1); });
  CHECK(
      text.find("[chain] a launch with grid {1048576, 1, 1}, block {1024, 1, 1} is cooperative, which needs all blocks "
                "resident at once; at most ") == 0);
  CHECK(out.to_vector<std::uint32_t>() == expected);
}

TEST_CASE("raw kernel on a GPU: clusters") {
  if (gpu_test::no_gpu()) return;
  if (axpy().attributes().binary_version < 90) {
    MESSAGE("left out: the GPU has no thread block clusters");
    return;
  }
  const sn::raw_kernel neighbors(raw_test::cluster, "neighbors");
  const ndarray out = sn::zeros({16}, sn::int32);
  for (const int size : {1, 2, 4, 8}) {
    neighbors({.grid = 16, .block = 32, .cluster = size}, out);
    std::vector<int> expected;
    for (int b = 0; b < 16; ++b) expected.push_back(b / size * size + (b % size + 1) % size);
    CHECK(out.to_vector<int>() == expected);
  }
  const auto text = message_of<sn::value_error>([&] { neighbors({.grid = 64, .block = 32, .cluster = 64}, out); });
  CHECK(text.find("[neighbors] a launch with grid {64, 1, 1}, block {32, 1, 1}, cluster {64, 1, 1} ") == 0);
  neighbors({.grid = 16, .block = 32}, out);  // every block is a cluster of its own
  CHECK(same(out, sn::arange(16, {.dtype = sn::int32})));
}

TEST_CASE("raw kernel on a GPU: strided arrays") {
  if (gpu_test::no_gpu()) return;
  const sn::raw_module m(raw_test::strides);
  const sn::raw_kernel add = m.get("add");
  const ndarray a = sn::reshape(ramp(70 * 300), {70, 300});
  ndarray out = sn::zeros({640, 140}, sn::float32);
  const ndarray before = out * 1.0;
  const ndarray target = out["::-2, ::2"](slice(0, 300));  // (300, 70), backwards and in steps
  add({.grid = {1, 300}, .block = 128}, sn::strided(sn::in(a.T())), sn::strided(target), 1.0f);
  CHECK(same(target, a.T() + 1.0));
  CHECK(same(sn::sum(out, {.dtype = sn::float64}), sn::sum(a + 1.0, {.dtype = sn::float64})));  // and nothing else
  CHECK(sn::max(before).item<float>() == 0);
  add({.grid = {1, 300}, .block = 128}, sn::strided(sn::in(sn::broadcast_to(ramp(70), {300, 70}))), sn::strided(target),
      0.0f);
  CHECK(same(target, sn::broadcast_to(ramp(70), {300, 70})));
  add({.grid = {1, 300}, .block = 128}, sn::strided(sn::in(sn::sqrt(a).T())), sn::strided(target), 0.0f);  // pending
  CHECK(same(target, sn::sqrt(a).T()));
  const ndarray number = sn::array(41.0, {.dtype = sn::float32});
  m.get("rank0")({.grid = 1, .block = 1}, sn::strided(number));
  CHECK(number.item<float>() == 42);
}

TEST_CASE("raw kernel on a GPU: parameters of every kind") {
  if (gpu_test::no_gpu()) return;
  struct params {
    float a;
    int n;
  };
  const sn::raw_module m(raw_test::types);
  const sn::launch how{.grid = 1, .block = 32};
  const ndarray x = ramp(20);
  for (const sn::dtype t : {sn::float16, sn::bfloat16}) {
    const ndarray h = x.astype(t), y = sn::empty_like(h);
    if (t == sn::float16) m.get("halves")(how, h, y, sn::half(0.5f), 20);
    else m.get("bfloats")(how, h, y, sn::bfloat(0.5f), 20);
    CHECK(same(y, (x * 0.5).astype(t)));
  }
  const ndarray z = x.astype(sn::complex64) * std::complex<double>(1, 2), w = sn::empty_like(z);
  m.get("conjugate")(how, z, w, std::complex<float>(3, 4), 20u);
  CHECK(same(w, sn::conj(z + std::complex<double>(3, 4))));
  const ndarray reversed = sn::empty_like(x);
  m.get("quads")(how, x, reversed, 5);
  CHECK(same(sn::reshape(reversed, {5, 4}), sn::reshape(x, {5, 4})[":, ::-1"]));
  const ndarray scaled = x.copy();
  m.get("by_struct")(how, params{3, 10}, scaled);
  CHECK(same(scaled(slice(0, 10)), x(slice(0, 10)) * 3.0));
  CHECK(same(scaled(slice(10, 20)), x(slice(10, 20))));
  CHECK_THROWS_AS(m.get("by_struct")(how, 3.0f, scaled), sn::dtype_error);  // 8 bytes, according to the driver
  const ndarray i = sn::zeros({64}, sn::int64);
  m.get("bounded")({.grid = 1, .block = 64}, true, i);
  CHECK(same(i, sn::arange(64)));
}

TEST_CASE("raw kernel on a GPU: attributes and occupancy") {
  if (gpu_test::no_gpu()) return;
  const sn::kernel_attributes a = axpy().attributes();
  CHECK(a.registers > 0);
  CHECK(a.registers < 64);
  CHECK(a.max_threads_per_block == 1024);
  CHECK(a.shared_bytes == 0);
  CHECK(a.max_dynamic_shared_bytes >= 48 << 10);
  CHECK(a.local_bytes == 0);
  CHECK(a.binary_version >= 75);
  CHECK(axpy().occupancy(1024) >= 1);
  CHECK(axpy().occupancy({32, 2}) >= axpy().occupancy(1024));
  CHECK(axpy().occupancy(64, a.max_dynamic_shared_bytes) == 1);
  const sn::raw_module m(raw_test::types);
  CHECK(m.get("bounded").attributes().max_threads_per_block == 64);
  CHECK(sn::raw_module(raw_test::variables).get("look_up").attributes().constant_bytes >= 40);
}

TEST_CASE("raw kernel on a GPU: refused launches leave the arrays usable") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = ramp(1000), y = ramp(1000) * 2.0, wrong = x.astype(sn::float64);
  CHECK_THROWS_AS(axpy()({.grid = 1, .block = 2048}, 1.0f, x, y, 1000), sn::value_error);
  CHECK_THROWS_AS(axpy()({.grid = {1, 1 << 20}, .block = 32}, 1.0f, x, y, 1000), sn::value_error);
  CHECK_THROWS_AS(axpy()({.grid = 1, .block = 32}, 1.0f, wrong, y, 1000), sn::dtype_error);
  CHECK_THROWS_AS(axpy()({.grid = 1, .block = 32}, 1.0f, x, y), sn::value_error);
  CHECK_THROWS_AS(axpy()({.grid = 1, .block = 32}, 1.0f, x.to_device(sn::cpu), y, 1000), sn::device_error);
  const sn::raw_module m(raw_test::types);
  const ndarray i = sn::zeros({128}, sn::int64);
  const auto text = message_of<sn::value_error>([&] { m.get("bounded")({.grid = 1, .block = 128}, true, i); });
  CHECK(text.find("[bounded] block {128, 1, 1} has 128 threads; at most 64 may run this kernel") == 0);
  const auto missing = message_of<sn::value_error>([&] { m.get("nothing")({.grid = 1, .block = 1}); });
  CHECK(missing.find("[nothing] the module has no kernel of this name; kernels: ") == 0);
  const auto broken = message_of<sn::compile_error>([&] {
    sn::raw_kernel("extern \"C\" __global__ void k(float* x) {\n  x[0] = wrong;\n}", "k")({.grid = 1, .block = 1}, x);
  });
  CHECK(broken.find("[k] NVRTC failed") == 0);
  CHECK(broken.find("kernel.cu(2): error") != std::string::npos);
  CHECK(same(y, ramp(1000) * 2.0));
  run_axpy(1.0f, x, y, 1000);
  CHECK(same(y, ramp(1000) * 3.0));
}

TEST_CASE("raw kernel on a GPU: several threads launch one kernel") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = ramp(5000);
  std::vector<ndarray> results(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      try {
        ndarray y = sn::zeros({5000}, sn::float32);
        for (int k = 0; k <= t; ++k) run_axpy(2.0f, x, y, 5000);
        results[static_cast<std::size_t>(t)] = y;
      } catch (const sn::error&) {  // the array stays undefined, which fails below
      }
    });
  for (auto& t : threads) t.join();
  for (int t = 0; t < 4; ++t) {
    REQUIRE(results[static_cast<std::size_t>(t)].defined());
    CHECK(same(results[static_cast<std::size_t>(t)], x * (2.0 * (t + 1))));
  }
}

TEST_CASE("raw kernel on a GPU: one kernel on several devices") {
  if (gpu_test::no_gpu()) return;
  if (sn::device_count(sn::device_kind::cuda) < 2) {
    MESSAGE("left out: there is only one GPU");
    return;
  }
  const ndarray x0 = ramp(1000).to_device(sn::cuda(0)), y0 = (x0 * 2.0);
  const ndarray x1 = x0.to_device(sn::cuda(1)), y1 = y0.to_device(sn::cuda(1));
  run_axpy(1.0f, x0, y0, 1000);
  run_axpy(1.0f, x1, y1, 1000);
  CHECK(same(y0, x0 * 3.0));
  CHECK(y1.device() == sn::cuda(1));
  CHECK(same(y1.to_device(sn::cuda(0)), y0));
  const auto text = message_of<sn::device_error>([&] { run_axpy(1.0f, x0, y1, 1000); });
  CHECK(text == "[axpy] argument 2 is on cuda:0, argument 3 on cuda:1; move one with to_device");
  const sn::raw_module m(raw_test::variables);
  m.set_global("counter", 3, sn::cuda(0));
  m.set_global("counter", 4, sn::cuda(1));
  CHECK(m.get_global<int>("counter", sn::cuda(0))[0] == 3);
  CHECK(m.get_global<int>("counter", sn::cuda(1))[0] == 4);
}
