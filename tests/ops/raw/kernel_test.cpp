// Launches of raw kernels, as far as they need no GPU: what is checked, what the parameters receive, which version of
// an array a write changes.
#include <doctest/doctest.h>

#include <complex>
#include <string>
#include <vector>

#include "graph/run/array.hpp"
#include "support/raw_fake.hpp"

using namespace raw_test;
using namespace sn::idx;

namespace {

constexpr const char* axpy_source =
    "extern \"C\" __global__ void axpy(float a, const float* x, float* y, int n) { /* the fake one runs */ }";

struct with_axpy : fake {
  with_axpy() {
    add("axpy", [this](const runtime::raw_launch& how, void** p) {
      ++launches;
      last = how;
      const auto a = value<float>(p, 0);
      const auto* x = value<const float*>(p, 1);
      auto* y = value<float*>(p, 2);
      for (int i = 0; i < value<int>(p, 3); ++i) y[i] += a * x[i];
    });
  }
  sn::raw_kernel kernel = module_of(axpy_source).get("axpy");
  int launches = 0;
  runtime::raw_launch last;
};

runtime::counters cpu_counters() { return runtime::get_backend(runtime::device_id{}).statistics(); }

}  // namespace

TEST_CASE("raw kernel: arguments arrive as the kernel declares them, and the launch as it was asked for") {
  with_axpy f;
  const ndarray x = floats({1, 2, 3}), y = floats({10, 20, 30});
  f.kernel({.grid = {7, 8}, .block = {32, 4}, .shared_mem = 1024, .cooperative = true, .cluster = {7, 2}}, 2.0f, x, y,
           3);
  CHECK(values(y) == list{12, 24, 36});
  CHECK(values(x) == list{1, 2, 3});
  CHECK(f.last.grid.x == 7);
  CHECK(f.last.grid.y == 8);
  CHECK(f.last.grid.z == 1);
  CHECK(f.last.block.x == 32);
  CHECK(f.last.block.y == 4);
  CHECK(f.last.cluster.x == 7);
  CHECK(f.last.cluster.y == 2);
  CHECK(f.last.cluster.z == 1);
  CHECK(f.last.shared_bytes == 1024);
  CHECK(f.last.cooperative);
}

TEST_CASE("raw kernel: what was recorded before a write keeps the old elements, aliases see the new ones") {
  with_axpy f;
  ndarray x = floats({1, 1, 1, 1}), y = floats({1, 2, 3, 4});
  const ndarray alias = y(slice(1, 3)), rows = sn::reshape(y, {2, 2});
  const ndarray pending = y * 10.0, copy = y.copy();
  f.kernel({.grid = 1, .block = 32}, 1.0f, x, y, 4);
  CHECK(values(y) == list{2, 3, 4, 5});
  CHECK(values(alias) == list{3, 4});
  CHECK(values(rows(1)) == list{4, 5});
  CHECK(values(pending) == list{10, 20, 30, 40});
  CHECK(values(copy) == list{1, 2, 3, 4});
  y += 1;  // lazy work goes on
  CHECK(values(y) == list{3, 4, 5, 6});
  f.kernel({.grid = 1, .block = 32}, 1.0f, x, rows(0), 2);  // through a view
  CHECK(values(y) == list{4, 5, 5, 6});
}

TEST_CASE("raw kernel: a write copies nothing where nothing else needs the elements") {
  with_axpy f;
  ndarray x = ramp(1000), y = ramp(1000);
  sn::eval(x, y);
  { const ndarray forgotten = y * 2.0; }
  const ndarray reader = x * 3.0;  // of the array that is only read
  const auto before = cpu_counters();
  f.kernel({.grid = 1, .block = 32}, 1.0f, x, y, 1000);
  CHECK(cpu_counters().allocations == before.allocations);
  CHECK(cpu_counters().launches == before.launches);
  const ndarray pending = y * 2.0;
  f.kernel({.grid = 1, .block = 32}, 1.0f, x, y, 1000);
  CHECK(cpu_counters().allocations == before.allocations + 1);
  CHECK(values(pending)[999] == 2 * 1998);
  CHECK(values(y)[999] == 2997);
  CHECK(values(reader)[999] == 2997);
}

