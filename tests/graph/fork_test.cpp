// GPUs do not survive fork: in a child every use is an error that says so, and the CPU works.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "sinter/sinter.hpp"
#include "support/simulated_gpu.hpp"

namespace sn = sinter;
using sn::ndarray;

namespace {

/// Whether f() throws a device_error that names fork.
template <class F>
bool is_refused(F&& f) {
  try {
    f();
  } catch (const sn::device_error& e) {
    return std::string(e.what()).find("fork") != std::string::npos;
  }
  return false;
}

/// The first check that fails; 0: none. Runs in a child, where doctest's own reports would come twice.
int check_in_child(const ndarray& leaf, ndarray pending, ndarray pinned, sn::stream& own, const sn::device& gpu) {
  if (!is_refused([&] { (void)leaf.to_vector<float>(); })) return 1;
  if (!is_refused([&] { sn::eval(pending); })) return 2;
  if (!is_refused([&] { (void)sn::sum(leaf + 1).item<float>(); })) return 3;
  if (!is_refused([&] { sn::eval(sn::zeros({4}, {.device = gpu})); })) return 4;
  if (!is_refused([&] { (void)leaf.to_device(sn::cpu); })) return 5;
  if (!is_refused([&] { sn::synchronize(gpu); })) return 6;
  if (!is_refused([&] { sn::set_default_device(gpu); })) return 7;
  if (!is_refused([&] { (void)sn::sum(leaf + 1).item<float>(); }))
    return 8;  // again, on a thread that has called it before
  if (sn::sum(sn::arange(1000, {.dtype = sn::float64, .device = sn::cpu})).item<double>() != 499500) return 9;
  if (!is_refused([&] { own.synchronize(); })) return 10;
  if (!is_refused([&] { (void)pinned.to_vector<float>(); })) return 11;
  if (!is_refused([&] { (void)pinned.host<float>(); })) return 12;
  if (!is_refused([&] { (void)sn::sum(pinned * 2).item<float>(); })) return 13;
  if (!is_refused([&] {
        pinned(sn::slice(0, 3)) = 1;
        sn::eval(pinned);
      }))
    return 14;
  if (!is_refused([&] { (void)pinned.data<float>(); })) return 15;
  pending = pinned = ndarray();  // arrays may go
  return 0;
}

}  // namespace

TEST_CASE("fork: an array of a GPU is refused in a child and says why, the CPU works, and the parent goes on") {
  const sn::device gpu = sim::first();
  const ndarray leaf = sn::arange(1000, {.dtype = sn::float32, .device = gpu});
  sn::eval(leaf);
  const ndarray pending = sn::sin(leaf);
  const ndarray pinned =
      sn::to_memory(sn::arange(1000, {.dtype = sn::float32, .device = sn::cpu}), sn::memory_kind::pinned);
  sn::eval(pinned);
  REQUIRE(pinned.memory_kind() == sn::memory_kind::pinned);
  sn::stream own({.device = gpu});
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    int failed = 99;
    try {
      failed = check_in_child(leaf, pending, pinned, own, gpu);
    } catch (...) {
    }
    ::_exit(failed);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(sn::sum(leaf).item<float>() == 499500);
  CHECK(sn::sum(pinned).item<float>() == 499500);
  CHECK(sn::sum(pending - sn::sin(leaf)).item<float>() == 0);
}
