// For tests only: compilations that fail, and those that wait.
#pragma once

namespace sinter::jit {

/// The n-th call of compile_host or compile_cuda from now on (0: the next) throws compile_error, once; -1: none.
void fail_compilation_for_tests(int n) noexcept;

/// How long one of several compilations waits for longer ones to begin first; below 0: the default.
void set_compile_wait_limit_for_tests(int milliseconds) noexcept;

}  // namespace sinter::jit
