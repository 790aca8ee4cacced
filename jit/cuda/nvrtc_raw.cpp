// Users' CUDA C++ through NVRTC, with their options, headers and line numbers.
#include "jit/compile.hpp"
#include "jit/cuda/compile_raw.hpp"
#include "jit/program/include_scan.hpp"
#include "platform/disk_cache.hpp"
#include "sinter/error.hpp"

#ifdef SINTER_HAS_CUDA

#include <cstdint>
#include <cstring>

#include "jit/cuda/library/nvrtc.hpp"
#include "jit/prelude_text.hpp"
#include "platform/files.hpp"

#ifndef SINTER_CUDA_INCLUDE_DIR
#define SINTER_CUDA_INCLUDE_DIR ""
#endif

namespace sinter::jit {
namespace {

using namespace nvrtc;

/// The toolkit's headers, preferably those of the NVRTC in use.
std::vector<std::string> find_toolkit_headers() {
  std::vector<std::string> places;
  if (const std::string folder = library_folder(); !folder.empty()) places.push_back(folder + "/../include");
  places.emplace_back(SINTER_CUDA_INCLUDE_DIR);
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const std::string root = platform::environment(variable); !root.empty()) places.push_back(root + "/include");
  places.emplace_back("/usr/local/cuda/include");
  for (const std::string& place : places) {
    const std::string real = platform::real_path(place);
    if (place.empty() || platform::file_identity(real + "/cuda_fp16.h").empty()) continue;
    // From CUDA 13 on, CUB, Thrust and libcu++, which cooperative_groups.h includes, are in a separate folder.
    const std::string libraries = platform::real_path(real + "/cccl");
    return libraries.empty() ? std::vector{real} : std::vector{real, libraries};
  }
  return {};
}

const std::vector<std::string>& toolkit_headers() {
  static const auto& found = *new std::vector<std::string>(find_toolkit_headers());
  return found;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + (slash == 0));
}

/// The user's options take precedence over the defaults here. Code for an architecture-specific target (sm_90a) runs on
/// that architecture only, which suffices here, and can use all of its instructions.
std::vector<std::string> options_of(const raw_program& p) {
  std::vector<std::string> options = p.options;
  if (!has_option(p.options, "--gpu-architecture", "-arch"))
    options.push_back("--gpu-architecture=sm_" + std::to_string(p.arch) + (p.arch >= 90 ? "a" : ""));
  if (!has_option(p.options, "--std", "-std")) options.emplace_back("--std=c++17");
  if (p.fast_math && !has_option(p.options, "--use_fast_math", "-use_fast_math"))
    options.emplace_back("--use_fast_math");
  if (!p.file.empty()) options.push_back("--include-path=" + folder_of(p.file));
  for (const std::string& folder : toolkit_headers()) options.push_back("--include-path=" + folder);
  return options;
}

std::string string_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

const std::string& shown_file(const raw_program& p) {
  static const std::string& plain = *new std::string("kernel.cu");
  return p.file.empty() ? plain : p.file;
}

/// Line numbers in messages are those of the user's text.
std::string translation_unit(const raw_program& p) {
  std::string source = "#line 1 \"sinter\"\n";
  source += prelude_text("raw");
  source += "#line 1 " + string_literal(shown_file(p)) + "\n";
  return source + p.source;
}

[[noreturn]] void refuse(const nvrtc_api& api, nvrtcResult status, const raw_program& p,
                         const std::vector<std::string>& options, std::string log) {
  if (toolkit_headers().empty() && log.find("cannot open source file") != std::string::npos)
    log += "\nThe CUDA toolkit's headers were not found: install them, or set CUDA_PATH.\n";
  throw_compile_error("NVRTC", std::string("failed: ") + api.nvrtcGetErrorString(status), options, log, p.source);
}

