// Device time on a GPU: events, and the kernel that keeps the device busy until everything has been enqueued.
#ifdef SINTER_HAS_CUDA

#include <chrono>

#include "backends/cuda/timer.hpp"
#include "gpu/gpu.hpp"
#include "ops/base/access.hpp"

namespace sn = sinter;
using gpu_test::in_some_try;
using sn::ndarray;

namespace {

sn::runtime::backend& backend() { return sn::runtime::get_backend(sn::runtime::default_device()); }

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TEST_CASE("gpu: the kernel that holds a device compiles") {
  if (gpu_test::no_nvrtc()) return;
  using namespace sinter;  // sn::cuda would mean the device as well
  for (const int arch : {75, 90}) CHECK(jit::compile_cuda(cuda::hold_source(), {.arch = arch}).bytes.size() > 0);
}

// Of these measurements the GPU pass runs nothing beside: they are in the suite "alone".
TEST_CASE("gpu: a held device has not come to the beginning, and the hold does not count" *
          doctest::test_suite("alone")) {
  if (gpu_test::no_gpu()) return;
  const auto timer = backend().make_timer();
  timer->start(1e-6);  // loads the kernel
  timer->stop();
  (void)timer->seconds();
  CHECK(in_some_try([&] {
    backend().synchronize();
    const double begin = seconds_now();
    timer->start(50e-3);
    timer->stop();
    const bool held = timer->is_held();
    const double counted = timer->seconds();
    const double passed = seconds_now() - begin;
    CHECK(passed >= 45e-3);
    CHECK(counted >= 0);
    CHECK_FALSE(timer->is_held());
    return held && counted < 20e-3 && passed < 5;
  }));
}

TEST_CASE("gpu: without a hold the time begins at once" * doctest::test_suite("alone")) {
  if (gpu_test::no_gpu()) return;
  const auto timer = backend().make_timer();
  CHECK(in_some_try([&] {
    backend().synchronize();
    timer->start(0);
    timer->stop();
    return timer->seconds() < 20e-3;
  }));
}

TEST_CASE("gpu: the time of a short kernel holds no waiting for the host" * doctest::test_suite("alone")) {
  if (gpu_test::no_gpu()) return;
  const ndarray x = sn::ones(1024, sn::float32), y = sn::ones(1024, sn::float32);
  sn::eval(x, y);
  CHECK(in_some_try([&] {
    const auto r = sn::benchmark([&] { return x + y; }, {.repeat = 50});
    CHECK(r.on == sn::default_device());
    CHECK(r.device.median > 0);
    return !r.device_waited && r.device.median < 50e-6;
  }));
}

TEST_CASE("gpu: where f waits for the device, the result says that the device waited for the host, and f is not held" *
          doctest::test_suite("alone")) {
  if (gpu_test::no_gpu()) return;
  const ndarray x = sn::ones(1024, sn::float32);
  sn::eval(x);
  CHECK(in_some_try([&] {
    const auto r = sn::benchmark([&] { (void)sn::sum(x).item<float>(); }, {.repeat = 20});
    CHECK(r.device_waited);
    return r.host.median < 500e-6;  // a hold takes at most a millisecond, and would show here
  }));
}

TEST_CASE("gpu: device time of long work is the time that passes until it is done" * doctest::test_suite("alone")) {
  if (gpu_test::no_gpu()) return;
  const ndarray x = sn::ones(1 << 25, sn::float32);
  sn::eval(x);
  const auto work = [&] {
    ndarray y = x;
    for (int k = 0; k < 40; ++k) {
      y = sn::cos(y);
      sn::eval(y);  // each its own pass over 128 MB
    }
    return y;
  };
  CHECK(in_some_try([&] {
    const auto enqueued = sn::benchmark(work, {.repeat = 5});
    const auto waited = sn::benchmark(
        [&] {
          const ndarray y = work();
          sn::synchronize();
        },
        {.repeat = 5});
    return enqueued.host.median < enqueued.device.median && enqueued.device.median > 0.5 * waited.host.median &&
           enqueued.device.median < 1.5 * waited.host.median;
  }));
}

TEST_CASE("gpu: an array of another device than the one that is timed is an error") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = sn::ones(8, {.device = sn::cpu});
  sn::eval(x);
  CHECK_THROWS_AS(sn::benchmark([&] { return x + 1.0; }, {.device = sn::default_device()}), sn::device_error);
  CHECK_THROWS_AS(sn::benchmark([&] { return x + 1.0; }, {.warmup = 0}), sn::device_error);
  CHECK(sn::benchmark([&] { return x + 1.0; }, {.warmup = 1}).on == sn::cpu);
}

#endif
