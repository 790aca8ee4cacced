// A GPU's compiler needs a twentieth of a second per kernel, and some tests need tens of thousands of kernels. With a
// GPU they run a sample of their cases, which changes every day. SINTER_FUZZ_SEED (a number) selects the sample, so
// that a run can be repeated; SINTER_FUZZ_SAMPLE=1 takes all cases, =20 one in twenty.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "sinter/device.hpp"

namespace sinter::test {

inline long long sample_seed() {
  static const long long seed = [] {
    const char* text = std::getenv("SINTER_FUZZ_SEED");
    if (text && *text) return std::llabs(std::strtoll(text, nullptr, 10));
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<long long>(std::chrono::duration_cast<std::chrono::hours>(now).count() / 24);
  }();
  return seed;
}

/// The sampling interval on the default device: on a GPU one case in `on_gpu` runs.
inline int sample_step(int on_gpu) {
  const char* text = std::getenv("SINTER_FUZZ_SAMPLE");
  if (text && *text) return std::max(1, std::atoi(text));
  return default_device().kind == device_kind::cuda ? on_gpu : 1;
}

/// Membership of the cases 0, 1, 2, ... in the sample.
class sample {
 public:
  explicit sample(int on_gpu) : step_(sample_step(on_gpu)), first_(sample_seed() % step_) {
    if (step_ > 1) MESSAGE("one case in " << step_ << ", SINTER_FUZZ_SEED=" << sample_seed());
  }
  int step() const noexcept { return step_; }
  bool takes(long long number) const noexcept { return number % step_ == first_; }
  /// The index among the sampled cases.
  long long place(long long number) const noexcept { return number / step_; }

 private:
  int step_;
  long long first_;
};

}  // namespace sinter::test
