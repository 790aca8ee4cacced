// The host's compiler: finding it, and compiling C++ to functions of this process.
#pragma once
#include <string>
#include <vector>

#include "jit/compile.hpp"

namespace sinter::jit {

/// The host C++ compiler: $SINTER_CXX, else c++ or g++ on PATH, if it is GCC 12 or newer (probed once; not started if
/// the disk cache has the result under its real path, size and time stamp). Empty path: none, with the cause in
/// `reason`.
struct host_compiler {
  std::string path, identity, reason;
  bool failed = false;  // there is none, and a candidate failed for a reason that may be temporary
  static const host_compiler& find();
};

/// Compiles a translation unit for this host into a shared object and loads it (or loads it from the disk cache);
/// returns the addresses of these functions, never null, valid for the process. Throws compile_error with the log, the
/// numbered source and the options. Thread safe.
std::vector<void*> compile_host(const std::string& source, const std::vector<std::string>& functions);

// One run of the host compiler (host_compiler.cpp): a source text to the bytes of a shared object.

/// The options of every host compilation: IEEE results, vector code, no contraction.
const std::vector<std::string>& host_options();

struct host_build {
  std::vector<char> object;  // empty: the run failed
  std::string failure;       // description of the failure
  std::string log;           // what the compiler printed
  failure_cause cause = failure_cause::text;
};
/// Takes at most SINTER_COMPILE_TIMEOUT seconds.
host_build run_host_compiler(const std::string& compiler, std::string_view source);

}  // namespace sinter::jit
