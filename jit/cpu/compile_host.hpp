// The host's compiler: which one there is, and from C++ to functions of this process.
#pragma once
#include <string>
#include <vector>

namespace sinter::jit {

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

}  // namespace sinter::jit
