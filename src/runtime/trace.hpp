// SINTER_TRACE: one line on stderr for each kernel that is compiled or launched.
#pragma once
#include <string>

namespace sinter::runtime {

/// Whether SINTER_TRACE is set to something other than "" or "0"; looked up once.
bool tracing() noexcept;
/// "[sinter] line"; lines of several threads do not mix.
void trace(const std::string& line) noexcept;

}  // namespace sinter::runtime
