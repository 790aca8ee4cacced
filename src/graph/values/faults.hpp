// Errors in data: from what launches have found to exceptions, and from what a value was computed from to the value.
//
// Whoever reads an array that depends on wrong data gets the error, each time. A write by index arrays whose own
// indices are out of range is another matter: it has written nothing, so the array that it should have changed reports
// it once.
#pragma once
#include <initializer_list>
#include <string>

#include "graph/values/node.hpp"
#include "runtime/fault.hpp"

namespace sinter::graph {

class storage;

[[noreturn]] void throw_fault(const runtime::fault& f);

/// Throws what captured kernels have found since the last call, which no array knows of. Waits for the current stream.
/// `kernel`: the only one that has run since then, if that is known.
void report_captured_faults(runtime::backend& device, const std::string& kernel = {});
/// The same, and what launches have found that nobody has thrown so far: what synchronize() throws.
void report_faults(runtime::backend& device);
/// Throws what is wrong with a buffer's elements. `known`: its faults before its work was waited for.
void refuse_wrong_data(const runtime::buffer& memory, const runtime::fault_list& known);
/// The same of an evaluated value. Waits for the current stream if something may be wrong.
void check_data(const value& leaf);
/// Where the host works on the device's memory: throws what a write by index arrays has found wrong with its indices.
void report_statement(const storage& s);

/// Leaves that work outside of the graph has computed from others, or written in place.
void inherit_faults(const value& to, std::initializer_list<const value*> from);
void inherit_faults(const runtime::buffer& to, const runtime::buffer& from);

}  // namespace sinter::graph
