// Generated CUDA kernels that store nothing but write through indices, run thread by thread on the CPU: what they wrote
// is looked at before the CPU backend writes the same.
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"

#ifdef SINTER_HAS_CUDA

#include <complex>
#include <cstring>
#include <functional>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace emulated;

namespace {

const char* written = nullptr;
std::size_t written_bytes = 0;
/// What lay there after each kernel, of either tier, that has no output of its own.
std::vector<bytes> after_kernels;

void observe_writes(const jit::launch& l) {
  if (!l.outputs.empty()) return;
  jit::cuda_variant v;
  cuda::classify(l, v);
  const bytes before(written, written + written_bytes);
  for (const bool baseline : {true, false}) {
    v.baseline = baseline;
    if (baseline && !jit::cuda_has_baseline(*l.code, v)) continue;
    std::memcpy(const_cast<char*>(written), before.data(), before.size());
    run_emulated(l, v);
    after_kernels.emplace_back(written, written + written_bytes);
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
  const cpu::launch_observer old = cpu::set_launch_observer(observe_writes);
  write(y);
  eval(y);
  cpu::set_launch_observer(old);
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
  const ndarray more = (arange(300, {.dtype = int64, .device = "cpu"}) * 7) % 20;
  eval(at, more);
  const ndarray x = numbers({700}, float32, 7), z = numbers({300, 13}, complex64, 5);
  eval(x, z);
  const elementwise_kernel put("T x, int64 to", "raw T z", "z[to] = x * 2", "put_twice");
  check_writes<double>(numbers({25, 40}, float64, 3), [&](ndarray& y) { put(x.astype(float64), at, {.out = {y}}); });
  check_writes<float>(numbers({1000}, float32, 3), [&](ndarray& y) { y(at) = x + 1000; });
  check_writes<std::complex<float>>(numbers({20, 13}, complex64, 3), [&](ndarray& y) { y(more) = z; });
  check_writes<std::int16_t>(numbers({20, 13}, int16, 3), [&](ndarray& y) { y(more, 4) = 9; });
}

#endif
