// benchmark: what is called how often, what belongs to a run and what does not, the figures, and the printed line.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "ops/base/access.hpp"
#include "ops/tuning/format_time.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using sn::ndarray;

namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

int calls_of_function = 0;
void plain_function() { ++calls_of_function; }

std::uint64_t launches() { return sn::runtime::get_backend(sn::runtime::default_device()).statistics().launches; }

std::string text(const sn::benchmark_result& r) {
  std::ostringstream out;
  out << r;
  return out.str();
}

ndarray pending(int n = 100) { return sn::arange(n, {.dtype = sn::float32}) * 2.0 + 1.0; }

}  // namespace

TEST_CASE("benchmark: median, quartiles and range are NumPy's") {
  const sn::timing even = sn::summarize({4, 1, 3, 2});
  CHECK(even.median == 2.5);
  CHECK(even.min == 1);
  CHECK(even.max == 4);
  CHECK(even.iqr == doctest::Approx(3.25 - 1.75).epsilon(1e-12));
  CHECK(even.spread() == doctest::Approx(0.6).epsilon(1e-12));
  CHECK(even.samples == std::vector<double>{4, 1, 3, 2});
  const sn::timing odd = sn::summarize({9, 1, 5});
  CHECK(odd.median == 5);
  CHECK(odd.iqr == 4);  // 3 to 7
  const sn::timing one = sn::summarize({7});
  CHECK(one.median == 7);
  CHECK(one.iqr == 0);
  CHECK(sn::summarize({0, 0}).spread() == 0);
  CHECK_THROWS_AS(sn::summarize({}), sn::value_error);
}

TEST_CASE("benchmark: f is called warmup + repeat times, setup before each, and only repeat runs count") {
  std::string order;
  const auto r = sn::benchmark([&] { order += 'f'; }, {.repeat = 2, .warmup = 1, .setup = [&] { order += 's'; }});
  CHECK(order == "sfsfsf");
  CHECK(r.host.samples.size() == 2);
  CHECK(r.device.samples.size() == 2);
  int calls = 0;
  const auto d = sn::benchmark([&] { ++calls; });
  CHECK(calls == 23);
  CHECK(d.host.samples.size() == 20);
  calls = 0;
  (void)sn::benchmark([&] { ++calls; }, {.repeat = 1, .warmup = 0});
  CHECK(calls == 1);
}

TEST_CASE("benchmark: anything that can be called without arguments is taken, named or not") {
  calls_of_function = 0;
  (void)sn::benchmark(plain_function, {.repeat = 2, .warmup = 0});
  (void)sn::benchmark(&plain_function, {.repeat = 2, .warmup = 0});
  CHECK(calls_of_function == 4);
  int count = 0;
  auto counting = [n = 0, &count]() mutable { count = ++n; };
  (void)sn::benchmark(counting, {.repeat = 3, .warmup = 0});
  CHECK(count == 3);
  const auto constant = [&count] { return ++count; };
  (void)sn::benchmark(constant, {.repeat = 3, .warmup = 0});
  CHECK(count == 6);
}

TEST_CASE("benchmark: arrays that f returns are evaluated in each run, alone or gathered; others are not") {
  const ndarray x = sn::array({1.0, 2.0, 3.0});
  const sn::benchmark_kw kw{.repeat = 4, .warmup = 1};
  const auto launched = [&](auto f) {
    const std::uint64_t before = launches();
    (void)sn::benchmark(f, kw);
    return launches() - before;
  };
  CHECK(launched([&] { return x + 1.0; }) == 5);
  CHECK(launched([&] { return std::pair(x + 1.0, sn::sum(x)); }) == 10);
  CHECK(launched([&] { return std::tuple(1, x + 1.0, std::string("text")); }) == 5);
  CHECK(launched([&] { return std::vector<ndarray>{x + 1.0, sn::sum(x)}; }) == 10);
  CHECK(launched([&] { return std::array<ndarray, 1>{x + 1.0}; }) == 5);
  CHECK(launched([&] { return (x + 1.0)(0); }) == 5);
  CHECK(launched([&] { (void)(x + 1.0); }) == 0);
  CHECK(launched([&] { return x; }) == 0);
  CHECK(launched([&] { return std::vector<double>(100); }) == 0);
  CHECK(launched([&] { return std::vector<ndarray>{}; }) == 0);
}

TEST_CASE("benchmark: results live until the run has been timed, and no longer") {
  const sn::device d = sn::default_device();
  const ndarray x = sn::zeros(1 << 16, sn::float32) + 1.0;
  sn::eval(x);
  const std::size_t before = sn::memory(d).used;
  std::vector<std::size_t> used;
  (void)sn::benchmark([&] { return x * 2.0; },
                      {.repeat = 3, .warmup = 0, .setup = [&] { used.push_back(sn::memory(d).used); }});
  CHECK(used == std::vector<std::size_t>(3, before));
  CHECK(sn::memory(d).used == before);
}

