// What compiling and loading kernels spends its time on, for those who want to shorten it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sinter::jit {

/// One thing that was done for one kernel, on one thread.
struct compile_step {
  std::string what;           // "look on disk", "generate", "compile", "store on disk", "load"; "find": all of that
  std::string name;           // of the kernel; "all" of an evaluation
  double begin = 0, end = 0;  // seconds of the steady clock
  double cpu = 0;             // seconds that the thread was running: where it is less than end - begin, it waited
};

/// Begins a new list; false: records no more.
void record_compile_steps(bool on);
/// The list so far, by the time of beginning.
std::vector<compile_step> recorded_compile_steps();

/// A step from here to the end of the scope; costs nothing while nobody records.
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
