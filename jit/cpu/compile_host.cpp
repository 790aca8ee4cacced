// Generated C++ to callable code: looked up in the modules of this process, then the disk cache, then compiled.
#include <gnu/libc-version.h>

#include <cerrno>
#include <mutex>
#include <unordered_map>

#include "jit/compile.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/cpu/hooks.hpp"
#include "jit/program/include_scan.hpp"
#include "platform/child_process.hpp"
#include "platform/disk_cache.hpp"
#include "platform/dynamic_library.hpp"
#include "platform/environment.hpp"
#include "platform/files.hpp"
#include "platform/hash.hpp"
#include "platform/private_folder.hpp"
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

constexpr std::size_t largest_object = std::size_t{256} << 20;  // kernels have kilobytes

std::vector<std::string> make_options() {
  std::vector<std::string> options{
      "-x", "c++", "-std=gnu++20", "-w", "-O2", "-ftree-vectorize", "-march=native", "-fno-math-errno",
      "-fno-trapping-math", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fPIC", "-shared", "-nostdlib",
      "-fno-semantic-interposition", "-fno-asynchronous-unwind-tables",
      // These reduce the compile time: they avoid a temporary assembly file and the plugin of the linker.
      "-pipe", "-fno-use-linker-plugin",
      // 5 instead of 14 kB on disk and in memory.
      "-Wl,-z,noseparate-code,-s"};
  if (has_wide_vectors()) {
    options.push_back("-mprefer-vector-width=512");
#if defined(__x86_64__)
    // A compiler that does not know a newer processor by name makes no vectors of reads by index for it.
    if (__builtin_cpu_is("intel")) options.push_back("-mtune=icelake-server");
#endif
  }
  return options;
}

std::string make_key(const host_compiler& compiler, const std::string& source, const std::string& included) {
  std::string key = "sinter host object 2\n";
  platform::append_field(key, compiler.path);
  platform::append_field(key, compiler.identity);
  platform::append_field(key, platform::cpu_features());
  platform::append_field(key, gnu_get_libc_version());
  for (const std::string& option : host_options()) platform::append_field(key, option);
  platform::append_field(key, source);
  platform::append_field(key, included);
  return key;
}

// Loaded modules, for the life of the process. Keyed by the whole text, since hashes can collide.
struct module_table {
  std::mutex mutex;
  std::unordered_map<std::string, platform::dynamic_library> loaded;
};

module_table& modules() {
  static module_table& table = *new module_table;
  return table;
}

platform::dynamic_library find_loaded(const std::string& key) {
  module_table& table = modules();
  const std::lock_guard lock(table.mutex);
  const auto found = table.loaded.find(key);
  return found == table.loaded.end() ? platform::dynamic_library() : found->second;
}

/// The first of the functions that the library lacks; empty if it has all.
std::string missing_function(const platform::dynamic_library& library, const std::vector<std::string>& functions) {
  for (const std::string& f : functions)
    if (library.symbol(f.c_str()) == nullptr) return f;
  return "";
}

platform::dynamic_library load_from_disk(const std::string& key, const std::vector<std::string>& functions) {
  platform::disk_cache& cache = platform::disk_cache::instance();
  const auto object = cache.load(key);
  if (!object) return {};
  std::string error;
  const platform::dynamic_library library =
      platform::dynamic_library::from_bytes({object->data(), object->size()}, error);
  if (!library || !missing_function(library, functions).empty()) {
    cache.remove(key);
    return {};
  }
  ++counters().host_from_disk;
  return library;
}

platform::dynamic_library compile_and_load(const host_compiler& compiler, const std::string& source,
                                           const std::vector<std::string>& functions, std::vector<char>& object) {
  const range shown("sinter: compile for the CPU");
  host_build build = run_host_compiler(compiler.path, source);
  const auto refuse = [&](const std::string& what, const std::string& log, failure_cause cause) {
    throw_compile_error(compiler.path, what, host_options(), log, source, cause);
  };
  if (build.object.empty()) refuse(build.failure, build.log, build.cause);
  std::string error;
  const platform::dynamic_library library =
      platform::dynamic_library::from_bytes({build.object.data(), build.object.size()}, error);
  if (!library) refuse("made a library that cannot be loaded: " + error, build.log, failure_cause::surroundings);
  if (const std::string name = missing_function(library, functions); !name.empty())
    refuse("made no function " + name, build.log, failure_cause::surroundings);
  ++counters().host_compiled;
  object = std::move(build.object);
  return library;
}

