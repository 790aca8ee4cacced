// Generated CUDA kernels that store nothing but write through indices, run thread by thread on the CPU: what they wrote
// is looked at before the CPU backend writes the same.
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"

#ifdef SINTER_HAS_CUDA

#include <complex>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "sinter/sinter.hpp"
#include "emulated/observing.hpp"

using namespace sinter;
using namespace emulated;

namespace {

const char* written = nullptr;
std::size_t written_bytes = 0;
/// What lay there after each kernel, of either tier, that changed it and has no output of its own.
std::vector<bytes> after_kernels;

void observe_writes(const jit::launch& l) {
  if (!l.outputs.empty()) return;
  jit::cuda_variant v;
  cuda::classify(l, v);
  const bytes before(written, written + written_bytes);
  for (const bool baseline : {true, false}) {
    if (baseline && !jit::cuda_has_baseline(*l.code, v)) continue;
    const std::string kernel = l.code->label();
    CAPTURE(kernel);
    CAPTURE(baseline);
    std::memcpy(const_cast<char*>(written), before.data(), before.size());
    run_emulated(l, baseline ? jit::cuda_baseline_of(v) : v);
    if (bytes after(written, written + written_bytes); after != before) after_kernels.push_back(std::move(after));
  }
  std::memcpy(const_cast<char*>(written), before.data(), before.size());
}

/// `write` changes y, which lies in memory, in one kernel.
template <class T>
void check_writes(ndarray y, const std::function<void(ndarray&)>& write) {
  eval(y);
  written = reinterpret_cast<const char*>(y.data<T>());
  written_bytes = static_cast<std::size_t>(y.size()) * sizeof(T);
  const bytes before(written, written + written_bytes);
  after_kernels.clear();
  {
    const emulated::observing each(observe_writes);
    write(y);
    eval(y);
  }
  REQUIRE(reinterpret_cast<const char*>(y.data<T>()) == written);
  const bytes expected(written, written + written_bytes);
  CHECK(expected != before);
  REQUIRE_FALSE(after_kernels.empty());
  for (const bytes& got : after_kernels) CHECK(got == expected);
}

}  // namespace

TEST_CASE("emulated: kernels that only write through indices write what the CPU's do") {
  if (no_emulation()) return;
  const ndarray at = (arange(700, {.dtype = int64, .device = "cpu"}) * 3) % 1000;
  const ndarray x = numbers({700}, float64, 7), z = numbers({700}, complex64, 5);
  eval(at, x, z);
  const elementwise_kernel put("T x, int64 to", "raw T z", "z[to] = x * 2", "put_twice");
  check_writes<double>(numbers({25, 40}, float64, 3), [&](ndarray& y) { put(x, at, {.out = {y}}); });
  check_writes<double>(numbers({1000}, float64, 3), [&](ndarray& y) { put(sqrt(abs(x)) + 1, at, {.out = {y}}); });
  check_writes<std::complex<float>>(numbers({1000}, complex64, 3), [&](ndarray& y) { put(z, at, {.out = {y}}); });
  const elementwise_kernel count("int64 to", "raw int32 z", "atomic_add(z, to / 100, 1)", "count_by_hundreds");
  check_writes<std::int32_t>(numbers({10}, int32, 3), [&](ndarray& y) { count(at, {.out = {y}}); });
}

#endif
