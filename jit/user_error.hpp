// Messages for users' text that does not compile.
#pragma once
#include <span>
#include <string>

#include "jit/compile.hpp"
#include "jit/program/program.hpp"

namespace sinter::jit {

/// The message for a failed compilation of the programs (and reductions): "[name] ...", the compiler's log, which
/// counts the user's lines, and these lines, of the function that the log mentions first.
std::string user_failure_text(std::span<const program* const> programs, const compiler_failure& failure);
/// The names of the functions and reductions of a program: "f, g".
std::string user_names(const program& p);

}  // namespace sinter::jit
