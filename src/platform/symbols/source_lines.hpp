// Where in a program's source something was called, for messages: the frames of a thread, and the line of the innermost one that is
// not of the library or of C++'s own.
#pragma once
#include <array>
#include <string>

namespace sinter::platform {

/// Return addresses, the innermost first. A microsecond or two to take; what they mean is looked up when it is asked for.
struct call_stack {
  std::array<void*, 64> frames;
  int count = 0;
};
/// The frames of the caller. None where the C library cannot tell.
call_stack stack_here() noexcept;

/// "main.cpp:41" if the program has debug information and addr2line is installed, else the function's name, else
/// its file and address; empty if there is none.
std::string source_line_of(const call_stack& stack);

/// For the lookup: whether a frame is the library's or C++'s own, by the file that debug information gives ("??": none) or by the
/// name of its function.
bool is_own_frame(const std::string& function, const std::string& file);

}  // namespace sinter::platform
