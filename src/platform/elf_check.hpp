// Whether bytes can be given to the dynamic linker, which trusts a file's headers: a truncated file crashes the
// process.
#pragma once
#include <string_view>

namespace sinter::platform {

/// The damage of a shared library of this machine's word size; empty if all that the dynamic linker accesses is inside
/// it. Code and the values of relocations are not checked.
const char* damage_of_library(std::string_view bytes) noexcept;

}  // namespace sinter::platform