raw_binary compile_now(const raw_program& p, const std::string& source, const std::vector<std::string>& options) {
  const nvrtc_api& api = usable_api();
  nvrtc_program program(api, source, shown_file(p).c_str());
  for (const std::string& name : p.names) program.add_name(name);
  const nvrtcResult status = program.compile(options);
  raw_binary result;
  result.log = program.log();
  if (status == NVRTC_ERROR_OUT_OF_MEMORY) throw memory_error("[compile_raw] NVRTC ran out of host memory");
  if (status != NVRTC_SUCCESS) refuse(api, status, p, options, result.log);
  for (const std::string& name : p.names) result.names.emplace_back(name, program.lowered_name(name));
  result.bytes = program.binary();
  if (result.bytes.empty()) result.bytes = program.ptx();
  if (result.bytes.empty())
    throw_compile_error("NVRTC", "was asked for neither a cubin nor PTX", options, result.log, p.source);
  return result;
}

// On disk: the log, each name and its lowered form, the code; each preceded by its length.
void put(std::vector<char>& bytes, std::string_view field) {
  const std::uint64_t count = field.size();
  const char* head = reinterpret_cast<const char*>(&count);
  bytes.insert(bytes.end(), head, head + sizeof count);
  bytes.insert(bytes.end(), field.begin(), field.end());
}

bool take(std::string_view& bytes, std::string_view& field) {
  std::uint64_t count = 0;
  if (bytes.size() < sizeof count) return false;
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes.remove_prefix(sizeof count);
  if (count > bytes.size()) return false;
  field = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return true;
}

std::vector<char> pack(const raw_binary& b) {
  std::vector<char> bytes;
  put(bytes, b.log);
  for (const auto& [name, lowered] : b.names) {
    put(bytes, name);
    put(bytes, lowered);
  }
  put(bytes, {b.bytes.data(), b.bytes.size()});
  return bytes;
}

bool unpack(const std::vector<char>& stored, std::size_t names, raw_binary& b) {
  std::string_view bytes(stored.data(), stored.size()), field, lowered;
  if (!take(bytes, field)) return false;
  b.log = field;
  for (std::size_t k = 0; k < names; ++k) {
    if (!take(bytes, field) || !take(bytes, lowered)) return false;
    b.names.emplace_back(field, lowered);
  }
  if (!take(bytes, field) || field.empty() || !bytes.empty()) return false;
  b.bytes.assign(field.begin(), field.end());
  b.from_disk = true;
  return true;
}

/// Null if the included files cannot be determined: the source is then compiled each time.
std::optional<std::string> key_of(const raw_program& p, const std::string& source,
                                  const std::vector<std::string>& options) {
  include_options wanted = include_options_of(p.options);
  std::string text;
  for (const std::string& file : wanted.files) text += "#include \"" + file + "\"\n";
  const std::string beside = p.file.empty() ? "." : folder_of(p.file);
  if (!p.file.empty()) wanted.folders.push_back(beside);
  const auto included = included_text(text + p.source, beside, wanted.folders, toolkit_headers());
  if (!included) return std::nullopt;
  std::string key = "sinter raw 1\n";
  platform::append_field(key, library_identity());
  if (!toolkit_headers().empty())
    platform::append_field(key, platform::file_identity(toolkit_headers().front() + "/cuda.h"));
  for (const std::string& option : options) platform::append_field(key, option);
  platform::append_field(key, "names");
  for (const std::string& name : p.names) platform::append_field(key, name);
  platform::append_field(key, source);
  platform::append_field(key, *included);
  return key;
}

}  // namespace

raw_binary compile_raw(const raw_program& p) {
  fail_on_request("NVRTC", p.source);
  const std::vector<std::string> options = options_of(p);
  const std::string source = translation_unit(p);
  const std::optional<std::string> key = key_of(p, source, options);
  if (key) {
    if (const auto stored = platform::disk_cache::instance().load(*key)) {
      raw_binary result;
      if (unpack(*stored, p.names.size(), result)) {
        ++counters().cuda_from_disk;
        return result;
      }
    }
  }
  raw_binary result = compile_now(p, source, options);
  ++counters().cuda_compiled;
  if (key && key == key_of(p, source, options)) platform::disk_cache::instance().store(*key, pack(result));
  return result;
}

}  // namespace sinter::jit

#else

namespace sinter::jit {

raw_binary compile_raw(const raw_program&) {
  throw device_error("[compile_raw] NVRTC cannot be used: sinter was built without the CUDA toolkit");
}

}  // namespace sinter::jit

#endif