TEST_CASE("benchmark: host and device time hold f and not setup") {
  const auto slow = sn::benchmark([] { sleep_ms(20); }, {.repeat = 3, .warmup = 0, .device = sn::cpu});
  for (const double s : slow.host.samples) CHECK(s >= 0.020);
  for (const double s : slow.device.samples) CHECK(s >= 0.020);
  CHECK(slow.device.min >= slow.host.min);
  CHECK(slow.on == sn::cpu);
  CHECK_FALSE(slow.device_waited);
  const auto quick = sn::benchmark([] {}, {.repeat = 5, .warmup = 0, .setup = [] { sleep_ms(50); }});
  CHECK(quick.host.median < 0.025);
  CHECK(quick.device.median < 0.025);
}

TEST_CASE("benchmark: samples are in the order of the runs") {
  int run = 0;
  const auto r = sn::benchmark([&] { sleep_ms(++run == 2 ? 40 : 0); }, {.repeat = 3, .warmup = 0});
  CHECK(r.host.samples[1] >= 0.040);
  CHECK(r.host.max == r.host.samples[1]);
}

TEST_CASE("benchmark: work on the CPU is timed on the CPU, whatever the default device is") {
  const ndarray x = sn::ones(1000, {.dtype = sn::float32, .device = sn::cpu});
  sn::eval(x);
  CHECK(sn::benchmark([&] { return x + 1.0; }, {.repeat = 2, .warmup = 1}).on == sn::cpu);
  CHECK(sn::benchmark([&] { return x + 1.0; }, {.repeat = 2, .warmup = 0, .device = sn::cpu}).on == sn::cpu);
  CHECK(sn::benchmark([] {}, {.repeat = 2}).on == sn::default_device());
}

TEST_CASE("benchmark: wrong counts are value errors, a missing device a device error, and f is not called") {
  bool called = false;
  const auto f = [&] { called = true; };
  CHECK_THROWS_WITH_AS(sn::benchmark(f, {.repeat = 0}), "[benchmark] repeat is 0; at least one run must count",
                       sn::value_error);
  CHECK_THROWS_AS(sn::benchmark(f, {.repeat = -3}), sn::value_error);
  CHECK_THROWS_AS(sn::benchmark(f, {.warmup = -1}), sn::value_error);
  CHECK_THROWS_AS(sn::benchmark(f, {.device = sn::cuda(1000)}), sn::device_error);
  CHECK_FALSE(called);
}

TEST_CASE("benchmark: what f throws comes out, and the next benchmark works") {
  int calls = 0;
  CHECK_THROWS_AS(sn::benchmark([&] {
                    if (++calls == 3) throw std::runtime_error("stop");
                  }),
                  std::runtime_error);
  CHECK(calls == 3);
  CHECK_THROWS_AS(sn::benchmark([] { return ndarray(); }), sn::value_error);
  CHECK(sn::benchmark([] { return pending(); }, {.repeat = 1}).host.median > 0);
}

TEST_CASE("benchmark: data errors of the kernels that ran are reported") {
  const ndarray x = sn::array({1.0, 2.0}), wrong = sn::array({5});
  CHECK_THROWS_AS(sn::benchmark([&] { return sn::take(x, wrong); }, {.repeat = 2}), sn::index_error);
  CHECK_NOTHROW(sn::synchronize());
}

TEST_CASE("benchmark: one line with units") {
  sn::benchmark_result r;
  r.name = "axpy";
  r.on = sn::cpu;
  r.host = sn::summarize({4e-6, 4.1e-6, 4.2e-6});
  r.device = sn::summarize({1.5e-3, 1.5e-3, 1.8e-3});
  CHECK(
      text(r) ==
      "axpy: device 1.500 ms (1.500 ms to 1.800 ms, spread 10.0%), host 4.100 us (4.000 us to 4.200 us, spread 2.4%), "
      "3 runs on cpu");
  r.name.clear();
  r.device_waited = true;
  CHECK(text(r).find("device 1.500 ms (1.500 ms to 1.800 ms, spread 10.0%) with waiting for the host, host") == 0);
}

TEST_CASE("durations, rates and clocks as text") {
  using namespace sn::ops;
  CHECK(format_seconds(0) == "0.000 ns");
  CHECK(format_seconds(12.345e-9) == "12.35 ns");
  CHECK(format_seconds(999.96e-9) == "1.000 us");
  CHECK(format_seconds(123.46e-6) == "123.5 us");
  CHECK(format_seconds(0.25) == "250.0 ms");
  CHECK(format_seconds(2.5) == "2.500 s");
  CHECK(format_seconds(7200) == "7200 s");
  CHECK(format_clock(0) == "0:00");
  CHECK(format_clock(59.2) == "1:00");
  CHECK(format_clock(3723) == "1:02:03");
  CHECK(format_clock(2 * 86400 + 3 * 3600 + 65) == "2d 03:01:05");
  CHECK(format_clock(-1) == "?");
  CHECK(format_rate(0.4) == "2.5 s each");
  CHECK(format_rate(3.2) == "3.20/s");
  CHECK(format_rate(812) == "812/s");
  CHECK(format_rate(1.25e6) == "1.25M/s");
  CHECK(format_rate(999.7) == "1.00k/s");
  CHECK(format_rate(0) == "?/s");
}
