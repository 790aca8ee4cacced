// The declarations of jit/prelude that a CUDA kernel uses. NVRTC reads one source at a time in a process, so what it
// need not read shortens the first call of everything that is compiled at once.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sinter::jit {

/// The texts of these files of jit/prelude, without the declarations that `text` does not need. It needs what it calls
/// sn::name, and what that mentions in turn. All that has a name comes along together: overloads, specialisations.
/// For __CUDACC__ and without users' text; the files may hold only what docs/design.md ("Preludes") allows.
std::string select_prelude(const std::vector<std::string_view>& parts, std::string_view text);
/// Everything that these files declare by name in namespace sn, and their macros.
std::vector<std::string_view> prelude_names(const std::vector<std::string_view>& parts);

}  // namespace sinter::jit
