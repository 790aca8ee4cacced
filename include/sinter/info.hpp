// What this build of the library is and what it finds on this machine.
#pragma once
#include <string>
#include <string_view>

namespace sinter::inline v0 {

/// "0.1.0"
std::string_view version() noexcept;

/// What the program sinter-info prints: version, devices with compute capability, multiprocessors, memory and the limit
/// of its pool, libraries that are opened when they are needed and where each missing one was looked for, the compiler
/// of CPU kernels, the cache of compiled kernels, and what the environment sets. Tries everything, so it loads
/// libraries and starts devices; throws nothing for what is missing, but says so.
std::string show_config();

}  // namespace sinter::inline v0
