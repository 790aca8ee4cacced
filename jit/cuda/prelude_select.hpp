// The declarations of jit/prelude that a CUDA kernel uses. NVRTC processes one source at a time in a process, so
// shorter sources shorten the first call of everything that is compiled at once.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sinter::jit {

/// The texts of these files of jit/prelude, without the declarations that `text` does not need. It needs the names that
/// it uses as sn::name, and transitively those that their declarations mention. All declarations of a name are included
/// together: overloads, specialisations. For __CUDACC__ and without users' text; the files may contain only what
/// docs/design.md ("Preludes") allows.
std::string select_prelude(const std::vector<std::string_view>& parts, std::string_view text);
/// Everything that these files declare by name in namespace sn, and their macros.
std::vector<std::string_view> prelude_names(const std::vector<std::string_view>& parts);

}  // namespace sinter::jit
