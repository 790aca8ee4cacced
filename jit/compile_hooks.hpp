// For tests only: the process-wide singletons of compile.hpp, with their surroundings as arguments.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compile.hpp"

namespace sinter::jit {

/// Points disk_cache::instance() at another folder. Calls in progress finish with the one they began with.
void reset_disk_cache_for_tests(const std::string& folder, std::uint64_t limit_bytes = std::uint64_t{512} << 20);

/// What host_compiler::find() does, for given values of SINTER_CXX and PATH.
host_compiler probe_host_compiler(const std::string& preferred, const std::string& search_path);

/// compile_host with a given compiler.
std::vector<void*> compile_host_with(const host_compiler& compiler, const std::string& source,
                                     const std::vector<std::string>& functions);

/// The n-th call of compile_host or compile_cuda from now on (0: the next) throws compile_error, once; -1: none.
void fail_compilation_for_tests(int n) noexcept;

/// How long one of several compilations waits for heavier ones to begin before it; below 0: as usual.
void set_compile_patience_for_tests(int milliseconds) noexcept;

/// Makes host_compiler::find() return this one; null: what it has found.
void use_host_compiler_for_tests(const host_compiler* compiler) noexcept;

/// Makes compile_host and compile_cuda forget what this process has loaded, as a new process would.
void forget_loaded_modules_for_tests();

}  // namespace sinter::jit
