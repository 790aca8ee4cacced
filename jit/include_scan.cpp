// Which files a source may include: the disk cache must notice when one of them has changed, and NVRTC does not tell.
// Conditions are not evaluated, so that the list may be too long, never too short.
#include <algorithm>
#include <set>

#include "compile_raw.hpp"
#include "compile_util.hpp"

namespace sinter::jit {
namespace {

std::string_view trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : s.substr(first);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

class scanner {
 public:
  scanner(const std::vector<std::string>& folders, const std::vector<std::string>& fixed)
      : folders_(folders), fixed_(fixed) {}

  void scan(std::string_view text, const std::string& beside) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      directive(trimmed(text.substr(0, end)), beside);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }
  void include(std::string_view name, bool quoted, const std::string& beside) {
    if (quoted && open(beside + "/" + std::string(name))) return;
    for (const std::string& folder : folders_)
      if (open(folder + "/" + std::string(name))) return;
    for (const std::string& folder : fixed_)
      if (!file_identity(folder + "/" + std::string(name)).empty()) return;
    append_field(found_, "missing");
    append_field(found_, name);
  }
  bool known() const noexcept { return known_; }
  const std::string& found() const noexcept { return found_; }

 private:
  void directive(std::string_view line, const std::string& beside) {
    if (line.empty() || line[0] != '#') return;
    line = trimmed(line.substr(1));
    if (!line.starts_with("include")) {
      known_ = known_ && line.find("__has_include") == std::string_view::npos;
      return;
    }
    line = trimmed(line.substr(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_")));
    const char close = line.empty() ? '\0' : line[0] == '<' ? '>' : line[0] == '"' ? '"' : '\0';
    const std::size_t end = close ? line.find(close, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      known_ = false;
      return;
    }
    include(line.substr(1, end - 1), close == '"', beside);
  }

  bool open(const std::string& path) {
    const std::string real = real_path(path);
    if (real.empty() || file_identity(real).empty()) return false;
    if (!visited_.insert(real).second) return true;
    const auto bytes = read_file(real);
    if (!bytes) return false;
    const std::string_view text(bytes->data(), bytes->size());
    append_field(found_, path);
    append_field(found_, text);
    scan(text, folder_of(path));
    return true;
  }

  const std::vector<std::string>&folders_, &fixed_;
  std::set<std::string> visited_;
  std::string found_;
  bool known_ = true;
};

/// The value of `option` where it is one of the names, glued to it, behind '=' or in the next option.
bool take_value(const std::vector<std::string>& options, std::size_t& k, std::string_view name, std::string& value) {
  const std::string_view option = options[k];
  if (option == name) {
    if (k + 1 == options.size()) return false;
    value = options[++k];
    return true;
  }
  if (!option.starts_with(name)) return false;
  std::string_view rest = option.substr(name.size());
  if (rest[0] == '=')
    rest.remove_prefix(1);
  else if (name != "-I")
    return false;
  value = trimmed(rest);
  return true;
}

}  // namespace

std::optional<std::string> included_text(std::string_view source, const std::string& beside,
                                         const std::vector<std::string>& folders,
                                         const std::vector<std::string>& fixed) {
  scanner s(folders, fixed);
  s.scan(source, beside);
  if (!s.known()) return std::nullopt;
  return s.found();
}

include_options include_options_of(const std::vector<std::string>& options) {
  include_options found;
  std::string value;
  for (std::size_t k = 0; k < options.size(); ++k) {
    if (take_value(options, k, "-I", value) || take_value(options, k, "--include-path", value))
      found.folders.push_back(value);
    else if (take_value(options, k, "-include", value) || take_value(options, k, "--pre-include", value))
      found.files.push_back(value);
  }
  return found;
}

bool has_option(const std::vector<std::string>& options, std::string_view longer, std::string_view shorter) {
  return std::any_of(options.begin(), options.end(), [&](std::string_view o) {
    const std::string_view name = o.substr(0, o.find_first_of("= "));
    return name == longer || name == shorter;
  });
}

}  // namespace sinter::jit
