// An observer of the CPU's launches while a scope runs, whatever ends it. Few elements are reduced by kernels of reductions,
// which the cases here are about.
#pragma once
#include "backends/cpu/kernels/hooks.hpp"
#include "graph/values/limits.hpp"
#include "sinter/device.hpp"

namespace emulated {

using namespace sinter;

class observing {
 public:
  explicit observing(cpu::launch_observer observer) : before_(cpu::set_launch_observer(observer)) {
    graph::limits().apart = false;
  }
  ~observing() {
    cpu::set_launch_observer(before_);
    graph::limits().apart = apart_;
  }
  observing(const observing&) = delete;
  observing& operator=(const observing&) = delete;

 private:
  cpu::launch_observer before_;
  bool apart_ = graph::limits().apart;
};

}  // namespace emulated