/// Loads from the disk, or compiles. `included`: the contents of the included files when the key was made; if they
/// cannot be determined, or have changed meanwhile, the disk cache is bypassed.
platform::dynamic_library load_or_compile(const host_compiler& compiler, const std::string& key,
                                          const std::string& source, const std::vector<std::string>& functions,
                                          const std::optional<std::string>& included) {
  if (included) {
    if (const platform::dynamic_library library = load_from_disk(key, functions)) return library;
  }
  std::vector<char> object;
  const platform::dynamic_library library = compile_and_load(compiler, source, functions, object);
  if (included && included == included_by_users(source)) platform::disk_cache::instance().store(key, object);
  return library;
}

platform::dynamic_library obtain(const host_compiler& compiler, const std::string& source,
                                 const std::vector<std::string>& functions) {
  static single_flight<platform::dynamic_library>& flights = *new single_flight<platform::dynamic_library>;
  const std::optional<std::string> included = included_by_users(source);
  const std::string key = make_key(compiler, source, included.value_or(""));
  if (const platform::dynamic_library library = find_loaded(key)) return library;
  return *flights.run(key, [&] {
    platform::dynamic_library library = find_loaded(key);  // another thread may have added it meanwhile
    if (!library) library = load_or_compile(compiler, key, source, functions, included);
    const std::lock_guard lock(modules().mutex);
    return modules().loaded.emplace(key, library).first->second;
  });
}

/// Whether the compiler's folder can be written: a compiler error may be caused by a full disk.
std::string problem_of(const platform::private_folder& folder) {
  const std::string path = folder.path() + "/trial";
  if (platform::write_file(path, std::string(65536, ' '))) return "";
  return "cannot write to " + folder.path() + " (under TMPDIR or /tmp): " + platform::errno_text(errno);
}

long compile_seconds() {
  return static_cast<long>(platform::environment_number("SINTER_COMPILE_TIMEOUT").value_or(60));
}

/// Sets the cause and the text of a failure from the result of a run.
void set_outcome(const platform::process_result& run, const platform::private_folder& folder, host_build& build) {
  build.cause = failure_cause::surroundings;
  if (run.start_error != 0) {
    build.failure = "cannot be started: " + platform::errno_text(run.start_error);
  } else if (run.timed_out) {
    build.cause = failure_cause::time;
    build.failure = "did not end within " + std::to_string(compile_seconds()) + " s (SINTER_COMPILE_TIMEOUT)";
  } else if (!build.object.empty()) {
    build.cause = failure_cause::text;
  } else if (std::string problem = problem_of(folder); !problem.empty()) {
    build.failure = std::move(problem);
  } else if (run.signal != 0) {
    build.failure = "was ended by signal " + std::to_string(run.signal);
  } else if (run.exit_status > 0) {
    build.failure = "failed with exit status " + std::to_string(run.exit_status);
    build.cause = failure_cause::text;
  } else {
    build.failure = "ended well, but made no library";
  }
}

}  // namespace

const std::vector<std::string>& host_options() {
  static const std::vector<std::string>& options = *new std::vector<std::string>(make_options());
  return options;
}

host_build run_host_compiler(const std::string& compiler, std::string_view source) {
  host_build result;
  const platform::private_folder folder;
  result.cause = failure_cause::surroundings;
  if (folder.path().empty()) {
    result.failure = "has no folder for temporary files: cannot make one in " + folder.problem();
    return result;
  }
  const std::string input = folder.path() + "/kernel.cpp", output = folder.path() + "/kernel.so";
  if (!platform::write_file(input, source)) {
    result.failure =
        "cannot be given its source: cannot write " + input + " (under TMPDIR or /tmp): " + platform::errno_text(errno);
    return result;
  }
  std::vector<std::string> arguments = host_options();
  for (const char* text : {input.c_str(), "-o", output.c_str(), "-lmvec", "-lm", "-lgcc"}) arguments.push_back(text);
  platform::process_result run = platform::run_process(compiler, arguments, folder.path(), compile_seconds());
  result.log = std::move(run.output);
  // -1: the exit status was discarded (SIGCHLD is ignored); the output file then tells whether the run has succeeded.
  if (run.start_error == 0 && !run.timed_out && run.signal == 0 && run.exit_status <= 0) {
    if (auto object = platform::read_file(output, largest_object)) result.object = std::move(*object);
  }
  set_outcome(run, folder, result);
  return result;
}

std::vector<void*> compile_host_with(const host_compiler& compiler, const std::string& source,
                                     const std::vector<std::string>& functions) {
  if (compiler.path.empty()) {
    throw_compile_error("the host C++ compiler", "cannot be used", {}, compiler.reason, source,
                        failure_cause::surroundings);
  }
  const platform::dynamic_library library = obtain(compiler, source, functions);
  std::vector<void*> addresses;
  for (const std::string& function : functions) {
    addresses.push_back(library.symbol(function.c_str()));
    if (addresses.back() == nullptr)  // the module was loaded by an earlier call for other functions
      throw_compile_error(compiler.path, "made no function " + function, host_options(), "", source);
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
