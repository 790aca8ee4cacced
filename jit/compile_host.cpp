// Generated C++ to callable code: the modules of this process, then the disk cache, then the host compiler.
#include <gnu/libc-version.h>

#include <cerrno>
#include <mutex>
#include <unordered_map>

#include "compile.hpp"
#include "compile_hooks.hpp"
#include "compile_shared.hpp"
#include "compile_util.hpp"
#include "dynamic_library.hpp"
#include "hash.hpp"
#include "host_build.hpp"
#include "sinter/error.hpp"
#include "sinter/profile.hpp"

namespace sinter::jit {
namespace {

// Wide vectors: GCC prefers 256 bits on some processors, but loops over blocks in the first-level cache gain from 512
// (sin and cos take 1.5 times as long with 256, measured).
bool has_wide_vectors() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

std::vector<std::string> make_options() {
  std::vector<std::string> options{
      "-x", "c++", "-std=gnu++20", "-w", "-O2", "-ftree-vectorize", "-march=native", "-fno-math-errno",
      "-fno-trapping-math", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fPIC", "-shared", "-nostdlib",
      "-fno-semantic-interposition", "-fno-asynchronous-unwind-tables",
      // For the time that a compilation takes: no temporary assembly file, no plugin in the linker.
      "-pipe", "-fno-use-linker-plugin",
      // 5 instead of 14 kB on disk and in memory.
      "-Wl,-z,noseparate-code,-s"};
  if (has_wide_vectors()) options.push_back("-mprefer-vector-width=512");
  return options;
}

std::string make_key(const host_compiler& compiler, const std::string& source) {
  std::string key = "sinter host object 1\n";
  append_field(key, compiler.path);
  append_field(key, compiler.identity);
  append_field(key, cpu_features());
  append_field(key, gnu_get_libc_version());
  for (const std::string& option : host_options()) append_field(key, option);
  append_field(key, source);
  return key;
}

// Loaded modules, for the life of the process. Keyed by the whole text, since a hash alone could name other code.
struct module_table {
  std::mutex mutex;
  std::unordered_map<std::string, dynamic_library> loaded;
};

module_table& modules() {
  static module_table& table = *new module_table;
  return table;
}

dynamic_library find_loaded(const std::string& key) {
  module_table& table = modules();
  const std::lock_guard lock(table.mutex);
  const auto found = table.loaded.find(key);
  return found == table.loaded.end() ? dynamic_library() : found->second;
}

dynamic_library load_from_disk(const std::string& key) {
  disk_cache& cache = disk_cache::instance();
  const auto object = cache.load(key);
  if (!object) return {};
  std::string error;
  const dynamic_library library = dynamic_library::from_bytes({object->data(), object->size()}, error);
  if (library) {
    ++counters().host_from_disk;
  } else {
    cache.remove(key);
  }
  return library;
}

dynamic_library compile_and_load(const host_compiler& compiler, const std::string& key, const std::string& source) {
  const range shown("sinter: compile for the CPU");
  const host_build build = run_host_compiler(compiler.path, source);
  if (build.object.empty()) throw_compile_error(compiler.path, build.failure, host_options(), build.log, source);
  std::string error;
  const dynamic_library library = dynamic_library::from_bytes({build.object.data(), build.object.size()}, error);
  if (!library) {
    throw_compile_error(compiler.path, "made a library that cannot be loaded", host_options(), error, source);
  }
  ++counters().host_compiled;
  disk_cache::instance().store(key, build.object);
  return library;
}

dynamic_library obtain(const host_compiler& compiler, const std::string& source) {
  static single_flight<dynamic_library>& flights = *new single_flight<dynamic_library>;
  const std::string key = make_key(compiler, source);
  if (const dynamic_library library = find_loaded(key)) return library;
  return *flights.run(key, [&] {
    dynamic_library library = find_loaded(key);  // a flight may have landed since the first look
    if (!library) library = load_from_disk(key);
    if (!library) library = compile_and_load(compiler, key, source);
    const std::lock_guard lock(modules().mutex);
    return modules().loaded.emplace(key, library).first->second;
  });
}

}  // namespace

const std::vector<std::string>& host_options() {
  static const std::vector<std::string>& options = *new std::vector<std::string>(make_options());
  return options;
}

host_build run_host_compiler(const std::string& compiler, std::string_view source) {
  host_build result;
  const private_folder folder;
  if (folder.path().empty()) {
    result.failure = "has no folder for temporary files (TMPDIR or /tmp): " + errno_text(folder.errno_code());
    return result;
  }
  const std::string input = folder.path() + "/kernel.cpp", output = folder.path() + "/kernel.so",
                    log = folder.path() + "/log";
  if (!write_file(input, source)) {
    result.failure = "cannot be given its source: cannot write " + input + ": " + errno_text(errno);
    return result;
  }
  std::vector<std::string> arguments = host_options();
  for (const char* text : {input.c_str(), "-o", output.c_str(), "-lmvec", "-lm", "-lgcc"}) arguments.push_back(text);
  const process_result run = run_process(compiler, arguments, folder.path(), log);
  if (run.start_error != 0) {
    result.failure = "cannot be started: " + errno_text(run.start_error);
    return result;
  }
  if (const auto text = read_file(log)) result.log.assign(text->begin(), text->end());
  // -1: somebody else has taken the exit status (SIGCHLD is ignored); the output then tells.
  if (run.exit_status <= 0) {
    if (auto object = read_file(output)) result.object = std::move(*object);
  }
  if (result.object.empty()) result.failure = "failed with exit status " + std::to_string(run.exit_status);
  return result;
}

std::vector<void*> compile_host_with(const host_compiler& compiler, const std::string& source,
                                     const std::vector<std::string>& functions) {
  if (compiler.path.empty()) {
    throw_compile_error("the host C++ compiler", "cannot be used", {}, compiler.reason, source);
  }
  const dynamic_library library = obtain(compiler, source);
  std::vector<void*> addresses;
  for (const std::string& function : functions) {
    addresses.push_back(library.symbol(function.c_str()));
    if (addresses.back() == nullptr) {
      throw_compile_error(compiler.path, "made no function " + function, host_options(), "", source);
    }
  }
  return addresses;
}

std::vector<void*> compile_host(const std::string& source, const std::vector<std::string>& functions) {
  fail_on_request(host_compiler::find().path, source);
  return compile_host_with(host_compiler::find(), source, functions);
}

void forget_loaded_modules_for_tests() {
  const std::lock_guard lock(modules().mutex);
  modules().loaded.clear();
}

}  // namespace sinter::jit
