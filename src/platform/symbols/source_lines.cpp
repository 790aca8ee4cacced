#include "platform/symbols/source_lines.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "platform/child_process.hpp"

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define SINTER_HAS_BACKTRACE 1
#endif

namespace sinter::platform {
namespace {

constexpr long seconds_for_lookup = 20;

/// Of a frame: the calls that have been inlined there, the innermost first.
struct place {
  std::string function, file;  // "??" if not known; the file with ":line"
};
using places = std::vector<place>;

struct module_frame {
  std::size_t frame;
  std::uintptr_t address;  // as in the module's file
};

std::string hexadecimal(std::uintptr_t x) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

std::string path_of(const Dl_info& of) {
  std::string path = of.dli_fname ? of.dli_fname : "";
  if (path.starts_with('/') && access(path.c_str(), R_OK) == 0) return path;
  char link[4096];  // the program itself has the name that it was called by
  const ssize_t length = readlink("/proc/self/exe", link, sizeof link);
  return length > 0 ? std::string(link, static_cast<std::size_t>(length)) : path;
}

/// What is to be subtracted from addresses in memory: nothing in programs at fixed addresses.
std::uintptr_t base_of(const Dl_info& of) {
  const auto* const header = static_cast<const unsigned char*>(of.dli_fbase);
  const bool is_fixed = header && header[EI_MAG0] == ELFMAG0 && header[16] == ET_EXEC;  // e_type
  return is_fixed ? 0 : reinterpret_cast<std::uintptr_t>(of.dli_fbase);
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// "41 (discriminator 2)" ends with the number.
std::string without_remark(std::string line) { return line.substr(0, line.find(" (discriminator")); }

/// Runs addr2line for the frames of one module, and adds what it says.
void look_up(const std::string& module, const std::vector<module_frame>& frames, std::vector<places>& found) {
  std::vector<std::string> arguments{"-a", "-f", "-C", "-i", "-e", module};
  for (const module_frame& f : frames) arguments.push_back(hexadecimal(f.address));
  std::string output;
  for (const char* const program : {"/usr/bin/addr2line", "/usr/local/bin/addr2line", "/usr/bin/llvm-addr2line"}) {
    if (access(program, X_OK) != 0) continue;
    const process_result r = run_process(program, arguments, "/tmp", seconds_for_lookup);
    if (r.start_error == 0 && !r.timed_out && r.signal == 0) output = r.output;
    break;
  }
  // An address, then pairs of lines: a function, its file and line.
  std::string_view rest = output;
  std::string lines[2];
  int kept = 0;
  std::size_t at = frames.size();  // before the first address
  for (std::size_t next = 0; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (kept == 0 && line.starts_with("0x")) {
      at = next++;
      continue;
    }
    lines[kept++] = line;
    if (kept < 2) continue;
    kept = 0;
    if (at < frames.size()) found[frames[at].frame].push_back({lines[0], without_remark(lines[1])});
  }
}

/// A file and a line: neither "??:0", nor ":?", nor "main.cpp:?".
bool is_known(const std::string& file) {
  const std::size_t colon = file.find_last_of(':');
  if (file.starts_with("??") || colon == 0 || colon == file.npos)
    return file.find_first_of("?:") == file.npos && !file.empty();
  return !file.ends_with(":?") && !file.ends_with(":0");
}

/// The folder of the library's sources, with a slash at its end.
std::string_view own_folder() {
  constexpr std::string_view here = __FILE__, tail = "src/platform/symbols/source_lines.cpp";
  return here.ends_with(tail) ? here.substr(0, here.size() - tail.size()) : std::string_view();
}

}  // namespace

call_stack stack_here() noexcept {
  call_stack s;
#ifdef SINTER_HAS_BACKTRACE
  s.count = backtrace(s.frames.data(), static_cast<int>(s.frames.size()));
#endif
  return s;
}

bool is_own_frame(const std::string& function, const std::string& file) {
  if (is_known(file)) {
    const std::string_view own = own_folder(), path = file;
    if (path.find("/include/sinter/") != path.npos || path.find("/include/c++/") != path.npos) return true;
    if (own.empty() || !path.starts_with(own)) return false;
    const std::string_view inside = path.substr(own.size());
    return inside.starts_with("src/") || inside.starts_with("jit/") || inside.starts_with("include/");
  }
  // "auto sinter::v0::f<...>(...)": the name before its arguments, after the type of its result.
  constexpr std::string_view unnamed = "(anonymous namespace)";
  std::string name = function;
  for (std::size_t at = name.find(unnamed); at != name.npos; at = name.find(unnamed, at))
    name.replace(at, unnamed.size(), "unnamed");
  name = name.substr(0, name.find_first_of("(<"));
  name = name.substr(name.find_last_of(' ') + 1);
  return name.empty() || name.starts_with("sinter::") || name.starts_with("std::") || name.starts_with("??");
}

std::string source_line_of(const call_stack& stack) {
  std::map<std::string, std::vector<module_frame>> modules;
  std::vector<places> found(static_cast<std::size_t>(stack.count));
  std::vector<std::string> modules_of(found.size());
  Dl_info own = {};
  dladdr(reinterpret_cast<const void*>(&source_line_of), &own);
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::uintptr_t call = reinterpret_cast<std::uintptr_t>(stack.frames[k]) - 1;  // not where it returns to
    Dl_info of = {};
    if (dladdr(reinterpret_cast<const void*>(call), &of) == 0) continue;
    modules_of[k] = path_of(of);
    modules[modules_of[k]].push_back({k, call - base_of(of)});
  }
  for (const auto& [module, frames] : modules) look_up(module, frames, found);
  for (const places& p : found)
    for (const place& one : p)
      if (!is_own_frame(one.function, one.file)) return is_known(one.file) ? file_name(one.file) : one.function;
  const std::string own_module = path_of(own);
  for (const auto& [module, frames] : modules)
    if (module != own_module) return file_name(module) + "+" + hexadecimal(frames.front().address);
  return {};
}

}  // namespace sinter::platform
