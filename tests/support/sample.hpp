// A GPU's compiler needs a twentieth of a second for each kernel, and some tests need tens of thousands of kernels.
// There they run a part of their cases, another one each day. SINTER_FUZZ_SEED (a number) chooses the part, so that a
// run can be repeated; SINTER_FUZZ_SAMPLE=1 takes all cases, =20 one in twenty.
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

/// One case in how many runs on the default device, where `on_gpu` do on a GPU.
inline int sample_step(int on_gpu) {
  const char* text = std::getenv("SINTER_FUZZ_SAMPLE");
  if (text && *text) return std::max(1, std::atoi(text));
  return default_device().kind == device_kind::cuda ? on_gpu : 1;
}

/// Which of the cases 0, 1, 2, ... belong to the sample.
class sample {
 public:
  explicit sample(int on_gpu) : step_(sample_step(on_gpu)), first_(sample_seed() % step_) {
    if (step_ > 1) MESSAGE("one case in " << step_ << ", SINTER_FUZZ_SEED=" << sample_seed());
  }
  int step() const noexcept { return step_; }
  bool takes(long long number) const noexcept { return number % step_ == first_; }
  /// The number among those that are taken.
  long long place(long long number) const noexcept { return number / step_; }

 private:
  int step_;
  long long first_;
};

}  // namespace sinter::test