TEST_CASE("raw kernel: an array that has not been written is not filled first") {
  with_axpy f;
  const ndarray x = ramp(64), fresh = sn::empty({64}, {.dtype = sn::float32, .device = sn::cpu});
  sn::eval(x);
  const auto before = cpu_counters();
  f.kernel({.grid = 1, .block = 32}, 1.0f, x, fresh, 0);
  CHECK(cpu_counters().launches == before.launches);
  CHECK(cpu_counters().allocations == before.allocations + 1);
  const ndarray zeros = sn::zeros({64}, {.dtype = sn::float32, .device = sn::cpu});
  f.kernel({.grid = 1, .block = 32}, 1.0f, x, zeros, 64);
  CHECK(values(zeros)[63] == 63);
  const ndarray unread = sn::empty({3}, {.dtype = sn::float32, .device = sn::cpu});
  CHECK(values(unread + 1.0) == list{1, 1, 1});
}

TEST_CASE("raw kernel: pending arguments are evaluated together, in one plan") {
  with_axpy f;
  const ndarray x = ramp(8), y = ramp(8);
  sn::eval(x, y);
  const ndarray p = x * 2.0 + y, q = x * 2.0 - y;
  const auto before = cpu_counters();
  f.kernel({.grid = 1, .block = 32}, 1.0f, p, q, 8);
  CHECK(cpu_counters().launches == before.launches + 1);
  CHECK(values(q) == list{0, 4, 8, 12, 16, 20, 24, 28});
  CHECK(values(p) == list{0, 3, 6, 9, 12, 15, 18, 21});
  f.kernel({.grid = 1, .block = 32}, 1.0f, sn::in(x + 1.0), q, 8);
  CHECK(values(q) == list{1, 6, 11, 16, 21, 26, 31, 36});
}

TEST_CASE("raw kernel: a reader's copy of a strided view, and the part of it alone") {
  with_axpy f;
  const ndarray m = sn::reshape(ramp(12), {3, 4});
  ndarray y = sn::zeros({3}, {.dtype = sn::float32, .device = sn::cpu});
  f.kernel({.grid = 1, .block = 32}, 1.0f, sn::in(m(_, 1)), y, 3);
  CHECK(values(y) == list{1, 5, 9});
  f.kernel({.grid = 1, .block = 32}, 1.0f, m(_, 2), y, 3);  // const in the declaration: copied as well
  CHECK(values(y) == list{3, 11, 19});
  f.kernel({.grid = 1, .block = 32}, 1.0f, sn::in(sn::broadcast_to(floats({1}), {3})), y, 3);
  CHECK(values(y) == list{4, 12, 20});
  const auto text = message_of<sn::value_error>([&] { f.kernel({.grid = 1, .block = 32}, 1.0f, y, m(_, 1), 3); });
  CHECK(text.find("[axpy] argument 3, which the kernel may write, is not C-contiguous: pass sn::strided(x)") == 0);
  CHECK(text.find("shape (3,), strides (4,)") != std::string::npos);
  const auto readonly = message_of<sn::value_error>(
      [&] { f.kernel({.grid = 1, .block = 32}, 1.0f, y, sn::broadcast_to(floats({1}), {3}), 3); });
  CHECK(readonly.find("read-only") != std::string::npos);
}

