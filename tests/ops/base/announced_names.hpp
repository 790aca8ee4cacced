// The names by which functions announce themselves (ops/base/opaque_call.hpp), as they are in the sources:
// `intercept("sort", ...)`, `opaque_call call{"fft", ...}`.
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>

namespace sinter::test {

/// Each name with the file that announces it, but those of `own`: a folder of src/ops.
inline std::map<std::string, std::string> announced_names(const std::string& own) {
  std::map<std::string, std::string> out;
  const std::regex announced(R"re((?:intercept(?:_all|_recorded)?\(|opaque_call\s+\w+\{|return\s+)\s*"(\w+)")re");
  const std::filesystem::path sources = std::filesystem::path(SINTER_SOURCE_DIR) / "src/ops";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sources)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".cpp" || path.find("/" + own + "/") != path.npos) continue;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    if (text.find("ops/base/opaque_call.hpp") == text.npos) continue;
    for (std::sregex_iterator m(text.begin(), text.end(), announced), end; m != end; ++m) {
      const std::string name = (*m)[1], whole = (*m)[0];
      if (whole.starts_with("return") && path.find("scan.cpp") == path.npos) continue;  // scan.cpp's names by operation
      out.emplace(name, path);
    }
  }
  return out;
}

}  // namespace sinter::test
