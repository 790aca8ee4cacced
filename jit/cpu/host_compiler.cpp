// Finds a suitable host compiler for generated code, and probes it.
#include <gnu/libc-version.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "jit/cpu/hooks.hpp"
#include "jit/cpu/compile_host.hpp"
#include "platform/disk_cache.hpp"
#include "platform/dynamic_library.hpp"
#include "platform/environment.hpp"
#include "platform/files.hpp"

namespace sinter::jit {
namespace {

std::atomic<const host_compiler*> stand_in{nullptr};

// The requirements of generated code on a compiler, as a program: a linked library with vector calls to libmvec. An
// error text after the marker is a permanent refusal; any other failure may be temporary and is not cached.
constexpr std::string_view refusal_marker = "SINTER_REFUSES";
constexpr std::string_view probe_source = R"(#if defined(__clang__)
#error SINTER_REFUSES clang does not vectorise calls of math functions through libmvec; GCC 12 or newer is needed
#elif !defined(__GNUC__) || __GNUC__ < 12
#error SINTER_REFUSES too old; GCC 12 or newer is needed
#endif
extern "C" __attribute__((simd("notinbranch"))) float sinf(float);
extern "C" const char* sinter_compiler_version() { return __VERSION__; }
extern "C" void sinter_probe(float* x) { for (int i = 0; i < 64; ++i) x[i] = sinf(x[i]); }
)";

bool is_executable_file(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0 && !platform::file_identity(path).empty();
}

// A compiler launcher hides which compiler it starts, so its file does not identify the compiler.
bool is_launcher(const std::string& path) {
  const std::string real = platform::real_path(path);
  const std::string name = real.substr(real.rfind('/') + 1);
  for (const char* launcher : {"ccache", "distcc", "icecc", "sccache"}) {
    if (name.starts_with(launcher)) return true;
  }
  return false;
}

std::vector<std::string> paths_of(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> found;
  for (std::size_t at = 0; at <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', at), search_path.size());
    const std::string path = search_path.substr(at, end - at) + "/" + name;
    if (path[0] == '/' && is_executable_file(path) && !is_launcher(path)) found.push_back(path);
    at = end + 1;
  }
  return found;
}

// The text of the probe's #error line, without the compiler's additions.
std::string refusal_in(const std::string& log) {
  const std::size_t at = log.find(refusal_marker);
  if (at == std::string::npos) return "";
  const std::size_t from = std::min(at + refusal_marker.size() + 1, log.size());
  return log.substr(from, log.find('\n', at) - from);
}

struct verdict {
  std::string version;  // empty: refused
  std::string reason;
  bool lasting = false;
};

verdict run_probe(const std::string& path) {
  const host_build build = run_host_compiler(path, probe_source);
  if (build.object.empty()) {
    std::string refusal = refusal_in(build.log);
    if (!refusal.empty()) return {"", std::move(refusal), true};
    const std::string first_line = build.log.substr(0, build.log.find('\n'));
    return {"", build.failure + (first_line.empty() ? "" : ": " + first_line), false};
  }
  std::string error;
  const platform::dynamic_library library =
      platform::dynamic_library::from_bytes({build.object.data(), build.object.size()}, error);
  const char* (*version)() = nullptr;
  if (!library.resolve(version, "sinter_compiler_version"))
    return {"",
            error.empty() ? "its output lacks the functions of the source" : "its output cannot be loaded: " + error,
            false};
  return {version(), "", true};
}

// The probe's result is cached under the file's identity, so that later processes start no compiler.
verdict probe(const std::string& path, const std::string& file) {
  std::string key = "sinter host compiler probe 1\n";
  for (const std::string_view part :
       {std::string_view(path), std::string_view(file), std::string_view(platform::cpu_features()),
        std::string_view(gnu_get_libc_version()), probe_source}) {
    platform::append_field(key, part);
  }
  for (const std::string& option : host_options()) platform::append_field(key, option);
  platform::disk_cache& cache = platform::disk_cache::instance();
  if (const auto stored = cache.load(key); stored && !stored->empty()) {
    const std::string text(stored->begin() + 1, stored->end());
    return stored->front() == '+' ? verdict{text, "", true} : verdict{"", text, true};
  }
  verdict result = run_probe(path);
  if (result.lasting) {
    const std::string text = result.version.empty() ? "-" + result.reason : "+" + result.version;
    cache.store(key, {text.begin(), text.end()});
  }
  return result;
}

void try_compiler(const std::string& path, host_compiler& result) {
  const std::string file = platform::file_identity(path);
  const verdict v = file.empty() ? verdict{"", "no such file", false} : probe(path, file);
  if (v.version.empty()) {
    result.reason += (result.reason.empty() ? "" : "; ") + path + ": " + v.reason;
    result.failed = result.failed || !v.lasting;
    return;
  }
  result.path = path;
  result.identity = file + "|" + v.version;
}

}  // namespace

host_compiler probe_host_compiler(const std::string& preferred, const std::string& search_path) {
  std::vector<std::string> names{"c++", "g++", "g++-16", "g++-15", "g++-14", "g++-13", "g++-12"};
  if (!preferred.empty()) names = {preferred};  // no fallback for the user's choice
  host_compiler result;
  std::vector<std::string> tried;
  for (const std::string& name : names) {
    for (const std::string& path : paths_of(name, search_path)) {
      std::string real = platform::real_path(path);
      bool known = false;
      for (const std::string& other : tried) known = known || other == real;
      if (known) continue;
      tried.push_back(std::move(real));
      try_compiler(path, result);
      if (!result.path.empty()) {
        result.reason.clear();
        result.failed = false;
        return result;
      }
    }
  }
  if (result.reason.empty()) {
    result.reason = preferred.empty() ? "no c++ or g++ on PATH" : preferred + " (from SINTER_CXX) is not on PATH";
  }
  return result;
}

namespace {

/// A machine without a compiler is not unusual; a requested or failing compiler causes a warning.
host_compiler find_now() {
  const std::string preferred = platform::environment("SINTER_CXX");  // no fallback either
  host_compiler found = probe_host_compiler(preferred, platform::environment("PATH"));
  if (!found.path.empty() || (preferred.empty() && !found.failed)) return found;
  const std::string rest = ": kernels are interpreted, and functions given as text are refused";
  if (preferred.empty()) platform::warn("the C++ compiler cannot be used: " + found.reason + rest);
  else platform::warn_of_environment("SINTER_CXX", "cannot be used: " + found.reason + rest);
  return found;
}

}  // namespace

void use_host_compiler_for_tests(const host_compiler* compiler) noexcept { stand_in = compiler; }

const host_compiler& host_compiler::find() {
  if (const host_compiler* other = stand_in.load(std::memory_order_acquire)) return *other;
  static const host_compiler& found = *new host_compiler(find_now());
  return found;
}

}  // namespace sinter::jit
