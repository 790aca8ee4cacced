// Captured work that is launched again and again in a loop, of whose memory only some changes from step to step.
#pragma once
#include <vector>

#include "runtime/stream.hpp"

namespace sinter::runtime {

class looping_work : public settling_work {
 public:
  /// What is written between a launch and launch_again(), besides by the work itself.
  virtual void expect_changes(std::vector<unchanged_memory> memory) = 0;
  /// launch() after another one, between which nothing else was written than was announced: what computes the same again need
  /// not be done.
  virtual void launch_again() = 0;
};

}  // namespace sinter::runtime