TEST_CASE("raw kernel: one array for reading and writing") {
  with_axpy f;
  ndarray y = floats({1, 2, 3});
  f.kernel({.grid = 1, .block = 32}, 1.0f, y, y, 3);  // its own memory, in place
  CHECK(values(y) == list{2, 4, 6});
  const ndarray z = floats({1, 2, 3, 4});
  f.kernel({.grid = 1, .block = 32}, 1.0f, z(slice(0, 3)), z(slice(1, 4)), 3);  // sees what it writes
  CHECK(values(z) == list{1, 3, 6, 10});
  const ndarray w = floats({1, 2, 3, 4});
  f.kernel({.grid = 1, .block = 32}, 1.0f, sn::in(w(slice(0, 3))), w(slice(1, 4)), 3);  // reads what it was
  CHECK(values(w) == list{1, 3, 5, 7});
  const ndarray pinned = floats({1, 2, 3, 4});
  const float* address = pinned.data<float>();
  f.kernel({.grid = 1, .block = 32}, 1.0f, sn::in(pinned(slice(0, 3))), pinned(slice(1, 4)), 3);
  CHECK(values(pinned) == list{1, 3, 5, 7});
  CHECK(address[3] == 7);
}

TEST_CASE("raw kernel: strided arrays carry shape and strides in elements, and are written in place") {
  struct two {
    float* data;
    long long shape[2], strides[2];
  };
  fake f;
  f.add("_Z3addN6sinter7stridedIKfLi2EEENS0_IfLi2EEEf", [](const runtime::raw_launch&, void** p) {
    const auto a = value<two>(p, 0), out = value<two>(p, 1);
    for (long long i = 0; i < out.shape[0]; ++i)
      for (long long j = 0; j < out.shape[1]; ++j)
        out.data[i * out.strides[0] + j * out.strides[1]] =
            a.data[i * a.strides[0] + j * a.strides[1]] + value<float>(p, 2);
  });
  const sn::raw_kernel add = module_of("").get("add");
  const ndarray m = sn::reshape(ramp(6), {2, 3});
  ndarray out = sn::zeros({4, 6}, {.dtype = sn::float32, .device = sn::cpu});
  const ndarray before = out + 0.0;
  add({.grid = 1, .block = 1}, sn::strided(sn::in(m.T())), sn::strided(out["::-1, 1::2"](slice(0, 3), slice(0, 2))),
      100.0f);
  CHECK(values(out(3)) == list{0, 100, 0, 103, 0, 0});
  CHECK(values(out(2)) == list{0, 101, 0, 104, 0, 0});
  CHECK(values(out(1)) == list{0, 102, 0, 105, 0, 0});
  CHECK(values(sn::sum(before)) == list{0});
  const ndarray row = floats({1, 2});
  add({.grid = 1, .block = 1}, sn::in(sn::strided(sn::broadcast_to(row, {3, 2}))),
      sn::strided(out(slice(0, 3), slice(0, 2))), 1.0f);
  CHECK(values(out(2)) == list{2, 3, 0, 104, 0, 0});
  add({.grid = 1, .block = 1}, sn::strided(m), sn::strided(out(slice(0, 2), slice(0, 3))), 1.0f);  // const parameter
  CHECK(values(m) == list{0, 1, 2, 3, 4, 5});
  CHECK(values(out(1)) == list{4, 5, 6, 105, 0, 0});

  const auto dtype_message = [&](auto&&... a) {
    return message_of<sn::dtype_error>([&] { add({.grid = 1, .block = 1}, a...); });
  };
  CHECK(dtype_message(m, sn::strided(out), 1.0f).find("pass sn::strided(x)") != std::string::npos);
  CHECK(dtype_message(sn::strided(m(0)), sn::strided(out), 1.0f)
            .find("argument 1 is sn::strided of float32 and rank 1, but the parameter is sinter::strided<const float, "
                  "2>") != std::string::npos);
  CHECK(dtype_message(sn::strided(m), sn::strided(sn::in(out)), 1.0f).find("may write") != std::string::npos);
  CHECK(dtype_message(sn::strided(m.astype(sn::float64)), sn::strided(out), 1.0f).find("of float64 and rank 2") !=
        std::string::npos);
}

