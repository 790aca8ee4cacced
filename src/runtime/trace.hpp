// Debugging of launches by the environment. SINTER_TRACE: one line on stderr for each kernel that is compiled or
// launched. SINTER_SYNC: the host waits for each launch, so that an error names its operation.
#pragma once
#include <string>

namespace sinter::runtime {

/// Whether SINTER_TRACE is set to something other than "" or "0"; looked up once.
bool tracing() noexcept;
/// "[sinter] line"; lines of several threads do not mix.
void trace(const std::string& line) noexcept;

/// Whether SINTER_SYNC is set likewise. Captured work is not waited for: it does not run.
bool synchronous() noexcept;

}  // namespace sinter::runtime
