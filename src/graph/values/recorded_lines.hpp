// In debug mode (SINTER_LINES): where in the program's source the values of traces were recorded, for errors. Nodes and traces
// hold nothing of it.
#pragma once
#include <string>

#include "graph/values/trace.hpp"

namespace sinter::graph {

/// Whether lines are kept; tests set it. From the environment at first.
bool& keeps_lines() noexcept;

/// Keeps the frames of the caller for a value of this trace. It holds the value until the trace ends its life.
void note_line(const trace& t, const value& v);
void forget_lines(const trace& t) noexcept;
/// "main.cpp:41"; empty where lines are not kept or nothing was noted.
std::string line_of(const trace& t, const value& v);

/// " (recorded at main.cpp:41)", or nothing: for the end of a message.
std::string recorded_at(const trace& t, const value& v);
/// The line that calls the library now, where lines are kept.
std::string line_here();

}  // namespace sinter::graph
