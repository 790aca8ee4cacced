// Work without a waiting caller: loading NVRTC, and compiling the optimised tier of kernels whose baseline tier is in
// use.
#pragma once
#include <functional>

namespace sinter::platform {

/// Whether run_in_background would accept a task. It does once the main thread has called the library (it must wait for
/// a task in progress before the process ends), until the process begins to end.
bool background_available();
/// Runs `task` on the library's background thread, one task at a time; it must not throw. False: not accepted. Tasks
/// that have not begun when the process ends never run; one in progress is waited for.
bool run_in_background(std::function<void()> task);
/// Waits until no task is left. Must not be called from a task.
void wait_for_background();
/// For a task after which a library has registered exit handlers: they run after the thread has ended.
void end_background_before_exit_handlers() noexcept;

}  // namespace sinter::platform