TEST_CASE("raw kernel: numbers and structs arrive in their own types") {
  struct params {
    double a;
    int n;
  };
  fake f;
  bool ran = false;
  f.add("k", [&](const runtime::raw_launch&, void** p) {
    ran = true;
    CHECK(value<bool>(p, 0) == true);
    CHECK(value<signed char>(p, 1) == -3);
    CHECK(value<unsigned long long>(p, 2) == ~0ull);
    CHECK(value<std::complex<float>>(p, 3) == std::complex<float>(1, 2));
    CHECK(value<sn::half>(p, 4) == sn::half(1.5f));
    CHECK(value<params>(p, 5).a == 2.5);
    CHECK(value<params>(p, 5).n == 7);
    CHECK(value<void*>(p, 6) == nullptr);
    CHECK(value<sn::bfloat>(p, 7) == sn::bfloat(2.f));
  });
  const sn::raw_kernel k =
      module_of(
          "extern \"C\" __global__ void k(bool, int8_t, size_t, float2 z, __half h, params p, void* none, "
          "__nv_bfloat16 b) {}")
          .get("k");
  k({.grid = 1, .block = 1}, true, static_cast<signed char>(-3), ~0ull, std::complex<float>(1, 2), sn::half(1.5f),
    params{2.5, 7}, nullptr, sn::bfloat(2.f));
  CHECK(ran);
}

TEST_CASE("raw kernel: wrong arguments are refused with the kernel's parameters") {
  with_axpy f;
  const ndarray x = floats({1, 2, 3}), y = floats({1, 2, 3}), d = x.astype(sn::float64);
  const sn::launch how{.grid = 1, .block = 32};
  const std::string parameters = "; parameters: (float a, const float* x, float* y, int n)";
  const auto dtype_message = [&](auto&&... a) { return message_of<sn::dtype_error>([&] { f.kernel(how, a...); }); };
  const auto value_message = [&](auto&&... a) { return message_of<sn::value_error>([&] { f.kernel(how, a...); }); };
  CHECK(value_message(1.0f, x, y) == "[axpy] 3 arguments, but the kernel has 4 parameters" + parameters);
  CHECK(value_message(1.0f) == "[axpy] 1 argument, but the kernel has 4 parameters" + parameters);
  CHECK(dtype_message(1.0f, d, y, 3) ==
        "[axpy] argument 2 is an array of float64, but the parameter is const float* x" + parameters);
  CHECK(dtype_message(1.0, x, y, 3) == "[axpy] argument 1 is float64, but the parameter is float a" + parameters);
  CHECK(dtype_message(1.0f, x, y, 3L) == "[axpy] argument 4 is int64, but the parameter is int n" + parameters);
  CHECK(dtype_message(x, x, y, 3) ==
        "[axpy] argument 1 is an array of float32, but the parameter is float a" + parameters);
  CHECK(dtype_message(1.0f, 2.0f, y, 3).find("argument 2 is float32, but the parameter is const float* x") !=
        std::string::npos);
  CHECK(dtype_message(1.0f, sn::strided(x), y, 3).find("argument 2 is sn::strided of float32 and rank 1") !=
        std::string::npos);
  CHECK(dtype_message(1.0f, x, sn::in(y), 3).find("through which a kernel may write (declare it const)") !=
        std::string::npos);
  double* wrong = nullptr;
  const float* constant = nullptr;
  CHECK(dtype_message(1.0f, wrong, y, 3).find("argument 2 is a pointer to float64") != std::string::npos);
  CHECK(dtype_message(1.0f, constant, constant, 3).find("argument 3 is a pointer to const to float32") !=
        std::string::npos);
  CHECK(value_message(1.0f, ndarray(), y, 3).find("[axpy] the array is undefined") == 0);
  CHECK(f.launches == 0);
  f.kernel(how, 1.0f, y.data<float>(), y, 3);  // an address, taken as it is
  CHECK(values(y) == list{2, 4, 6});
}

