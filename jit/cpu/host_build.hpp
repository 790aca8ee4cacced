// One run of the host compiler: a source text to the bytes of a shared object.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "jit/compile.hpp"

namespace sinter::jit {

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
