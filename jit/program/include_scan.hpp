// The files that a source may include, with their contents: a cache key must change with them, and compilers report
// them only after compiling.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::jit {

/// The files that `source` may include, with their contents: a text that changes when one of them does. Folders are
/// searched in order, `beside` first for quoted names; files in a folder of `fixed` are not scanned. Null if the files
/// cannot be determined, because a macro is used as a name or a condition tests whether a file exists.
std::optional<std::string> included_text(std::string_view source, const std::string& beside,
                                         const std::vector<std::string>& folders,
                                         const std::vector<std::string>& fixed);

/// The same for the text of users' functions, for all devices: files in all places that one of the compilers may
/// search, except the system's and the compilers' own. Empty if nothing is included.
std::optional<std::string> included_by_users(std::string_view text);

/// Folders of "-I"/"--include-path" and files of "-include"/"--pre-include", in order.
struct include_options {
  std::vector<std::string> folders, files;
};
include_options include_options_of(const std::vector<std::string>& options);

/// Whether one of NVRTC's options is given, in any of its forms: "--std=c++20", "-std=c++20".
bool has_option(const std::vector<std::string>& options, std::string_view longer, std::string_view shorter);

}  // namespace sinter::jit
