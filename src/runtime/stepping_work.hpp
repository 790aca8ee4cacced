// Recorded work that a device runs step after step by itself, with copies in between: the steps of loops.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinter::runtime {

/// Bytes that go from one place to another after a step. Both places move on by so many bytes with each step.
struct step_copy {
  void* to;
  const void* from;
  std::size_t bytes;
  std::int64_t to_stride = 0, from_stride = 0;
};

struct step_sequence {
  std::int64_t steps = 1;          // -1: one, and more for as long as *again is true
  const void* again = nullptr;     // a bool that each step writes
  std::vector<step_copy> aside;    // after each step, before the others
  std::vector<step_copy> moved;    // after each step
  std::vector<step_copy> taken;    // after each step but the last one, for the next
  std::int64_t* number = nullptr;  // counts the steps: one more for each step but the last one
};

/// Of recorded work.
class stepping_work {
 public:
  /// Bytes of memory that launch_steps() needs, for as long as the steps run.
  virtual std::size_t room_for(const step_sequence& all) const = 0;
  /// Enqueues all steps on the calling thread's current stream. Once, since they are given `room`. No step beyond the
  /// last one is run where their number is known; otherwise up to seven are, which change neither places that are
  /// copied to nor the number.
  virtual void launch_steps(const step_sequence& all, void* room) = 0;

 protected:
  ~stepping_work() = default;
};

}  // namespace sinter::runtime
