// Work that nobody waits for: loading NVRTC, and compiling the tuned forms of kernels whose lean forms run already.
#pragma once
#include <functional>

namespace sinter::platform {

/// Whether run_in_background would take a task. It takes them once the main thread has been inside the library (it must
/// wait for a task in progress before the process ends), until the process begins to end.
bool background_available();
/// Runs `task` on the library's own thread, one task after the other; it must not throw. False: not taken. Tasks that
/// have not begun when the process ends never run; the one that has is waited for.
bool run_in_background(std::function<void()> task);
/// Waits until no task is left. Not from a task.
void wait_for_background();
/// For a task that has made a library register exit handlers: they run after the thread has ended.
void end_background_before_exit_handlers() noexcept;

}  // namespace sinter::platform
