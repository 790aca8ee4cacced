// For tests only: the host compilation with its environment as arguments.
#pragma once
#include <string>
#include <vector>

#include "jit/cpu/compile_host.hpp"

namespace sinter::jit {

/// What host_compiler::find() does, for given values of SINTER_CXX and PATH.
host_compiler probe_host_compiler(const std::string& preferred, const std::string& search_path);

/// compile_host with a given compiler.
std::vector<void*> compile_host_with(const host_compiler& compiler, const std::string& source,
                                     const std::vector<std::string>& functions);

/// Makes host_compiler::find() return this one; null: what it has found.
void use_host_compiler_for_tests(const host_compiler* compiler) noexcept;

/// Makes compile_host forget what this process has loaded, as a new process would.
void forget_loaded_modules_for_tests();

}  // namespace sinter::jit
