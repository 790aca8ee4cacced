// Loading of NVRTC, and its programs.
#ifdef SINTER_HAS_CUDA

#include "jit/cuda/library/nvrtc.hpp"

#include <cstring>

#include "platform/files.hpp"
#include "sinter/error.hpp"
#include "sinter/profile.hpp"

#ifndef SINTER_NVRTC_SONAME
#define SINTER_NVRTC_SONAME "libnvrtc.so.13"
#endif

namespace sinter::jit::nvrtc {
namespace {

constexpr int oldest_major = 12, oldest_minor = 8;

platform::library_place place() {
  std::vector<std::string> names{SINTER_NVRTC_SONAME};
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    if (names.front() != name) names.emplace_back(name);
  }
  return platform::toolkit_library("NVRTC", std::move(names));
}

// NVRTC opens its builtins by name, which the dynamic linker finds only in its configured folders. Once those in
// NVRTC's folder are loaded, the name resolves to them.
void open_builtins(const std::string& nvrtc_path, const nvrtc_api& api) {
  const std::size_t slash = nvrtc_path.rfind('/');
  int major = 0, minor = 0;
  if (slash == std::string::npos || api.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return;
  const std::string name = "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
  std::string ignored;  // if they are missing, NVRTC reports it
  platform::dynamic_library::open(nvrtc_path.substr(0, slash + 1) + name, ignored);
}

const nvrtc_library& open_nvrtc() {
  const nvrtc_library& opened = platform::open_library<nvrtc_api>(place());
  if (opened.usable) open_builtins(opened.path, opened.api);
  return opened;
}

}  // namespace

bool nvrtc_api::resolve(const platform::dynamic_library& library, std::string& error) {
  if (!nvrtc_functions::resolve(library, error)) return false;
  int major = 0, minor = 0;
  if (nvrtcVersion(&major, &minor) != NVRTC_SUCCESS || major < oldest_major ||
      (major == oldest_major && minor < oldest_minor)) {
    error = "is version " + std::to_string(major) + "." + std::to_string(minor) + "; 12.8 or newer is needed";
    return false;
  }
  return true;
}

const nvrtc_library& library() {
  static const nvrtc_library& opened = open_nvrtc();
  return opened;
}

const nvrtc_api& usable_api() { return library().usable_by("compile_cuda"); }

const std::string& library_identity() {
  static const std::string& identity = *new std::string([] {
    const std::string first = platform::candidates(place()).front();
    const std::string file = first[0] == '/' ? platform::file_identity(first) : "";
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
  const std::string first = platform::candidates(place()).front();
  const std::string path = first[0] == '/' ? platform::real_path(first) : "";
  return path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
}

nvrtc_program::nvrtc_program(const nvrtc_api& api, const std::string& source, const char* file) : api_(api) {
  check(api, api.nvrtcCreateProgram(&program_, source.c_str(), file, 0, nullptr, nullptr), "nvrtcCreateProgram");
}

void nvrtc_program::add_name(const std::string& expression) {
  check(api_, api_.nvrtcAddNameExpression(program_, expression.c_str()), "nvrtcAddNameExpression");
}

nvrtcResult nvrtc_program::compile(std::vector<std::string> options) {
  // NVRTC 12.9 and newer has its own cache if there is a driver; results from it have no log, and this library has a
  // cache already.
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
