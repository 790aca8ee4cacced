// For tests only: compilations that fail, those that wait, and forced schedules.
#pragma once

namespace sinter::jit {

/// The n-th call of compile_host or compile_cuda from now on (0: the next) throws compile_error, once; -1: none.
void fail_compilation_for_tests(int n) noexcept;

/// How long one of several compilations waits for longer ones to begin first; below 0: the default.
void set_compile_wait_limit_for_tests(int milliseconds) noexcept;

}  // namespace sinter::jit

namespace sinter::cuda {

/// classify takes the legal schedule of this number, or the last one where there are fewer; below 0: the one that it
/// chooses. Results never depend on it.
void force_schedule(int number) noexcept;
/// The most legal schedules that a launch has had since the last call, while one was forced.
int most_schedules() noexcept;

}  // namespace sinter::cuda
