// Recorded work that a device may launch again and again by itself.
#pragma once
#include "runtime/stream.hpp"

namespace sinter::runtime {

class repeating_work : public recorded_work {
 public:
  /// Enqueues launches, one after the other, for as long as *go_on, a bool in memory of the device that the work writes, is true: none if
  /// it is not when its turn comes, and at most seven more than that. false: the device cannot do that, and nothing has been
  /// enqueued. To be called with the same address each time.
  virtual bool launch_while(const void* go_on) = 0;
};

}  // namespace sinter::runtime
