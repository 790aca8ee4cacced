// Whether bytes can be given to the dynamic linker, which trusts what a file says of itself: one that is cut short ends
// the process.
#pragma once
#include <string_view>

namespace sinter::platform {

/// What is wrong with a shared library of this machine's word size; empty where all that the dynamic linker follows
/// lies inside it. Code and the values of relocations are not looked at.
const char* damage_of_library(std::string_view bytes) noexcept;

}  // namespace sinter::platform
