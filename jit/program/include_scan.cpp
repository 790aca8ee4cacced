// Conditions are not evaluated, and comments are skipped only where a directive may follow, so the list of files may be
// too long but never too short.
#include "jit/program/include_scan.hpp"

#include <algorithm>
#include <set>

#include "platform/files.hpp"

namespace sinter::jit {
namespace {

std::string_view trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(" \t\r\v\f");
  return first == std::string_view::npos ? std::string_view() : s.substr(first);
}

/// The text after blanks and comments; empty if a comment does not end on the line.
std::string_view behind_comments(std::string_view s) {
  for (s = trimmed(s); s.starts_with("/*"); s = trimmed(s)) {
    const std::size_t end = s.find("*/", 2);
    if (end == std::string_view::npos) return {};
    s.remove_prefix(end + 2);
  }
  return s;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// The text with the lines joined that a backslash continues.
std::string joined_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      std::size_t end = at + 1;
      while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
      if (end < text.size() && text[end] == '\n') {
        at = end;
        continue;
      }
    }
    joined += text[at];
  }
  return joined;
}

/// Where names are searched for.
struct places {
  std::vector<std::string> folders;  // files found here are scanned as well
  std::vector<std::string> fixed;    // files found here are assumed not to change
  bool all = false;                  // files of one name in several folders all count
};

class scanner {
 public:
  explicit scanner(const places& where) : where_(where) {}

  void scan(std::string_view source, const std::string& beside) {
    if (source.find('#') == std::string_view::npos && source.find("%:") == std::string_view::npos) return;
    const std::string lines = joined_lines(source);
    for (std::string_view text = lines; !text.empty();) {
      const std::size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      directive(behind_comments(line), beside);
      // A comment that began on an earlier line may end before a directive.
      for (std::size_t at = line.find("*/"); at != std::string_view::npos; at = line.find("*/")) {
        line.remove_prefix(at + 2);
        directive(behind_comments(line), beside);
      }
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }
  bool known() const noexcept { return known_; }
  const std::string& found() const noexcept { return found_; }

 private:
  void directive(std::string_view line, const std::string& beside) {
    if (line.starts_with("%:")) line.remove_prefix(1);
    else if (!line.starts_with('#')) return;
    line = behind_comments(line.substr(1));
    const bool next = line.starts_with("include_next");
    if (!line.starts_with("include") && !line.starts_with("import") && !line.starts_with("embed")) {
      known_ = known_ && line.find("__has_include") == std::string_view::npos &&
               line.find("__has_embed") == std::string_view::npos;
      return;
    }
    line.remove_prefix(std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), line.size()));
    line = behind_comments(line);
    const char close = line.empty() ? '\0' : line[0] == '<' ? '>' : line[0] == '"' ? '"' : '\0';
    const std::size_t end = close ? line.find(close, 1) : std::string_view::npos;
    if (end == std::string_view::npos || next) {
      known_ = false;
      return;
    }
    include(line.substr(1, end - 1), close == '"', beside);
  }

  void include(std::string_view name, bool quoted, const std::string& beside) {
    const std::string file(name);
    bool opened = false;
    if (file.starts_with('/')) {
      if (open(file)) return;
    } else {
      if (quoted && open(beside + "/" + file)) return;
      for (const std::string& folder : where_.folders) {
        opened = open(folder + "/" + file) || opened;
        if (opened && !where_.all) return;
      }
      for (const std::string& folder : where_.fixed)
        if (!platform::file_identity(folder + "/" + file).empty()) return;
    }
    if (opened) return;
    platform::append_field(found_, "missing");
    platform::append_field(found_, name);
  }

  bool open(const std::string& path) {
    const std::string real = platform::real_path(path);
    if (real.empty() || platform::file_identity(real).empty()) return false;
    if (!visited_.insert(real).second) return true;
    const auto bytes = platform::read_file(real);
    if (!bytes) return false;
    const std::string_view text(bytes->data(), bytes->size());
    platform::append_field(found_, path);
    platform::append_field(found_, text);
    scan(text, folder_of(path));
    return true;
  }

  const places& where_;
  std::set<std::string> visited_;
  std::string found_;
  bool known_ = true;
};

std::optional<std::string> text_of(std::string_view source, const std::string& beside, const places& where) {
  scanner s(where);
  s.scan(source, beside);
  if (!s.known()) return std::nullopt;
  return s.found();
}

/// The folders of "a:b::c"; an empty one is the current folder.
void add_folders(std::vector<std::string>& folders, const std::string& list) {
  for (std::size_t at = 0; !list.empty() && at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    folders.push_back(end == at ? "." : list.substr(at, end - at));
    at = end + 1;
  }
}

/// The value of `option` if it is one of the names: attached, after '=' or in the next option.
bool take_value(const std::vector<std::string>& options, std::size_t& k, std::string_view name, std::string& value) {
  const std::string_view option = options[k];
  if (option == name) {
    if (k + 1 == options.size()) return false;
    value = options[++k];
    return true;
  }
  if (!option.starts_with(name)) return false;
  std::string_view rest = option.substr(name.size());
  if (rest[0] == '=') rest.remove_prefix(1);
  else if (name != "-I") return false;
  value = trimmed(rest);
  return true;
}

}  // namespace

std::optional<std::string> included_text(std::string_view source, const std::string& beside,
                                         const std::vector<std::string>& folders,
                                         const std::vector<std::string>& fixed) {
  return text_of(source, beside, {folders, fixed, false});
}

// The host compiler searches the folders in its environment variables, NVRTC the current one.
std::optional<std::string> included_by_users(std::string_view text) {
  places where{{"."}, {"/usr/include"}, true};
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"})
    add_folders(where.folders, platform::environment(variable));
  where.folders.emplace_back("/usr/local/include");
  return text_of(text, ".", where);
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
