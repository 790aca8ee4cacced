// Errors in data: how the findings of launches become exceptions, and how a value inherits the faults of its operands.
//
// Every read of an array that depends on wrong data throws the error. A write by index arrays whose indices are out of
// range has written nothing, so the target array reports it only once.
#pragma once
#include <initializer_list>
#include <string>

#include "graph/values/node.hpp"
#include "runtime/fault.hpp"

namespace sinter::graph {

class storage;

[[noreturn]] void throw_fault(const runtime::fault& f);

/// Throws what captured kernels have found since the last call; these faults belong to no array. Waits for the current
/// stream. `kernel`: the only one that has run since then, if known.
void report_captured_faults(runtime::backend& device, const std::string& kernel = {});
/// The same, and all findings of launches that have not been thrown yet: what synchronize() throws.
void report_faults(runtime::backend& device);
/// Throws the faults of a buffer's elements. `known`: its faults before its work was waited for.
void refuse_wrong_data(const runtime::buffer& memory, const runtime::fault_list& known);
/// The same for an evaluated value. Waits for the current stream if there may be a fault.
void check_data(const value& leaf);
/// For work of the host on the device's memory: throws the invalid indices that a write by index arrays has found.
void report_statement(const storage& s);

/// For leaves that work outside of the graph has computed from others, or written in place.
void inherit_faults(const value& to, std::initializer_list<const value*> from);
void inherit_faults(const runtime::buffer& to, const runtime::buffer& from);

}  // namespace sinter::graph
