// Which files a source may include, and what they hold: caches must notice when one of them has changed, and compilers
// do not tell in time.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::jit {

/// The files that `source` may include, with their contents: a text that changes when one of them does. Folders are
/// searched in order, `beside` first for quoted names; what lies in a folder of `fixed` is not looked into. Nothing
/// where it cannot be known, because a macro stands for a name or a condition asks whether a file is there.
std::optional<std::string> included_text(std::string_view source, const std::string& beside,
                                         const std::vector<std::string>& folders,
                                         const std::vector<std::string>& fixed);

/// The same for the text of users' functions, whichever device compiles it: files of all places where one of the
/// compilers may look count, but for the system's and the compilers' own. Empty where nothing is included.
std::optional<std::string> included_by_users(std::string_view text);

/// Folders of "-I"/"--include-path" and files of "-include"/"--pre-include", in order.
struct include_options {
  std::vector<std::string> folders, files;
};
include_options include_options_of(const std::vector<std::string>& options);

/// The value of an option among NVRTC's, in any of its spellings: "--std=c++20", "-std=c++20".
bool has_option(const std::vector<std::string>& options, std::string_view longer, std::string_view shorter);

}  // namespace sinter::jit
