// Opening NVRTC, and what its programs do.
#ifdef SINTER_HAS_CUDA

#include "nvrtc_library.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "compile_util.hpp"
#include "dynamic_library.hpp"
#include "sinter/error.hpp"
#include "sinter/profile.hpp"

#ifndef SINTER_NVRTC_SONAME
#define SINTER_NVRTC_SONAME "libnvrtc.so.13"
#endif
#ifndef SINTER_CUDA_LIBRARY_DIR
#define SINTER_CUDA_LIBRARY_DIR ""
#endif

namespace sinter::jit::nvrtc {
namespace {

constexpr int oldest_major = 12, oldest_minor = 8;

void add_folders(std::vector<std::string>& folders, const std::string& list, const std::string& below) {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    if (end > at) folders.push_back(list.substr(at, end - at) + below);
    at = end + 1;
  }
}

std::vector<std::string> search_folders() {
  std::vector<std::string> folders;
  add_folders(folders, environment("LD_LIBRARY_PATH"), "");
  add_folders(folders, SINTER_CUDA_LIBRARY_DIR, "");
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) add_folders(folders, environment(variable), "/lib64");
  folders.emplace_back("/usr/local/cuda/lib64");
  folders.emplace_back("/usr/lib/x86_64-linux-gnu");
  return folders;
}

std::vector<std::string> sonames() {
  std::vector<std::string> names{SINTER_NVRTC_SONAME};
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    if (names.front() != name) names.emplace_back(name);
  }
  return names;
}

// Files first: their identity is known without loading them. Names come last, for libraries that only the dynamic
// linker's own configuration finds.
std::vector<std::string> candidates() {
  std::vector<std::string> result;
  const std::vector<std::string> folders = search_folders();
  for (const std::string& name : sonames()) {
    for (const std::string& folder : folders) {
      std::string path = folder + "/" + name;
      if (::access(path.c_str(), R_OK) == 0) result.push_back(std::move(path));
    }
  }
  for (std::string& name : sonames()) result.push_back(std::move(name));
  return result;
}

bool resolve_all(const dynamic_library& library, nvrtc_api& api, std::string& error) {
#define SINTER_RESOLVE(name)                                  \
  if (!library.resolve(api.name, SINTER_SYMBOL_TEXT(name))) { \
    error = "has no function " SINTER_SYMBOL_TEXT(name);      \
    return false;                                             \
  }
  SINTER_NVRTC_FUNCTIONS(SINTER_RESOLVE)
#undef SINTER_RESOLVE
  int major = 0, minor = 0;
  if (api.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS || major < oldest_major ||
      (major == oldest_major && minor < oldest_minor)) {
    error = "is version " + std::to_string(major) + "." + std::to_string(minor) + "; 12.8 or newer is needed";
    return false;
  }
  return true;
}

// NVRTC opens its builtins by name, which the dynamic linker finds only in the folders of its own configuration. Once
// the ones beside NVRTC are loaded, the name stands for them.
void open_builtins(const std::string& nvrtc_path, const nvrtc_api& api) {
  const std::size_t slash = nvrtc_path.rfind('/');
  int major = 0, minor = 0;
  if (slash == std::string::npos || api.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return;
  const std::string name = "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
  std::string ignored;  // without them NVRTC itself says what it misses
  dynamic_library::open(nvrtc_path.substr(0, slash + 1) + name, ignored);
}

nvrtc_library* open_nvrtc() {
  auto* result = new nvrtc_library;
  for (const std::string& candidate : candidates()) {
    std::string error;
    const dynamic_library library = dynamic_library::open(candidate, error);
    if (library && resolve_all(library, result->api, error)) {
      open_builtins(candidate, result->api);
      result->usable = true;
      return result;
    }
    result->tried += (result->tried.empty() ? "" : "; ") + candidate + ": " + error;
  }
  return result;
}

}  // namespace

const nvrtc_library& library() {
  static const nvrtc_library& opened = *open_nvrtc();
  return opened;
}

const nvrtc_api& usable_api() {
  const nvrtc_library& nvrtc = library();
  if (!nvrtc.usable) throw device_error("[compile_cuda] NVRTC cannot be loaded; tried " + nvrtc.tried);
  return nvrtc.api;
}

const std::string& library_identity() {
  static const std::string& identity = *new std::string([] {
    const std::string first = candidates().front();
    const std::string file = first[0] == '/' ? file_identity(first) : "";
    return file.empty() ? first : file;
  }());
  return identity;
}

void check(const nvrtc_api& api, nvrtcResult result, const char* call) {
  if (result != NVRTC_SUCCESS) {
    throw device_error(std::string("[compile_cuda] ") + call + ": " + api.nvrtcGetErrorString(result));
  }
}

std::string library_folder() {
  const std::string first = candidates().front();
  const std::string path = first[0] == '/' ? real_path(first) : "";
  return path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
}

nvrtc_program::nvrtc_program(const nvrtc_api& api, const std::string& source, const char* file) : api_(api) {
  check(api, api.nvrtcCreateProgram(&program_, source.c_str(), file, 0, nullptr, nullptr), "nvrtcCreateProgram");
}

void nvrtc_program::add_name(const std::string& expression) {
  check(api_, api_.nvrtcAddNameExpression(program_, expression.c_str()), "nvrtcAddNameExpression");
}

nvrtcResult nvrtc_program::compile(std::vector<std::string> options) {
  // From 12.9 on NVRTC keeps a cache of its own where there is a driver; what comes from there has no log, and this
  // library caches already.
  int major = 0, minor = 0;
  if (api_.nvrtcVersion(&major, &minor) == NVRTC_SUCCESS && 100 * major + minor >= 1209)
    options.push_back("--no-cache");
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  const range shown("sinter: compile for the GPU");
  return api_.nvrtcCompileProgram(program_, static_cast<int>(texts.size()), texts.data());
}

std::string nvrtc_program::log() const {
  std::size_t bytes = 0;
  if (api_.nvrtcGetProgramLogSize(program_, &bytes) != NVRTC_SUCCESS || bytes == 0) return "";
  std::string text(bytes, '\0');
  if (api_.nvrtcGetProgramLog(program_, text.data()) != NVRTC_SUCCESS) return "";
  text.resize(std::strlen(text.c_str()));
  return text;
}

std::vector<char> nvrtc_program::binary() const {
  std::size_t bytes = 0;
  check(api_, api_.nvrtcGetCUBINSize(program_, &bytes), "nvrtcGetCUBINSize");
  std::vector<char> result(bytes);
  if (bytes != 0) check(api_, api_.nvrtcGetCUBIN(program_, result.data()), "nvrtcGetCUBIN");
  return result;
}

std::vector<char> nvrtc_program::ptx() const {
  std::size_t bytes = 0;
  check(api_, api_.nvrtcGetPTXSize(program_, &bytes), "nvrtcGetPTXSize");
  std::vector<char> result(bytes);
  if (bytes != 0) check(api_, api_.nvrtcGetPTX(program_, result.data()), "nvrtcGetPTX");
  while (!result.empty() && result.back() == '\0') result.pop_back();
  return result;
}

std::string nvrtc_program::lowered_name(const std::string& expression) const {
  const char* lowered = nullptr;
  check(api_, api_.nvrtcGetLoweredName(program_, expression.c_str(), &lowered), "nvrtcGetLoweredName");
  return lowered;
}

}  // namespace sinter::jit::nvrtc

#endif
