// Where compiling and loading kernels spend their time, for profiling.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sinter::jit {

/// One step for one kernel, on one thread.
struct compile_step {
  std::string what;           // "look on disk", "generate", "compile", "store on disk", "load"; "find": all of that
  std::string name;           // the kernel's; "all" for an evaluation
  double begin = 0, end = 0;  // seconds of the steady clock
  double cpu = 0;             // seconds of CPU time of the thread: if less than end - begin, it waited
};

/// Begins a new list; false: stops recording.
void record_compile_steps(bool on);
/// The list so far, by begin time.
std::vector<compile_step> recorded_compile_steps();

/// A step from here to the end of the scope; costs nothing unless steps are recorded.
class [[nodiscard]] timed_step {
 public:
  timed_step(const char* what, std::string_view name) noexcept;
  ~timed_step();
  timed_step(const timed_step&) = delete;
  timed_step& operator=(const timed_step&) = delete;

 private:
  const char* what_;
  std::string_view name_;
  bool on_;
  double begin_ = 0, cpu_ = 0;
};

}  // namespace sinter::jit
