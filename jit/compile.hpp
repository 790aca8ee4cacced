// Run-time compilation: text to loadable code, through a cache in memory and one on disk.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/error.hpp"

namespace sinter::jit {

/// Why a compilation has failed.
enum class failure_cause : std::uint8_t {
  text,          // the compiler refuses the text
  surroundings,  // the compiler, its process or its files: another text would have fared no better
  time,          // it took longer than SINTER_COMPILE_TIMEOUT allows
};

/// A compile_error that a caller who knows more about the text can tell better.
struct compiler_failure : compile_error {
  using compile_error::compile_error;
  failure_cause cause = failure_cause::text;
  std::string compiler, reason, log;  // "/usr/bin/g++", "failed with exit status 1", what it printed
};

/// Cache on disk: $SINTER_CACHE_DIR, else $XDG_CACHE_HOME/sinter, else ~/.cache/sinter; mode 0700. Entries are
/// checksummed, written to a unique temporary and renamed, evicted least recently used first beyond a size limit
/// (SINTER_CACHE_SIZE_MB, default 512). A folder that cannot be written is not an error: the cache is then off, and
/// `status()`, which tries it, says why; of SINTER_CACHE_DIR a line on standard error does too. A damaged entry counts
/// as a miss and is replaced, and so does one that others could have written. Safe under many threads and processes.
class disk_cache {
 public:
  static disk_cache& instance();
  /// The entry for this key (any bytes: source, options, architecture, compiler identity), or nothing.
  std::optional<std::vector<char>> load(std::string_view key);
  /// Stores; returns false (and remembers why) where it cannot.
  bool store(std::string_view key, const std::vector<char>& bytes);
  /// Forgets an entry that cannot be used after all.
  void remove(std::string_view key);
  std::string folder() const;
  std::string status() const;

 private:
  disk_cache();
};

/// The host C++ compiler: $SINTER_CXX, else c++ or g++ on PATH, if it is GCC 12 or newer (probed once; found without
/// starting it when the disk cache knows it by real path, size and time stamp). Empty path: none, `reason` says why.
struct host_compiler {
  std::string path, identity, reason;
  bool failed = false;  // none, and one of those that were tried might have served
  static const host_compiler& find();
};

/// Compiles a translation unit for this host into a shared object and loads it (or loads it from the disk cache);
/// returns the addresses of the named functions, valid for the process. Throws compile_error with the log, the
/// numbered source and the options; `nullptr`-free. Thread safe.
std::vector<void*> compile_host(const std::string& source, const std::vector<std::string>& functions);

/// Compiles CUDA C++ to a cubin for `arch` (90 for sm_90) with NVRTC, through the disk cache. Needs NVRTC but no GPU.
/// Throws compile_error, or device_error where NVRTC cannot be loaded (naming each library tried).
struct nvrtc_options {
  int arch = 90;
  bool fast_math = false;
  bool fast_compile = false;  // leaves out what takes the compiler long and gains little (NVRTC 12.8 and newer)
};
struct cubin {
  std::vector<char> bytes;
  std::string log;
  bool from_disk = false;
};
cubin compile_cuda(const std::string& source, const nvrtc_options& options);

/// A source that is written only where the cache has no answer.
struct cuda_unit {
  std::string name;                     // shown
  std::string identity;                 // units of one identity have one source, whichever process and version ask
  bool is_source = false;               // the identity is the source, and users' text in it may include files
  std::size_t weight = 0;               // roughly how long it takes: the longest begins first
  std::function<std::string()> source;  // may be called on another thread
  nvrtc_options options;
};
/// Several at a time, on as many threads as there are cores. Throws what the first failing one throws.
std::vector<cubin> compile_cuda(std::span<const cuda_unit> units);
/// From the disk cache only.
std::optional<cubin> load_cuda(const cuda_unit& unit);
/// Changes with everything that generated source depends on besides the program: the text of jit/.
std::string_view generator_identity() noexcept;
bool nvrtc_available(std::string* why_not = nullptr);
/// Loads NVRTC on a background thread, so that the first compilation does not wait for it. Safe to call repeatedly.
void warm_up_nvrtc();

/// What was compiled, and what came from the disk cache instead, since the process began.
struct compile_figures {
  std::uint64_t host_compiled = 0, host_from_disk = 0, cuda_compiled = 0, cuda_from_disk = 0;
};
compile_figures compile_statistics() noexcept;

/// "   1  line\n   2  line\n"
std::string number_lines(std::string_view source);

}  // namespace sinter::jit
