// What tests of compiled loops share.
#pragma once
#include "backends/cpu/kernels/hooks.hpp"
#include "sinter/sinter.hpp"

namespace sinter_test {

using namespace sinter;

/// While it lives, kernels are compiled.
struct compiled_kernels {
  cpu::tier before = cpu::get_tier();
  compiled_kernels() { cpu::set_tier(cpu::tier::compiled); }
  ~compiled_kernels() { cpu::set_tier(before); }
};

inline ndarray on_host(const ndarray& x) {
  ndarray y = x.to_device("cpu");
  eval(y);
  return y;
}

}  // namespace sinter_test
