// Kernels of the host of one tier, for tests that compare tiers.
#pragma once
#include "backends/cpu/kernels/hooks.hpp"

namespace sinter::test {

/// While it lives, kernels of the host are of one tier.
struct kernels_of {
  cpu::tier before = cpu::get_tier();
  explicit kernels_of(cpu::tier t) { cpu::set_tier(t); }
  ~kernels_of() { cpu::set_tier(before); }
  kernels_of(const kernels_of&) = delete;
  kernels_of& operator=(const kernels_of&) = delete;
};

}  // namespace sinter::test
