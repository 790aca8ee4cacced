// The list of compilation steps.
#include "jit/compile_steps.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>

namespace sinter::jit {
namespace {

double seconds_of(clockid_t clock) noexcept {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::atomic<bool> recording{false};

struct step_list {
  std::mutex mutex;
  std::vector<compile_step> steps;

  static step_list& instance() {
    static step_list& one = *new step_list;
    return one;
  }
};

}  // namespace

void record_compile_steps(bool on) {
  step_list& list = step_list::instance();
  const std::lock_guard lock(list.mutex);
  if (on) list.steps.clear();
  recording = on;
}

std::vector<compile_step> recorded_compile_steps() {
  step_list& list = step_list::instance();
  const std::lock_guard lock(list.mutex);
  std::vector<compile_step> steps = list.steps;
  std::stable_sort(steps.begin(), steps.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  return steps;
}

timed_step::timed_step(const char* what, std::string_view name) noexcept
    : what_(what), name_(name), on_(recording.load(std::memory_order_relaxed)) {
  if (!on_) return;
  begin_ = seconds_of(CLOCK_MONOTONIC);
  cpu_ = seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

timed_step::~timed_step() {
  if (!on_) return;
  const double cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_, end = seconds_of(CLOCK_MONOTONIC);
  step_list& list = step_list::instance();
  const std::lock_guard lock(list.mutex);
  try {
    list.steps.push_back({what_, std::string(name_), begin_, end, cpu});
  } catch (const std::bad_alloc&) {  // the step is missing in the list, and the compilation continues
  }
}

}  // namespace sinter::jit