TEST_CASE("raw kernel: where only the device has the parameters, their number and sizes are checked") {
  fake f;
  int ran = 0;
  f.add("k", [&](const runtime::raw_launch&, void**) { ++ran; });
  f.kernels["k"].bytes = {{8, 4, 40}};
  const sn::raw_kernel k = module_of("__global__ void k(PARAMETERS) {}").get("k");
  const sn::launch how{.grid = 1, .block = 1};
  const ndarray x = floats({{1, 2}, {3, 4}});
  k(how, x, 1, sn::strided(x));
  CHECK(ran == 1);
  CHECK(message_of<sn::value_error>([&] { k(how, x, 1); }) == "[k] 2 arguments, but the kernel has 3 parameters");
  CHECK(message_of<sn::dtype_error>([&] { k(how, x, 1.0, sn::strided(x)); }) ==
        "[k] argument 2 is float64 (8 bytes), but the parameter has 4 bytes");
  CHECK(message_of<sn::dtype_error>([&] { k(how, x, 1, sn::strided(x(0))); }).find("(24 bytes)") != std::string::npos);
  // The device's count is right where the text misleads.
  f.kernels["m"] = f.kernels["k"];
  module_of("__global__ void m(int n, MORE rest) {}").get("m")(how, x, 1, sn::strided(x));
  CHECK(ran == 2);
}

TEST_CASE("raw kernel: launches beyond the limits are refused, and empty grids run nothing") {
  with_axpy f;
  const ndarray x = floats({1}), y = floats({1});
  const auto message = [&](const sn::launch& how) {
    return message_of<sn::value_error>([&] { f.kernel(how, 1.0f, x, y, 1); });
  };
  CHECK(
      message({.grid = 1, .block = {32, 33}}) ==
      "[axpy] block {32, 33, 1} has 1056 threads; at most 1024 may run this kernel, which uses 40 registers a thread");
  CHECK(message({.grid = 1, .block = {1, 1, 65}}) ==
        "[axpy] block {1, 1, 65} exceeds the device's limit of {1024, 1024, 64}");
  CHECK(message({.grid = 1, .block = 0}) == "[axpy] block {0, 1, 1} has no threads");
  CHECK(message({.grid = 1, .block = -1}) == "[axpy] block {-1, 1, 1} has no threads");
  CHECK(message({.grid = {1, 65536}, .block = 1}).find("[axpy] grid {1, 65536, 1} exceeds the device's limit") == 0);
  CHECK(message({.grid = std::int64_t{1} << 32, .block = 1}).find("exceeds the device's limit") != std::string::npos);
  CHECK(message({.grid = ~0ull, .block = 1}).find("exceeds the device's limit") != std::string::npos);
  CHECK(message({.grid = -1, .block = 1}) == "[axpy] grid {-1, 1, 1} has a negative extent");
  CHECK(
      message({.grid = 1, .block = 1, .shared_mem = 300000}) ==
      "[axpy] 300000 bytes of dynamic shared memory; at most 204800 are left beside the 128 that the kernel declares");
  CHECK(message({.grid = 3, .block = 1, .cluster = 2}) == "[axpy] cluster {2, 1, 1} does not divide grid {3, 1, 1}");
  CHECK(message({.grid = 4, .block = 1, .cluster = {2, 0}}) == "[axpy] cluster {2, 0, 1} has no blocks");
  f.kernels["axpy"].figures.clusters = f.kernels["axpy"].figures.cooperative = false;
  CHECK(message({.grid = 4, .block = 1, .cluster = 2}).find("no thread block clusters") != std::string::npos);
  CHECK(message({.grid = 4, .block = 1, .cooperative = true}).find("no cooperative launches") != std::string::npos);
  CHECK(f.launches == 0);
  f.kernel({.grid = 0, .block = 32}, 1.0f, x, y, 1);
  f.kernel({.grid = {1, 0}, .block = 32}, 1.0f, x, y, 1);
  CHECK(f.launches == 0);
  CHECK(f.kernel.occupancy({32, 8}) == 8);
  CHECK(f.kernel.occupancy(256, 1024) == 7);
  CHECK(f.kernel.occupancy(2048) == 0);
  CHECK(f.kernel.occupancy(32, 1 << 20) == 0);
  CHECK_THROWS_AS(f.kernel.occupancy(0), sn::value_error);
  CHECK(f.kernel.attributes().registers == 40);
  CHECK(f.kernel.attributes().max_dynamic_shared_bytes == 204800);
  CHECK(f.kernel.name() == "axpy");
}

