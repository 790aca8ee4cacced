// The report, section by section. Everything is tried, and what fails is a line of the report.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "info/library_report.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "platform/disk_cache.hpp"
#include "platform/environment.hpp"
#include "runtime/backend.hpp"
#include "sinter/info.hpp"

namespace sinter {
namespace info {
namespace {

/// "  title     text"
std::string line(std::string title, const std::string& text, std::size_t column = 12) {
  title.resize(std::max(title.size() + 1, column), ' ');
  return "  " + title + text + "\n";
}

std::string bytes_text(std::uint64_t bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double shown = static_cast<double>(bytes);
  int unit = 0;
  for (; shown >= 1024 && unit < 4; ++unit) shown /= 1024;
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", shown, units[unit]);
  return text;
}

std::string build_section() {
  const std::string how = std::string("compiled by ") +
#ifdef __clang__
                          "clang " __clang_version__;
#else
                          "GCC " __VERSION__;
#endif
  std::string cuda = "built without the CUDA toolkit";
#ifdef SINTER_HAS_CUDA
  cuda = "CUDA toolkit " SINTER_CUDA_VERSION ", device code for " SINTER_DEVICE_ARCHITECTURES;
#endif
  return "sinter " + std::string(version()) + "\n" + line("build", how) + line("", cuda);
}

std::string device_line(runtime::device_id id) {
  const std::string name = runtime::to_string(id);
  try {
    runtime::backend& device = runtime::get_backend(id);
    const runtime::memory_figures memory = device.memory();
    const device_properties f = device.properties();
    std::string text = device.identity();
    if (id.kind == runtime::device_kind::cuda) text += ", " + std::to_string(f.multiprocessors) + " multiprocessors";
    text += ", " + bytes_text(f.total_memory) + " of memory, " + bytes_text(memory.available) + " available";
    if (memory.limit != SIZE_MAX) text += ", limited to " + bytes_text(memory.limit);
    return line(name, text);
  } catch (const std::exception& e) {
    return line(name, std::string("cannot be used: ") + e.what());
  }
}

std::string device_section() {
  std::string text = "Devices\n";
  text += device_line({});
  const int gpus = runtime::device_count(runtime::device_kind::cuda);
  for (int i = 0; i < gpus; ++i) text += device_line({runtime::device_kind::cuda, i});
  if (gpus == 0) text += line("cuda", "none: " + runtime::why_no_device(runtime::device_kind::cuda));
  try {
    return text + line("default", runtime::to_string(runtime::default_device()));
  } catch (const std::exception& e) {
    return text + line("default", e.what());
  }
}

std::string library_section() {
  std::string text = "Libraries, opened when they are needed\n";
  for (const library_state& l : look_for_libraries())
    text += line(l.title, l.path.empty() ? "missing: " + l.problem
                                         : l.soname + "  " + l.path + (l.version.empty() ? "" : "  " + l.version));
  return text;
}

std::string compiler_section() {
  std::string text = "Compilers\n";
  const jit::host_compiler& host = jit::host_compiler::find();
  const std::string release = host.identity.substr(host.identity.rfind('|') + 1);
  text += line("host", host.path.empty() ? "none, so kernels for the CPU are interpreted: " + host.reason
                                         : host.path + "  " + release);
  std::string why;
  return text + line("device", jit::nvrtc_available(&why) ? "NVRTC" : "none: " + why);
}

std::string cache_section() {
  platform::disk_cache& cache = platform::disk_cache::instance();
  std::string text = "Cache of compiled kernels\n";
  if (cache.folder().empty()) return text + line("folder", "none: " + cache.status());
  std::uint64_t bytes = 0, files = 0;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(cache.folder(), ignored), end; at != end; at.increment(ignored)) {
    if (ignored || !at->is_regular_file(ignored)) continue;
    const auto size = at->file_size(ignored);
    if (!ignored) bytes += size, ++files;
  }
  text += line("folder", cache.folder());
  text += line("size", bytes_text(bytes) + " in " + std::to_string(files) + " files");
  return text + line("state", cache.status());
}

constexpr std::size_t wide = 25;  // fits the longest name of a variable
/// Variables that begin with SINTER_ but are not in the table, perhaps misspelt.
std::string unknown_variables() {
  std::string text;
  for (char** e = environ; e && *e; ++e) {
    if (std::strncmp(*e, "SINTER_", 7) != 0) continue;
    const std::string name(*e, std::strcspn(*e, "="));
    const auto known = platform::environment_variables();
    if (std::any_of(known.begin(), known.end(), [&](const auto& v) { return name == v.name; })) continue;
    if (name.starts_with("SINTER_TEST_") || name.starts_with("SINTER_FUZZ_")) continue;  // of the tests
    text += line(name, "is set, but means nothing to the library", wide);
  }
  return text;
}

std::string environment_section() {
  std::string text = "Environment\n";
  for (const platform::environment_variable& v : platform::environment_variables()) {
    const char* const value = std::getenv(v.name);
    const std::string problem = platform::environment_problem(v);
    const std::string note = problem.empty() ? "  (" + std::string(v.meaning) + ")" : "  " + problem;
    text += line(v.name, (value ? value : "not set") + note, wide);
  }
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "NVTX_INJECTION64_PATH"})
    if (const char* const value = std::getenv(name)) text += line(name, value, wide);
  return text + unknown_variables();
}

}  // namespace
}  // namespace info

inline namespace v0 {

std::string_view version() noexcept { return SINTER_VERSION; }

std::string show_config() {
  platform::check_environment();
  return info::build_section() + info::device_section() + info::library_section() + info::compiler_section() +
         info::cache_section() + info::environment_section();
}

}  // namespace v0
}  // namespace sinter
