// An observer of the CPU's launches while a scope runs, whatever ends it.
#pragma once
#include "backends/cpu/kernels/hooks.hpp"
#include "sinter/device.hpp"

namespace emulated {

using namespace sinter;

class observing {
 public:
  explicit observing(cpu::launch_observer observer) : before_(cpu::set_launch_observer(observer)) {}
  ~observing() { cpu::set_launch_observer(before_); }
  observing(const observing&) = delete;
  observing& operator=(const observing&) = delete;

 private:
  cpu::launch_observer before_;
};

}  // namespace emulated