TEST_CASE("raw kernel: a launch that fails leaves the arrays as they were") {
  fake f;
  f.add("k", [](const runtime::raw_launch&, void**) { throw sn::device_error("[k] refused"); });
  const sn::raw_kernel k = module_of("__global__ void k(float* x) {}").get("k");
  ndarray x = floats({1, 2, 3});
  const ndarray pending = x * 2.0, sum = x + pending;
  CHECK_THROWS_AS(k({.grid = 1, .block = 1}, sum), sn::device_error);
  CHECK_THROWS_AS(k({.grid = 1, .block = 1}, x), sn::device_error);
  CHECK(values(x) == list{1, 2, 3});
  CHECK(values(sum) == list{3, 6, 9});
  x += 1;
  CHECK(values(x) == list{2, 3, 4});
}

TEST_CASE("raw kernel: vectors need addresses that are aligned to them") {
  fake f;
  f.add("k", [](const runtime::raw_launch&, void**) {});
  const sn::raw_kernel k = module_of("__global__ void k(const float4* x) {}").get("k");
  const ndarray x = ramp(16);
  k({.grid = 1, .block = 1}, x);
  k({.grid = 1, .block = 1}, x(slice(4, 8)));
  const auto text = message_of<sn::value_error>([&] { k({.grid = 1, .block = 1}, x(slice(1, 5))); });
  CHECK(text.find("[k] argument 1 begins at an address that const float4* x cannot point to") == 0);
}

TEST_CASE("raw kernel: undefined kernels and modules say so") {
  const sn::raw_kernel k;
  const sn::raw_module m;
  CHECK_FALSE(k.defined());
  CHECK_THROWS_AS(k({.grid = 1, .block = 1}), sn::value_error);
  CHECK_THROWS_AS(k.name(), sn::value_error);
  CHECK_THROWS_AS(k.attributes(), sn::value_error);
  CHECK_THROWS_AS(m.get("k"), sn::value_error);
  CHECK_THROWS_AS(m.set_global("x", 1), sn::value_error);
}

TEST_CASE("raw kernel: without a GPU, or with arrays elsewhere, the error says what is missing") {
  const sn::raw_kernel k("extern \"C\" __global__ void k(float* x) {}", "k");
  const auto text = message_of<sn::device_error>([&] { k({.grid = 1, .block = 1}, floats({1})); });
  CHECK(text.find("[k] raw kernels need a CUDA device: ") == 0);
  const bool gpu = sn::device_count(sn::device_kind::cuda) > 0;
  CHECK((text.find("argument 1 is on cpu") != std::string::npos) == gpu);
  if (gpu) return;
  CHECK(text.size() > std::string("[k] raw kernels need a CUDA device: ").size() + 10);
  CHECK_THROWS_AS(k.attributes(), sn::device_error);
  CHECK_THROWS_AS(k.occupancy(32), sn::device_error);
  CHECK_THROWS_AS(k.attributes("cuda:0"), sn::device_error);
  CHECK_THROWS_AS(sn::raw_module("").get_global<int>("x"), sn::device_error);
  CHECK_THROWS_AS(sn::raw_module("").set_global("x", floats({1})), sn::device_error);
}
